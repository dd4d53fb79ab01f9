import width from "fast-string-width";
import { longestChain } from "../journal/chain.ts";
import { families } from "../journal/family.ts";
import {
  type AttemptState,
  endedAt,
  inOrder,
  isActive,
  type RunState,
  type TaskState,
  tasksOf,
} from "../journal/state.ts";
import type { Plan, Task } from "../plan/task.ts";
import { oneLine } from "../program/shown.ts";
import { roundOf, variantsIn } from "./progress.ts";
import { LOOKS } from "./text.ts";
import { type Branch, branchesOf, countsOf, countsText, flat } from "./tree.ts";

/** A plan as a Mermaid flowchart: tasks by wave, arrows to what depends on them, dotted lines
 * between those that conflict; errors as comments. */
export function mermaid({ tasks, waves, conflicts, findings }: Plan): string {
  const chart = chartOf(tasks, ({ id, title }) => `${id}: ${title}`);
  const inWave = new Set(waves.flat());
  const rest = [...chart.nodes.keys()].filter((id) => !inWave.has(id));
  const waveBoxes = waves.flatMap((ids, at) => subgraph(chart, at + 1, `wave ${at + 1}`, ids));
  const dotted = conflicts.map(({ tasks: [one, other] }) => lineIn(chart, one, "-.-", other));
  const errors = findings.filter(({ level }) => level === "error");
  return [
    "flowchart LR",
    ...subgraph(chart, 0, "done, or in no wave", rest),
    ...waveBoxes,
    ...arrowsIn(chart, tasks),
    ...dotted.flat(),
    ...errors.map(({ line, message }) => `  %% line ${line}: ${label(message)}`),
  ].join("\n");
}

/** Boxes in a frame with a title; nothing where there are none. */
function subgraph(
  { nodes }: Chart,
  number: number,
  title: string,
  ids: readonly string[],
): string[] {
  if (ids.length === 0) return [];
  const boxes = ids.map((id) => `    ${nodes.get(id)?.box}`);
  return [`  subgraph w${number}["${title}"]`, ...boxes, "  end"];
}

/** A run's tasks with their states as a Mermaid flowchart, arrows to what depends on them: what a
 * task is made of lies in a frame, as far as it is open, and the rest is counted. */
export function stateGraph(state: RunState): string {
  const branches = branchesOf(state);
  const all = flat(branches);
  const chart = chartOf(
    all.map(({ task, title, parts }) => ({ id: task.id, text: boxText(task, title, parts) })),
    ({ text }) => text,
  );
  const classes: string[] = [];
  for (const [index, [name, { fill }]] of Object.entries(LOOKS).entries()) {
    const own = all.filter(({ task }) => task.state === name);
    if (own.length === 0) continue;
    const names = own.map(({ task }) => chart.nodes.get(task.id)?.name);
    classes.push(`  classDef c${index} fill:${fill},color:#000`);
    classes.push(`  class ${names.join(",")} c${index}`);
  }
  return [
    "flowchart LR",
    ...branches.flatMap((branch) => drawn(chart, branch, "  ")),
    ...arrowsIn(
      chart,
      all.map(({ task }) => task),
    ),
    ...classes,
  ].join("\n");
}

/** A task's box; with what is shown of it inside a frame that is called as the box would be. */
function drawn(chart: Chart, { task, shown }: Branch, indent: string): string[] {
  const { box = "" } = chart.nodes.get(task.id) ?? {};
  if (shown.length === 0) return [`${indent}${box}`];
  const inside = shown.flatMap((each) => drawn(chart, each, `${indent}  `));
  return [`${indent}subgraph ${box}`, ...inside, `${indent}end`];
}

/** What stands in a task's box: rounds, variants and parts as counts. */
function boxText(task: TaskState, title: string, parts: readonly TaskState[]): string {
  const { id, state } = task;
  const counts: string[] = [];
  const round = roundOf(task);
  const variants = variantsIn(task).length;
  if (parts.length > 0) counts.push(countsText(countsOf(parts)));
  if (round) counts.push(`round ${round.number} of ${round.most}`);
  if (variants > 0) counts.push(`${variants} variants`);
  return `${id} ${state}${counts.length > 0 ? ` (${counts.join(", ")})` : ""}: ${title}`;
}

/** The boxes of a flowchart by task: each with the name by which lines lead to it. */
type Chart = Readonly<{ nodes: ReadonlyMap<string, Readonly<{ name: string; box: string }>> }>;

function chartOf<T extends Pick<Task, "id">>(
  tasks: readonly T[],
  textOf: (task: T) => string,
): Chart {
  const nodes = new Map<string, { name: string; box: string }>();
  for (const [index, task] of tasks.entries()) {
    const name = `t${index}`;
    nodes.set(task.id, { name, box: `${name}["${label(textOf(task))}"]` });
  }
  return { nodes };
}

/** A line between two boxes; none from or to what is not in the chart. */
function lineIn({ nodes }: Chart, one: string, arrow: string, other: string): string[] {
  const from = nodes.get(one);
  const to = nodes.get(other);
  return from && to ? [`  ${from.name} ${arrow} ${to.name}`] : [];
}

/** The arrows from what tasks depend on to them. */
const arrowsIn = (chart: Chart, tasks: readonly Pick<Task, "id" | "depends">[]): string[] =>
  tasks.flatMap(({ id, depends }) => depends.flatMap((one) => lineIn(chart, one, "-->", id)));

/** When who worked at what, as a Mermaid gantt: each attempt from its dispatch to its end, those of
 * the longest chain marked as critical, and when the line grew. What is over of that which a task is
 * made of is one bar. Empty where nobody worked. */
export function workersGantt(state: RunState, now: number): string {
  const shown = flat(branchesOf(state)).map(({ task }) => task);
  const worked = shown.filter(({ attempts }) => attempts.length > 0);
  const folded = foldedIn(state, shown);
  if (worked.length + folded.length === 0) return "";
  const critical = criticalTasks(state, now);
  const sections = worked.flatMap(({ id, title, attempts }) => [
    `  section ${plain(`${id} ${title}`, 30)}`,
    ...attempts.map((attempt, index) => {
      const name = `${plain(attempt.phase.name, 20)} ${index + 1}`;
      return `  ${name} :${barOf(attempt, critical.has(id), now)}`;
    }),
  ]);
  const over = folded.flatMap(({ task: { id, title }, parts, from, to }) => [
    `  section ${plain(`${id} ${title}`, 30)}`,
    `  ${parts} over :done, ${from}, ${Math.max(to, from + 1000)}`,
  ]);
  const grown = state.landings.length > LANDINGS ? [] : state.landings;
  const landings = grown.map(({ at, attempts, dropped = [] }) => {
    const ids = tasksOf(state, attempts).join(", ");
    const name = dropped.length > 0 ? `without ${dropped.join(", ")}` : ids;
    return `  ${plain(name, 30)} :milestone, ${at}, 0ms`;
  });
  const line = landings.length > 0 ? ["  section the line", ...landings] : [];
  return ["gantt", "  dateFormat x", "  axisFormat %H:%M", ...sections, ...over, ...line].join(
    "\n",
  );
}

/** So many landings are drawn each; more would be a wall. */
const LANDINGS = 100;

/** Of each task that is made of others, how many at which somebody worked are not shown, and when
 * that was. */
function foldedIn(state: RunState, shown: readonly TaskState[]) {
  const seen = new Set(shown);
  return [...families(state)].flatMap(([id, parts]) => {
    const task = state.tasks.get(id);
    const own = parts.filter((part) => !seen.has(part)).flatMap(({ attempts }) => attempts);
    const count = new Set(own.map((attempt) => attempt.task)).size;
    if (!task || count === 0) return [];
    const from = own.reduce((least, each) => Math.min(least, each.dispatchedAt), Infinity);
    const to = own.reduce((last, each) => Math.max(last, endedAt(each) ?? 0), 0);
    return [{ task, parts: count, from, to }];
  });
}

/** An attempt's bar: what it is marked as, when it began, when it ended. */
function barOf(attempt: AttemptState, isCritical: boolean, now: number): string {
  const marks: string[] = [];
  if (isCritical) marks.push("crit");
  if (isActive(attempt)) marks.push("active");
  else if (attempt.over) marks.push("done");
  // What has no length is not drawn
  const end = Math.max(endedAt(attempt) ?? now, attempt.dispatchedAt + 1000);
  return [...marks, attempt.dispatchedAt, end].join(", ");
}

/** The ids of the tasks on the chain that took longest. */
function criticalTasks(state: RunState, now: number): ReadonlySet<string> {
  const took = ({ attempts }: TaskState): number =>
    attempts.reduce((sum, each) => sum + (endedAt(each) ?? now) - each.dispatchedAt, 0);
  return new Set(longestChain(inOrder(state), took)?.tasks);
}

/** A text that Mermaid's gantt takes for no mark of its own. */
const plain = (text: string, most: number): string =>
  oneLine(text)
    .replace(/[^\p{L}\p{M}\p{N} .,()/_-]/gu, " ")
    .slice(0, most)
    .trim() || "-";

/** A text as Mermaid takes it between quotes, what is more than letters and plain marks by its
 * number; 60 columns at most, so that a line fits 80. */
function label(text: string): string {
  let escaped = "";
  for (const char of oneLine(text)) {
    const next = /[\p{L}\p{M}\p{N} .,:()/_-]/u.test(char) ? char : `#${char.codePointAt(0)};`;
    if (width(escaped + next) >= 60) return `${escaped}…`;
    escaped += next;
  }
  return escaped;
}
