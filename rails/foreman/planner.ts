import type { EventData } from "../journal/events.ts";
import { isToPlan } from "../journal/replan.ts";
import type { AttemptState, RunState, TaskState } from "../journal/state.ts";
import { matchesAny, patternOf } from "../plan/conflicts.ts";
import { depthOf, type PlannedTask, parentOf } from "../plan/task.ts";
import { Fault } from "../program/fault.ts";

/** What of a change its bounds are about. */
type Changed = Readonly<{
  added: readonly string[];
  reworded: readonly string[];
  event: Pick<EventData["changed"], "tasks" | "loosened" | "workflows">;
}>;

/** Did the planner of an area add a task, or one before it? */
export const isPlanners =
  ({ task: area }: AttemptState) =>
  ({ id, added }: TaskState): boolean =>
    added === "planner" && parentOf(id) === area.id;

/** @throws Fault `beyond` where a change is more than the planner of an area may make */
export function refuseBeyond(state: RunState, planner: AttemptState, change: Changed): void {
  const what = beyond(state, planner, change);
  const way = "leave it out, and say it in the handoff: whoever planned the area reads that";
  if (what) throw new Fault("beyond", `nothing was changed: ${what}`, way);
}

function beyond(
  state: RunState,
  { task: area, phase, left }: AttemptState,
  { added, reworded, event }: Changed,
): string | null {
  const { planned, depth } = state.blueprint.bounds;
  const most = phase.tasks ?? 0;
  if (left + added.length > most)
    return `${left + added.length} tasks at one visit, where ${most} may be`;
  const all = [...state.tasks.values()].filter((task) => task.added === "planner").length;
  if (all + added.length > planned)
    return `${all + added.length} tasks of the run by planners, where ${planned} may be`;
  const foreign = [...added, ...reworded].find((id) => parentOf(id) !== area.id);
  if (foreign) return `task ${foreign} is not of area ${area.id}`;
  const [loosened] = event.loosened;
  if (loosened) return `${loosened}, which is a person's to say`;
  for (const task of event.tasks) {
    const around = depthOf(task.id) + (task.each ? 1 : 0);
    if (isToPlan(task, event.workflows) && around >= depth)
      return `${task.id} would be an area in ${around} others, where ${depth - 1} may be`;
    const outside = outsideOf(area, task, state.prefix);
    if (outside) return `task ${task.id} names ${outside}, which is not area ${area.id}'s`;
  }
  return null;
}

/** The first file that a task names outside of its area's; null where there is none, or the area
 * names no files. */
function outsideOf(area: TaskState, { files }: PlannedTask, prefix: string): string | null {
  const own = area.files.map(patternOf);
  if (own.length === 0) return null;
  return files.find(({ path }) => !matchesAny(own, path, prefix))?.path ?? null;
}

/** @throws Fault `not-yours` where a worker is no planner */
export function refuseWorker(attempt: string): never {
  const way = "what others should know goes into the handoff";
  throw new Fault("not-yours", `${attempt} plans nothing`, way);
}
