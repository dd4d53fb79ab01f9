import { access, constants, mkdir, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Fault } from "./fault.ts";

/** Some ten minutes of waiting, a little longer each time. */
const TRIES = 4000;
/** After how long without a sign of life a holder counts as dead. */
const STALE_MS = 10_000;
const FIRST_WAIT_MS = 5;
const LONGEST_WAIT_MS = 150;

/** Does something while no other process on this machine does anything under the same lock. A
 * holder that died is found out after ten seconds (its lock is no longer refreshed) and its lock
 * taken over.
 * @param folder where the lock lies; made where it is missing
 * @throws Fault `locked` after some ten minutes of waiting; ENOENT where the folder went away
 *   meanwhile */
export async function withLock<T>(
  folder: string,
  name: string,
  work: () => Promise<T>,
): Promise<T> {
  const release = await acquire(folder, join(folder, `${name}.lock`));
  try {
    return await work();
  } finally {
    await release().catch(() => {}); // nothing is ours to free where it was lost
  }
}

async function acquire(folder: string, lockfilePath: string): Promise<() => Promise<void>> {
  await mkdir(folder, { recursive: true });
  // Where nobody may write, a lock would be waited for in vain.
  await access(folder, constants.W_OK);
  // Loaded where it is wanted: what only looks at a run does without.
  const { default: lockfile } = await import("proper-lockfile");
  // Lost to another after a long sleep of the machine: what was begun is ended, not cut off in the
  // middle.
  const onCompromised = (): void => {};
  const look = sinceWhen(lockfilePath);
  for (let tries = 1; ; tries++) {
    const release = await lockfile
      .lock(folder, { lockfilePath, stale: STALE_MS, onCompromised })
      .catch(ifNotHeld);
    if (release) return release;
    await look();
    if (tries === TRIES)
      throw new Fault("locked", `another minion holds ${lockfilePath}`, "call again");
    const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 1.2 ** tries);
    await sleep(wait * (0.5 + Math.random()));
  }
}

/** Whoever holds a lock sets its time to now every few seconds. A time that lies ahead and stays
 * is a dead holder's from before the clock was put back: without this it would be waited for. */
function sinceWhen(lock: string): () => Promise<void> {
  let seen = { at: 0, since: 0 };
  return async () => {
    const at = (await stat(lock).catch(() => null))?.mtimeMs ?? 0;
    if (at !== seen.at) seen = { at, since: performance.now() };
    if (at > Date.now() + STALE_MS && performance.now() - seen.since > STALE_MS)
      await utimes(lock, 0, 0).catch(() => {}); // gone meanwhile: all the better
  };
}

function ifNotHeld(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ELOCKED") throw error;
}
