import { readFileSync } from "node:fs";

/** `torn`: killed with half of the event written. */
export type Moment = "before" | "torn" | "after";

/** The n-th event of a kind in a run's journal, and when to kill. */
export type Point = Readonly<{ moment: Moment; kind: string; nth: number }>;

/** Is the process, by its environment, one of a run? Linux only. */
export function isOfRun(pid: number, run: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8")
      .split("\0")
      .includes(`MINION_CRASH_RUN=${run}`);
  } catch {
    return false;
  }
}
