import { END, isEndDue } from "../journal/end-task.ts";
import { isDispatchable, type RunState, type TaskState } from "../journal/state.ts";
import { isFree } from "./dispatch.ts";

/** A task that waits, and for what: `dependency`, `landing`, a `conflict`, free `slots`, a
 * person's word for more `dispatches`, or what `haltOf` says. */
type Wait = Readonly<{ task: string; why: string }>;

/** Why tasks that are not `taken` now wait, for the foreman: what has to happen before they go on.
 * What a person is shown of them is said by the board, which names the very tasks that are in the
 * way.
 * @param taken the ids of those that are dispatched now
 * @param stop why none is started before a person resumes the run; null where they are */
export function waiting(state: RunState, taken: ReadonlySet<string>, stop: string | null): Wait[] {
  const running = [...state.tasks.values()].filter((task) => task.state === "running");
  const busy = new Set([...running.map(({ id }) => id), ...taken]).size;
  const counted = [...taken].filter((id) => !isFree(state.tasks.get(id) as TaskState)).length;
  const isFull = busy >= state.blueprint.bounds.workers;
  const whyWaits = (task: TaskState): string | null => {
    if (task.state === "waiting") return "dependency";
    if (task.state === "mergeable") return "landing";
    if (!isDispatchable(task) || taken.has(task.id)) return null;
    if (!state.baseRed) return "landing";
    if (stop) return stop;
    if (!isFree(task) && counted >= state.left) return "dispatches";
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
