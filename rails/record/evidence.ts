import type { Command, Evidence } from "./events.ts";
import type { RunState } from "./state.ts";

/** Names a setup: evidence that was made after another one says nothing. */
export const setupKey = (setup: Command | null): string => (setup ? `${setup.cwd}: ${setup.run}` : "");

/** The newest evidence of a gate that holds for a tree, or undefined. */
export function evidenceFor(
  state: RunState,
  { name, run, cwd }: Command,
  tree: string,
  by?: "landing",
): Evidence | undefined {
  const setup = setupKey(state.setup);
  const holds = (each: Evidence): boolean =>
    each.gate === name && each.command === run && each.cwd === cwd && each.setup === setup && each.tree === tree;
  return state.evidence.findLast((each) => holds(each) && (by === undefined || each.by === by));
}

/** Exit code 0, and the files are as they were: a command that changed them passed on others than it leaves. */
export const isPass = (evidence: Evidence | undefined): boolean =>
  evidence?.code === 0 && evidence.treeAfter === evidence.tree;

/** The gates, in order, that have not passed on a tree. */
export const unproven = (state: RunState, tree: string): Command[] =>
  state.gates.filter((gate) => !isPass(evidenceFor(state, gate, tree)));
