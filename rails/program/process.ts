import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

/** Marks a process so that it can be told later whether that very one still runs; null where there
 * is none. */
export async function markOf(pid: number): Promise<ProcessMark | null> {
  const ask = process.platform === "linux" ? startInProc : startByPs;
  const started = await ask(pid).catch(() => null);
  return started ? { pid, started } : null;
}

/** Does that very process still run? Another one that was given its number since does not count. */
export const isAlive = async ({ pid, started }: ProcessMark): Promise<boolean> =>
  (await markOf(pid))?.started === started;

/** Its 20th field after the name, which may hold spaces and parentheses; of one that has ended
 * (`Z`), none. */
const startInProc = async (pid: number): Promise<string | undefined> =>
  /.*\) [^Z](?: \S+){18} (\d+)/s.exec(await readFile(`/proc/${pid}/stat`, "utf8"))?.[1];

const startByPs = async (pid: number): Promise<string> =>
  (await promisify(execFile)("ps", ["-o", "lstart=", "-p", String(pid)])).stdout.trim();

/** A process, told apart from a later one with the same number by when it started. */
export type ProcessMark = Readonly<{ pid: number; started: string }>;
