import { open } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { isToRing } from "../foreman/notify.ts";
import {
  hasGivenUp,
  isAllLaunched,
  isForgotten,
  isLed,
  isLeft,
  isWaitedFor,
  waitFor,
} from "../foreman/wait.ts";
import type { Place } from "../git/repository.ts";
import { Journal, listRuns, ownRun } from "../journal/journal.ts";
import type { State } from "../journal/shapes.ts";
import { isActive, isOpen, type RunState } from "../journal/state.ts";
import { isAlive } from "../program/process.ts";
import { outside } from "../program/world.ts";
import { recall } from "../view/recall.ts";
import type { HookAnswer, HookInput } from "./answer.ts";

/** What a session is told of the open run that it owns: where that stands, once its context is made
 * anew; what is to be started or decided, as soon as there is something, after the end of a turn.
 * A turn that ends with the context made anew and the run not gone on with is sent on at once, and
 * once: without a terminal the client ends before it hears who waits, where no worker works. */
export async function toSession(
  event: "SessionStart" | "Stop" | "Wait" | "Launched",
  input: HookInput,
  place: Place,
): Promise<HookAnswer> {
  const session = input.session_id ?? "";
  const own = await ownRun(place.common, session);
  if (!own) return {};
  const { owner, run } = own.state;
  if (event === "SessionStart") {
    await own.journal.add({ event: "forgotten" });
    return { stdout: recall(own.state, owner !== null && !(await isAlive(owner))) };
  }
  if (input.permission_mode === "plan") return {};
  const isAlone = (input.background_tasks ?? []).length === 0;
  if (event === "Stop") {
    const sent = isAlone ? await sentOn(own) : {};
    return sent.exit || !(await isToRing(own.journal)) ? sent : { stdout: BELL };
  }
  if (event === "Wait" && isAlone && isForgotten(own.state)) return {};
  if (event === "Launched" && !turnOver(await launchedState(own.journal, input), input)) return {};
  const { transcript_path: transcript = "" } = input;
  const head = `What \`minion next --json --run ${run}\` says now: act on it as if you had asked.`;
  const since = outside().now();
  const isOnItsWay = () => isHeard(transcript, head, since);
  const woken = await waitFor(own.journal, place, session, isOnItsWay);
  if (woken === null) return {};
  return { stderr: `${head}\n${JSON.stringify(woken.answer)}\n`, exit: 2, given: woken.given };
}

/** What makes the terminal ring, where there is one. */
const BELL = `${JSON.stringify({ terminalSequence: "\u0007" })}\n`;

/** Is a session's turn over with the launch of a worker, since it was woken for no more than that?
 * Only in a terminal: without one the client would end.
 * @returns what the person is told then, else null */
export function turnOver(state: RunState, input: HookInput): string | null {
  const { agent_id: nested, permission_mode: mode, tool_response: response } = input;
  if (nested || mode === "plan" || outside().env.CLAUDE_CODE_ENTRYPOINT !== "cli") return null;
  for (const { id, launches } of state.attempts.values())
    if (launches.some(({ agent }) => agent === response?.agentId))
      return isAllLaunched(state, id) ? progressOf(state) : null;
  return null;
}

/** How long the hook that takes a launch down may run. */
const LAUNCH_MS = 60_000;

/** The run once a launch is taken down, which another hook does at the same time. */
async function launchedState(journal: Journal, input: HookInput): Promise<RunState> {
  const agent = input.tool_response?.agentId;
  const until = outside().now() + LAUNCH_MS;
  for (;;) {
    const state = await journal.state();
    const launches = [...state.attempts.values()].flatMap((each) => each.launches);
    if (launches.some((each) => each.agent === agent) || outside().now() > until) return state;
    await sleep(100);
  }
}

/** Sends a session on that has lost what it knew. */
async function sentOn({ journal }: Readonly<{ journal: Journal }>): Promise<HookAnswer> {
  const { run } = await journal.state();
  let isSent = false;
  await journal.decide(async (state, write) => {
    isSent = isOpen(state) && isForgotten(state) && (await isLed(state));
    if (isSent) write({ event: "sent-on" });
  });
  if (!isSent) return {};
  return {
    stderr: `Run ${run} is open.\nNext step: \`minion next --json --run ${run}\`.\n`,
    exit: 2,
  };
}

/** A notice of the client's that a worker has ended, as it begins in default and in auto mode. */
const NOTICE =
  /^\s*(Another Claude session sent a message\b[^\n]*\s+)?<(task-notification|agent-message)\b/;

/** Such a notice in default mode. The client takes it together with what wakes the session, and asks
 * nothing of the model where the first of both was taken: what woke it would be lost. What a worker
 * says in auto mode is a message of its own. */
const TOGETHER = /^\s*<task-notification\b/;

/** A worker's end needs no answer of its session where somebody waits in its place, or will once
 * its turn is over.
 * @param calledAt when the hook was called, in milliseconds since 1970
 * @returns what the person is told of it, or null where the notice has to go through */
export async function noticeTaken(
  { common }: Place,
  input: HookInput,
  calledAt: number,
): Promise<string | null> {
  const { prompt = "", session_id: session = "", transcript_path: transcript = "" } = input;
  if (!NOTICE.test(prompt)) return null;
  const state = await runOfWorker(common, session, prompt);
  if (!state) return null;
  if (TOGETHER.test(prompt) && (await isToCome(state, transcript, calledAt))) return null;
  const isToWait =
    !isForgotten(state) &&
    !hasGivenUp(state) &&
    !(await isLeft(state)) &&
    !(await isCutShort(transcript));
  const isTaken = !isOpen(state) || (await isWaitedFor(state)) || isToWait;
  return isTaken ? progressOf(state) : null;
}

/** May a session be about to get what it was woken with, together with a notice for which a hook was
 * called? The client has it once the program has ended that woke it. */
async function isToCome(
  { wokenAt, wokenBy }: RunState,
  transcript: string,
  calledAt: number,
): Promise<boolean> {
  if (wokenAt > calledAt || (wokenBy !== null && (await isAlive(wokenBy)))) return false;
  return (await repliedAt(transcript)) < wokenAt;
}

/** The session's run whose worker a notice names; null where there is none, or where nobody knows
 * yet how that worker ended. */
async function runOfWorker(
  common: string,
  session: string,
  prompt: string,
): Promise<RunState | null> {
  for (const name of (await listRuns(common)).reverse()) {
    const state = await new Journal(common, name).state().catch(() => null);
    if (state?.session !== session) continue;
    for (const attempt of state.attempts.values())
      if (attempt.launches.some(({ agent }) => prompt.includes(agent)))
        return isActive(attempt) ? null : state;
  }
  return null;
}

/** So much of a transcript's end holds its last entry, in bytes. */
const TAIL = 64 * 1024;

/** Was a session's last turn cut short, by the person or by a fault? Nobody waits in its place then:
 * the client tells nobody that it has ended. */
async function isCutShort(transcript: string): Promise<boolean> {
  const lines = (await tailOf(transcript)).split("\n").filter((line) => line.includes('"message"'));
  const last = lines.at(-1) ?? "";
  return /\[Request interrupted by user/.test(last) || /"isApiErrorMessage":true/.test(last);
}

/** When a session's model said something last; 0 where that is not known.
 * @returns milliseconds since 1970 */
async function repliedAt(transcript: string): Promise<number> {
  const lines = (await tailOf(transcript)).split("\n");
  return timeOf(lines.findLast((line) => line.includes('"type":"assistant"')) ?? "");
}

/** So long it may take until a session that is woken waits again; after that it is taken for lost. */
const HEARD_MS = 60_000;

/** Is what woke a session still in the client's queue, of which its transcript tells, or is the
 * session in the turn that began with it? The end of that has another one wait.
 * @param head how that begins
 * @param since when whoever asks began to wait */
async function isHeard(transcript: string, head: string, since: number): Promise<boolean> {
  // A request holds all that was said before as well, without a time.
  const isEntry = (line: string): boolean => line.includes(head) && timeOf(line) > 0;
  const last = (await tailOf(transcript)).split("\n").findLast(isEntry) ?? "";
  const at = timeOf(last);
  const isSo = last.includes('"operation":"enqueue"') || at > since;
  return isSo && at > outside().now() - HEARD_MS;
}

/** When an entry of a transcript was written, in milliseconds since 1970; 0 where it does not say.
 */
const timeOf = (line: string): number =>
  Date.parse(/"timestamp":"([^"]+)"/.exec(line)?.[1] ?? "") || 0;

async function tailOf(path: string): Promise<string> {
  const file = await open(path).catch(() => null);
  if (!file) return "";
  try {
    const { size } = await file.stat();
    const from = Math.max(0, size - TAIL);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(TAIL), 0, TAIL, from);
    return buffer.subarray(0, bytesRead).toString("utf8");
  } finally {
    await file.close();
  }
}

/** Where a run stands, on one line. */
function progressOf({ run, tasks }: RunState): string {
  const all = [...tasks.values()];
  const count = (state: State): number => all.filter((task) => task.state === state).length;
  const parts = [`${count("landed")} of ${all.length} landed`];
  for (const name of ["running", "mergeable", "needs-human"] as const)
    if (count(name) > 0) parts.push(`${count(name)} ${name}`);
  return `minion ${run}: ${parts.join(", ")}`;
}
