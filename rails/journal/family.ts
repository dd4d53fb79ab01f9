import { grouped, type Lists } from "../plan/collections.ts";
import { parentOf } from "../plan/task.ts";
import type { RunState, TaskState } from "./state.ts";

// A task that is made of others: an area, whose planner leaves them, or one with `Each:`, whose
// command lists them.

/** Is a task's work to plan, so that others do it? */
export const isArea = ({ way }: Pick<TaskState, "way">): boolean =>
  way.some(({ tasks }) => tasks !== undefined);

/** Is a task made of others? Then nothing of its own lands. */
export const isMade = (task: Pick<TaskState, "way" | "each">): boolean =>
  Boolean(task.each) || isArea(task);

/** Some tasks and all that is made of them, however deep. */
export function withParts({ tasks }: Pick<RunState, "tasks">, ids: readonly string[]): string[] {
  const isIn = (one: string): boolean => ids.some((id) => one.startsWith(`${id}/`));
  return [...ids, ...[...tasks.keys()].filter((one) => !ids.includes(one) && isIn(one))];
}

/** The tasks of a run by the id of the one that they belong to. */
export const families = ({ tasks }: Pick<RunState, "tasks">): Lists<TaskState> =>
  grouped(
    [...tasks.values()].flatMap((task) => {
      const parent = parentOf(task.id);
      return parent === null ? [] : [[parent, task] as const];
    }),
  );
