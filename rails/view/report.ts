import { join } from "node:path";
import { alarmLine } from "../foreman/alarms.ts";
import type { Attention } from "../foreman/attention.ts";
import { SUCCESS } from "../journal/end-task.ts";
import type { Evidence } from "../journal/events.ts";
import { isMade } from "../journal/family.ts";
import { isRed } from "../journal/passed.ts";
import type { State } from "../journal/shapes.ts";
import { type RunState, type TaskState, withWork } from "../journal/state.ts";
import { grouped } from "../plan/collections.ts";
import { code, inline, named, oneLine } from "../program/shown.ts";
import { typed } from "../program/typed.ts";
import { tailOf } from "../proof/output.ts";
import { moneyText } from "./cost-text.ts";
import { madeText, resultsText } from "./flows-text.ts";
import { commonText, idsText, landedText } from "./landed-text.ts";
import { COMMON, marksOf } from "./marks.ts";
import {
  apart,
  askingNow,
  commandsText,
  findingsIn,
  intentText,
  mergedText,
  overText,
  type Seen,
  section,
  shortly,
  titleText,
  wholeText,
} from "./said.ts";
import { clock } from "./text.ts";

/** The lines that a report of no tasks may have, and the most that any may: one that is longer is
 * given in full by nobody. */
const LEAST = 26;
const MOST = 60;

/** How much is said of what could be said at length. */
type Detail = Readonly<{
  errors: number; // Lines of a failure
  isListed: boolean; // Choices stand below one another
  decisions: number; // So many are said at length
  findings: number;
  names: number; // Paths in a line
  isFolded: boolean; // What nothing speaks for a look at stands in one line
}>;

/** From the most to the least that a report says. */
const DETAILS: readonly Detail[] = [
  { errors: 3, isListed: true, decisions: 99, findings: 12, names: 8, isFolded: false },
  { errors: 2, isListed: true, decisions: 99, findings: 6, names: 4, isFolded: false },
  { errors: 1, isListed: false, decisions: 99, findings: 4, names: 4, isFolded: false },
  { errors: 1, isListed: false, decisions: 99, findings: 4, names: 4, isFolded: true },
  { errors: 1, isListed: false, decisions: 8, findings: 3, names: 2, isFolded: true },
  { errors: 1, isListed: false, decisions: 4, findings: 2, names: 2, isFolded: true },
];

/** Characters of a sentence of others, and of a line of raw output. */
const SENTENCE = 200;
const LINE = 120;

/** The page that a person gets at the end, short enough to be read: what is theirs to decide and
 * why, what landed in that order and what of it wants a look, what was found, what to type next. At
 * most 26 lines and one for each task, 60 at most, however much happened. */
export async function reportText(state: RunState, seen: Seen): Promise<string> {
  const failures = await failuresIn(state, seen);
  const most = Math.min(MOST, LEAST + state.tasks.size);
  let lines: string[] = [];
  for (const detail of DETAILS) {
    lines = linesOf(state, seen, failures, detail);
    if (lines.length <= most) break;
  }
  return lines.join("\n");
}

/** What is said of a run at some length, line by line. */
function linesOf(
  state: RunState,
  seen: Seen,
  failures: ReadonlyMap<string, Failure>,
  detail: Detail,
): string[] {
  const whole = state.tasks.get(SUCCESS);
  const { landed, rest } = apart(state);
  const { alarms, attention } = askingNow(state, seen);
  const results = resultsText(state, (handoff) => shortly(handoff, state.blueprint.slots));
  const { run } = state;
  const rows = [...landedLines(state, landed, detail), ...restLines(rest)];
  return [
    titleText(state),
    ...intentText(state).map((line) => `${cut(line.trim(), SENTENCE)}\n`),
    `${overText(state)} ${tookText(state, seen)}\n`,
    ...section("Yours to decide", decisionsText(state, seen, attention, failures, detail)),
    ...section(
      "Alarms",
      alarms.map((alarm) => `- ${inline(alarmLine(alarm))}`),
    ),
    ...section("Landed", rows),
    ...section("Results", shortened(results, 2 + detail.findings, "results")),
    ...section("The whole", whole ? [cut(wholeText(whole), SENTENCE)] : []),
    ...section("Findings", findingLines(state, detail)),
    ...section("What next", commandsText(state, seen.remote)),
    `All of it, with raw output and cost: ${code(typed(`report --full --run ${run}`))}; to judge by, in a browser: ${code(typed(`report --html --run ${run}`))}`,
  ]
    .join("\n")
    .replace(/^(## .*)\n\n/gm, "$1\n")
    .split("\n");
}

/** How long a run took and what it cost. */
function tookText(state: RunState, { cost, remote }: Seen): string {
  const took = clock(state.lastAt - state.startedAt);
  const money = cost ? moneyText(state, cost) : "";
  const sentences = [`${[took, money].filter(Boolean).join(", ")}. Line ${code(state.line)}.`];
  if (state.end?.red) sentences.push(`**Red at the end: ${inline(state.end.red)}**`);
  if (state.landings.length > 0) sentences.push(mergedText(state, remote));
  return sentences.join(" ");
}

/** What landed, in the order of landing; where there is no room, what nothing speaks for a look at
 * is one line. */
function landedLines(
  state: RunState,
  landed: readonly TaskState[],
  { names, isFolded }: Detail,
): string[] {
  const textOf = (task: TaskState): string =>
    task.state === "landed" ? landedText(state, task, names) : restText(task);
  const isPlain = (task: TaskState): boolean =>
    !isMade(task) && marksOf(state, task).every(({ kind }) => COMMON.includes(kind));
  const shown = isFolded ? landed.filter((task) => !isPlain(task)) : landed;
  const lines = shown.map((task) => (isMade(task) ? madeText(state, task, textOf) : textOf(task)));
  const folded = landed.filter((task) => !shown.includes(task)).map(({ id }) => id);
  if (folded.length > 0) lines.push(`- as they name it, one by one: ${idsText(folded)}`);
  return [...lines, ...commonText(state)];
}

/** What stands in no other section: by its state. */
function restLines(rest: readonly TaskState[]): string[] {
  const others = rest.filter(({ state }) => state !== "needs-human");
  const byState = grouped(others.map((task) => [task.state, task] as const));
  return [...byState].map(
    ([state, tasks]) =>
      `- ${STATES[state as State] ?? `Not yet: ${state}`}: ${idsText(idsOf(tasks))}`,
  );
}

const idsOf = (tasks: readonly TaskState[]): string[] => tasks.map(({ id }) => id);

/** What is said of tasks that neither landed nor wait for a person. */
const STATES: Partial<Record<State, string>> = {
  blocked: "Blocked by what did not land",
  skipped: "There was nothing to do for",
  dropped: "Dropped",
};

const restText = ({ id, title, state, reason }: TaskState): string =>
  `- **${id} ${inline(title)}**: ${state}${reason ? `, ${reason}` : ""}`;

/** What there is to know of a task that failed: its last lines, and where the whole lies. */
export type Failure = Readonly<{ gate: string; lines: readonly string[]; output: string }>;

/** The last red gate of each task that waits for a person, with the last lines of what it said.
 * @param most how many lines, where no line of it names what failed */
export async function failuresIn(
  state: RunState,
  { folder }: Seen,
  most = 3,
): Promise<ReadonlyMap<string, Failure>> {
  const found = [...state.tasks.values()]
    .filter(({ state }) => state === "needs-human")
    .map(async (task) => {
      const red = lastRed(state, task);
      if (!red) return [];
      const output = join(folder, red.output);
      const said = red.errors ?? [];
      const lines =
        said.length > 0 ? said : (await tailOf(output, most)).filter((line) => line.trim());
      return [[task.id, { gate: red.gate, lines, output }] as const];
    });
  return new Map((await Promise.all(found)).flat());
}

/** The last run of a gate for a task that was red; none where that gate passed since. */
function lastRed({ evidence }: RunState, { attempts }: TaskState): Evidence | undefined {
  const ids = new Set(attempts.map(({ id }) => id));
  return evidence.findLast((each) => each.attempts.some((id) => ids.has(id)) && isRed(each));
}

/** What is a person's to decide: why, where the work lies, and the commands. What is the same for
 * several tasks is said once. */
function decisionsText(
  state: RunState,
  seen: Seen,
  attention: readonly Attention[],
  failures: ReadonlyMap<string, Failure>,
  detail: Detail,
): string[] {
  const all = alikeAmong(state, attention, failures);
  const lines = all
    .slice(0, detail.decisions)
    .flatMap((each) => decisionText(state, seen, each, failures, detail));
  const left = all.slice(detail.decisions).flatMap((each) => each.map(({ task }) => task));
  if (left.length > 0)
    lines.push(
      `- and ${left.length} more, ${idsText(left)}: ${code(typed(`attention --run ${state.run}`))}`,
    );
  return lines;
}

/** What is a person's to decide, together where it is the same for several tasks. */
export function alikeAmong(
  state: RunState,
  attention: readonly Attention[],
  failures: ReadonlyMap<string, Failure>,
): (readonly Attention[])[] {
  const alike = grouped(
    attention.map((each) => {
      const { reason, note, choices, task } = each;
      const isOwn = failures.has(task) || workOf(state, task) !== undefined;
      return [isOwn ? task : JSON.stringify([reason, note, choices]), each] as const;
    }),
  );
  return [...alike.values()];
}

function decisionText(
  state: RunState,
  seen: Seen,
  alike: readonly Attention[],
  failures: ReadonlyMap<string, Failure>,
  { errors, isListed }: Detail,
): string[] {
  const [first] = alike;
  if (!first) return [];
  const { task: id, reason, note, choices } = first;
  const task = state.tasks.get(id);
  const ids = idsText(alike.map((each) => each.task));
  const whose =
    id === ""
      ? "the run"
      : alike.length > 1
        ? `tasks ${ids}`
        : `${id} ${inline(task?.title ?? "")}`;
  const tries = task && task.attempts.length > 1 ? ` after ${task.attempts.length} attempts` : "";
  const why = note ? `. ${inline(cut(note, SENTENCE))}` : "";
  const lines = [`- **${whose}**: ${reason ?? "it waits"}${tries}${why}`];
  const failure = failures.get(id);
  if (failure) {
    const last = failure.lines.slice(-errors).map((line) => code(cut(oneLine(line), LINE)));
    lines.push(`  - ${inline(failure.gate)} said ${last.join(" ")}, in ${code(failure.output)}`);
  }
  const work = workText(state, seen, id);
  if (work) lines.push(`  - its work: ${work}`);
  const said = choices.map(({ label, command }) => `${inline(label)}: ${code(command)}`);
  if (isListed) lines.push(...said.map((choice) => `  - ${choice}`));
  else if (said.length > 0) lines.push(`  - ${said.join("; ")}`);
  return lines;
}

/** Where what there is of a task lies; empty where there is nothing. */
function workText(state: RunState, { worktrees }: Seen, id: string): string {
  const last = workOf(state, id);
  if (!last) return "";
  const { branch, worktree } = last.begun;
  return `${named(branch)}${worktrees.has(worktree) ? `, in ${code(worktree)}` : ""}`;
}

/** The newest attempt of a task on whose branch there may be work. */
export function workOf(
  { tasks }: RunState,
  id: string,
): ReturnType<typeof withWork>[number] | undefined {
  const task = tasks.get(id);
  return task && withWork(task)[0];
}

/** What handoffs say beside what was done, as many as there is room for. */
function findingLines(state: RunState, { findings }: Detail): string[] {
  const lines = findingsIn(state).map(
    ({ task, slot, text }) => `- ${task}, ${inline(slot)}: ${inline(cut(oneLine(text), SENTENCE))}`,
  );
  return shortened(lines, findings, "findings");
}

/** As many lines as there is room for, and how many more there are. */
const shortened = (lines: readonly string[], most: number, what: string): string[] =>
  lines.length <= most
    ? [...lines]
    : [...lines.slice(0, most), `${lines.length - most} more ${what} in the full report.`];

function cut(text: string, most: number): string {
  const chars = Array.from(text);
  return chars.length > most ? `${chars.slice(0, most - 1).join("")}…` : text;
}
