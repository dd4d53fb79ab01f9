import type { Lists } from "../plan/collections.ts";
import { checksOf } from "./checks.ts";
import { isBusy } from "./end-task.ts";
import { families, isMade } from "./family.ts";
import { roundsOf } from "./rounds.ts";
import { afterFailure, as, beforeFirst, CANNOT_LAND, stoppedFor } from "./standing-rules.ts";
import {
  type AttemptState,
  activeOf,
  endedAt,
  isDispatchable,
  isLost,
  type RunState,
  type Standing,
  type TaskState,
} from "./state.ts";

/** The tasks of a run by the id of the one that is made of them. */
type Families = Lists<TaskState>;

const madeOf = (task: TaskState, all: Families): readonly TaskState[] => all.get(task.id) ?? [];

/** Where a task stands that is made of others: they do its work, and nothing of its own lands. They
 * have been settled before it. */
export function ofMade(state: RunState, task: TaskState, all: Families): Standing {
  if (task.isDropped) return as("dropped");
  return task.each ? ofListed(state, task, all) : ofArea(state, task, all);
}

/** A task for each line that a command prints: it lists them once it is its turn. */
function ofListed(state: RunState, task: TaskState, all: Families): Standing {
  if (task.stop !== null) return stoppedFor(task.stop, undefined);
  if (task.notListed !== null) return as("needs-human", "gate-failed", task.notListed);
  if (!task.isListed) return beforeFirst(state, task);
  if (madeOf(task, all).length === 0)
    return as("skipped", null, "Its command printed no line that stands for a task.");
  return ofWhole(state, task, all);
}

/** A task that a planner divides: it comes again whenever something of it has ended and nothing of
 * it waits for a worker, until it leaves nothing more. */
function ofArea(state: RunState, task: TaskState, all: Families): Standing {
  const { attempts, stop } = task;
  const last = attempts.at(-1);
  if (activeOf(task).length > 0) return as("running");
  if (stop !== null) return stoppedFor(stop, last?.over);
  if (!last) return beforeFirst(state, task);
  if (last.over) return afterFailure(state, task, last, last.over);
  const own = madeOf(task, all);
  const isShown = checksOf(state, task).length === 0 || task.whole?.red === null;
  if (last.nothing && own.length === 0 && isShown) return as("skipped", null, last.nothing.why);
  if (!isVisitDue(task, last, all)) return ofWhole(state, task, all);
  const visits = attempts.filter((each) => !each.isForgiven && !isLost(each)).length;
  if (visits < roundsOf(last.phase)) return as("ready");
  return as("needs-human", "dispatches", `Its planner came ${visits} times, as often as it may.`);
}

/** Is it time for the planner of an area to come again? Something has ended that it has not seen,
 * or the area's own check is red, and none of its tasks waits for a worker, or for landing, which is
 * news in a moment: one that is slow keeps nobody idle. */
function isVisitDue(
  task: TaskState,
  { begun, dispatchedAt, submitted }: AttemptState,
  all: Families,
): boolean {
  const own = madeOf(task, all);
  if (own.some((each) => isDispatchable(each) || each.state === "mergeable")) return false;
  const since = begun?.at ?? dispatchedAt;
  if (own.some((each) => !isOpen(each) && lastEnd(each, all) > since)) return true;
  const { whole } = task;
  return whole !== null && whole.red !== null && whole.at > (submitted?.at ?? since);
}

/** Is something still to come of a task without anybody's word? */
const isOpen = (task: TaskState): boolean => isBusy(task) || task.state === "waiting";

/** When last something of a task came to an end. */
function lastEnd(task: TaskState, all: Families): number {
  const own = [...task.attempts.map((each) => endedAt(each) ?? 0), task.whole?.at ?? 0];
  const below = madeOf(task, all).map((each) => lastEnd(each, all));
  return Math.max(task.endedAt, ...own, ...below);
}

/** Where a task stands by what it is made of, once nobody is at it itself: it is done when all of
 * that is, and its own `Verify:` is green. */
function ofWhole(state: RunState, task: TaskState, all: Families): Standing {
  const own = madeOf(task, all);
  const stuck = stuckIn(own);
  if (stuck) {
    const { id, reason } = stuck;
    return { ...as("needs-human", reason ?? "dependency", `Task ${id} waits.`), heldBy: id };
  }
  if (own.some(isOpen) || isWholeDue(state, task, all)) return as("running");
  const red = task.whole?.red ?? null;
  return red === null ? as("landed") : as("needs-human", "line-red", red);
}

const stuckIn = (own: readonly TaskState[]): TaskState | undefined =>
  own.find((each) => each.state !== "dropped" && CANNOT_LAND.includes(each.state));

/** Has all come to its end that a task is made of, since its own check was last made? */
function isWholeDue(state: RunState, task: TaskState, all: Families): boolean {
  const own = madeOf(task, all);
  if (checksOf(state, task).length === 0 || own.some(isOpen)) return false;
  return task.whole === null || own.some((each) => lastEnd(each, all) > (task.whole?.at ?? 0));
}

/** The tasks that are made of others and whose own check is to be made now. */
export function wholesDue(state: RunState): TaskState[] {
  const running = [...state.tasks.values()].filter(
    (task) => task.state === "running" && isMade(task) && activeOf(task).length === 0,
  );
  if (running.length === 0) return [];
  const all = families(state);
  return running.filter((task) => isWholeDue(state, task, all));
}

/** The tasks with `Each:` whose turn it is to list what they are made of. */
export const listsDue = ({ tasks }: RunState): TaskState[] =>
  [...tasks.values()].filter(
    ({ each, isListed, state }) => Boolean(each) && !isListed && state === "ready",
  );
