import { type Dependent, linksOf, longestChains, longestOf } from "../plan/dependencies.ts";
import { isMade } from "./family.ts";
import { phasesAhead } from "./phases.ts";
import type { State } from "./shapes.ts";
import { inOrder, isActive, type RunState } from "./state.ts";

/** A chain of tasks that wait for one another, first to last, and how long it takes. */
type Chain = Readonly<{ ms: number; tasks: readonly string[] }>;

/** The longest chain of tasks that wait for one another; null where there are none.
 * @param tasks each after what it depends on
 * @param time what each counts, in milliseconds */
export function longestChain<T extends Dependent>(
  tasks: readonly T[],
  time: (task: T) => number,
): Chain | null {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const chains = longestChains(
    byId.keys(),
    (id) => byId.get(id)?.depends ?? [],
    (id) => time(byId.get(id) as T),
  );
  const longest = longestOf(chains);
  return longest && { ms: longest.length, tasks: linksOf(longest).reverse() };
}

/** Tasks that still take time, and no person's word. */
const GOES_ON: readonly State[] = ["waiting", "ready", "running", "verify-failed"];

/** What is left by the critical path: each dispatch as long as was expected, less what its worker
 * has been at it; of what is made of others all that is open of those, as many at once as may be.
 * Landing is not in it. Null where nothing was expected, or nothing is left that
 * needs no person. */
export function chainLeft(state: RunState, now: number): Chain | null {
  const each = (state.estimate?.each.likely ?? 0) * 60_000;
  if (each <= 0) return null;
  const open = inOrder(state).filter((task) => GOES_ON.includes(task.state));
  const { workers } = state.blueprint.bounds;
  return longestChain(open, (task) => {
    if (isMade(task)) {
      const inside = open.filter((one) => one.id.startsWith(`${task.id}/`) && !isMade(one));
      const left = inside.reduce((sum, one) => sum + phasesAhead(one), 0);
      return Math.ceil(left / workers) * each;
    }
    const last = task.attempts.at(-1);
    const worked = last && isActive(last) ? now - last.dispatchedAt : 0;
    return phasesAhead(task) * each - Math.min(worked, each);
  });
}
