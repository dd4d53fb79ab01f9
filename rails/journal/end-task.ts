import type { Phase } from "../blueprint/workflow.ts";
import type { PlannedTask } from "../plan/task.ts";
import type { RunState, TaskState } from "./state.ts";

/** The task that mends what is red at the end. No list can name one like this: its tasks have
 * numbers, or one letter. */
export const END = "end";

/** Is a task such a one? Where the end is red once more after it, `end-2` follows it. */
export const isEnd = ({ id }: Pick<TaskState, "id">): boolean => /^end(-\d+)?$/.test(id);

/** The tasks of a run that mend its end. */
const endTasks = ({ tasks }: Pick<RunState, "tasks">): TaskState[] =>
  [...tasks.values()].filter(isEnd);

/** What the next task is called that mends the end; null where one is open, or as many workers have
 * tried as may. */
export function nextEnd(state: RunState): string | null {
  const all = endTasks(state);
  if (all.some((task) => task.state !== "landed")) return null;
  if (endRoundsLeft(state) === 0) return null;
  return all.length === 0 ? END : `${END}-${all.length + 1}`;
}

/** How many more workers may try to make the line green at the end. */
export function endRoundsLeft(state: RunState): number {
  const handed = endTasks(state).flatMap(({ attempts }) => attempts.filter(isHandedIn));
  // A run that an older version began knows no such bound.
  return Math.max(0, (state.blueprint.bounds.end_rounds ?? 1) - handed.length);
}

const isHandedIn = ({ submitted }: TaskState["attempts"][number]): boolean =>
  submitted !== undefined;

/** What a task that no workflow is about goes through. */
export const IMPLEMENT: Phase = {
  name: "implement",
  agent: "",
  model: "",
  risk: "low",
  writes: true,
  red: [],
  back: "",
  steps: "",
};

/** The task in which somebody who made nothing of it holds the whole against the words of its list's
 * `success:`. No list can name one like this either. */
export const SUCCESS = "success";

/** What that goes through: each finding sends it back, once something has landed for it. */
export const JUDGE: Phase = {
  ...IMPLEMENT,
  name: "judge",
  writes: false,
  gates: [],
  back: "judge",
};

/** Is a task one of a list, or of a change of it? */
export const isListed = (task: Pick<TaskState, "id">): boolean =>
  !isEnd(task) && task.id !== SUCCESS;

/** Has all landed that will, on a line that was not proven for the end yet? */
export function isEndDue(state: RunState): boolean {
  const { gates, fresh, landings, tip, end, tasks, isStale } = state;

  const isWanted = fresh || gates.some(({ isLast }) => isLast);
  if (!isWanted || landings.length === 0) return false;
  return (end?.tip !== tip || isStale) && ![...tasks.values()].some(isBusy);
}

/** Is something still to come of a task without anybody's word? */
export const isBusy = ({ state }: Pick<TaskState, "state">): boolean =>
  ["running", "ready", "mergeable", "verify-failed"].includes(state);

/** The task that judges the whole.
 * @param words those of `success:`
 * @param wave its place: after all others */
export const successTask = (words: string, wave: number): PlannedTask => ({
  ...endTask("", "", wave),
  id: SUCCESS,
  title: "Hold the whole against what it is to be",
  description: words,
});

/** The task that mends the line.
 * @param red in words what is red at the end
 * @param agent the expertise that it wants; may be empty
 * @param wave its place: after all others */
export const endTask = (red: string, agent: string, wave: number): PlannedTask => ({
  id: END,
  title: "Make the line green at the end",
  line: 0,
  wave,
  done: false,
  workflow: "",
  workflowWhy: "",
  description: [
    `All tasks have landed, and what is proven at the end is red: ${red}`,
    "It was run with nothing beside the files that a fresh clone would not have, and with the",
    "gates that are for the end only. Mend the cause on the line.",
  ].join("\n"),
  depends: [],
  files: [],
  forbid: [],
  gates: [],
  agent: agent ? [agent] : [],
  doneWhen: "",
  verify: "",
  checks: [],
  ask: "",
  risk: "",
  model: "",
});
