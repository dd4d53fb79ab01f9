import type { Blueprint } from "../blueprint/blueprint.ts";
import type { Change, Held } from "../plan/change.ts";
import { jobsOf, prioritise, rivalsOf } from "../plan/schedule.ts";
import type { Plan, PlannedTask } from "../plan/task.ts";
import { ownOf } from "../program/files.ts";
import { outside } from "../program/world.ts";
import { isListed } from "./end-task.ts";
import type { EventData, NewEvent } from "./events.ts";
import { isMade } from "./family.ts";
import { stepsOf } from "./phases.ts";
import { isActive, type RunState, type TaskState } from "./state.ts";

/** What a run froze of the workflows when it was opened. */
type Ways = Pick<EventData["started"], "workflows" | "reviews">;

/** How urgent each task is, by its id. */
export function priorityOf({
  plan,
  blueprint,
  ...ways
}: Ways & {
  readonly blueprint: Blueprint;
  readonly plan: Pick<Plan, "tasks" | "conflicts">;
}): Record<string, number> {
  const steps = new Map(plan.tasks.map((task) => [task.id, stepsOf(ways, task)]));
  const jobs = jobsOf(plan.tasks, (id) => steps.get(id) ?? 1);
  const rivals = rivalsOf(plan.conflicts.map(({ tasks }) => tasks));
  return Object.fromEntries(prioritise(jobs, rivals, blueprint.bounds.workers));
}

/** Is a task, or each that it lists, to be planned as it goes, by its workflow? */
export const isToPlan = (
  { workflow }: Pick<PlannedTask, "workflow">,
  workflows: Ways["workflows"],
): boolean => (ownOf(workflows, workflow) ?? []).some(({ tasks }) => tasks !== undefined);

/** Is a task to be made of others, by its own words or its workflow? It conflicts with none then:
 * they do. */
const isToDivide = (
  task: Pick<PlannedTask, "each" | "workflow">,
  workflows: Ways["workflows"],
): boolean => Boolean(task.each) || isToPlan(task, workflows);

/** The conflicts of a plan, without those of tasks that others are to do. */
export function conflictsOf(
  { tasks, conflicts }: Pick<Plan, "tasks" | "conflicts">,
  workflows: Ways["workflows"],
): Plan["conflicts"] {
  const divided = new Set(tasks.filter((task) => isToDivide(task, workflows)).map(({ id }) => id));
  return conflicts.filter((each) => !each.tasks.some((id) => divided.has(id)));
}

/** The tasks of a run as a change of the plan has to know them.
 * @param isOwn did whoever changes it add that task? */
export const heldIn = (
  state: RunState,
  isOwn = ({ added }: TaskState): boolean => added === "session",
): Held[] =>
  [...state.tasks.values()].filter(isListed).map((task) => ({
    planned: { ...task.planned, depends: task.depends },
    isOver: ["landed", "skipped", "dropped"].includes(task.state),
    fixed: fixedBy(task),
    isFree: isOwn(task) && task.attempts.length === 0,
  }));

/** Why a task cannot be changed, in words; empty where it can. */
function fixedBy(task: TaskState): string {
  const { state, attempts } = task;
  if (state === "landed") return "has landed";
  if (state === "dropped") return "was dropped";
  if (state === "skipped") return "was skipped, since there was nothing to do";
  if (state === "mergeable") return "was handed in as it was";
  // An area's planner reads its words anew each time that it comes.
  const isBegun = attempts.some((each) => isActive(each) && each.begun);
  return isBegun && !isMade(task) ? "is being worked at" : "";
}

/** A change of the plan as it is written down.
 * @param change all of the plan as it is to be
 * @param tasks of that those that are new or others
 * @param more who does it, and what only a person may do of it */
export function changedEvent(
  state: RunState,
  change: Pick<Change, "all" | "conflicts">,
  tasks: readonly PlannedTask[],
  more: Partial<EventData["changed"]> = {},
): Extract<NewEvent, { event: "changed" }> {
  const { all } = change;
  const workflows = { ...state.workflows, ...more.workflows };
  const conflicts = conflictsOf({ tasks: all, conflicts: change.conflicts }, workflows);
  const { blueprint, reviews } = state;
  return {
    event: "changed",
    session: outside().env.CLAUDE_CODE_SESSION_ID ?? "",
    tasks,
    removed: [],
    loosened: [],
    waves: Object.fromEntries(wavesOf(state, all)),
    conflicts: conflicts.map((conflict) => conflict.tasks),
    priority: priorityOf({ plan: { tasks: all, conflicts }, blueprint, workflows, reviews }),
    isUndo: false,
    ...more,
    workflows,
  };
}

/** The waves that are others than before; what is over comes before all that is open. Of a long run
 * each change would else name all that ever landed. */
const wavesOf = ({ tasks }: RunState, all: readonly PlannedTask[]): (readonly [string, number])[] =>
  all.flatMap(({ id, wave }) => (tasks.get(id)?.wave === wave ? [] : [[id, wave] as const]));
