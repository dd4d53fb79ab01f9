import { access, constants, mkdir } from "node:fs/promises";
import { join } from "node:path";
import lockfile from "proper-lockfile";
import { Fault } from "../fault.ts";

/** Does something while no other process on this machine does anything under the same lock. A holder that died is found
 * out after ten seconds (its lock is no longer refreshed) and its lock taken over.
 * @param folder where the lock lies; made where it is missing
 * @throws Fault `locked` after some ten minutes of waiting */
export async function withLock<T>(folder: string, name: string, work: () => Promise<T>): Promise<T> {
  await mkdir(folder, { recursive: true });
  // Where nobody may write, a lock would be waited for in vain.
  await access(folder, constants.W_OK);
  const lockfilePath = join(folder, `${name}.lock`);
  const retries = { retries: 3000, factor: 1.2, minTimeout: 5, maxTimeout: 150, randomize: true };
  // Lost to another after a long sleep of the machine: what was begun is ended, not cut off in the middle.
  const onCompromised = (): void => {};
  const release = await lockfile
    .lock(folder, { lockfilePath, stale: 10_000, retries, onCompromised })
    .catch((error) => {
      throw error.code === "ELOCKED"
        ? new Fault("locked", `another minion holds ${lockfilePath}`, "call again")
        : error;
    });
  try {
    return await work();
  } finally {
    await release().catch(() => {}); // nothing is ours to free where it was lost
  }
}
