import { lstat, mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { withLock } from "../program/lock.ts";
import { isAlive, markOf } from "../program/process.ts";
import { outside, temporaryFolder } from "../program/world.ts";

// Who wants to run a command queues up with a ticket: an empty file in a folder that all runs and
// repositories of a person share, whose name says all of it, `waits+1+1730000000000+4711+88392` or
// `runs+…`. In the order of names it is first come, first served, and landing before workers: all
// that waits hangs on it, and it wants no more than workers have handed in.

/** In the environment of a command that holds a slot: a `minion gate` in it would wait for what its
 * own caller holds. */
export const HELD = "MINION_SLOT";

const LOOK_MS = 100;
/** At every so many looks it is asked whether the process still lives that is waited for. */
const LOOKS = 20;

/** Does something while no more than so many do on this machine. Where nobody can queue up it is
 * done all the same.
 * @param slots how many; 0: as many as there are cores for this process
 * @param isLanding goes before those who are not and still wait */
export async function withSlot<T>(
  slots: number,
  isLanding: boolean,
  work: () => Promise<T>,
): Promise<T> {
  const wait = () => queueUp(slots || availableParallelism(), isLanding ? 0 : 1).catch(() => null);
  const ticket = outside().env[HELD] ? null : await wait();
  try {
    return await work();
  } finally {
    if (ticket) await rm(ticket, { force: true }).catch(() => {}); // dropped by the next one then
  }
}

/** How many tickets this process has drawn: two of one millisecond are two. */
let tickets = 0;

/** @returns the path of a ticket that runs */
async function queueUp(slots: number, rank: number): Promise<string> {
  const folder = join(temporaryFolder(), `minion-${process.getuid?.()}`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { pid, started } = (await markOf(process.pid)) ?? {};
  if (!started || (await lstat(folder)).uid !== process.getuid?.())
    throw new Error("no place of ours to queue up");
  const ticket = [rank, outside().now(), pid, encodeURIComponent(started), ++tickets].join("+");
  const waits = join(folder, `waits+${ticket}`);
  const runs = join(folder, `runs+${ticket}`);
  const look = async () => {
    const names = (await readdir(folder)).sort();
    const running = names.filter((name) => name.startsWith("runs+"));
    const waiting = names.filter((name) => name.startsWith("waits+"));
    const at = waiting.indexOf(`waits+${ticket}`);
    if (at < 0) throw new Error("the ticket was taken away");
    // Each looks after the one before it, the first after all who run.
    return {
      isTurn: at === 0 && running.length < slots,
      ahead: at > 0 ? waiting.slice(at - 1, at) : running,
    };
  };
  // Only one decides at a time: somebody with an older ticket may just have come in.
  const take = () =>
    withLock(folder, "slots", async () => {
      const { isTurn } = await look();
      if (isTurn) await rename(waits, runs);
      return isTurn;
    });
  try {
    await writeFile(waits, "");
    for (let looks = 0; ; looks++, await sleep(LOOK_MS)) {
      const { isTurn, ahead } = await look();
      if (isTurn && (await take())) return runs;
      if (looks % LOOKS === 0) for (const name of ahead) await dropDead(folder, name);
    }
  } finally {
    await rm(waits, { force: true });
  }
}

async function dropDead(folder: string, name: string): Promise<void> {
  const [, , , pid, started = ""] = name.split("+");
  const isThere = await isAlive({ pid: Number(pid), started: decodeURIComponent(started) });
  if (!isThere) await rm(join(folder, name), { force: true });
}
