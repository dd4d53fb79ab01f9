import type { Phase } from "../blueprint/workflow.ts";
import { mendedBy } from "./checks.ts";
import { isBusy, isEndDue, SUCCESS } from "./end-task.ts";
import { families, isMade, stoppedAbove } from "./family.ts";
import { ofMade } from "./made.ts";
import { howIn } from "./passed.ts";
import { isToBegin, type Progress, progressOf, stepsIn } from "./phases.ts";
import { ALIKE_TO_END, alikeInARow, isRedRound, redRounds, roundsOf } from "./rounds.ts";
import { afterFailure, as, beforeFirst, stoppedFor, unmet } from "./standing-rules.ts";
import {
  type AttemptState,
  activeOf,
  inOrder,
  isActive,
  isDispatchable,
  isLost,
  type RunState,
  type Standing,
  type TaskState,
} from "./state.ts";
import { furtherOf, isChosenFrom, pickDue, variantsAt } from "./variants.ts";

/** Works out what each task's state is now, and what follows from that for the run. Dependencies
 * come before what hangs on them.
 * @param state it has all events in it; it is changed */
export function settle(state: RunState): void {
  state.left = dispatchesLeft(state);
  const made = families(state);
  for (const task of inOrder(state)) {
    const progress = progressOf(task, state.blueprint.bounds.cycles);
    task.phase = progress.phase;
    task.result = progress.result;
    task.wants = 0;
    if (isMade(task)) Object.assign(task, ofMade(state, task, made));
    else if (task.state === "landed") continue;
    else Object.assign(task, standing(state, task, progress));
    if (isDispatchable(task)) Object.assign(task, unmet(state, task) ?? heldBack(state, task));
    task.wants = wantsOf(task);
  }
  state.done = ![...state.tasks.values()].some(isBusy) && !isEndDue(state);
}

/** How many more dispatches there may be: those that were lost by nobody's fault, or given by a
 * person's word, do not count. */
function dispatchesLeft({ attempts, tasks, blueprint }: RunState): number {
  const all = [...attempts.values()];
  const dispatches = all.filter((each) => !isLost(each) && !each.isExtra).length;
  const steps = [...tasks.values()].reduce(
    (sum, { phases, each }) => sum + (each ? 0 : stepsIn(phases)),
    0,
  );
  return Math.max(0, blueprint.bounds.dispatches * steps - dispatches);
}

/** How many workers are to be started for a task now: of a phase that is chosen from several, also
 * while others of them are at it. */
function wantsOf(task: TaskState): number {
  const { phase, state, each } = task;
  if (phase === null || each || pickDue(task)) return 0;
  if (isChosenFrom(task, phase) && (state === "running" || isDispatchable(task)))
    return furtherOf(task, phase, variantsAt(task, phase));
  return isDispatchable(task) ? 1 : 0;
}

/** What stands in the way of giving tasks of the run to a worker: they wait for a person then. Empty
 * where nothing does. */
function heldBack(state: RunState, task: TaskState): Partial<Standing> {
  const above = stoppedAbove(state, task.id);
  if (above)
    return { state: "needs-human", reason: "stopped", note: `Task ${above.id} is stopped.` };
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
  // What the rails do themselves needs no dispatch. The note stays: it says why the task is to be
  // tried once more.
  const isOut = left === 0 && extra === 0 && wantsOf(task) > 0;
  return isOut ? { state: "needs-human", reason: "dispatches" } : {};
}

/** A gate that is red on the base, with how that is where its exit code does not say so. */
function onBase(evidence: RunState["evidence"], gate: string): string {
  const ran = evidence.findLast((each) => each.gate === gate && each.attempts.length === 0);
  return ran?.failing === undefined ? gate : `${gate} ${howIn(ran)}`;
}

/** The state of a task that has not landed: the first rule that holds. */
function standing(state: RunState, task: TaskState, progress: Progress): Standing {
  const { recent, isDoubted } = progress;
  const last = task.attempts.at(-1);
  if (task.isDropped) return as("dropped");
  if (task.stop !== null) return stoppedFor(task.stop, last?.over);
  if (task.id === SUCCESS) return ofTheWhole(state, task);
  if (last && isAtWork(task, last)) return as("running");
  if (isToBegin(task)) return beforeFirst(state, task);
  if (task.phase && isChosenFrom(task, task.phase)) return ofVariants(state, task, task.phase);
  if (last?.nothing && !last.over) return ofNothing(task, last);
  if (recent?.over) return afterFailure(state, task, recent, recent.over);
  if (isDoubted) return as("needs-human", "findings", last?.submitted?.handoff);
  if (!last) return beforeFirst(state, task);
  if (isRedRound(last)) return afterRound(state, task, last);
  if (task.phase) return as("ready");
  // Where nobody was to write, what was handed in is the result.
  if (!task.phases.some(({ writes }) => writes) && !task.result) return as("landed");
  if (task.risk !== "high" || last.submitted?.byHand) return as("mergeable");
  return as("needs-human", "high-risk", last.submitted?.verdict ? last.submitted.handoff : "");
}

/** Is somebody at a task? Of several that are to be chosen from, anyone; where a person took
 * something by hand, nobody whose work would still count. */
const isAtWork = (task: TaskState, last: AttemptState): boolean =>
  isActive(last) || (last.variant > 0 && !last.submitted?.byHand && activeOf(task).length > 0);

/** Where a task stands of which several are to be started, or were and came to nothing yet. */
const ofVariants = (state: RunState, task: TaskState, phase: Phase): Standing =>
  variantsAt(task, phase).length > 0 ? as("ready") : beforeFirst(state, task);

/** Where a task stands of which somebody said that there is nothing to do. Of several that were to
 * be chosen from, all of them have to say so. */
function ofNothing(task: TaskState, { phase, variant, nothing }: AttemptState): Standing {
  const group = variant > 0 ? variantsAt(task, phase).filter((each) => !isLost(each)) : [];
  return group.every((each) => each.nothing)
    ? as("skipped", null, nothing?.why)
    : as("verify-failed", null, "None of its variants came to anything.");
}

/** Where a task stands of which a round was handed in with something red. */
function afterRound(
  state: RunState,
  task: TaskState,
  { phase, submitted }: AttemptState,
): Standing {
  const rounds = redRounds(task, phase).length;
  const red = (submitted?.red ?? []).join(", ");
  const note = `Round ${rounds} of ${roundsOf(phase)} left red: ${red}.`;
  if (alikeInARow(state, task, phase) >= ALIKE_TO_END)
    return as("needs-human", "stuck", `${note} The last ${ALIKE_TO_END} left the same.`);
  return rounds >= roundsOf(phase)
    ? as("needs-human", "gate-failed", note)
    : as("ready", null, note);
}

/** Where the task stands that judges the whole: its turn comes when nothing else is to come and the
 * line is green at the end; what it found waits until something has landed for it, as often as a
 * review may send a task back. */
function ofTheWhole(state: RunState, { attempts }: TaskState): Standing {
  const last = attempts.at(-1);
  if (last && isActive(last)) return as("running");
  const { verdict, head, handoff } = last?.submitted ?? {};
  // It holds for what was judged, and not for what landed since.
  if (verdict === "pass" && head === state.tip) return as("landed");
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
