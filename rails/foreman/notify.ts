import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { cleanEnv } from "../git/git.ts";
import type { Place } from "../git/repository.ts";
import type { Journal } from "../journal/journal.ts";
import { isWaiting, type RunState } from "../journal/state.ts";
import { typed } from "../program/typed.ts";
import { outside } from "../program/world.ts";
import { isRunning } from "../proof/jobs.ts";
import { type Alarm, alarmLine, alarmsOf } from "./alarms.ts";
import { type Attention, attentionOf } from "./attention.ts";
import { lookAt } from "./look.ts";
import { doneAt, keyOf } from "./news.ts";

/** What a person is called for: something waits for them, several workers have something in common,
 * the money is spent, or all is done. */
type Notice = Readonly<{
  kind: "waits" | "alarm" | "budget" | "done";
  task: string | null; // Whose id it is; null where it is the run's
  text: string;
}>;

/** The least time between two calls, in milliseconds: whoever is called more often stops listening.
 */
const BETWEEN_MS = 5 * 60_000;
/** How often it is looked whether that is over, in milliseconds. */
const POLL_MS = 1000;
/** How long the command may take, in milliseconds. */
const PATIENCE_MS = 60_000;

/** The shape of what the command gets on its standard input. */
const VERSION = 1;

type Known = Readonly<{ alarms: readonly Alarm[]; dollars: number | null; now: number }>;

/** What a person was not called for yet, by the keys under which it is known then. */
export function noticesOf(state: RunState, known: Known): Map<string, Notice> {
  const all = new Map<string, Notice>();
  const add = (notice: Notice, ...parts: readonly string[]): void => {
    const key = keyOf(["call", ...parts]);
    if (!state.notified.has(key)) all.set(key, notice);
  };
  for (const { when, what, ...alarm } of known.alarms)
    add({ kind: "alarm", task: null, text: alarmLine({ when, what, ...alarm }) }, when, what);
  for (const one of attentionOf(state, known.alarms, known)) {
    const { task, reason, note } = one;
    const times = state.tasks.get(task)?.attempts.length ?? 0;
    const kind = kindOf(one);
    if (kind)
      add(
        { kind, task: task || null, text: textOf(state, one) },
        task,
        `${reason}`,
        note,
        `${times}`,
      );
  }
  if (state.done && !isWaiting(state) && !state.aborted) {
    const landed = [...state.tasks.values()].filter((task) => task.state === "landed").length;
    const text = `Run ${state.run} is done: ${landed} of ${state.tasks.size} landed.`;
    add({ kind: "done", task: null, text }, ...doneAt(state));
  }
  return all;
}

/** An alarm is said as one, and a limit of the account ends by itself. */
function kindOf({ reason }: Attention): Notice["kind"] | null {
  if (reason === "alarm" || reason === "rate-limit") return null;
  return reason === "budget" ? "budget" : "waits";
}

function textOf({ tasks }: RunState, { task, reason, note }: Attention): string {
  const { title } = tasks.get(task) ?? {};
  const whose = title === undefined ? "The run" : `Task ${task} (${title})`;
  return `${whose}: ${[reason, note].filter(Boolean).join(". ")}`;
}

/** The name of the job that calls the person of a run. */
const jobOf = ({ run }: RunState): string => `notify ${run}`;

/** Sees to it that a person is called where there is something new for them, and their blueprint
 * says how. Whoever calls this need not wait.
 * @param dollars what the run has cost up to now; null where that is not known */
export async function notify(
  journal: Journal,
  { main }: Place,
  dollars: number | null,
): Promise<void> {
  const state = await journal.state();
  if (commandOf(state) === "" || noticesOf(state, knownNow(state, dollars)).size === 0) return;
  if (!(await isRunning(state, jobOf(state))))
    outside().again(["job", ...jobOf(state).split(" ")], main);
}

/** What is known of a run beside its journal.
 * @param dollars what it has cost up to now; null where that is not known */
function knownNow(state: RunState, dollars: number | null): Known {
  const now = outside().now();
  return { alarms: alarmsOf(state, { dollars, now }), dollars, now };
}

/** The command that calls a person; empty where there is none. A journal of before has none. */
const commandOf = ({ blueprint }: RunState): string => blueprint.notify ?? "";

/** Calls the person until nothing new is left to call them for, and never more than once in five
 * minutes: what comes meanwhile is said with it, and what was settled is not.
 * @throws Error where the command did not end well */
export async function notifyAll(journal: Journal, place: Place): Promise<void> {
  let fault = "";
  for (;;) {
    const state = await journal.state();
    const notices = noticesOf(state, await lookAt(place, state));
    if (notices.size === 0) break;
    if (outside().now() < state.notifiedAt + BETWEEN_MS) {
      await sleep(POLL_MS);
      continue;
    }
    await journal.add({ event: "notified", keys: [...notices.keys()] });
    const message = messageOf(state, place, [...notices.values()]);
    fault = await called(commandOf(state), place.main, message);
  }
  if (fault !== "") throw new Error(fault);
}

/** What the command gets to read: a line of JSON. */
const messageOf = ({ run, line }: RunState, { main }: Place, news: readonly Notice[]): string =>
  JSON.stringify({
    version: VERSION,
    repository: main,
    run,
    line,
    news,
    look: typed(`attention --run ${run}`),
  });

/** Runs the command with a text on its standard input. @returns what went wrong, or nothing */
function called(command: string, cwd: string, text: string): Promise<string> {
  const child = spawn(command, {
    cwd,
    env: cleanEnv(),
    shell: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  child.stdin?.on("error", () => {}); // It may end without reading
  child.stdin?.end(`${text}\n`);
  return endOf(child);
}

const endOf = (child: ChildProcess): Promise<string> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      resolve(`what notify: names took longer than ${PATIENCE_MS / 1000} seconds`);
    }, PATIENCE_MS);
    const end = (what: string): void => {
      clearTimeout(timer);
      resolve(what);
    };
    child.on("error", ({ message }) => end(`what notify: names could not be run: ${message}`));
    child.on("exit", (code) => end(code === 0 ? "" : `what notify: names ended with ${code}`));
  });

/** Is the terminal to ring at the end of a session's turn? Where no command calls the person, and
 * there is something new for them; it is written down then.
 * @returns whether it is */
export async function isToRing(journal: Journal): Promise<boolean> {
  return journal.decide((state, write) => {
    const known = knownNow(state, null);
    const keys = [...noticesOf(state, known).keys()];
    const isSoon = known.now < state.notifiedAt + BETWEEN_MS;
    if (commandOf(state) !== "" || keys.length === 0 || isSoon) return false;
    write({ event: "notified", keys });
    return true;
  });
}
