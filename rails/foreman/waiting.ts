import { END, isEndDue } from "../journal/end-task.ts";
import { isActive, isDispatchable, type RunState, type TaskState } from "../journal/state.ts";
import { isFree, type Start } from "./dispatch.ts";

/** A task that waits, and for what: `dependency`, `landing`, a `conflict`, free `slots`, a
 * person's word for more `dispatches`, or what `haltOf` says. */
type Wait = Readonly<{ task: string; why: string }>;

/** Why tasks that are not `taken` now wait, for the foreman: what has to happen before they go on.
 * What a person is shown of them is said by the board, which names the very tasks that are in the
 * way.
 * @param starts the workers that are dispatched now
 * @param stop why none is started before a person resumes the run; null where they are */
export function waiting(state: RunState, starts: readonly Start[], stop: string | null): Wait[] {
  const atWork = [...state.attempts.values()].filter(isActive).length;
  const fresh = starts.filter(({ named }) => named === null).length;
  const counted = starts.filter((start) => !isFree(start)).length;
  const isFull = atWork + fresh >= state.blueprint.bounds.workers;
  const taken = new Set(starts.map(({ task }) => task.id));
  const isExtra = (task: TaskState): boolean => isFree({ task, named: null, variant: 0 });
  const whyWaits = (task: TaskState): string | null => {
    if (task.state === "waiting") return "dependency";
    if (task.state === "mergeable") return "landing";
    if (!isDispatchable(task) || taken.has(task.id)) return null;
    // What the rails do themselves: choose by numbers, or list what a task is made of.
    if (!state.baseRed || task.wants === 0) return "landing";
    if (stop) return stop;
    if (!isExtra(task) && counted >= state.left) return "dispatches";
    return isFull ? "slots" : "conflict";
  };
  const waits: Wait[] = [];
  for (const task of state.tasks.values()) {
    const why = whyWaits(task);
    if (why !== null) waits.push({ task: task.id, why });
  }
  if (isEndDue(state)) waits.push({ task: END, why: "landing" });
  return waits;
}
