import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { EventData } from "../journal/events.ts";
import type { Journal } from "../journal/journal.ts";
import type { Usage } from "../journal/shapes.ts";
import { isActive, isOpen, type RunState } from "../journal/state.ts";
import { jsonIn, MOST_KEPT, readIfThere } from "../program/files.ts";
import { outside } from "../program/world.ts";
import { tokens } from "./estimate.ts";

/** What the client answers in the model's place where the service failed: nobody paid for that. */
const NO_MODEL = "<synthetic>";

/** Between which times something counts, in milliseconds since 1970. */
export type Span = Readonly<{ since: number; until: number }>;

/** What one of Claude Code's transcripts says was used, by model. Each block of a message is a line
 * that repeats what the message used; only the last of them has all of its output. One that is torn
 * is still being written.
 * @param own of a session, between which times: what its agents said counts for them; null: an
 *   agent's, all of it up to `until`: what is said with it once the run is over is none of the run's
 */
export function usageIn(
  transcript: string,
  own: Span | null = null,
  until = Number.POSITIVE_INFINITY,
): Usage[] {
  const messages = new Map<string, Message>();
  for (const text of transcript.split("\n")) {
    const line = text.includes('"usage"') ? jsonIn<Line>(text) : null;
    const message = line?.message;
    if (!message?.usage || !message.id || !message.model || message.model === NO_MODEL) continue;
    const isLater = Date.parse(line?.timestamp ?? "") > until;
    if (own === null ? !isLater : isOwn(line ?? {}, own)) messages.set(message.id, message);
  }
  const models = new Map<string, Usage>();
  for (const { model = "", usage = {} } of messages.values())
    models.set(model, plus(usageOf(model, usage), models.get(model)));
  return [...models.values()];
}

/** Did the session say that itself, in this time? */
function isOwn({ isSidechain, timestamp = "" }: Line, { since, until }: Span): boolean {
  const at = Date.parse(timestamp);
  return !isSidechain && at >= since && at <= until;
}

/** What one request used. What was written to the cache for five minutes is all but what was for an
 * hour. */
function usageOf(model: string, usage: ServiceUsage): Usage {
  const writeHour = count(usage.cache_creation?.ephemeral_1h_input_tokens);
  return {
    model,
    requests: 1,
    input: count(usage.input_tokens),
    writeHour,
    write: count(count(usage.cache_creation_input_tokens) - writeHour),
    read: count(usage.cache_read_input_tokens),
    output: count(usage.output_tokens),
  };
}

/** What two counts of one model come to. */
export function plus(one: Usage, other: Usage | undefined): Usage {
  if (!other) return one;
  const sums = tokens((kind) => one[kind] + other[kind]);
  return { ...one, requests: one.requests + other.requests, ...sums };
}

const count = (value: unknown): number => (typeof value === "number" && value > 0 ? value : 0);

/** What is read of a transcript's line. */
type Line = { message?: Message; timestamp?: string; isSidechain?: boolean };
type Message = { id?: string; model?: string; usage?: ServiceUsage };
/** The counts as the service gives them; what is no number counts for nothing. */
type ServiceUsage = {
  input_tokens?: unknown;
  cache_creation_input_tokens?: unknown;
  cache_creation?: { ephemeral_1h_input_tokens?: unknown };
  cache_read_input_tokens?: unknown;
  output_tokens?: unknown;
};

/** What each attempt, and each session that led the run, has used up to now: as the journal has it,
 * or as the transcript says where that is another one since. Nothing of what left no transcript. */
export async function usageNow(state: RunState): Promise<EventData["spent"][]> {
  const until = isOpen(state) ? outside().now() : state.lastAt;
  const span = { since: state.startedAt, until };
  const all = [...transcriptsOf(state)].map(async ([transcript, attempt]) => {
    const known = state.spent.get(transcript);
    const size = (await stat(transcript).catch(() => null))?.size ?? 0;
    if (known && (size === 0 || size === known.size)) return known;
    const text = (await readIfThere(transcript, MOST_KEPT)) ?? "";
    const usage = usageIn(text, attempt === null ? span : null, isOpen(state) ? undefined : until);
    return usage.length > 0 ? { attempt, transcript, size, usage } : null;
  });
  return (await Promise.all(all)).filter((each) => each !== null);
}

/** The transcripts that tell of a run, and whose each is: null for a session's that led it. */
function transcriptsOf({ attempts }: RunState): Map<string, string | null> {
  const found = new Map<string, string | null>();
  for (const { id, launches } of attempts.values())
    for (const { transcript, agent } of launches) {
      if (!transcript) continue;
      found.set(agentsOwn(transcript, agent), id);
      found.set(transcript, null);
    }
  return found;
}

/** Where the client keeps what an agent of a session says. */
const agentsOwn = (session: string, agent: string): string =>
  join(session.replace(/\.jsonl$/, ""), "subagents", `agent-${agent}.jsonl`);

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
    ({ attempt, transcript, size }) =>
      isOver(attempt) && size !== state.spent.get(transcript)?.size,
  );
  await journal.add(...fresh.map((each) => ({ event: "spent", ...each }) as const));
  return used;
}
