import type { Command, Evidence, Prover } from "./events.ts";
import type { RunState } from "./state.ts";

/** Names a setup: evidence made after another one says nothing. */
export const setupKey = (setup: Command | null): string => (setup ? `${setup.cwd}: ${setup.run}` : "");

/** The newest evidence of a gate that holds for a tree, or undefined. */
export function evidenceFor(state: RunState, gate: Command, tree: string, by?: Prover): Evidence | undefined {
  return state.evidence.findLast(
    (each) =>
      each.gate === gate.name &&
      each.command === gate.run &&
      each.cwd === gate.cwd &&
      each.setup === setupKey(state.setup) &&
      each.tree === tree &&
      (by === undefined || each.by === by),
  );
}

/** Exit code 0, and the files are as they were: a command that changed them passed on others than it leaves. */
export const isPass = (evidence: Evidence | undefined): boolean =>
  evidence !== undefined && evidence.code === 0 && evidence.treeAfter === evidence.tree;

/** The gates, in order, that have not passed on a tree. */
export function unproven(state: RunState, tree: string, by?: Prover): Command[] {
  return state.gates.filter((gate) => !isPass(evidenceFor(state, gate, tree, by)));
}
