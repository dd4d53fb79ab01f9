import { isArea } from "../journal/family.ts";
import { hasRounds, isRedRound, redRounds, roundsOf } from "../journal/rounds.ts";
import { type AttemptState, activeOf, isActive, isLost, type TaskState } from "../journal/state.ts";
import {
  candidatesAt,
  isChosenFrom,
  pickDue,
  variantsAt,
  variantsOf,
} from "../journal/variants.ts";

// How far a task is in a phase that comes again, or that several workers do at once.

/** The round that is on, that comes next, or that was the last: its number, how many there may be,
 * and what the one before it left red. */
export type Round = Readonly<{ number: number; most: number; red: readonly string[] }>;

/** Null where the task is in no phase with rounds. */
export function roundOf(task: TaskState): Round | null {
  const { phase, attempts, state } = task;
  if (!phase || !hasRounds(phase)) return null;
  const before = redRounds(task, phase);
  const last = attempts.at(-1);
  const isLast = state === "needs-human" && last !== undefined && isRedRound(last);
  return {
    number: Math.min(before.length + (isLast ? 0 : 1), roundsOf(phase)),
    most: roundsOf(phase),
    red: before.at(-1)?.submitted?.red ?? [],
  };
}

/** How often the planner of an area was there, of how often it may come. */
export type Visit = Readonly<{ number: number; most: number }>;

/** Null where the task is no area. */
export function visitOf(task: TaskState): Visit | null {
  const { phases, attempts } = task;
  const [phase] = phases;
  if (!phase || !isArea(task) || task.each) return null;
  const visits = attempts.filter((each) => !each.isForgiven && !isLost(each)).length;
  return { number: visits, most: roundsOf(phase) };
}

/** One of several workers that did, or do, the same; `value`: what `Measure:` says of it. */
type Variant = Readonly<{
  number: number;
  attempt: string;
  stands: "running" | "handed in" | "nothing" | "out";
  value: number | null;
  isPicked: boolean;
}>;

/** The variants of a task, phase by phase. */
export const variantsIn = (task: TaskState): Variant[] =>
  task.phases
    .filter((phase) => variantsOf(phase) > 1)
    .flatMap((phase) => variantsAt(task, phase))
    .map((attempt) => ({
      number: attempt.variant,
      attempt: attempt.id,
      stands: standsOf(attempt),
      value: attempt.measured?.value ?? null,
      isPicked: task.picked === attempt.id,
    }));

function standsOf(attempt: AttemptState): Variant["stands"] {
  if (isActive(attempt)) return "running";
  if (attempt.nothing && !attempt.over) return "nothing";
  return attempt.submitted && attempt.over?.event !== "ended" ? "handed in" : "out";
}

/** What is on of several that are to be chosen from: those at work, measuring, choosing. Empty where
 * nothing is. */
export function choiceText(task: TaskState): string {
  const { phase, phases, measure } = task;
  if (!phase) return "";
  const from = phases.find(({ name }) => name === phase.picks);
  if (from) {
    const all = candidatesAt(task, from);
    const next = all.filter(({ measured }) => measured).length + 1;
    if (activeOf(task).length > 0) return `choosing from ${all.length}`;
    if (!pickDue(task)) return "";
    return measure ? `measuring ${Math.min(next, all.length)} of ${all.length}` : "choosing";
  }
  if (!isChosenFrom(task, phase)) return "";
  const group = variantsAt(task, phase);
  const numbers = group.filter(isActive).map(({ variant }) => variant);
  if (numbers.length > 0) return `variant ${numbers.join(", ")} of ${variantsOf(phase)}`;
  const handed = candidatesAt(task, phase).length;
  return group.length > 0 ? `${handed} of ${variantsOf(phase)} variants` : "";
}
