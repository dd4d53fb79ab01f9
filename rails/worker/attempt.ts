import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "../fault.ts";
import { findPlace, gitDirOf, type Place } from "../git/repository.ts";
import { Journal } from "../record/journal.ts";
import type { AttemptState, RunState, TaskState } from "../record/state.ts";

/** A worker's own attempt, as found from the worktree that it stands in. */
export interface Own {
  readonly place: Place;
  readonly journal: Journal;
  readonly state: RunState;
  readonly attempt: AttemptState;
  readonly task: TaskState;
}

const MARKER = "minion-attempt";

/** `r1/T001.2` taken apart. @throws Fault `bad-attempt` */
export function parseAttempt(id: string): { run: string; task: string; n: number } {
  const [, run, task, n] = /^(r\d+)\/([\w-]+)\.(\d+)$/.exec(id) ?? [];
  if (!run || !task || !n)
    throw new Fault("bad-attempt", `«${id}» names no attempt`, "an attempt is called as minion next says: r1/2.1");
  return { run, task, n: Number(n) };
}

/** The attempt with its task. @throws Fault `no-attempt` where it was never dispatched */
export function findAttempt(state: RunState, id: string): { attempt: AttemptState; task: TaskState } {
  const attempt = state.attempts.get(id);
  const task = attempt && state.tasks.get(attempt.task);
  if (!attempt || !task)
    throw new Fault("no-attempt", `${id} was never dispatched`, "begin the attempt that your prompt names");
  return { attempt, task };
}

/** Notes in the worktree's own git folder whose it is, so that later calls and hooks know. */
export const markWorktree = (gitDir: string, attempt: string): Promise<void> =>
  writeFile(join(gitDir, MARKER), `${attempt}\n`);

/** The attempt that a folder's worktree was begun for, or null. Starts no process: hooks call it. */
export async function attemptAt(folder: string): Promise<string | null> {
  const gitDir = await gitDirOf(folder);
  return (
    gitDir &&
    readFile(join(gitDir, MARKER), "utf8").then(
      (text) => text.trim(),
      () => null,
    )
  );
}

/** @throws Fault `not-begun` where no attempt was begun in this worktree */
export async function ownAttempt(cwd: string): Promise<Own> {
  const place = await findPlace(cwd);
  const id = await attemptAt(place.top);
  if (id === null)
    throw new Fault(
      "not-begun",
      `no attempt was begun in ${place.top}`,
      "first run minion begin with the attempt of your prompt",
    );
  const journal = new Journal(place.common, parseAttempt(id).run);
  const state = await journal.state();
  return { place, journal, state, ...findAttempt(state, id) };
}
