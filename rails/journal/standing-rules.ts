import type { Phase } from "../blueprint/workflow.ts";
import { roundsOf } from "./rounds.ts";
import { endOf, type Reason, type State } from "./shapes.ts";
import {
  type AttemptState,
  hasResult,
  isLost,
  type RunState,
  type Standing,
  type TaskState,
} from "./state.ts";

// Rules for where a task stands that hold for one that workers do and for one that is made of
// others.

export const as = (state: State, reason: Reason | null = null, note = ""): Standing => ({
  state,
  reason,
  note,
  heldBy: null,
});

/** A task at which nobody works before a person says so.
 * @param question what it waits for; empty where it was only stopped
 * @param over how its last attempt ended */
export const stoppedFor = (question: string, over: AttemptState["over"]): Standing =>
  question ? as("needs-human", "question", question) : as("needs-human", "stopped", over?.note);

/** Where a task stands whose last attempt failed, or whose result did not land.
 * @param over how that ended */
export function afterFailure(
  { blueprint }: RunState,
  { attempts, phase }: TaskState,
  recent: AttemptState,
  { reason, note }: NonNullable<AttemptState["over"]>,
): Standing {
  const failed = failuresAt(attempts, phase);
  const { cause } = endOf(reason);
  // What another attempt would not change: a person has to agree, or to say no.
  const isPersons = cause === "person" && !recent.isForgiven;
  if (isPersons || failed >= blueprint.bounds.attempts) return as("needs-human", reason, note);
  // Neither is the work's fault: it is simply to be done again on the line as it is now.
  const isBlameless = cause === "nobody" || cause === "line";
  return as(isBlameless ? "ready" : "verify-failed", reason, note);
}

/** How often in a row a phase has failed: all that were to be chosen from count as one, and where it
 * comes again, what was handed in ends the row. */
function failuresAt(attempts: readonly AttemptState[], phase: Phase | null): number {
  const own = attempts.filter((each) => each.phase === phase && !each.isForgiven);
  const isRound = (each: AttemptState): boolean => roundsOf(each.phase) > 1 && hasResult(each);
  const since = own.slice(1 + own.findLastIndex((each) => isRound(each) && !each.over));
  const failed = since.filter((each) => each.over && !isLost(each));
  const alone = failed.filter(({ variant }) => variant === 0).length;
  return alone + (failed.length > alone ? 1 : 0);
}

/** Where a task stands that nobody has worked at: what it depends on says. */
export const beforeFirst = (state: RunState, task: TaskState): Standing =>
  unmet(state, task) ?? as("ready");

/** Where a task stands by what it depends on; null where nothing of that is open any more. */
export function unmet({ tasks }: RunState, { depends }: TaskState): Standing | null {
  const before = depends.map((id) => tasks.get(id)?.state);
  if (before.some((each) => each && CANNOT_LAND.includes(each))) return as("blocked", "dependency");
  const isFree = before.every((each) => each === "landed" || each === "skipped");
  return isFree ? null : as("waiting");
}

/** What hangs on a task in one of these cannot begin before a person decides. */
export const CANNOT_LAND: readonly State[] = ["needs-human", "blocked", "dropped"];
