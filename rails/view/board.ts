import { styleText } from "node:util";
import { wrapAnsi } from "fast-wrap-ansi";
import { type Alarm, alarmLine } from "../foreman/alarms.ts";
import type { LineFault } from "../foreman/look.ts";
import { chainLeft } from "../journal/chain.ts";
import { flakyIn } from "../journal/flaky.ts";
import {
  type AttemptState,
  endedAt,
  isOpen,
  isWaiting,
  type RunState,
  rivalsOn,
  type TaskState,
} from "../journal/state.ts";
import type { Cost } from "../money/cost.ts";
import { oneLine } from "../program/shown.ts";
import { moneyText } from "./cost-text.ts";
import { about, clock, LOOKS, table } from "./text.ts";

/** What a board is drawn on. */
type Screen = Readonly<{ columns: number; isColoured: boolean }>;

/** What a board shows beside the run: the time in milliseconds since 1970, and what the run has
 * cost where that is known. */
type Now = Readonly<{
  now: number;
  cost: Cost | null;
  alarms: readonly Alarm[];
  fault?: LineFault | null;
  attention?: string;
}>;

export type Board = ReturnType<typeof board>;

/** Where each task stands, for a person to glance at, and the same as data. No line is wider than
 * `columns`. `doing`: what its worker is at, what it waits for, or the reason for its state;
 * `seconds`: since its worker was dispatched, or what all of them took where none is at it, null
 * where there never was one; `left`: minutes that the longest
 * chain of open tasks takes; dollars at list prices. */
export function board(state: RunState, seen: Now, screen: Screen) {
  const { run, done, bad } = state;
  const { now, cost, alarms } = seen;
  const tasks = [...state.tasks.values()].map((task) => rowOf(state, task, now));
  const chain = isOpen(state) ? chainLeft(state, now) : null;
  const money = cost && {
    dollars: cost.dollars,
    unpriced: cost.unpriced,
    unknown: cost.unknown,
    expected: state.estimate?.dollars ?? null,
    budget: state.budget,
  };
  const flaky = flakyGates(state);
  const left = chain && { minutes: Math.round(chain.ms / 60_000), tasks: chain.tasks };
  const head = headOf(state, seen, tasks, chain).flatMap((line) =>
    wrapAnsi(oneLine(line), screen.columns, { hard: true }).split("\n"),
  );
  const foot = waitingOf(tasks, seen).flatMap((line) =>
    wrapAnsi(line, screen.columns, { hard: true }).split("\n"),
  );
  const lines = [...head, ...tableOf(tasks, screen), ...foot];
  return { text: lines.join("\n"), data: { run, done, bad, tasks, money, left, alarms, flaky } };
}

/** One task on the board. */
function rowOf(state: RunState, task: TaskState, now: number) {
  const last = task.attempts.at(-1);
  const until = isOpen(state) ? now : state.lastAt;
  return {
    task: task.id,
    title: task.title,
    state: task.state,
    reason: task.reason,
    attempt: last?.id ?? null,
    attempts: last ? triesOf(task, last) : 0,
    doing: doingOf(state, task),
    seconds: last ? Math.round(workedFor(task, last, until) / 1000) : null,
  };
}
type Row = ReturnType<typeof rowOf>;

/** How long the worker of a task has been at it, or all of its workers were where none is, in
 * milliseconds. */
function workedFor({ state, attempts }: TaskState, last: AttemptState, until: number): number {
  const counted = state === "running" ? [last] : attempts;
  return counted.reduce((sum, each) => sum + (endedAt(each) ?? until) - each.dispatchedAt, 0);
}

/** The number of an attempt among those at its phase of the task. */
const triesOf = ({ attempts }: TaskState, { phase }: AttemptState): number =>
  attempts.filter((each) => each.phase.name === phase.name).length;

/** What is said above the tasks: how the run stands, what it has cost and still takes, alarms. */
function headOf(
  state: RunState,
  { now, cost, alarms, fault }: Now,
  tasks: readonly Row[],
  chain: ReturnType<typeof chainLeft>,
): string[] {
  const { run, done, bad } = state;
  const took = clock((isOpen(state) ? now : state.lastAt) - state.startedAt);
  const names = [...new Set(tasks.map((task) => task.state))];
  const counts = names.map(
    (name) => `${tasks.filter((task) => task.state === name).length} ${name}`,
  );
  const outlook: string[] = [];
  const money = cost ? moneyText(state, cost) : "";
  if (money) outlook.push(money);
  if (chain) outlook.push(`${about(chain.ms)} left on ${chain.tasks.join(" → ")}`);
  const head = [`run ${run}: ${overText(state)} after ${took}. ${counts.join(", ")}`];
  if (outlook.length > 0) head.push(outlook.join(" · "));
  if (fault) head.push(`! ${fault.what} To ${fault.label}: ${fault.command}`);
  head.push(...alarms.map((alarm) => `! ${alarmLine(alarm)}`));
  const flaky = flakyGates(state);
  if (flaky.length > 0)
    head.push(`flaky, red and then green on the same files: ${flaky.join(", ")}`);
  if (!state.baseRed && !done) head.push("the gates run on the base first");
  if (bad.length > 0)
    head.push(`passed over in the journal, since it cannot be read: line ${bad.join(", ")}`);
  return head;
}

/** The names of the gates that were flaky. */
const flakyGates = (state: RunState): string[] => [
  ...new Set(flakyIn(state).map(({ gate }) => gate)),
];

/** What waits for a person, and the command that shows the choices; nothing where nothing does. */
function waitingOf(
  tasks: readonly Row[],
  { alarms, attention = "minion attention" }: Now,
): string[] {
  const waiting = tasks.filter(({ state }) => state === "needs-human").map(({ task }) => task);
  if (alarms.some(({ pause }) => pause)) waiting.unshift("the run");
  return waiting.length > 0 ? [`waits for you: ${waiting.join(", ")} → ${attention}`] : [];
}

function overText(state: RunState): string {
  if (state.aborted) return "aborted";
  if (!state.done) return "under way";
  return isWaiting(state) ? "waits for you" : "done";
}

/** The tasks as a table, their states coloured where the screen has colours. */
function tableOf(tasks: readonly Row[], { columns, isColoured }: Screen): string[] {
  const rows = tasks.map(({ task, state, doing, attempts, seconds, title }) => {
    const took = seconds === null ? "" : clock(seconds * 1000);
    const tried = attempts > 1 && state !== "landed" ? `try ${attempts}` : "";
    return [task, state, [tried, doing].filter(Boolean).join(": "), took, title];
  });
  const paint = (text: string, row: number, column: number): string => {
    const state = column === 1 && isColoured ? tasks[row]?.state : undefined;
    const colour = state && LOOKS[state]?.colour;
    return colour ? styleText(colour, text, { validateStream: false }) : text;
  };
  return table(rows, columns, paint);
}

/** What a task's worker is at, or what it waits for, in words for a person: the very tasks that are
 * in the way. For the foreman, `waiting` says what kind of thing has to happen. */
function doingOf(state: RunState, task: TaskState): string {
  switch (task.state) {
    case "running":
      return workOf(state, task);
    case "mergeable":
      return state.jobs.has(`land ${state.run}`) ? "landing" : "to be landed";
    case "waiting":
    case "blocked":
      return `after ${task.depends.filter((id) => !isBehind(state, id)).join(", ")}`;
    case "ready": {
      const rivals = rivalsOn(state, task.id);
      return rivals.length > 0 ? `not beside ${rivals.join(", ")}` : (task.reason ?? "");
    }
    default:
      return task.reason ?? "";
  }
}

/** What the worker of a running task is at: a command of the rails, its phase, or just work. */
function workOf({ jobs }: RunState, { attempts, phase, phases }: TaskState): string {
  const last = attempts.at(-1);
  const job = [...jobs.values()].find(({ attempt }) => attempt === last?.id);
  if (job) return job.name.replace(` ${last?.id}`, "");
  if (!last?.begun) return "starting";
  return phases.length > 1 && phase ? phase.name : "working";
}

/** Is a task behind those that depend on it? */
function isBehind({ tasks }: RunState, id: string): boolean {
  const state = tasks.get(id)?.state;
  return state === "landed" || state === "skipped";
}
