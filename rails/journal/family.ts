import { grouped, type Lists } from "../plan/collections.ts";
import type { RunState, TaskState } from "./state.ts";

// A task that is made of others: an area, whose planner leaves them, or one with `Each:`, whose
// command lists them. Those of `A` are `A/1`, `A/2`: `A.1` names an attempt.

/** The id of the task that one belongs to; null where it belongs to none. */
export function parentOf(id: string): string | null {
  const at = id.lastIndexOf("/");
  return at < 0 ? null : id.slice(0, at);
}

/** How many tasks one lies in. */
export const depthOf = (id: string): number => id.split("/").length - 1;

/** Is a task's work to plan, so that others do it? */
export const isArea = ({ way }: Pick<TaskState, "way">): boolean =>
  way.some(({ tasks }) => tasks !== undefined);

/** Is a task made of others? Then nothing of its own lands. */
export const isMade = (task: Pick<TaskState, "way" | "each">): boolean =>
  Boolean(task.each) || isArea(task);

/** The tasks of a run by the id of the one that they belong to. */
export const families = ({ tasks }: Pick<RunState, "tasks">): Lists<TaskState> =>
  grouped(
    [...tasks.values()].flatMap((task) => {
      const parent = parentOf(task.id);
      return parent === null ? [] : [[parent, task] as const];
    }),
  );
