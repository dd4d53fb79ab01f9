import { mendedBy } from "./checks.ts";
import { isBusy, isEndDue, SUCCESS } from "./end-task.ts";
import { howIn } from "./passed.ts";
import { type Progress, progressOf, straight } from "./phases.ts";
import { endOf, type Reason, type State } from "./shapes.ts";
import {
  type AttemptState,
  inOrder,
  isActive,
  isDispatchable,
  isLost,
  type RunState,
  type Standing,
  type TaskState,
} from "./state.ts";

/** Works out what each task's state is now, and what follows from that for the run. Dependencies
 * come before what hangs on them.
 * @param state it has all events in it; it is changed */
export function settle(state: RunState): void {
  state.left = dispatchesLeft(state);
  for (const task of inOrder(state)) {
    const progress = progressOf(task, state.blueprint.bounds.cycles);
    task.phase = progress.phase;
    task.result = progress.result;
    if (task.state === "landed") continue;
    Object.assign(task, standing(state, task, progress));
    if (isDispatchable(task)) Object.assign(task, unmet(state, task) ?? heldBack(state, task));
  }
  state.done = ![...state.tasks.values()].some(isBusy) && !isEndDue(state);
}

/** How many more dispatches there may be: those that were lost by nobody's fault, or given by a
 * person's word, do not count. */
function dispatchesLeft({ attempts, tasks, blueprint }: RunState): number {
  const all = [...attempts.values()];
  const dispatches = all.filter((each) => !isLost(each) && !each.isExtra).length;
  const steps = [...tasks.values()].reduce((sum, { phases }) => sum + straight(phases).length, 0);
  return Math.max(0, blueprint.bounds.dispatches * steps - dispatches);
}

/** What stands in the way of giving tasks of the run to a worker: they wait for a person then. Empty
 * where nothing does. */
function heldBack(state: RunState, task: TaskState): Partial<Standing> {
  const { baseRed, baseAccepted, landings, left, evidence } = state;
  const { extra } = task;
  // On what has landed since every gate was green.
  const isHealed = baseAccepted || landings.length > 0;
  const red = isHealed ? [] : (baseRed ?? []);
  const mended = mendedBy(state, task);
  if (!red.every((name) => mended.includes(name))) {
    const note = `Red on the base: ${red.map((gate) => onBase(evidence, gate)).join(", ")}.`;
    return { state: "needs-human", reason: "base-red", note };
  }
  // The note stays: it says why the task is to be tried once more.
  return left === 0 && extra === 0 ? { state: "needs-human", reason: "dispatches" } : {};
}

/** A gate that is red on the base, with how that is where its exit code does not say so. */
function onBase(evidence: RunState["evidence"], gate: string): string {
  const ran = evidence.findLast((each) => each.gate === gate && each.attempts.length === 0);
  return ran?.failing === undefined ? gate : `${gate} ${howIn(ran)}`;
}

const as = (state: State, reason: Reason | null = null, note = ""): Standing => ({
  state,
  reason,
  note,
});

/** The state of a task that has not landed: the first rule that holds. */
function standing(state: RunState, task: TaskState, progress: Progress): Standing {
  const { recent, isDoubted } = progress;
  const last = task.attempts.at(-1);
  if (task.isDropped) return as("dropped");
  if (task.id === SUCCESS) return ofTheWhole(state, task);
  if (task.stop !== null) return stoppedFor(task.stop, last?.over);
  if (last?.nothing && !last.over) return as("skipped", null, last.nothing.why);
  if (recent?.over) return afterFailure(state, task, recent, recent.over);
  if (isDoubted) return as("needs-human", "findings", last?.submitted?.handoff);
  if (!last) return beforeFirst(state, task);
  if (isActive(last)) return as("running");
  if (task.phase) return as("ready");
  if (task.risk !== "high" || last.submitted?.byHand) return as("mergeable");
  return as("needs-human", "high-risk", last.submitted?.verdict ? last.submitted.handoff : "");
}

/** Where the task stands that judges the whole: its turn comes when nothing else is to come and the
 * line is green at the end; what it found waits until something has landed for it, as often as a
 * review may send a task back. */
function ofTheWhole(state: RunState, { attempts }: TaskState): Standing {
  const last = attempts.at(-1);
  if (last && isActive(last)) return as("running");
  const { verdict, head, handoff } = last?.submitted ?? {};
  if (verdict === "pass") return as("landed");
  const failed = attempts.filter((each) => each.submitted?.verdict === "fail" && !each.isForgiven);
  const isSame = verdict === "fail" && head === state.tip && !last?.isForgiven;
  if (isSame || failed.length > state.blueprint.bounds.cycles)
    return as("needs-human", "findings", handoff);
  const lost = attempts.filter((each) => each.over && !each.isForgiven && !isLost(each));
  if (lost.length >= state.blueprint.bounds.attempts)
    return as("needs-human", lost.at(-1)?.over?.reason ?? null, lost.at(-1)?.over?.note);
  const others = [...state.tasks.values()].filter(({ id }) => id !== SUCCESS);
  const isReady = state.end?.tip === state.tip && state.end.red === null && !others.some(isBusy);
  return as(isReady ? "ready" : "waiting");
}

/** A task at which nobody works before a person says so.
 * @param question what it waits for; empty where it was only stopped
 * @param over how its last attempt ended */
const stoppedFor = (question: string, over: AttemptState["over"]): Standing =>
  question ? as("needs-human", "question", question) : as("needs-human", "stopped", over?.note);

/** Where a task stands whose last attempt failed, or whose result did not land.
 * @param over how that ended */
function afterFailure(
  { blueprint }: RunState,
  { attempts, phase }: TaskState,
  recent: AttemptState,
  { reason, note }: NonNullable<AttemptState["over"]>,
): Standing {
  const failed = attempts.filter(
    (each) => each.over && !each.isForgiven && each.phase === phase && !isLost(each),
  );
  const { cause } = endOf(reason);
  // What another attempt would not change: a person has to agree, or to say no.
  const isPersons = cause === "person" && !recent.isForgiven;
  if (isPersons || failed.length >= blueprint.bounds.attempts)
    return as("needs-human", reason, note);
  // Neither is the work's fault: it is simply to be done again on the line as it is now.
  const isBlameless = cause === "nobody" || cause === "line";
  return as(isBlameless ? "ready" : "verify-failed", reason, note);
}

/** Where a task stands that nobody has worked at: what it depends on says. */
const beforeFirst = (state: RunState, task: TaskState): Standing =>
  unmet(state, task) ?? as("ready");

/** Where a task stands by what it depends on; null where nothing of that is open any more. */
function unmet({ tasks }: RunState, { depends }: TaskState): Standing | null {
  const before = depends.map((id) => tasks.get(id)?.state);
  if (before.some((each) => each && CANNOT_LAND.includes(each))) return as("blocked", "dependency");
  const isFree = before.every((each) => each === "landed" || each === "skipped");
  return isFree ? null : as("waiting");
}

/** What hangs on a task in one of these cannot begin before a person decides. */
const CANNOT_LAND: readonly State[] = ["needs-human", "blocked", "dropped"];
