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

// What runs has a number besides, the least that is free, at the end of its name.

/** In the environment of a command that holds a slot, its number: a `minion gate` in it would wait for what its
 * own caller holds. */
const HELD = "MINION_SLOT";

const LOOK_MS = 100;
/** At every so many looks it is asked whether the process still lives that is waited for. */
const LOOKS = 20;

/** Does something while no more than so many do on this machine. Where nobody can queue up it is
 * done all the same.
 * @param slots how many; 0: as many as there are cores for this process
 * @param work gets the number of its slot, from 1 on: no other one that runs has it
 * @param isLanding goes before those who are not and still wait */
export async function withSlot<T>(
  slots: number,
  isLanding: boolean,
  work: (slot: number) => Promise<T>,
): Promise<T> {
  const wait = () => queueUp(slots || availableParallelism(), isLanding ? 0 : 1).catch(() => null);
  const held = Number(outside().env[HELD]);
  const ticket = held > 0 ? null : await wait();
  try {
    return await work(ticket ? numberOf(ticket) : held > 0 ? held : STRAY + (process.pid % STRAYS));
  } finally {
    if (ticket) await rm(ticket, { force: true }).catch(() => {}); // dropped by the next one then
  }
}

/** Below those that systems give to whoever asks for any. */
const FIRST_PORT = 20_000;
/** Ports of each slot. */
const PORTS = 20;
/** Where nobody can queue up: numbers that no slot has, and so many of them that two hardly meet. */
const STRAY = 300;
const STRAYS = 200;

/** What a command finds in its environment that runs in a slot: that nobody watches it, which slot
 * it has, and ports that no other one has meanwhile, from the first to the last. */
export function slotEnv(slot: number): NodeJS.ProcessEnv {
  const port = FIRST_PORT + slot * PORTS;
  return {
    CI: "1",
    [HELD]: String(slot),
    PORT: String(port),
    MINION_PORT: String(port),
    MINION_PORT_LAST: String(port + PORTS - 1),
  };
}

/** The number of a ticket that runs; 0 of one that an older version drew. */
const numberOf = (ticket: string): number => Number(/\+s(\d+)$/.exec(ticket)?.[1] ?? 0);

/** How many tickets this process has drawn: two of one millisecond are two. */
let tickets = 0;

/** A folder where tickets lie, and what one's name says behind `waits+` or `runs+`. */
type Ticket = Readonly<{ folder: string; name: string }>;

const waitsAt = ({ folder, name }: Ticket): string => join(folder, `waits+${name}`);
const runsAt = ({ folder, name }: Ticket, slot: number): string =>
  join(folder, `runs+${name}+s${slot}`);

/** @returns the path of a ticket that runs */
async function queueUp(slots: number, rank: number): Promise<string> {
  const ticket = await drawTicket(rank);
  try {
    await writeFile(waitsAt(ticket), "");
    for (let looks = 0; ; looks++, await sleep(LOOK_MS)) {
      const { isTurn, ahead } = await look(ticket, slots);
      const runs = isTurn ? await take(ticket, slots) : null;
      if (runs) return runs;
      if (looks % LOOKS === 0) for (const name of ahead) await dropDead(ticket.folder, name);
    }
  } finally {
    await rm(waitsAt(ticket), { force: true });
  }
}

/** @throws Error where there is no folder of ours to queue up in, or no telling who we are */
async function drawTicket(rank: number): Promise<Ticket> {
  const uid = process.getuid?.();
  const folder = join(temporaryFolder(), `minion-${uid}`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const mark = await markOf(process.pid);
  if (!mark || (await lstat(folder)).uid !== uid) throw new Error("no place of ours to queue up");
  const started = encodeURIComponent(mark.started);
  return { folder, name: [rank, outside().now(), mark.pid, started, ++tickets].join("+") };
}

/** @returns whether it may run now, whose end it waits for (each looks after the one before it, the
 *   first after all who run), and who runs
 * @throws Error where the ticket was taken away */
async function look(
  { folder, name }: Ticket,
  slots: number,
): Promise<{ isTurn: boolean; ahead: string[]; running: string[] }> {
  const names = (await readdir(folder)).sort();
  const running = names.filter((each) => each.startsWith("runs+"));
  const waiting = names.filter((each) => each.startsWith("waits+"));
  const at = waiting.indexOf(`waits+${name}`);
  if (at < 0) throw new Error("the ticket was taken away");
  return {
    isTurn: at === 0 && running.length < slots,
    ahead: at > 0 ? waiting.slice(at - 1, at) : running,
    running,
  };
}

/** Lets a ticket run, if it still may, with the least number that is free. Only one decides at a
 * time: somebody with an older ticket may just have come in.
 * @returns its path then, else null */
const take = (ticket: Ticket, slots: number): Promise<string | null> =>
  withLock(ticket.folder, "slots", async () => {
    const { isTurn, running } = await look(ticket, slots);
    if (!isTurn) return null;
    const taken = new Set(running.map(numberOf));
    let slot = 1;
    while (taken.has(slot)) slot++;
    const runs = runsAt(ticket, slot);
    await rename(waitsAt(ticket), runs);
    return runs;
  });

/** Removes the ticket of a process that is gone. */
async function dropDead(folder: string, name: string): Promise<void> {
  const [, , , pid, started = ""] = name.split("+");
  const isThere = await isAlive({ pid: Number(pid), started: decodeURIComponent(started) });
  if (!isThere) await rm(join(folder, name), { force: true });
}
