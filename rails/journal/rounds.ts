import type { Phase } from "../blueprint/workflow.ts";
import type { Evidence } from "./events.ts";
import type { AttemptState, RunState, TaskState } from "./state.ts";

/** How often a phase comes at most, each time by a fresh worker. */
export const roundsOf = ({ rounds }: Phase): number => rounds ?? 1;

/** Is a phase one of which a round may be handed in while something is red? */
export const hasRounds = (phase: Phase): boolean => phase.writes && roundsOf(phase) > 1;

/** Was an attempt handed in with something red? */
export const isRedRound = ({ submitted, phase }: AttemptState): boolean =>
  hasRounds(phase) && !submitted?.byHand && (submitted?.red ?? []).length > 0;

/** The rounds of a phase that were handed in red, oldest first, since the task was begun, or begun
 * anew. */
export const roundsTried = ({ attempts, anew }: TaskState, phase: Phase): AttemptState[] =>
  attempts.slice(anew).filter((each) => each.phase === phase && isRedRound(each) && !each.over);

/** Those of them that count: not what a person forgave. */
export const redRounds = (task: TaskState, phase: Phase): AttemptState[] =>
  roundsTried(task, phase).filter(({ isForgiven }) => !isForgiven);

/** How often in a row, up to the last, a phase's rounds left the same red. */
export function alikeInARow(state: RunState, task: TaskState, phase: Phase): number {
  const rounds = redRounds(task, phase).map((round) => rednessOf(state, round));
  const last = rounds.at(-1);
  const other = rounds.findLastIndex((one) => one !== last);
  return rounds.length - 1 - other;
}

/** What a round left red: each gate, with the lines by which it says what fails. Numbers and paths
 * count for nothing: the same failure moves with every edit. */
export function rednessOf({ evidence }: RunState, { id, submitted }: AttemptState): string {
  const lines = (submitted?.red ?? []).map((gate) => {
    const ran = evidence.findLast((each) => each.gate === gate && isOwn(each, id));
    return [gate, ran?.code ?? "", ...(ran?.errors ?? []).map(masked)].join("\n");
  });
  return lines.join("\n\n");
}

const isOwn = ({ by, attempts }: Evidence, id: string): boolean =>
  by === "worker" && attempts[0] === id;

const masked = (line: string): string =>
  line
    .replace(/(?:\.{0,2}\/)?(?:[\w@.-]+\/)+[\w@.-]+/g, "PATH")
    .replace(/\d+(?:[.,]\d+)*/g, "N")
    .trim();

/** So many rounds in a row that left the same: then another approach is taken … */
export const ALIKE_FOR_ANOTHER_WAY = 2;
/** … or nobody goes on. */
export const ALIKE_TO_END = 3;
