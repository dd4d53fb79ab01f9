import { spawn } from "node:child_process";
import { stat } from "node:fs/promises";
import type { ProcessMark } from "./events.ts";
import type { Journal } from "./journal.ts";
import { isAlive, markOf } from "./process.ts";
import type { RunState } from "./state.ts";

/**
 * A job is work that outlives the call that asked for it: `minion job …`, detached, so that neither the end of a Bash
 * call nor of a session stops it. The journal says when it starts and ends; whoever asks again attaches to it.
 */
export interface Job {
  /** What only one process may be doing at a time: `gate r1/2.1 test`, `land`. */
  readonly name: string;
  /** Arguments after `minion job`. */
  readonly args: readonly string[];
  readonly cwd: string;
}

const POLL_MS = 60;

/** Is the job's process still there? A started job whose process is gone was interrupted. */
export async function isRunning(state: RunState, name: string): Promise<boolean> {
  const job = state.jobs.get(name);
  return job !== undefined && (await isAlive(job.process));
}

/**
 * Waits for a result that a job makes, starting the job where nobody has.
 * @param result looks for it in the state; undefined means not yet
 * @param until milliseconds since 1970
 * @returns the result; `running` when the time is up; or the error with which the job ended
 */
export async function attach<T>(
  journal: Journal,
  job: Job,
  result: (state: RunState) => T | undefined,
  until: number,
): Promise<{ result: T } | { running: true } | { error: string }> {
  let started: Started | null = null;
  for (;;) {
    const size = await sizeOf(journal);
    const state = await journal.state();
    const found = result(state);
    if (found !== undefined) return { result: found };
    if (await isRunning(state, job.name)) {
      // Somebody else's, begun for other files perhaps: if it brings no result, ours is started after it.
      if (state.jobs.get(job.name)?.process.pid !== started?.pid) started = null;
    } else {
      if (started?.ended) return { error: await lastError(journal, job.name) };
      started ??= start(job);
    }
    do {
      if (Date.now() >= until) return { running: true };
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    } while ((await sizeOf(journal)) === size && !started?.ended);
  }
}

/** The body of a job: writes down that it runs and how it ended. A second one of the same name does nothing. */
export async function runJob(
  journal: Journal,
  name: string,
  attempt: string | null,
  work: () => Promise<unknown>,
): Promise<void> {
  const mark = (await markOf(process.pid)) as ProcessMark;
  const isMine = await journal.decide(async (state) => {
    if (await isRunning(state, name)) return { events: [], result: false };
    return { events: [{ event: "job", name, attempt, process: mark }], result: true };
  });
  if (!isMine) return;
  const error = await work().then(
    () => null,
    (fault: Error) => fault.message,
  );
  await journal.add({ event: "job-ended", name, attempt, error });
}

interface Started {
  readonly pid: number | undefined;
  ended: boolean;
}

function start({ args, cwd }: Job): Started {
  const program = [process.argv[1] as string, "job", ...args];
  const child = spawn(process.execPath, program, { cwd, detached: true, stdio: "ignore" });
  const started = { pid: child.pid, ended: false };
  const end = (): void => void Object.assign(started, { ended: true });
  child.on("exit", end).on("error", end).unref();
  return started;
}

async function lastError(journal: Journal, name: string): Promise<string> {
  const { events } = await journal.read();
  const end = events.findLast((event) => event.event === "job-ended" && event.name === name);
  return (end?.event === "job-ended" && end.error) || "it was ended from outside";
}

const sizeOf = async ({ file }: Journal): Promise<number> => (await stat(file).catch(() => null))?.size ?? 0;
