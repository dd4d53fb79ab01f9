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
export async function isAlive(mark: ProcessMark): Promise<boolean> {
  return (await startOf(mark.pid)) === mark.started;
}

async function startOf(pid: number): Promise<string | null> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => null);
  // The name in parentheses may hold spaces; the start time is the 20th field after it, the state the first.
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (fields) return fields[0] === "Z" ? null : (fields[19] ?? null);
  if (process.platform === "linux") return null;
  if (process.platform === "win32") {
    try {
      process.kill(pid, 0);
      return "";
    } catch {
      return null;
    }
  }
  const { stdout } = await promisify(execFile)("ps", ["-o", "lstart=", "-p", String(pid)]).catch(() => ({
    stdout: "",
  }));
  return stdout.trim() || null;
}
