import { readFile } from "node:fs/promises";
import { describe } from "../foreman/dispatch.ts";
import { findPlace, type Place } from "../git/repository.ts";
import { Journal, listRuns, ownRun } from "../journal/journal.ts";
import { attemptOf } from "../journal/marker.ts";
import { isActive } from "../journal/state.ts";
import { shown } from "../program/shown.ts";
import { outside } from "../program/world.ts";
import { type Found, findAttempt } from "../worker/attempt.ts";
import { deny, type HookAnswer, type HookInput, type ToolAnswer } from "./answer.ts";
import { callsIn } from "./command.ts";
import { foremanTool } from "./foreman-tool.ts";
import { endAttempt, holdAtEnd } from "./hold.ts";
import { limitIn } from "./limit.ts";
import { pastedCommand } from "./pasted.ts";
import { noticeTaken, toSession, turnOver } from "./session.ts";
import { workerTool } from "./worker-tool.ts";

/** Answers a hook. Sessions without minions never come here: a filter in `sh` stands before it.
 * @returns what to print and to end with: 2 sends back who wants to end
 * @throws whatever went wrong; the caller turns that into silence, since a broken rail must not
 *   break a session */
export async function hook(event: string, input: HookInput): Promise<HookAnswer> {
  const calledAt = outside().startedAt?.() ?? outside().now();
  const place = await findPlace(input.cwd ?? outside().cwd).catch(() => null);
  const isWorker = input.agent_type?.startsWith("minion:") === true;
  if (event === "SessionStart" || event === "Stop" || event === "Wait" || event === "Launched")
    return place && !isWorker ? toSession(event, input, place) : {};
  if (event === "UserPromptSubmit") {
    const page = isWorker ? null : await pastedCommand(input.prompt ?? "", input.session_id ?? "");
    if (page) return { stdout: page };
    for (const found of place ? await endedBy(place.common, input) : [])
      await endAttempt(found, "", ...howTold(input.prompt ?? ""));
    const line = place && !isWorker ? await noticeTaken(place, input, calledAt) : null;
    return line === null ? {} : { stdout: promptAnswerJson(line) };
  }
  const found = place && (await attemptFor(place, input, isWorker));
  if (event === "PreToolUse") {
    const other = isWorker && place ? await othersCall(place.common, input) : null;
    const answer = other ?? (await (isWorker ? workerTool : foremanTool)(input, place, found));
    return answer ? { stdout: toolAnswerJson(answer) } : {};
  }
  if (!found) return {};
  if (!isWorker) return fromForeman(event, input, found);
  const back = await fromWorker(event, input, found);
  return back ? { stderr: back, exit: 2 } : {};
}

/** Begins or judges an agent another attempt than the one that it was launched for? Wherever it
 * stands, the client says who calls. */
async function othersCall(common: string, input: HookInput): Promise<ToolAnswer> {
  const calls = callsIn(String(input.tool_input?.command ?? "")).filter(
    ({ program, args: [verb = ""] }) => program === "minion" && ["begin", "verdict"].includes(verb),
  );
  const own = calls.length > 0 ? await attemptOfAgent(common, input) : undefined;
  const [verb, id] = calls.find(({ args: [, attempt] }) => own && attempt !== own)?.args ?? [];
  return verb ? deny(`${id} is not yours to ${verb}: you were started for ${own}`) : null;
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

/** A notice of the client's that is taken in place of the session: the person sees the line. */
const promptAnswerJson = (line: string): string =>
  JSON.stringify({
    decision: "block",
    reason: shown(line),
    hookSpecificOutput: { hookEventName: "UserPromptSubmit", suppressOriginalPrompt: true },
  });

/** Takes down what a session tells of a worker that it started, and ends its turn where that is
 * over. */
async function fromForeman(event: string, input: HookInput, found: Found): Promise<HookAnswer> {
  const { tool_response: response, transcript_path: transcript = "" } = input;
  const attempt = found.attempt.id;
  const agent = response?.agentId;
  if (event !== "PostToolUse" || !agent) return {};
  await found.journal.add({ event: "launched", attempt, agent, transcript });
  const line = turnOver(await found.journal.state(), input);
  return line === null
    ? {}
    : { stdout: JSON.stringify({ continue: false, stopReason: shown(line) }) };
}

/** The attempts whose end a notice of the client tells: by the worker's id, or where the person has
 * stopped it by a key, by what the client calls it. */
async function endedBy(common: string, input: HookInput): Promise<Found[]> {
  const { prompt = "", session_id: session = "" } = input;
  if (TELLS_END.test(prompt)) {
    const id = await attemptOfAgent(common, input);
    const found = id ? await findAttempt(common, id).catch(() => null) : null;
    return found ? [found] : [];
  }
  const run = STOPPED_BY_KEY.test(prompt) ? await ownRun(common, session) : null;
  if (!run) return [];
  const active = [...run.state.attempts.values()].filter(isActive);
  return active
    .filter(({ task, phase, variant }) => prompt.includes(`"${describe(task, phase, variant)}"`))
    .map((attempt) => ({ ...run, attempt }));
}

/** Notices of an end of which no other hook tells. */
const TELLS_END = /^<task-notification>.*(-turn limit \(|<status>killed<)/s;
const STOPPED_BY_KEY = /^(\d+ )?background agents? .*stopped by the user/is;
const STOPPED = /<status>killed<\/status>.*was stopped by (the )?user|^(?!<)/is;

/** What such a notice says of the end. Where the client stops a worker after so many turns, it gives
 * no other sign. */
function howTold(prompt: string): [text: string, end?: Readonly<{ reason: "stopped" }>] {
  if (STOPPED.test(prompt)) return ["A person stopped its worker.", { reason: "stopped" }];
  const isKilled = prompt.includes("<status>killed</status>");
  return [isKilled ? "its session stopped it" : "it reached its limit of turns"];
}

/** Takes down what the client tells of a worker. @returns what to tell one that wants to end, or
 * null */
async function fromWorker(event: string, input: HookInput, found: Found): Promise<string | null> {
  const { last_assistant_message: said = "", tool_name: tool = "", tool_input: args = {} } = input;
  if (event.startsWith("Permission")) {
    const call = String(args.command ?? args.file_path ?? args.notebook_path ?? "");
    const what = call.replace(/\s+/g, " ").trim().slice(0, 300);
    await found.journal.add({ event: "refused", attempt: found.attempt.id, tool, what });
  }
  if (event === "StopFailure") {
    const limit = limitIn(input.error ?? "", said, outside().now());
    await endAttempt(found, "", said, limit ? { reason: "rate-limit", ...limit } : undefined);
  }
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
  /minion begin (r\d+\/[\w/]+\.\d+)/.exec(prompt)?.[1];

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
