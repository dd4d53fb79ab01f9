import { families, isMade } from "../journal/family.ts";
import type { State } from "../journal/shapes.ts";
import type { RunState, TaskState } from "../journal/state.ts";
import type { Lists } from "../plan/collections.ts";
import { parentOf } from "../plan/task.ts";

/** A task where it lies: in how many others, and what it is made of. */
export type Branch = Readonly<{
  task: TaskState;
  title: string; // Without what that of the task around it says as well
  depth: number;
  parts: readonly TaskState[]; // All of them …
  shown: readonly Branch[]; // … those that are open …
  more: number; // … and how many wait for a person beside those
}>;

/** Of what a task is made of, so many that wait for a person are shown by themselves. */
const SHOWN = 10;

/** The tasks of a run that lie in no other, each with what is open of those that it is made of: at
 * which somebody works, or that wait for a person. */
export function branchesOf(state: RunState): Branch[] {
  const all = families(state);
  return rootsOf(state).map((task) => branchOf(task, null, 0, all));
}

/** The tasks that are part of no other. */
export const rootsOf = ({ tasks }: RunState): TaskState[] =>
  [...tasks.values()].filter(({ id }) => {
    const parent = tasks.get(parentOf(id) ?? "");
    return parent === undefined || !isMade(parent);
  });

/** What a task is made of. */
export const partsOf = (task: TaskState, all: Lists<TaskState>): readonly TaskState[] =>
  isMade(task) ? (all.get(task.id) ?? []) : [];

function branchOf(
  task: TaskState,
  around: TaskState | null,
  depth: number,
  all: Lists<TaskState>,
): Branch {
  const parts = partsOf(task, all);
  const branches = parts.map((each) => branchOf(each, task, depth + 1, all));
  const isAsking = (each: Branch): boolean =>
    each.task.state === "needs-human" && each.shown.length === 0;
  const open = branches.filter(
    (each) => ["running", "needs-human"].includes(each.task.state) || each.shown.length > 0,
  );
  const asking = open.filter(isAsking);
  const left = new Set(asking.slice(SHOWN));
  return {
    task,
    title: around ? titleIn(task, around) : task.title,
    depth,
    parts,
    shown: open.filter((each) => !left.has(each)),
    more: left.size,
  };
}

/** A task's title without what the one around it says as well, as that of a line of a list. */
const titleIn = ({ title }: TaskState, around: TaskState): string =>
  title.startsWith(`${around.title}: `) ? title.slice(around.title.length + 2) : title;

/** Branches, each before what is shown of it. */
export const flat = (branches: readonly Branch[]): Branch[] =>
  branches.flatMap((branch) => [branch, ...flat(branch.shown)]);

/** The tasks that are work of their own, and not that of others that they are made of. */
export function ownWork(state: RunState): TaskState[] {
  const all = families(state);
  return [...state.tasks.values()].filter((task) => partsOf(task, all).length === 0);
}

/** How many of some tasks are in each state. */
type Counts = Readonly<{ total: number } & Partial<Record<State, number>>>;

export function countsOf(tasks: readonly TaskState[]): Counts {
  const counts: { total: number } & Partial<Record<State, number>> = { total: tasks.length };
  for (const { state } of tasks) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}

/** What a state is called where tasks are counted; what only waits is the rest. */
const WORDS: readonly Readonly<{ state: State; one: string; many: string }>[] = [
  { state: "running", one: "running", many: "running" },
  { state: "mergeable", one: "to land", many: "to land" },
  { state: "needs-human", one: "needs you", many: "need you" },
  { state: "blocked", one: "blocked", many: "blocked" },
  { state: "skipped", one: "nothing to do", many: "nothing to do" },
  { state: "dropped", one: "dropped", many: "dropped" },
];

/** `291 of 300 landed, 4 running, 3 need you`. */
export function countsText(counts: Counts): string {
  const said = WORDS.flatMap(({ state, one, many }) => {
    const count = counts[state] ?? 0;
    return count > 0 ? [`${count} ${count === 1 ? one : many}`] : [];
  });
  return [`${counts.landed ?? 0} of ${counts.total} landed`, ...said].join(", ");
}
