import { fault } from "./lines.ts";
import type { Finding, Task } from "./task.ts";

/** `dependsLine`: where the dependencies stand, if not on the task's own line. */
type Node = Pick<Task, "id" | "depends" | "done" | "line"> & { readonly dependsLine?: number };

/** A task that is not done yet, among those that are not done yet either. `open`: how many of `before` have no wave yet. */
interface Step {
  readonly task: Node;
  readonly index: number;
  readonly before: Step[];
  readonly after: Step[];
  open: number;
  wave: number;
  remaining: number;
}

const key = (id: string) => id.toLowerCase();
const lineOf = ({ dependsLine, line }: Node) => dependsLine ?? line;

/** What follows from who depends on whom, in linear time; tasks that are done count for nothing. No waves while there is a
 * cycle. Of several longest chains the critical path is the first. */
export function readGraph(all: readonly Node[]) {
  const findings: Finding[] = [];
  const error = (...say: Parameters<typeof fault>) => findings.push(fault(...say));
  const known = new Map<string, Node>();
  const steps = new Map<string, Step>();
  for (const task of all) {
    const id = key(task.id);
    const twin = known.get(id)?.line;
    if (twin) error("duplicate-id", task.line, `task ${task.id} is already on line ${twin}`, "rename one");
    else known.set(id, task);
    const step = { task, index: steps.size, before: [], after: [], open: 0, wave: 1, remaining: 1 };
    if (!twin && !task.done) steps.set(id, step);
  }
  const some = [...known.values()].slice(0, 12).map(({ id }) => id);
  for (const task of all)
    for (const [index, id] of task.depends.entries()) {
      const [line, what] = [lineOf(task), `task ${task.id}`];
      const [from, to] = [steps.get(key(id)), steps.get(key(task.id))];
      if (task.depends.indexOf(id) < index)
        error("duplicate-dependency", line, `${what} names ${id} twice`, "name it once");
      else if (!known.has(key(id)))
        error("unknown-dependency", line, `${what} needs ${id}: no such task`, `there are ${some.join(", ")}`);
      else if (key(id) === key(task.id)) error("self-dependency", line, `${what} depends on itself`, "take it out");
      else if (from && to?.task === task) {
        to.open = to.before.push(from);
        from.after.push(to);
      }
    }

  const order = [...steps.values()].filter(({ open }) => open === 0);
  for (const step of order)
    for (const later of step.after) {
      later.wave = Math.max(later.wave, step.wave + 1);
      if (--later.open === 0) order.push(later);
    }
  // What is left waits for another that is left: walking back from each ends in a cycle. None is told twice.
  const seen = new Map<Step, Step>();
  for (const start of [...steps.values()].filter(({ open }) => open > 0)) {
    const path: Step[] = [];
    let step = start;
    for (; !seen.has(step); step = step.before.find(({ open }) => open > 0) as Step) {
      seen.set(step, start);
      path.push(step);
    }
    if (seen.get(step) !== start) continue;
    const ids = [...path.slice(path.indexOf(step)), step].map(({ task }) => task.id).join(" → ");
    error("cycle", lineOf(step.task), `${ids}: each depends on the next`, "take one of these dependencies out");
  }
  if (order.length < steps.size) order.length = 0;
  for (const step of order.toReversed())
    for (const earlier of step.before) earlier.remaining = Math.max(earlier.remaining, step.remaining + 1);

  order.sort((a, b) => a.wave - b.wave || a.index - b.index);
  const waves: string[][] = Array.from({ length: order.at(-1)?.wave ?? 0 }, () => []);
  for (const { task, wave } of order) waves[wave - 1]?.push(task.id);
  const criticalPath: string[] = [];
  for (let choice = order, left = waves.length; left > 0; left--) {
    const next = choice.find(({ remaining }) => remaining === left) as Step;
    criticalPath.push(next.task.id);
    choice = next.after;
  }

  return {
    ...{ findings, waves, criticalPath },
    /** How many tasks the longest chain has that starts with this one. */
    remaining: (id: string): number => steps.get(key(id))?.remaining ?? 0,
    /** Does one of the two depend on the other, by however many steps? */
    ordered(one: string, other: string): boolean {
      const pair = [steps.get(key(one)), steps.get(key(other))].filter((step) => step !== undefined);
      const [first, last] = pair.sort((a, b) => a.wave - b.wave);
      const seen = new Set(last ? [last] : []);
      for (const step of seen) for (const each of step.before) if (each.wave >= (first?.wave ?? 0)) seen.add(each);
      return first !== last && seen.has(first as Step);
    },
  };
}
