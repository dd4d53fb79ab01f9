import { styleText } from "node:util";
import { wrapAnsi } from "fast-wrap-ansi";
import { type Alarm, alarmLine } from "../foreman/alarms.ts";
import { asking } from "../foreman/attention.ts";
import type { LineFault } from "../foreman/look.ts";
import { chainLeft } from "../journal/chain.ts";
import { isArea } from "../journal/family.ts";
import { flakyIn } from "../journal/flaky.ts";
import { hasRounds } from "../journal/rounds.ts";
import type { State } from "../journal/shapes.ts";
import {
  type AttemptState,
  activeOf,
  endedAt,
  isOpen,
  isWaiting,
  type RunState,
  rivalsOn,
  type TaskState,
} from "../journal/state.ts";
import type { Cost } from "../money/cost.ts";
import { expectedOf } from "../money/estimate.ts";
import { parentOf } from "../plan/task.ts";
import { oneLine } from "../program/shown.ts";
import { moneyText } from "./cost-text.ts";
import { choiceText, roundOf, type Visit, variantsIn, visitOf } from "./progress.ts";
import { about, clock, LOOKS, table } from "./text.ts";
import { type Branch, branchesOf, countsOf, countsText, flat, ownWork } from "./tree.ts";

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
  report?: string; // The command that says how it went
}>;

export type Board = ReturnType<typeof board>;

/** Where each task stands, for a person to glance at, and the same as data. No line is wider than
 * `columns`. What a task is made of stands under it, and of that only what is open; the data has
 * all. `doing`: what its worker is at, what it waits for, or the reason for its state;
 * `seconds`: since its worker was dispatched, or what all of them took where none is at it, null
 * where there never was one; `left`: minutes that the longest
 * chain of open tasks takes; dollars at list prices. */
export function board(state: RunState, seen: Now, screen: Screen) {
  const { run, done, bad } = state;
  const { now, cost, alarms } = seen;
  const rows = new Map([...state.tasks.values()].map((task) => [task, rowOf(state, task, now)]));
  const tasks = [...rows.values()];
  const chain = isOpen(state) ? chainLeft(state, now) : null;
  const money = cost && {
    dollars: cost.dollars,
    unpriced: cost.unpriced,
    unknown: cost.unknown,
    expected: expectedOf(state),
    budget: state.budget,
  };
  const flaky = flakyGates(state);
  const left = chain && { minutes: Math.round(chain.ms / 60_000), tasks: chain.tasks };
  const head = headOf(state, seen, chain).flatMap((line) =>
    wrapAnsi(oneLine(line), screen.columns, { hard: true }).split("\n"),
  );
  const foot = waitingOf(state, seen).flatMap((line) =>
    wrapAnsi(line, screen.columns, { hard: true }).split("\n"),
  );
  const lines = [...head, ...tableOf(state, rows, screen), ...foot];
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
    model: last?.model ?? "",
    doing: doingOf(state, task),
    seconds: last ? Math.round(workedFor(task, until) / 1000) : null,
    parent: parentOf(task.id),
    round: roundOf(task),
    visit: visitOf(task),
    variants: variantsIn(task),
  };
}
type Row = ReturnType<typeof rowOf>;

/** How long the worker of a task has been at it, of several the first one, or all of its workers
 * were where none is, in milliseconds. */
function workedFor(task: TaskState, until: number): number {
  const active = activeOf(task).map((each) => until - each.dispatchedAt);
  if (active.length > 0) return Math.max(...active);
  return task.attempts.reduce((sum, each) => sum + (endedAt(each) ?? until) - each.dispatchedAt, 0);
}

/** The number of an attempt among those at its phase of the task. */
const triesOf = ({ attempts }: TaskState, { phase }: AttemptState): number =>
  attempts.filter((each) => each.phase.name === phase.name).length;

/** What is said above the tasks: how the run stands, what it has cost and still takes, alarms. */
function headOf(
  state: RunState,
  { now, cost, alarms, fault }: Now,
  chain: ReturnType<typeof chainLeft>,
): string[] {
  const { run, done, bad } = state;
  const took = clock((isOpen(state) ? now : state.lastAt) - state.startedAt);
  const tasks = ownWork(state);
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
  const silent = state.errors.get(`notify ${run}`);
  if (silent) head.push(`! nobody is called: ${silent}`);
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

/** Of the tasks that wait for a person so many are named. */
const NAMED = 20;

/** What waits for a person, and the command that shows the choices; once it is over, the one that
 * shows how it went. */
function waitingOf(
  state: RunState,
  { alarms, attention = "minion attention", report = "minion report" }: Now,
): string[] {
  const all = asking(state).map(({ id }) => id);
  const waiting = all.slice(0, NAMED);
  if (all.length > NAMED) waiting.push(`${all.length - NAMED} more`);
  if (alarms.some(({ pause }) => pause)) waiting.unshift("the run");
  const lines: string[] = [];
  if (waiting.length > 0) lines.push(`waits for you: ${waiting.join(", ")} → ${attention}`);
  if (!isOpen(state)) lines.push(`how it went → ${report}`);
  return lines;
}

function overText(state: RunState): string {
  if (state.aborted) return "aborted";
  if (!state.done) return "under way";
  return isWaiting(state) ? "waits for you" : "done";
}

/** The tasks as a table, their states coloured where the screen has colours: what one is made of
 * stands under it, as far as that is open. */
function tableOf(
  state: RunState,
  rows: ReadonlyMap<TaskState, Row>,
  { columns, isColoured }: Screen,
): string[] {
  const lines = flat(branchesOf(state)).flatMap((branch) =>
    linesOf(branch, rows.get(branch.task) as Row),
  );
  const paint = (text: string, row: number, column: number): string => {
    const state = column === 1 && isColoured ? lines[row]?.state : undefined;
    const colour = state && LOOKS[state]?.colour;
    return colour ? styleText(colour, text, { validateStream: false }) : text;
  };
  const cells = lines.map((line) => line.cells);
  return table(cells, columns, paint);
}

type Line = Readonly<{ state?: State; cells: readonly string[] }>;

/** A task as a line; under one that is made of others, how many of them are shown no line. */
function linesOf({ task, title, depth, parts, more }: Branch, row: Row): Line[] {
  const { state } = task;
  const id = `${"  ".repeat(depth)}${task.id}`;
  if (parts.length > 0) {
    const cells = [id, state, `${wholeText(task, parts)}  ${title}`];
    const rest = `${more} more need you`;
    return [{ state, cells }, ...(more > 0 ? [{ cells: ["", "", rest] }] : [])];
  }
  const { doing, attempts, seconds, model } = row;
  const took = seconds === null ? "" : clock(seconds * 1000);
  const tried = isTriedAgain(task) ? `try ${attempts}` : "";
  const who = state === "running" && model !== "" ? `, ${model}` : "";
  const what = `${[tried, doing].filter(Boolean).join(": ")}${who}`;
  return [{ state, cells: [id, state, what, took, title] }];
}

/** Is somebody at a task again, since it failed? Rounds, variants and visits say so themselves. */
function isTriedAgain(task: TaskState): boolean {
  const { state, attempts } = task;
  const last = attempts.at(-1);
  if (!last || state === "landed" || last.variant > 0 || hasRounds(last.phase) || isArea(task))
    return false;
  return triesOf(task, last) > 1;
}

/** Where a task stands that is made of others: how many of them do, and what it waits for itself. */
function wholeText(task: TaskState, parts: readonly TaskState[]): string {
  const counts = countsText(countsOf(parts));
  const why = task.state === "needs-human" && task.heldBy === null ? `${task.reason}: ` : "";
  const visit = visitOf(task);
  const planner = activeOf(task).length > 0 ? ", planning" : "";
  return `${why}${counts}${visit ? `, ${visitText(visit)}${planner}` : ""}`;
}

const visitText = ({ number, most }: Visit): string => `visit ${number} of ${most}`;

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
      if (task.each && !task.isListed) return "to be listed";
      const rivals = rivalsOn(state, task.id);
      if (rivals.length > 0) return `not beside ${rivals.join(", ")}`;
      return choiceText(task) || roundText(task, task.reason ?? "");
    }
    case "verify-failed":
    case "needs-human":
      return roundText(task, task.reason ?? "");
    default:
      return task.reason ?? "";
  }
}

/** `round 2 of 6: verify red`: which round, and what there is to say of it, or what is still red. */
function roundText(task: TaskState, what: string): string {
  const round = roundOf(task);
  if (!round || (round.red.length === 0 && task.state !== "running")) return what;
  const said = what || (round.red.length > 0 ? `${round.red.join(", ")} red` : "working");
  return `round ${round.number} of ${round.most}: ${said}`;
}

/** What the worker of a running task is at: a command of the rails, its phase, or just work. */
function workOf({ jobs }: RunState, task: TaskState): string {
  const { phase, phases } = task;
  const active = activeOf(task);
  const [worker] = active;
  const visit = visitOf(task);
  if (active.length === 0) return "its own check";
  if (active.length > 1) return choiceText(task);
  const job = [...jobs.values()].find(({ attempt }) => attempt === worker?.id);
  const at = job ? job.name.replace(` ${worker?.id}`, "") : worker?.begun ? "" : "starting";
  const choice = choiceText(task);
  if (choice) return at ? `${choice}: ${at}` : choice;
  if (visit) return `${visitText(visit)}: ${at || "planning"}`;
  if (roundOf(task)) return roundText(task, at);
  return at || (phases.length > 1 && phase ? phase.name : "working");
}

/** Is a task behind those that depend on it? */
function isBehind({ tasks }: RunState, id: string): boolean {
  const state = tasks.get(id)?.state;
  return state === "landed" || state === "skipped";
}
