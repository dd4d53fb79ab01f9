import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import type { ProcessMark } from "./events.ts";

/** Marks a process so that it can be told later whether that very one still runs; null where there is none. */
export async function markOf(pid: number): Promise<ProcessMark | null> {
  const started = await startOf(pid);
  return started === null ? null : { pid, started };
}

/** Does that very process still run? Another one that was given its number since does not count. */
export const isAlive = async ({ pid, started }: ProcessMark): Promise<boolean> => (await startOf(pid)) === started;

async function startOf(pid: number): Promise<string | null> {
  if (process.platform === "linux") {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
    // The name in parentheses may hold spaces; after it the state is the first field, the start time the 20th.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? null : (fields[19] ?? null);
  }
  const ask = promisify(execFile)("ps", ["-o", "lstart=", "-p", String(pid)]);
  return (await ask.catch(() => null))?.stdout.trim() || null;
}
