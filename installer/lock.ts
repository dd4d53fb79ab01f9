import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import lockfile from "proper-lockfile";
import { asFault, Fault } from "../rails/fault.ts";

export interface LockOptions {
  /** Called once where another installer holds the lock. */
  readonly waiting?: () => void;
  /** For how long to wait for it. */
  readonly patience?: number;
}

/** A lock whose holder was killed counts for this long. */
const STALE_MS = 5_000;

export const lockOf = (real: string): string => join(dirname(real), ".minion-toolkit.lock");

/**
 * Runs `work` while no other installer works on the same target. The folder above the target must not be there yet.
 * @throws Fault `busy` where another one holds on for longer than the patience (20 s)
 */
export async function withLock<T>(
  real: string,
  options: LockOptions,
  work: (lost: AbortSignal) => Promise<T>,
): Promise<T> {
  const lost = new AbortController();
  const until = Date.now() + (options.patience ?? 20_000);
  for (let told = false; ; told = true) {
    let release: () => Promise<void>;
    try {
      // Another installer's uninstall may take the folder away again between these two.
      await mkdir(dirname(real), { recursive: true });
      release = await lockfile.lock(real, {
        realpath: false,
        lockfilePath: lockOf(real),
        stale: STALE_MS,
        update: STALE_MS / 5,
        onCompromised: () => lost.abort(),
      });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "ELOCKED" && code !== "ENOENT") throw asFault(error);
      if (Date.now() > until)
        throw new Fault("busy", `another minion-toolkit is at work (${lockOf(real)})`, "let it end, then call again");
      if (!told) options.waiting?.();
      await new Promise((wake) => setTimeout(wake, 100));
      continue;
    }
    try {
      return await work(lost.signal);
    } finally {
      // A lost lock is another installer's by now.
      if (!lost.signal.aborted) await release().catch(() => undefined);
    }
  }
}
