import type { Phase } from "../blueprint/workflow.ts";
import { ownOf } from "../program/files.ts";
import { checksOf, isBound } from "./checks.ts";
import { isEnd } from "./end-task.ts";
import type { Evidence } from "./events.ts";
import { isMet, isMissed } from "./passed.ts";
import { hasRounds } from "./rounds.ts";
import type { Command } from "./shapes.ts";
import type { AttemptState, RunState, TaskState } from "./state.ts";

type Named = Readonly<{ name: string; run: string; cwd: string }>;

/** Is a command what sets a worktree up? A gate may have the same name. */
export const isSetup = ({ setup }: RunState, { name, run, cwd }: Named): boolean =>
  setup !== null && setup.name === name && setup.run === run && setup.cwd === cwd;

/** The command that left some evidence. */
export const commandOf = ({ gate, command, cwd }: Evidence): Named => {
  return { name: gate, run: command, cwd };
};

/** Names a run's setup: evidence that was made after another one says nothing. */
export const setupKey = ({ setup }: RunState): string =>
  setup ? `${setup.cwd}: ${setup.run}` : "";

/** The newest evidence of a gate that holds for a tree, or undefined. */
export function evidenceFor(state: RunState, gate: Command, tree: string): Evidence | undefined {
  const setup = setupKey(state);
  return state.evidence.findLast(
    (each) =>
      each.gate === gate.name &&
      each.command === gate.run &&
      each.cwd === gate.cwd &&
      each.tree === tree &&
      each.setup === setup,
  );
}

/** What commands made beside the files in an attempt's worktree, or in landing's where none is
 * given. */
export function madeIn({ evidence }: RunState, attempt?: string): string[] {
  const own = evidence.filter(({ by, attempts }) =>
    attempt ? by === "worker" && attempts[0] === attempt : by === "landing",
  );
  return [...new Set(own.flatMap(({ made }) => made))];
}

/** A gate as a phase wants it: `red` where it has to fail. */
export type PhaseGate = Command & Readonly<{ red: boolean }>;

/** An attempt, as far as its gates go. */
type Bound = Readonly<{ phase: Phase; task: Pick<TaskState, "id" | "phases" | "checks" | "each"> }>;

/** The gates of an attempt, in order: those of its phase, that have to fail or to pass, and where
 * the task's `Verify:` binds that, its commands. */
export function gatesOf(state: RunState, { phase, task }: Bound): PhaseGate[] {
  const checks = isBound(task, phase) ? checksOf(state, task) : [];
  return [
    ...gatesOfPhase(state, phase, isEnd(task)),
    ...checks.map((check) => ({ ...check, red: false })),
  ];
}

/** Those of a phase are the ones that it names; where it names none, all if it writes and none has
 * to fail. */
function gatesOfPhase({ gates }: RunState, phase: Phase, isOfEnd: boolean): PhaseGate[] {
  const isAll = phase.writes && phase.red.length === 0;
  const isToPass = (name: string): boolean => phase.gates?.includes(name) ?? isAll;
  // Those for the end are the business of whoever mends what is red there.
  const isDue = ({ isLast }: Command): boolean => !isLast || isOfEnd;
  return gates
    .filter(isDue)
    .map((gate) => ({ ...gate, red: phase.red.includes(gate.name) }))
    .filter(({ name, red }) => red || isToPass(name));
}

/** May an attempt be handed in though a gate has not come out on a tree as it should? A round may,
 * once it is seen what is red, or no try is left to see it. */
export function mayBeRed(state: RunState, attempt: AttemptState, tree: string): boolean {
  const [first] = gatesOf(state, attempt).filter(
    (gate) => !isMet(gate, evidenceFor(state, gate, tree)),
  );
  if (!first || !hasRounds(attempt.phase)) return false;
  const failures = ownOf(attempt.failures, first.name) ?? 0;
  return (
    failures >= state.blueprint.bounds.failures || isMissed(first, evidenceFor(state, first, tree))
  );
}

/** The names of an attempt's gates that have not come out on a tree as they should. */
export const unproven = (state: RunState, attempt: Bound, tree: string): string[] =>
  gatesOf(state, attempt)
    .filter((gate) => !isMet(gate, evidenceFor(state, gate, tree)))
    .map(({ name }) => name);
