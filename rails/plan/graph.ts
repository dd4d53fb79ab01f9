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
  const known = new Map<string, Node>();
  for (const task of all) {
    const twin = known.get(task.id.toLowerCase());
    if (!twin) known.set(task.id.toLowerCase(), task);
    else
      findings.push(
        fault(
          "duplicate-id",
          task.line,
          `task ${task.id} is already on line ${twin.line}`,
          "give each task its own id",
        ),
      );
  }
  const tasks = [...known.values()].filter((task) => !task.done);
  const indexOf = new Map(tasks.map((task, index) => [task.id.toLowerCase(), index]));
  const before: number[][] = tasks.map(() => []);
  const after: number[][] = tasks.map(() => []);
  for (const task of all)
    for (const id of new Set(task.depends.map((one) => one.toLowerCase()))) {
      const other = known.get(id);
      if (!other) {
        const hint = `the list has ${[...known.values()].slice(0, 12).map((one) => one.id)}`.replaceAll(",", ", ");
        findings.push(
          fault("unknown-dependency", lineOf(task), `task ${task.id} depends on ${id}, which is not there`, hint),
        );
      } else if (other === task)
        findings.push(fault("self-dependency", lineOf(task), `task ${task.id} depends on itself`, "take it out"));
      const twin = known.get(task.id.toLowerCase()) !== task;
      const [from, to] = [indexOf.get(id), twin ? undefined : indexOf.get(task.id.toLowerCase())];
      if (from === undefined || to === undefined || from === to) continue;
      before[to]?.push(from);
      after[from]?.push(to);
    }

  const cycles = findCycles(before);
  for (const cycle of cycles) {
    const path = [...cycle, ...cycle.slice(0, 1)].map((index) => tasks[index]?.id).join(" → ");
    const first = tasks[cycle[0] ?? 0] as Node;
    findings.push(
      fault("cycle", lineOf(first), `${path}: each depends on the next`, "take one of these dependencies out"),
    );
  }

  const order: number[] = [];
  const wave = tasks.map(() => 0);
  const open = before.map((list) => list.length);
  let ready = tasks.flatMap((_, index) => (open[index] === 0 && cycles.length === 0 ? [index] : []));
  const waves: string[][] = [];
  while (ready.length > 0) {
    ready.sort((a, b) => a - b);
    order.push(...ready);
    waves.push(ready.map((index) => (tasks[index] as Node).id));
    const next: number[] = [];
    for (const index of ready) {
      wave[index] = waves.length;
      for (const one of after[index] ?? []) if (--(open[one] as number) === 0) next.push(one);
    }
    ready = next;
  }
  const remaining = tasks.map(() => 1);
  for (const index of order.toReversed())
    for (const one of after[index] ?? []) remaining[index] = Math.max(remaining[index] ?? 1, 1 + (remaining[one] ?? 1));

  const criticalPath: string[] = [];
  let choice = order.filter((index) => wave[index] === 1);
  for (let length = waves.length; length > 0; length--) {
    const next = choice.filter((index) => remaining[index] === length).sort((a, b) => a - b)[0] as number;
    criticalPath.push((tasks[next] as Node).id);
    choice = after[next] ?? [];
  }

  const index = (id: string) => indexOf.get(id.toLowerCase()) ?? -1;
  let rows: Uint32Array[] | undefined;
  return {
    findings,
    waves,
    criticalPath,
    waveOf: (id) => wave[index(id)] ?? 0,
    remaining: (id) => remaining[index(id)] ?? 0,
    descendants(id) {
      const seen = new Set([index(id)]);
      for (const one of seen) for (const next of after[one] ?? []) seen.add(next);
      return [...seen]
        .slice(1)
        .sort((a, b) => a - b)
        .map((one) => (tasks[one] as Node).id);
    },
    ordered(one, other) {
      rows ??= ancestors(order, before);
      const [a, b] = [index(one), index(other)];
      return has(rows[a], b) || has(rows[b], a);
    },
  };
}

/** Of each task all that it depends on, as a set of bits. */
function ancestors(order: readonly number[], before: readonly (readonly number[])[]): Uint32Array[] {
  const rows = before.map(() => new Uint32Array(Math.ceil(before.length / 32)));
  for (const index of order) {
    const row = rows[index] as Uint32Array;
    for (const one of before[index] ?? []) {
      const other = rows[one] as Uint32Array;
      for (let word = 0; word < row.length; word++) row[word] = (row[word] as number) | (other[word] as number);
      row[one >> 5] = (row[one >> 5] as number) | (1 << (one & 31));
    }
  }
  return rows;
}

function has(row: Uint32Array | undefined, index: number): boolean {
  return index >= 0 && (((row?.[index >> 5] ?? 0) >>> (index & 31)) & 1) === 1;
}

/** Cycles, at least one of each knot and none that shares a task with another; each starts with its first task. */
function findCycles(before: readonly (readonly number[])[]): number[][] {
  const cycles: number[][] = [];
  const told = new Set<number>();
  const state = before.map(() => 0); // 0 new, 1 on the path, 2 done
  for (const start of before.keys()) {
    if (state[start] !== 0) continue;
    const path = [{ index: start, next: 0 }];
    state[start] = 1;
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const one = before[top.index]?.[top.next++];
      if (one === undefined) {
        state[top.index] = 2;
        path.pop();
      } else if (state[one] === 0) {
        state[one] = 1;
        path.push({ index: one, next: 0 });
      } else if (state[one] === 1) {
        const cycle = path.slice(path.findLastIndex((step) => step.index === one)).map((step) => step.index);
        if (cycle.some((index) => told.has(index))) continue;
        for (const index of cycle) told.add(index);
        const first = cycle.indexOf(Math.min(...cycle));
        cycles.push([...cycle.slice(first), ...cycle.slice(0, first)]);
      }
    }
  }
  return cycles;
}
