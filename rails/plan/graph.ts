import { fault } from "./lines.ts";
import type { Finding, Task } from "./task.ts";

type Node = Pick<Task, "id" | "depends" | "done" | "line">;

/** What follows from who depends on whom. Ids are matched without regard to case. Tasks that are done count for nothing. */
export interface Graph {
  /** Duplicate ids, unknown and self dependencies, cycles with their whole path: all errors. */
  readonly findings: readonly Finding[];
  /** Wave 1 first, each in the list's order; empty while there is a cycle. */
  readonly waves: readonly (readonly string[])[];
  /** The longest chain of dependencies, first to last; of several the one that stands first in the list. */
  readonly criticalPath: readonly string[];
  /** The wave of a task, from 1; 0 where it is done or there is a cycle. */
  waveOf(id: string): number;
  /** How many tasks the longest chain has that starts with this one: the order of dispatch, longest first. */
  remaining(id: string): number;
  /** All that depend on this one by however many steps, in the list's order. */
  descendants(id: string): string[];
  /** Does one of the two depend on the other, by however many steps? */
  ordered(one: string, other: string): boolean;
}

/**
 * Works out the graph of a list, in time linear in tasks and dependencies and without recursion.
 * @param lineOf where the dependencies of a task stand, for findings
 */
export function readGraph(all: readonly Node[], lineOf: (task: Node) => number = (task) => task.line): Graph {
  const findings: Finding[] = [];
  const error = (code: string, line: number, message: string, hint: string) =>
    findings.push(fault(code, line, message, hint));
  const known = new Map<string, Node>();
  for (const task of all) {
    const twin = known.get(key(task.id));
    if (twin) error("duplicate-id", task.line, `task ${task.id} is already on line ${twin.line}`, "rename one");
    else known.set(key(task.id), task);
  }
  const tasks = [...known.values()].filter((task) => !task.done);
  const indexOf = new Map(tasks.map((task, index) => [key(task.id), index]));
  const index = (id: string) => indexOf.get(key(id)) ?? -1;
  const before: number[][] = tasks.map(() => []);
  const after: number[][] = tasks.map(() => []);
  for (const task of all)
    for (const id of new Set(task.depends.map(key))) {
      const other = known.get(id);
      const self = id === key(task.id);
      if (!other) {
        const ids = [...known.values()].slice(0, 12).map((one) => one.id);
        error("unknown-dependency", lineOf(task), `task ${task.id}: there is no ${id}`, `there are ${ids.join(", ")}`);
      } else if (self) error("self-dependency", lineOf(task), `task ${task.id} depends on itself`, "take it out");
      const [from, to] = [index(id), index(task.id)];
      if (self || from < 0 || tasks[to] !== task) continue;
      before[to]?.push(from);
      after[from]?.push(to);
    }
  const idOf = (one: number) => (tasks[one] as Node).id;
  const cycles = findCycles(before);
  for (const cycle of cycles) {
    const path = [...cycle, cycle[0] as number].map(idOf).join(" → ");
    const line = lineOf(tasks[cycle[0] as number] as Node);
    error("cycle", line, `${path}: each depends on the next`, "take one of these dependencies out");
  }

  const order: number[] = [];
  const levels: number[][] = [];
  const wave = tasks.map(() => 0);
  const open = before.map((list) => list.length);
  let ready = cycles.length > 0 ? [] : [...open.keys()].filter((one) => open[one] === 0);
  while (ready.length > 0) {
    ready.sort((a, b) => a - b);
    order.push(...ready);
    levels.push(ready);
    const next: number[] = [];
    for (const one of ready) {
      wave[one] = levels.length;
      for (const later of after[one] ?? []) if (--(open[later] as number) === 0) next.push(later);
    }
    ready = next;
  }
  const remaining = tasks.map(() => 1);
  for (const one of order.toReversed())
    for (const later of after[one] ?? []) remaining[one] = Math.max(remaining[one] ?? 1, 1 + (remaining[later] ?? 1));

  const criticalPath: string[] = [];
  let choice = levels[0] ?? [];
  for (let length = levels.length; length > 0; length--) {
    const next = choice.reduce((a, b) => (remaining[b] === length && (remaining[a] !== length || b < a) ? b : a));
    criticalPath.push(idOf(next));
    choice = after[next] ?? [];
  }

  let rows: bigint[] | undefined;
  return {
    findings,
    waves: levels.map((level) => level.map(idOf)),
    criticalPath,
    waveOf: (id) => wave[index(id)] ?? 0,
    remaining: (id) => remaining[index(id)] ?? 0,
    descendants(id) {
      const seen = new Set([index(id)]);
      for (const one of seen) for (const next of after[one] ?? []) seen.add(next);
      return [...seen]
        .slice(1)
        .sort((a, b) => a - b)
        .map(idOf);
    },
    ordered(one, other) {
      rows ??= ancestors(order, before);
      const [a, b] = [index(one), index(other)];
      return a >= 0 && b >= 0 && (((rows[a] ?? 0n) >> BigInt(b)) | ((rows[b] ?? 0n) >> BigInt(a))) % 2n === 1n;
    },
  };
}

const key = (id: string) => id.toLowerCase();

/** Of each task all that it depends on, as bits: a set of each would be too much for thousands of tasks. */
function ancestors(order: readonly number[], before: readonly (readonly number[])[]): bigint[] {
  const rows = before.map(() => 0n);
  for (const one of order)
    for (const other of before[one] ?? []) rows[one] = (rows[one] ?? 0n) | (rows[other] ?? 0n) | (1n << BigInt(other));
  return rows;
}

/** Cycles, at least one of each knot and none that shares a task with another; each starts with its first task. */
function findCycles(before: readonly (readonly number[])[]): number[][] {
  const cycles: number[][] = [];
  const told = new Set<number>();
  const state = before.map(() => 0); // 0 new, 1 on the path, 2 done
  for (const start of before.keys()) {
    const path = state[start] === 0 ? [{ one: start, next: 0 }] : [];
    for (let top = path.at(-1); top; top = path.at(-1)) {
      state[top.one] = 1;
      const other = before[top.one]?.[top.next++];
      if (other === undefined) {
        state[top.one] = 2;
        path.pop();
      } else if (state[other] === 0) path.push({ one: other, next: 0 });
      else if (state[other] === 1) {
        const cycle = path.slice(path.findLastIndex((step) => step.one === other)).map((step) => step.one);
        if (cycle.some((one) => told.has(one))) continue;
        for (const one of cycle) told.add(one);
        const first = cycle.indexOf(cycle.reduce((a, b) => Math.min(a, b)));
        cycles.push([...cycle.slice(first), ...cycle.slice(0, first)]);
      }
    }
  }
  return cycles;
}
