import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Place } from "../git/repository.ts";
import type { AttemptState, RunState } from "./state.ts";

/** In a worktree's own git folder: whose it is. */
const MARKER = "minion-attempt";

/** The attempt that a worktree was begun for, or null. */
export const attemptOf = ({ gitDir }: Place): Promise<string | null> =>
  readFile(join(gitDir, MARKER), "utf8").catch(() => null);

/** Marks a worktree as an attempt's. */
export const mark = ({ gitDir }: Place, attempt: string): Promise<void> =>
  writeFile(join(gitDir, MARKER), attempt);

/** The planner's attempt that a worktree is of; null where it is of none. */
export async function plannerIn(place: Place, state: RunState): Promise<AttemptState | null> {
  const attempt = state.attempts.get((await attemptOf(place)) ?? "");
  return attempt?.phase.tasks === undefined ? null : attempt;
}
