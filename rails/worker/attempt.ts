import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "../fault.ts";
import { findPlace, gitDirOf, type Place } from "../git/repository.ts";
import { Journal, type Run } from "../record/journal.ts";
import type { AttemptState } from "../record/state.ts";

/** An attempt in its run. */
export type Found = Run & Readonly<{ attempt: AttemptState }>;

/** A worker's own attempt, and where it stands. */
export type Own = Found & Readonly<{ place: Place }>;

/** In a worktree's own git folder: whose it is. */
export const MARKER = "minion-attempt";

/** Finds `r1/T001.2`. @throws Fault `bad-attempt`, `no-run`, `no-attempt` */
export async function findAttempt(common: string, id: string): Promise<Found> {
  const [, run] = /^(r\d+)\/\w+\.\d+$/.exec(id) ?? [];
  if (!run) throw new Fault("bad-attempt", `«${id}» names no attempt`, "take the one that your prompt names: r1/2.1");
  const journal = new Journal(common, run);
  const state = await journal.state();
  const attempt = state.attempts.get(id);
  if (!attempt) throw new Fault("no-attempt", `${id} was never dispatched`, "take the one that your prompt names");
  return { journal, state, attempt };
}

/** The attempt that a folder's worktree was begun for, or null. Starts no process: hooks call it. */
export async function attemptAt(folder: string): Promise<string | null> {
  const gitDir = await gitDirOf(folder);
  return gitDir && (await readFile(join(gitDir, MARKER), "utf8").catch(() => null));
}

/** @throws Fault `not-begun` where no attempt was begun in this worktree */
export async function ownAttempt(cwd: string): Promise<Own> {
  const place = await findPlace(cwd);
  const id = await attemptAt(place.top);
  if (id === null) throw new Fault("not-begun", `no attempt was begun in ${place.top}`, "run minion begin first");
  return { place, ...(await findAttempt(place.common, id)) };
}
