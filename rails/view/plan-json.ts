import type { Plan, Tools } from "../plan/task.ts";

/** The document of `minion plan --json`, the same for the same plan. */
export function planJson({ tasks, waves, criticalPath, conflicts, findings }: Plan, tools: Tools): object {
  const list = tasks.map(({ doneWhen, ...task }) => ({ ...task, done_when: doneWhen }));
  return { tasks: list, waves, criticalPath, conflicts, tools, findings };
}
