import { phasesAhead } from "./phases.ts";
import { inOrder, isActive, type RunState, type TaskState } from "./state.ts";

type Chain = Readonly<{ ms: number; tasks: readonly string[] }>;

/** The longest chain of tasks that wait for one another, first to last; null where there are none.
 * @param tasks each after what it depends on
 * @param time what each counts, in milliseconds */
export function longestChain(
  tasks: readonly TaskState[],
  time: (task: TaskState) => number,
): Chain | null {
  const chains = new Map<string, Chain>();
  for (const task of tasks) {
    const before = task.depends
      .flatMap((id) => chains.get(id) ?? [])
      .sort((a, b) => b.ms - a.ms)[0];
    chains.set(task.id, {
      ms: time(task) + (before?.ms ?? 0),
      tasks: [...(before?.tasks ?? []), task.id],
    });
  }
  return [...chains.values()].sort((a, b) => b.ms - a.ms)[0] ?? null;
}

/** What is left by the critical path: each dispatch as long as was expected, less what its worker
 * has been at it. Landing is not in it. Null where nothing was expected, or nothing is left that
 * needs no person. */
export function chainLeft(state: RunState, now: number): Chain | null {
  const each = (state.estimate?.each.likely ?? 0) * 60_000;
  const open = inOrder(state).filter((task) =>
    ["waiting", "ready", "running", "verify-failed"].includes(task.state),
  );
  const left = (task: TaskState): number => {
    const last = task.attempts.at(-1);
    const worked = last && isActive(last) ? now - last.dispatchedAt : 0;
    return phasesAhead(task) * each - Math.min(worked, each);
  };
  return each > 0 ? longestChain(open, left) : null;
}
