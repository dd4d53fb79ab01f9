import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { EventData } from "../journal/events.ts";
import type { Journal } from "../journal/journal.ts";
import { TOKENS, type Usage } from "../journal/shapes.ts";
import { isActive, type RunState } from "../journal/state.ts";
import { jsonIn, readIfThere } from "../program/files.ts";
import { outside } from "../program/world.ts";

/** What the client answers in the model's place where the service failed: nobody paid for that. */
const NO_MODEL = "<synthetic>";

/** What one of Claude Code's transcripts says was used, by model. Each block of a message is a line
 * that repeats what the message used; only the last of them has all of its output. One that is torn
 * is still being written.
 * @param own of a session, between which times (milliseconds since 1970): what its agents said
 *   counts for them; null: an agent's, all of it */
export function usageIn(
  transcript: string,
  own: readonly [since: number, until: number] | null = null,
): Usage[] {
  const messages = new Map<string, Message>();
  for (const line of transcript.split("\n")) {
    const {
      message,
      timestamp = "",
      isSidechain,
    } = (line.includes('"usage"') && jsonIn<Line>(line)) || {};
    if (!message?.usage || !message.id || !message.model || message.model === NO_MODEL) continue;
    const at = Date.parse(timestamp);
    if (own === null || (!isSidechain && at >= own[0] && at <= own[1]))
      messages.set(message.id, message);
  }
  const models = new Map<string, Usage>();
  for (const { model = "", usage = {} } of messages.values()) {
    const hour = count(usage.cache_creation?.ephemeral_1h_input_tokens);
    const own = {
      model,
      requests: 1,
      input: count(usage.input_tokens),
      writeHour: hour,
      write: count(count(usage.cache_creation_input_tokens) - hour),
      read: count(usage.cache_read_input_tokens),
      output: count(usage.output_tokens),
    };
    models.set(model, plus(own, models.get(model)));
  }
  return [...models.values()];
}

/** What two counts of one model come to. */
export function plus(one: Usage, other: Usage | undefined): Usage {
  if (!other) return one;
  const sums = (["requests", ...TOKENS] as const).map((kind) => [kind, one[kind] + other[kind]]);
  return { ...one, ...Object.fromEntries(sums) };
}

const count = (value: unknown): number => (typeof value === "number" && value > 0 ? value : 0);

// What is read of a transcript's line.
type Message = { id?: string; model?: string; usage?: ServiceUsage };
type ServiceUsage = {
  [N in
    | "input_tokens"
    | "cache_creation_input_tokens"
    | "cache_read_input_tokens"
    | "output_tokens"]?: unknown;
} & { cache_creation?: { ephemeral_1h_input_tokens?: unknown } };
type Line = { message?: Message; timestamp?: string; isSidechain?: boolean };

/** What each attempt, and each session that led the run, has used up to now: as the journal has it,
 * or as the transcript says where that is another one since. Nothing of what left no transcript. */
export async function usageNow({
  attempts,
  spent,
  startedAt,
  lastAt,
  done,
}: RunState): Promise<EventData["spent"][]> {
  const wanted = new Map<string, string | null>(); // Whose each transcript is
  for (const { id, launched } of attempts.values()) {
    if (!launched?.transcript) continue;
    wanted.set(agentsOwn(launched.transcript, launched.agent), id);
    wanted.set(launched.transcript, null);
  }
  const all = [...wanted].map(async ([transcript, attempt]) => {
    const known = spent.get(transcript);
    const size = (await stat(transcript).catch(() => null))?.size ?? 0;
    if (known && (size === 0 || size === known.size)) return [known];
    const own = attempt === null ? ([startedAt, done ? lastAt : outside().now()] as const) : null;
    const usage = usageIn((await readIfThere(transcript)) ?? "", own);
    return usage.length > 0 ? [{ attempt, transcript, size, usage }] : [];
  });
  return (await Promise.all(all)).flat();
}

/** Takes down what attempts that are over have used, and where `isAll` is said the sessions that
 * led the run.
 * @returns what all of them have used up to now */
export async function takeDown(journal: Journal, isAll: boolean): Promise<EventData["spent"][]> {
  const state = await journal.state();
  const isOver = (id: string | null): boolean => {
    const attempt = state.attempts.get(id ?? "");
    return attempt ? !isActive(attempt) : isAll;
  };
  const used = await usageNow(state);
  const fresh = used.filter(
    (each) => isOver(each.attempt) && each.size !== state.spent.get(each.transcript)?.size,
  );
  await journal.add(...fresh.map((each) => ({ event: "spent", ...each }) as const));
  return used;
}

/** Where the client keeps what an agent of a session says. */
const agentsOwn = (session: string, agent: string): string =>
  join(session.replace(/\.jsonl$/, ""), "subagents", `agent-${agent}.jsonl`);
