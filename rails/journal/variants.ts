import type { Phase } from "../blueprint/workflow.ts";
import { type AttemptState, isActive, isLost, type TaskState } from "./state.ts";

/** How many workers do a phase at once, one of whom lands. */
export const variantsOf = ({ variants }: Phase): number => variants ?? 1;

/** Is the work of a phase done by several at once? Not any more once what was picked of it did not
 * land, or none of them came to anything: then one worker does it. */
export function isChosenFrom(task: TaskState, phase: Phase): boolean {
  if (variantsOf(phase) < 2 || task.tried > task.anew) return false;
  const group = variantsAt(task, phase);
  const isOver = furtherOf(task, phase, group) === 0 && !group.some(isActive);
  const isVain = isOver && group.length > 0 && candidatesAt(task, phase).length === 0;
  return !isVain;
}

/** The attempts at a phase that are to be chosen from, in the order of their numbers. */
export const variantsAt = ({ attempts, anew }: TaskState, phase: Phase): AttemptState[] =>
  attempts
    .slice(anew)
    .filter((each) => each.phase === phase && each.variant > 0)
    .sort((a, b) => a.variant - b.variant);

/** Did it end by nobody's fault, or was it stopped and may go on since? Another one takes its place. */
const isGone = (attempt: AttemptState): boolean =>
  attempt.over !== undefined &&
  (isLost(attempt) || (attempt.over.reason === "stopped" && attempt.isForgiven));

/** How many more workers are to be started at a phase that is chosen from, those among them that
 * take the place of others. */
export function furtherOf(
  task: Pick<TaskState, "isClosed">,
  phase: Phase,
  group: readonly AttemptState[],
): number {
  if (task.isClosed) return 0;
  return variantsOf(phase) - group.filter((each) => !isGone(each)).length;
}

/** The numbers of variants at which nobody is or was. */
export function freeVariants(task: TaskState, phase: Phase): number[] {
  const taken = variantsAt(task, phase).filter((each) => !isGone(each));
  const all = Array.from({ length: variantsOf(phase) }, (_, at) => at + 1);
  return all.filter((number) => taken.every(({ variant }) => variant !== number));
}

/** What there is to choose from: handed in, and neither over nor out. */
export const candidatesAt = (task: TaskState, phase: Phase): AttemptState[] =>
  variantsAt(task, phase).filter(({ submitted, over }) => submitted && !over);

/** The phase whose variants are to be chosen from now, where the rails do that: by what `Measure:`
 * says, or where there is one only; null where there is nothing to choose, or a judge does, also
 * where nothing came of measuring. */
export function pickDue(task: TaskState): Phase | null {
  const { phase, phases, picked, measure } = task;
  const from = phase?.picks ? phases.find(({ name }) => name === phase.picks) : undefined;
  if (!from || picked !== null || task.state !== "ready") return null;
  const all = candidatesAt(task, from);
  const isToMeasure = measure && all.some(({ measured }) => measured?.value !== null);
  return isToMeasure || all.length === 1 ? from : null;
}

/** The best of what was measured; of equals the one with the lowest number. None where nothing came
 * of measuring.
 * @param measure `lowest …` or `highest …` */
export function bestOf(
  candidates: readonly AttemptState[],
  measure: string,
): AttemptState | undefined {
  const sign = /^highest\b/i.test(measure) ? -1 : 1;
  const value = ({ measured }: AttemptState): number =>
    sign * (measured?.value ?? Number.POSITIVE_INFINITY * sign);
  const counted = candidates.filter(({ measured }) => measured?.value != null);
  return counted.toSorted((a, b) => value(a) - value(b) || a.variant - b.variant)[0];
}
