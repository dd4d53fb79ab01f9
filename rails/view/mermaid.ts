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
import { LOOKS, oneLine } from "./text.ts";

/** A plan as a Mermaid flowchart: tasks by wave, arrows to what depends on them, dotted lines
 * between those that conflict; errors as comments. */
export function mermaid({ tasks, waves, conflicts, findings }: Plan): string {
  const { nodes, line, arrows } = chartOf(tasks, ({ id, title }) => `${id}: ${title}`);
  const inWave = new Set(waves.flat());
  const rest = [...nodes.keys()].filter((id) => !inWave.has(id));
  const boxes = [rest, ...waves].flatMap((ids, wave) => {
    const lines = ids.map((id) => `    ${nodes.get(id)?.box}`);
    const title = wave === 0 ? "done, or in no wave" : `wave ${wave}`;
    return ids.length > 0 ? [`  subgraph w${wave}["${title}"]`, ...lines, "  end"] : [];
  });
  const errors = findings.filter(({ level }) => level === "error");
  return [
    "flowchart LR",
    ...boxes,
    ...arrows,
    ...conflicts.flatMap((conflict) => line(conflict.tasks[0], "-.-", conflict.tasks[1])),
    ...errors.map(({ line, message }) => `  %% line ${line}: ${label(message)}`),
  ].join("\n");
}

/** A run's tasks with their states as a Mermaid flowchart, arrows to what depends on them. */
export function stateGraph({ tasks }: RunState): string {
  const all = [...tasks.values()];
  const { nodes, arrows } = chartOf(all, ({ id, state, title }) => `${id} ${state}: ${title}`);
  const classes = Object.entries(LOOKS).flatMap(([state, { fill }], index) => {
    const of = all
      .flatMap((task) => (task.state === state ? (nodes.get(task.id)?.name ?? []) : []))
      .join(",");
    return of ? [`  classDef c${index} fill:${fill},color:#000`, `  class ${of} c${index}`] : [];
  });
  return [
    "flowchart LR",
    ...Array.from(nodes.values(), ({ box }) => `  ${box}`),
    ...arrows,
    ...classes,
  ].join("\n");
}

/** The boxes of a flowchart by task, how a line is drawn between two, and the arrows to what
 * depends on them. */
function chartOf<T extends Pick<Task, "id" | "depends">>(
  tasks: readonly T[],
  textOf: (task: T) => string,
) {
  const boxOf = (task: T, name: string) => ({ name, box: `${name}["${label(textOf(task))}"]` });
  const nodes = new Map(tasks.map((task, index) => [task.id, boxOf(task, `t${index}`)]));
  const line = (one: string, arrow: string, other: string): string[] =>
    nodes.has(one) ? [`  ${nodes.get(one)?.name} ${arrow} ${nodes.get(other)?.name}`] : [];
  return {
    nodes,
    line,
    arrows: tasks.flatMap(({ id, depends }) => depends.flatMap((one) => line(one, "-->", id))),
  };
}

/** When who worked at what, as a Mermaid gantt: each attempt from its dispatch to its end, those of
 * the longest chain marked as critical, and when the line grew. Empty where nobody worked. */
export function workersGantt(state: RunState, now: number): string {
  const ends = (attempt: AttemptState): number => endedAt(attempt) ?? now;
  const took = ({ attempts }: TaskState): number =>
    attempts.reduce((sum, attempt) => sum + ends(attempt) - attempt.dispatchedAt, 0);
  const chain = longestChain(inOrder(state), took)?.tasks ?? [];
  const worked = [...state.tasks.values()].filter(({ attempts }) => attempts.length > 0);
  const sections = worked.flatMap(({ id, title, attempts }) => [
    `  section ${plain(`${id} ${title}`, 30)}`,
    ...attempts.map((attempt, index) => {
      const state = isActive(attempt) ? "active" : attempt.over ? "done" : "";
      // What has no length is not drawn
      const end = Math.max(ends(attempt), attempt.dispatchedAt + 1000);
      const all = [chain.includes(id) && "crit", state, attempt.dispatchedAt, end];
      return `  ${plain(attempt.phase.name, 20)} ${index + 1} :${all.filter(Boolean).join(", ")}`;
    }),
  ]);
  const landings = state.landings.map(
    ({ at, attempts }) =>
      `  ${plain(tasksOf(state, attempts).join(", "), 30)} :milestone, ${at}, 0ms`,
  );
  const line = landings.length > 0 ? ["  section the line", ...landings] : [];
  return worked.length === 0
    ? ""
    : ["gantt", "  dateFormat x", "  axisFormat %H:%M", ...sections, ...line].join("\n");
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
