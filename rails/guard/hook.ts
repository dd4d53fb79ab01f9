import { readFile } from "node:fs/promises";
import { findPlace, type Place } from "../git/repository.ts";
import { Journal, listRuns } from "../journal/journal.ts";
import { shown } from "../program/shown.ts";
import { outside } from "../program/world.ts";
import { attemptOf, type Found, findAttempt } from "../worker/attempt.ts";
import type { HookAnswer, HookInput, ToolAnswer } from "./answer.ts";
import { foremanTool } from "./foreman-tool.ts";
import { endAttempt, holdAtEnd } from "./hold.ts";
import { pastedCommand } from "./pasted.ts";
import { toSession } from "./session.ts";
import { workerTool } from "./worker-tool.ts";

/** Answers a hook. Sessions without minions never come here: a filter in `sh` stands before it.
 * @returns what to print and to end with: 2 sends back who wants to end
 * @throws whatever went wrong; the caller turns that into silence, since a broken rail must not
 *   break a session */
export async function hook(event: string, input: HookInput): Promise<HookAnswer> {
  const place = await findPlace(input.cwd ?? outside().cwd).catch(() => null);
  const isWorker = input.agent_type?.startsWith("minion:") === true;
  if (event === "SessionStart" || event === "Stop")
    return place && !isWorker ? toSession(event, input, place) : {};
  if (event === "UserPromptSubmit" && !isWorker) {
    const page = await pastedCommand(input.prompt ?? "", input.session_id ?? "");
    if (page) return { stdout: page };
  }
  const found = place && (await attemptFor(place, input, isWorker));
  if (event === "PreToolUse") {
    const answer = await (isWorker ? workerTool : foremanTool)(input, place, found);
    return answer ? { stdout: toolAnswerJson(answer) } : {};
  }
  if (!found) return {};
  if (!isWorker) {
    await fromForeman(event, input, found);
    return {};
  }
  const back = await fromWorker(event, input, found);
  return back ? { stderr: back, exit: 2 } : {};
}

/** The answer to a tool call as Claude Code reads it. */
const toolAnswerJson = ({ decision, reason }: NonNullable<ToolAnswer>): string =>
  JSON.stringify({
    hookSpecificOutput: {
      hookEventName: "PreToolUse",
      permissionDecision: decision,
      permissionDecisionReason: shown(reason),
    },
  });

/** Takes down what a session tells of a worker that it started. */
async function fromForeman(event: string, input: HookInput, found: Found): Promise<void> {
  const { tool_response: response, transcript_path: transcript = "" } = input;
  const attempt = found.attempt.id;
  const agent = response?.agentId;
  if (event === "PostToolUse" && agent)
    await found.journal.add({ event: "launched", attempt, agent, transcript });
  // Where it stops a worker after so many turns, the client gives no sign but this notice.
  if (event === "UserPromptSubmit") await endAttempt(found, "", "it reached its limit of turns");
}

/** How the client words an end by a limit, or by a service that cannot keep up. */
const LIMIT = /\b(429|529)\b|overloaded|(rate|usage) limit/i;

/** Takes down what the client tells of a worker. @returns what to tell one that wants to end, or
 * null */
async function fromWorker(event: string, input: HookInput, found: Found): Promise<string | null> {
  const { last_assistant_message: said = "", tool_name: tool = "", tool_input: args = {} } = input;
  if (event.startsWith("Permission")) {
    const call = String(args.command ?? args.file_path ?? args.notebook_path ?? "");
    const what = call.replace(/\s+/g, " ").trim().slice(0, 300);
    await found.journal.add({ event: "refused", attempt: found.attempt.id, tool, what });
  }
  if (event === "StopFailure")
    await endAttempt(found, "", said, input.error === "rate_limit" || LIMIT.test(said));
  if (event !== "SubagentStop") return null;
  if (input.permission_mode !== "auto") return holdAtEnd(found, said);
  // In auto mode its report, if it made one, is out: nothing can hold it. A result that still comes
  // is taken.
  await endAttempt(found, said, "its worker ended without a result");
  return null;
}

/** A worker's attempt is its worktree's, before `begin` its agent's; the foreman's is what the
 * prompt names. */
async function attemptFor(
  place: Place,
  input: HookInput,
  isWorker: boolean,
): Promise<Found | null> {
  const own = isWorker ? await attemptOf(place) : null;
  const ofAgent = own ?? (await attemptOfAgent(place.common, input));
  const id = ofAgent ?? attemptIn(String(input.tool_input?.prompt));
  return id ? findAttempt(place.common, id).catch(() => null) : null;
}

/** The attempt that a dispatch's prompt names. */
const attemptIn = (prompt: string): string | undefined =>
  /minion begin (r\d+\/\w+\.\d+)/.exec(prompt)?.[1];

/** The attempt of an agent, by what was taken down of its launch, else by what it was told. */
async function attemptOfAgent(common: string, input: HookInput): Promise<string | undefined> {
  const agent = input.agent_id ?? /<task-id>(\w+)/.exec(input.prompt ?? "")?.[1];
  const runs = agent ? await listRuns(common) : [];
  for (const run of runs.reverse()) {
    const { events } = await new Journal(common, run).read();
    const launch = events.find((each) => each.event === "launched" && each.agent === agent);
    if (launch?.event === "launched") return launch.attempt;
  }
  // It can end before the hook that tells of its launch has run: its first message is the prompt.
  return attemptIn(await readFile(input.agent_transcript_path ?? "", "utf8").catch(() => ""));
}
