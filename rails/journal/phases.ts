import type { Phase } from "../blueprint/workflow.ts";
import { isAtLeast } from "../plan/risk.ts";
import type { PlannedTask } from "../plan/task.ts";
import { ownOf } from "../program/files.ts";
import type { EventData } from "./events.ts";
import { isRedRound, roundsOf } from "./rounds.ts";
import { type AttemptState, activeOf, type TaskState } from "./state.ts";
import { furtherOf, isChosenFrom, variantsAt, variantsOf } from "./variants.ts";

/** Where a task stands among its phases. */
export type Progress = Readonly<{
  phase: Phase | null; // The one that is on or comes next; null where the last is over
  result: AttemptState | undefined; // Whose commits are what there is of the task
  isDoubted: boolean; // Findings, and it was sent back as often as it may be
  // What happened last: to its last attempt, or to what was to land
  recent: AttemptState | undefined;
}>;

/** The phases that there are for a task of this risk: one for findings only together with what
 * finds them. */
export function phasesFor(phases: readonly Phase[], risk: TaskState["risk"]): Phase[] {
  const isMeant = (phase: Phase): boolean => isAtLeast(risk || "low", phase.risk);
  return phases.filter((phase) => isMeant(phase) && isMeant(judgeOf(phases, phase) ?? phase));
}

/** Phases that a task goes through where nothing is found. */
export const straight = (phases: readonly Phase[]): Phase[] =>
  phases.filter((phase) => !judgeOf(phases, phase));

/** The phase that alone sends tasks to this one, where there is one: it stands before it. */
function judgeOf(phases: readonly Phase[], { name }: Phase): Phase | undefined {
  const at = phases.findIndex((each) => each.name === name);
  return phases.slice(0, at).find(({ back }) => back === name);
}

/** What of a workflow's phases, at a risk, judges, and what mends what that finds. */
export function reviewIn(phases: readonly Phase[], risk: TaskState["risk"]): Phase[] {
  const all = phasesFor(phases, risk);
  const judges = all.filter(({ back }) => back);
  const menders = all.filter(({ name }) => judges.some(({ back }) => back === name));
  return [...judges, ...menders];
}

/** What a run froze of the workflows when it was opened. */
type Frozen = Pick<EventData["started"], "workflows" | "reviews">;

/** All phases of a task's way: its own and, where something is written and none of them judges,
 * those that review such a risk. */
export function wayFor(
  own: readonly Phase[],
  risk: TaskState["risk"],
  reviews: Frozen["reviews"],
): readonly Phase[] {
  if (own.some(({ back }) => back) || !own.some(({ writes }) => writes)) return own;
  const taken = new Set(own.map(({ name }) => name));
  const free = (name: string): string => (taken.has(name) ? `${name}-too` : name);
  const review = (reviews[risk] ?? []).map((phase) => ({
    ...phase,
    name: free(phase.name),
    back: phase.back && free(phase.back),
  }));
  return [...own, ...review];
}

/** How many workers a task takes at most, where nothing fails; one that is made of others none of
 * its own. */
export function stepsOf(
  { workflows, reviews }: Frozen,
  { workflow, risk, each }: Pick<PlannedTask, "workflow" | "risk" | "each">,
): number {
  if (each) return 0;
  const way = wayFor(ownOf(workflows, workflow) ?? [], risk, reviews);
  return stepsIn(phasesFor(way, risk));
}

/** How much of something a task takes where nothing fails: at least, likely, and at most. */
export type Span = Readonly<{ low: number; likely: number; high: number }>;

/** How many workers a task takes, and how many one after another. */
export type Effort = Readonly<{ workers: Span; turns: Span }>;

/** What phases take. Rounds come one after another, and as many as it takes: one at least, all at
 * most, and half of them likely. Variants are at work at once, as far as there are slots; an area's
 * planner comes as rounds do.
 * @param slots how many workers are at work at once */
export const effortIn = (phases: readonly Phase[], slots: number): Effort => ({
  workers: spanOf(phases, variantsOf),
  turns: spanOf(phases, (phase) => Math.ceil(variantsOf(phase) / Math.max(1, slots))),
});

/** How many workers phases take at most, where nothing fails. */
export const stepsIn = (phases: readonly Phase[]): number => spanOf(phases, variantsOf).high;

/** What phases take together. @param ofRound what one round of a phase takes */
function spanOf(phases: readonly Phase[], ofRound: (phase: Phase) => number): Span {
  const sum = (rounds: (most: number) => number): number =>
    straight(phases).reduce((all, each) => all + rounds(roundsOf(each)) * ofRound(each), 0);
  return {
    low: sum(() => 1),
    likely: sum((most) => Math.ceil((1 + most) / 2)),
    high: sum((most) => most),
  };
}

/** What a task takes; one that is made of others nothing of its own, but an area's planner. */
export function effortOf(
  { workflows, reviews }: Frozen,
  { workflow, risk, each }: Pick<PlannedTask, "workflow" | "risk" | "each">,
  slots: number,
): Effort {
  const way = wayFor(ownOf(workflows, workflow) ?? [], risk, reviews);
  return effortIn(each ? [] : phasesFor(way, risk), slots);
}

/** How many workers a task still takes where nothing fails, the one that is at it among them. */
export function phasesAhead({ phase, phases }: TaskState): number {
  if (phase === null) return 0;
  const at = phases.indexOf(phase);
  return straight(phases).filter((each) => phases.indexOf(each) >= at).length;
}

/** Where a task stands among its phases, after its attempts.
 * @param cycles how often findings may send it back */
export function progressOf(task: TaskState, cycles: number): Progress {
  const { attempts, tried } = task;
  const last = attempts.at(-1);
  const result = attempts.findLast(
    (each) => each.submitted && (each.submitted.byHand || (each.phase.writes && isIts(task, each))),
  );
  if (result?.over && attempts.length === tried)
    return { phase: redoneBy(task, result), result, recent: result, isDoubted: false };
  const isDoubted = last !== undefined && hasFindings(last) && timesBack(task, last) > cycles;
  return { phase: nextPhase(task, last), result, recent: last, isDoubted };
}

/** Is an attempt's work the task's? Of variants that of the one that was picked. */
export const isIts = ({ picked }: TaskState, { variant, id }: AttemptState): boolean =>
  variant === 0 || picked === id;

/** Was it dropped since its last worker? Then it begins from the start. */
export const isToBegin = ({ anew, attempts }: TaskState): boolean =>
  anew > 0 && anew === attempts.length;

/** What did not land is done anew by the phase that made it, or by the one whose findings it
 * mended; what was dropped, from the start. */
function redoneBy(task: TaskState, { phase }: AttemptState): Phase {
  const { phases } = task;
  if (isToBegin(task)) return phases[0] ?? phase;
  const before = phases.slice(0, phases.indexOf(phase) + 1);
  return straight(before).findLast(({ writes }) => writes) ?? phase;
}

/** The phase that is on or comes next; null where the last is over. */
function nextPhase(task: TaskState, last: AttemptState | undefined): Phase | null {
  const { phases, picked } = task;
  if (!last) return phases[0] ?? null;
  const { phase, submitted, over } = last;
  if (isToBegin(task)) return phases[0] ?? phase;
  if (submitted?.byHand && !over) return null;
  if (isChosenFrom(task, phase)) {
    const isOn = furtherOf(task, phase, variantsAt(task, phase)) > 0;
    if (isOn || activeOf(task).length > 0) return phase;
  } else if (!submitted || over) return phase;
  // A choice that named none is none: it is made once more.
  const isToChoose = phase.picks !== undefined && picked === null;
  if (isRedRound(last) || phase.tasks || isToChoose) return phase;
  if (hasFindings(last)) return phases.find(({ name }) => name === phase.back) ?? phase;
  // Where one worker did it alone, or one was picked, there is nothing to choose from.
  const isToPick = picked === null && isChosenFrom(task, phase);
  const isLater = (next: Phase): boolean =>
    phases.indexOf(next) > phases.indexOf(phase) && (isToPick || !next.picks);
  return judgeOf(phases, phase) ?? straight(phases).find(isLater) ?? null;
}

/** Does what the attempt found send the task back? */
const hasFindings = ({ submitted, over }: AttemptState): boolean =>
  submitted?.verdict === "fail" && !submitted.byHand && !over;

/** How often the phase of an attempt has sent its task back; what a person forgave does not count.
 */
const timesBack = ({ attempts }: TaskState, { phase }: AttemptState): number =>
  attempts.filter(
    (each) => each.phase === phase && each.submitted?.verdict === "fail" && !each.isForgiven,
  ).length;
