import { roundsOf } from "../journal/rounds.ts";
import { endedAt, isLost, type TaskState } from "../journal/state.ts";
import { matchesAny, patternOf } from "../plan/conflicts.ts";
import { parentOf } from "../plan/task.ts";
import { inline, prose } from "../program/shown.ts";
import type { Own } from "./attempt.ts";
import { HANDOFF_CHARACTERS, quoted } from "./quoted.ts";

/** What a planner has to know of its area: what there is of it and how that stands, what others do
 * there, and how much it may leave. */
export function areaOf({ state, attempt }: Own): string {
  const { task, phase, id } = attempt;
  if (phase.tasks === undefined) return "";
  const own = [...state.tasks.values()].filter((each) => parentOf(each.id) === task.id);
  // One that was lost left no page: what it saw is still news.
  const before = task.attempts.findLast((each) => each.submitted && !each.over);
  const since = before?.begun?.at ?? 0;
  const visits = task.attempts.filter((each) => !each.isForgiven && !isLost(each)).length;
  const rows = own.map((each) => `- ${rowOf(each)}`);
  const back = own.filter((each) => (lastOf(each) ?? 0) > since).map((each) => cameBack(each));
  const beside = [...state.tasks.values()].filter(
    (each) =>
      !each.id.startsWith(`${task.id}/`) && each !== task && isBesides(task, each, state.prefix),
  );
  const bounds = `Visit ${visits} of ${roundsOf(phase)}; you may leave ${phase.tasks - attempt.left} tasks.`;
  const how = [
    "Tasks go in by `minion change -`, in the form of a list (`### Task 1: …`, numbered within the",
    "area), with fields on lines of their own: Depends, Files, Forbid, Agent, Done when, Verify,",
    "Workflow (`area` for a part with a goal of its own). The same with an id that is there rewords",
    "it; `minion drop ID` takes one out. Then the page, by `minion submit`. When nothing is to be",
    `added, submit all the same. Your attempt is ${inline(id)}.`,
  ].join(" ");
  return [
    `## The area\n\n${bounds} ${how}`,
    rows.length > 0 ? `What there is of it:\n\n${rows.join("\n")}` : "",
    ...back,
    beside.length > 0
      ? `Others at work on its files:\n\n${beside.map((each) => `- ${rowOf(each)}`).join("\n")}`
      : "",
    task.whole?.red ? `Its own check is red on the line: ${prose(task.whole.red, "")}` : "",
  ]
    .filter(Boolean)
    .join("\n\n");
}

const rowOf = ({ id, title, state, reason, note }: TaskState): string => {
  const why = reason ? ` (${reason}${note ? `: ${inline(note).slice(0, 200)}` : ""})` : "";
  return `${inline(id)} ${inline(title)}: ${state}${why}`;
};

/** When something of a task ended last. */
const lastOf = ({ attempts, endedAt: at }: TaskState): number | undefined =>
  Math.max(at, ...attempts.map((each) => endedAt(each) ?? 0));

function cameBack({ id, attempts, result }: TaskState): string {
  const handoff = (result ?? attempts.findLast(({ submitted }) => submitted))?.submitted?.handoff;
  return handoff ? `What task ${inline(id)} left:\n\n${quoted(handoff, HANDOFF_CHARACTERS)}` : "";
}

/** Is a task under way on files of an area? */
function isBesides(area: TaskState, other: TaskState, prefix: string): boolean {
  const isOpen = ["waiting", "ready", "running", "mergeable", "verify-failed"].includes(
    other.state,
  );
  const own = area.files.map(patternOf);
  return isOpen && other.files.some(({ path }) => matchesAny(own, path, prefix));
}
