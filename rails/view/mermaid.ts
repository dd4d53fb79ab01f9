import width from "fast-string-width";
import { longestChain } from "../journal/chain.ts";
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
import { LOOKS } from "./text.ts";

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

/** A run's tasks with their states as a Mermaid flowchart, arrows to what depends on them. */
export function stateGraph({ tasks }: RunState): string {
  const all = [...tasks.values()];
  const chart = chartOf(all, ({ id, state, title }) => `${id} ${state}: ${title}`);
  const classes: string[] = [];
  for (const [index, [state, { fill }]] of Object.entries(LOOKS).entries()) {
    const own = all.filter((task) => task.state === state);
    if (own.length === 0) continue;
    const names = own.map(({ id }) => chart.nodes.get(id)?.name);
    classes.push(`  classDef c${index} fill:${fill},color:#000`);
    classes.push(`  class ${names.join(",")} c${index}`);
  }
  return [
    "flowchart LR",
    ...Array.from(chart.nodes.values(), ({ box }) => `  ${box}`),
    ...arrowsIn(chart, all),
    ...classes,
  ].join("\n");
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

/** A line between two boxes; none from what is not in the chart. */
function lineIn({ nodes }: Chart, one: string, arrow: string, other: string): string[] {
  const from = nodes.get(one);
  return from ? [`  ${from.name} ${arrow} ${nodes.get(other)?.name}`] : [];
}

/** The arrows from what tasks depend on to them. */
const arrowsIn = (chart: Chart, tasks: readonly Pick<Task, "id" | "depends">[]): string[] =>
  tasks.flatMap(({ id, depends }) => depends.flatMap((one) => lineIn(chart, one, "-->", id)));

/** When who worked at what, as a Mermaid gantt: each attempt from its dispatch to its end, those of
 * the longest chain marked as critical, and when the line grew. Empty where nobody worked. */
export function workersGantt(state: RunState, now: number): string {
  const worked = [...state.tasks.values()].filter(({ attempts }) => attempts.length > 0);
  if (worked.length === 0) return "";
  const critical = criticalTasks(state, now);
  const sections = worked.flatMap(({ id, title, attempts }) => [
    `  section ${plain(`${id} ${title}`, 30)}`,
    ...attempts.map((attempt, index) => {
      const name = `${plain(attempt.phase.name, 20)} ${index + 1}`;
      return `  ${name} :${barOf(attempt, critical.has(id), now)}`;
    }),
  ]);
  const landings = state.landings.map(({ at, attempts, dropped = [] }) => {
    const ids = tasksOf(state, attempts).join(", ");
    const name = dropped.length > 0 ? `without ${dropped.join(", ")}` : ids;
    return `  ${plain(name, 30)} :milestone, ${at}, 0ms`;
  });
  const line = landings.length > 0 ? ["  section the line", ...landings] : [];
  return ["gantt", "  dateFormat x", "  axisFormat %H:%M", ...sections, ...line].join("\n");
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
