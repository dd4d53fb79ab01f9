import type { State } from "../journal/shapes.ts";
import { activeOf, type RunState, type TaskState } from "../journal/state.ts";

/** In the order in which they matter to whoever goes on. */
const ORDER: readonly State[] = [
  "running",
  "needs-human",
  "mergeable",
  "verify-failed",
  "ready",
  "waiting",
  "blocked",
  "skipped",
  "landed",
  "dropped",
];

/** Characters that the tasks may take: with the rest some 400 tokens of four, also where there are
 * many. */
const MOST = 1000;

/** What a foreman is told of its open run once it has lost what it knew: where the run stands, and
 * the next step.
 * @param isLost its workers ended with the process that started them */
export function recall(state: RunState, isLost: boolean): string {
  const { run, line, tasks } = state;
  const groups = ORDER.map((name) => ({
    name,
    own: [...tasks.values()].filter((task) => task.state === name),
  })).filter(({ own }) => own.length > 0);
  const most = MOST / groups.length;
  const lost =
    `\`minion resume --run ${run}\`, since its workers ended with the client that started them; ` +
    "then ";
  return [
    `You are the foreman of minion run ${run}, which is open; its line is ${line}. ` +
      "Where its journal has each task now:",
    ...groups.map(({ name, own }) => `- ${name}: ${listed(own.map(named), most - name.length)}`),
    `Next step: ${isLost ? lost : ""}\`minion next --json --run ${run}\`. ` +
      "What you do with its answer is what /minion says. " +
      "Where you remember it differently, the journal is right.",
    "",
  ].join("\n");
}

/** A running one is its attempts; what stands still says why. */
const named = (task: TaskState): string => {
  const { id, state, reason } = task;
  const workers = activeOf(task).map((each) => each.id);
  const more = state === "running" ? workers.join(", ") : reason;
  return more ? `${id} (${more})` : id;
};

/** As many as fit, and how many more there are. */
function listed(all: readonly string[], most: number): string {
  const shown = [...all];
  while (shown.join(", ").length > most) shown.pop();
  const left = all.length - shown.length;
  if (left > 0) shown.push(`${left} more`);
  return shown.join(", ");
}
