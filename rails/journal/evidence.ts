import type { Phase } from "../blueprint/workflow.ts";
import { END } from "./end-task.ts";
import type { Evidence } from "./events.ts";
import type { Command } from "./shapes.ts";
import type { RunState } from "./state.ts";

type Outcome = Pick<Evidence, "code" | "untested" | "failing">;

/** Did a command fail, whatever is known of that? Also where it ended with 0 and its runner says
 * that it tested nothing, or sums up failures: then its exit code is hidden, as by `| tee` or
 * `|| true`. */
export const isFailed = ({ code, untested, failing }: Outcome): boolean =>
  code !== 0 || untested || failing !== undefined;

/** Did a command fail? Not where all that failed fails on the base as well, and a person went on
 * over that. */
export const isRed = (run: (Outcome & Pick<Evidence, "known">) | undefined): boolean =>
  run !== undefined && isFailed(run) && !run.known;

/** How a command that did not pass came out, in words: `ended with 1`. */
export function howIn({ code, untested, failing }: Outcome): string {
  if (code === null) return "ran out of time";
  if (untested) return "tested nothing";
  if (failing !== undefined) return `ended with ${code} and printed «${failing}»`;
  return code === 0 ? "changed files" : `ended with ${code}`;
}

/** Not red, and the files are as they were: a command that changed them passed on others than it
 * leaves. */
export const isPass = (evidence: Evidence | undefined): boolean =>
  evidence !== undefined && !isRed(evidence) && evidence.changed.length === 0;

/** A gate of a phase: `red` where it has to fail, on tests that ran. */
type Aim = Readonly<{ red: boolean }>;

/** Did a gate come out as its phase wants it? One that has to fail is to show failures of tests that
 * ran: so its runner's word for them is as good as its exit code. */
export function isMet({ red }: Aim, evidence: Evidence | undefined): boolean {
  if (!red) return isPass(evidence);
  return isRed(evidence) && evidence?.code !== null && !evidence?.untested;
}

/** Did it come out otherwise? One that has to fail and changed files says nothing. */
export function isMissed(aim: Aim, evidence: Evidence | undefined): boolean {
  if (!aim.red) return isRed(evidence);
  return evidence !== undefined && evidence.changed.length === 0 && !isMet(aim, evidence);
}

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

/** The gates of a phase, in order: those that have to fail, and those that have to pass. These are
 * the ones that it names; where it names none, all if it writes and none has to fail. */
export function gatesOf({ gates, tasks }: RunState, phase: Phase): PhaseGate[] {
  const isAll = phase.writes && phase.red.length === 0;
  const isToPass = (name: string): boolean => phase.gates?.includes(name) ?? isAll;
  // Once there is something to mend at the end, nothing else is worked on.
  const isDue = ({ isLast }: Command): boolean => !isLast || tasks.has(END);
  return gates
    .filter(isDue)
    .map((gate) => ({ ...gate, red: phase.red.includes(gate.name) }))
    .filter(({ name, red }) => red || isToPass(name));
}

/** The names of a phase's gates that have not come out on a tree as they should. */
export const unproven = (state: RunState, phase: Phase, tree: string): string[] =>
  gatesOf(state, phase)
    .filter((gate) => !isMet(gate, evidenceFor(state, gate, tree)))
    .map(({ name }) => name);
