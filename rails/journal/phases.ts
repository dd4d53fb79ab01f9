import type { Phase } from "../blueprint/workflow.ts";
import { isAtLeast } from "../plan/risk.ts";
import type { PlannedTask } from "../plan/task.ts";
import type { EventData } from "./events.ts";
import type { AttemptState, TaskState } from "./state.ts";

/** Where a task stands. */
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

/** What of a workflow's phases, at a risk, judges, and what mends what that finds. */
export function reviewIn(phases: readonly Phase[], risk: TaskState["risk"]): Phase[] {
  const all = phasesFor(phases, risk);
  const judges = all.filter(({ back }) => back);
  return [...judges, ...all.filter(({ name }) => judges.some(({ back }) => back === name))];
}

/** All phases of a task's way: its own and, where none of them judges, those that review such a
 * risk. */
export function wayFor(
  own: readonly Phase[],
  risk: TaskState["risk"],
  reviews: Frozen["reviews"],
): readonly Phase[] {
  if (own.some(({ back }) => back)) return own;
  const free = (name: string): string =>
    own.some((each) => each.name === name) ? `${name}-too` : name;
  const review = reviews[risk] ?? [];
  return [
    ...own,
    ...review.map((each) => ({
      ...each,
      name: free(each.name),
      back: each.back && free(each.back),
    })),
  ];
}

/** How many workers a task takes, one after another, where nothing fails. */
export const stepsOf = (
  { workflows, reviews }: Frozen,
  { workflow, risk }: Pick<PlannedTask, "workflow" | "risk">,
) => straight(phasesFor(wayFor(workflows[workflow] ?? [], risk, reviews), risk)).length;
type Frozen = Pick<EventData["started"], "workflows" | "reviews">;

/** How many workers a task still takes where nothing fails, the one that is at it among them. */
export const phasesAhead = ({ phase, phases }: TaskState): number =>
  straight(phases).filter((each) => phase !== null && phases.indexOf(each) >= phases.indexOf(phase))
    .length;

/** The phase that alone sends tasks to this one, where there is one: it stands before it. */
const judgeOf = (phases: readonly Phase[], { name }: Phase): Phase | undefined => {
  const at = phases.findIndex((each) => each.name === name);
  return phases.slice(0, at).find(({ back }) => back === name);
};

/** Where a task stands among its phases, after its attempts.
 * @param cycles how often findings may send it back */
export function progressOf({ phases, attempts, tried }: TaskState, cycles: number): Progress {
  const last = attempts.at(-1);
  const result = attempts.findLast(
    ({ submitted, phase }) => submitted && (submitted.byHand || phase.writes),
  );
  const isBack = result?.over && attempts.length === tried;
  const recent = isBack ? result : last;
  const at = (phase?: Phase, isDoubted = false): Progress => ({
    phase: phase ?? null,
    result,
    recent,
    isDoubted,
  });
  if (!last) return at(phases[0]);
  // What did not land is done anew by the phase that made it, or by the one whose findings it
  // mended.
  if (isBack) {
    const before = phases.slice(0, phases.indexOf(result.phase) + 1);
    return at(straight(before).findLast(({ writes }) => writes) ?? result.phase);
  }
  if (!last.submitted || last.over) return at(last.phase);
  if (last.submitted.byHand) return at();
  const { phase, submitted } = last;
  if (submitted.verdict === "fail") {
    const isSame = (each: AttemptState): boolean =>
      each.phase === phase && each.submitted?.verdict === "fail";
    const found = attempts.filter((each) => isSame(each) && !each.isForgiven).length;
    return at(phases.find(({ name }) => name === phase.back) ?? phase, found > cycles);
  }
  const isLater = (next: Phase): boolean => phases.indexOf(next) > phases.indexOf(phase);
  return at(judgeOf(phases, phase) ?? straight(phases).find(isLater));
}
