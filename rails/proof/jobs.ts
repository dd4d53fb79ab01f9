import { stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { Journal } from "../journal/journal.ts";
import type { RunState } from "../journal/state.ts";
import { EXIT, Fault } from "../program/fault.ts";
import { isAlive, markOf, type ProcessMark } from "../program/process.ts";
import { outside } from "../program/world.ts";

// A job is work that outlives the call and the session that asked for it: `minion job NAME`,
// detached. Its name (`gate r1/2.1 test`, `land r1`) is what only one process does at a time.
// Whoever asks again attaches to it.

const POLL_MS = 60;

/** Is the job's process still there? A started job whose process is gone was interrupted. */
export async function isRunning(state: RunState, name: string): Promise<boolean> {
  const job = state.jobs.get(name);
  return job !== undefined && (await isAlive(job.process));
}

/** A job, where its process is to run, and until when it is waited for. */
type Wait = Readonly<{ journal: Journal; cwd: string; job: string; until: number }>;

/** Waits for the result of a job, as `result` finds it in the state, and starts the job where
 * nobody has.
 * @returns the result, or undefined where it still runs at `until`
 * @throws Fault `job` where it ended without a result */
export async function attach<T>(
  { journal, cwd, job, until }: Wait,
  result: (state: RunState) => T | undefined,
): Promise<T | undefined> {
  let own: { code?: number } | undefined;
  for (;;) {
    // Asked before the journal is read: what an ended job left is in there then.
    const code = own?.code;
    const size = await sizeOf(journal);
    const state = await journal.state();
    const found = result(state);
    if (found !== undefined) return found;
    const isKnown = await isRunning(state, job);
    // Where another one was at it, that has ended now without what is wanted here.
    const isToStart = !isKnown && (!own || code === EXIT.running);
    if (isToStart) own = outside().again(["job", ...job.split(" ")], cwd);
    else if (!isKnown && code !== undefined) {
      const why = state.errors.get(job) ?? "it was ended from outside";
      throw new Fault("job", why, "call again", EXIT.writing);
    }
    do {
      // Whoever hears «still running» may count on it that the journal knows the job.
      if (isKnown && outside().now() >= until) return undefined;
      await sleep(POLL_MS);
    } while ((await sizeOf(journal)) === size && own?.code === code);
  }
}

/** The body of a job: writes down that it runs and how it ended. A second one of the same name does
 * nothing. @returns whether it was this one that did it */
export async function runJob(
  journal: Journal,
  name: string,
  work: () => Promise<unknown>,
): Promise<boolean> {
  const attempt = /\S+\/\S+/.exec(name)?.[0] ?? null;
  const mark = (await markOf(process.pid)) as ProcessMark;
  const isMine = await journal.decide(async (state, write) => {
    if (await isRunning(state, name)) return false;
    write({ event: "job", name, attempt, process: mark });
    return true;
  });
  if (!isMine) return false;
  const fault = await work().catch((error: Error) => error);
  const error = fault instanceof Error ? fault.message : null;
  await journal.add({ event: "job-ended", name, attempt, error });
  return true;
}

const sizeOf = async ({ file }: Journal): Promise<number> =>
  (await stat(file).catch(() => null))?.size ?? 0;
