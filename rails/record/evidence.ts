import type { Command, Evidence } from "./events.ts";
import type { RunState } from "./state.ts";

/** Names a run's setup: evidence that was made after another one says nothing. */
export const setupKey = ({ setup }: RunState): string => (setup ? `${setup.cwd}: ${setup.run}` : "");

/** The newest evidence of a gate that holds for a tree, or undefined; `by`: only such. */
export function evidenceFor(state: RunState, command: Command, tree: string, by?: "landing"): Evidence | undefined {
  const setup = setupKey(state);
  return state.evidence
    .filter((each) => each.gate === command.name && each.command === command.run && each.cwd === command.cwd)
    .findLast((each) => each.tree === tree && each.setup === setup && (by === undefined || each.by === by));
}

/** Exit code 0, and the files are as they were: a command that changed them passed on others than it leaves. */
export const isPass = (evidence: Evidence | undefined): boolean =>
  evidence?.code === 0 && evidence.changed.length === 0;

/** What the run's commands made beside the files. */
export const madeIn = ({ evidence }: RunState): string[] => [...new Set(evidence.flatMap(({ made }) => made))];

/** The names of the gates, in order, that have not passed on a tree. */
export const unproven = (state: RunState, tree: string): string[] =>
  state.gates.filter((gate) => !isPass(evidenceFor(state, gate, tree))).map(({ name }) => name);
