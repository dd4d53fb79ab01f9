import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import lockfile from "proper-lockfile";
import { asFault, Fault } from "../rails/fault.ts";
import { lockOf } from "./scan.ts";

export interface LockOptions {
  /** For a line to the person, where another installer holds the lock. */
  readonly say?: (line: string) => void;
  /** For how long to wait for it, in milliseconds. */
  readonly patience?: number;
}

/** A lock whose holder was killed counts for this long. */
const STALE = 5_000;

/**
 * Runs `work` while no other installer works on the same target, and makes the folders above that first.
 * @param work is given a signal that tells when the lock was lost
 * @throws Fault `busy` where another one holds on for longer than the patience (20 s)
 */
export async function withLock<T>(
  real: string,
  { say, patience = 20_000 }: LockOptions,
  work: (lost: AbortSignal) => Promise<T>,
): Promise<T> {
  const lost = new AbortController();
  const lockfilePath = lockOf(real);
  const onCompromised = (): void => lost.abort();
  const options = { realpath: false, lockfilePath, stale: STALE, update: STALE / 5, onCompromised };
  let release: (() => Promise<void>) | undefined;
  for (let waited = 0; !release; waited += 100) {
    try {
      // Another installer's uninstall may take the folder away again between these two: ENOENT.
      await mkdir(dirname(real), { recursive: true });
      release = await lockfile.lock(real, options);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "ELOCKED" && code !== "ENOENT") throw asFault(error);
      if (waited >= patience)
        throw new Fault("busy", `another minion-toolkit is at work (${lockfilePath})`, "let it end, then call again");
      if (waited === 0) say?.("another minion-toolkit is at work here: waiting for it");
      await sleep(100);
    }
  }
  try {
    return await work(lost.signal);
  } finally {
    // A lost lock is another installer's by now.
    if (!lost.signal.aborted) await release().catch(() => undefined);
  }
}
