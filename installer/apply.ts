import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import fs from "fs-extra";
import { asFault, EXIT, Fault } from "../rails/program/fault.ts";
import { MANIFEST } from "./manifest.ts";
import type { Root } from "./paths.ts";
import { type Plan, parentsOf, type Situation } from "./plan.ts";
import { type Disk, exists, roomOf, scanDisk } from "./scan.ts";

export interface ApplyOptions {
  /** Told before each effect on the disk, and after the last. */
  readonly step?: (effect: string) => void;
  /** Aborted: ends before the next effect, as long as nothing was swapped. */
  readonly signal?: AbortSignal;
  /** Exchanges two paths in one go; false where this machine cannot. */
  readonly exchange?: (a: string, b: string) => boolean;
}

type Before = (effect: string) => Promise<void>;

/** The one writer. Lays the whole new folder beside the target and swaps the two: before the swap
 * everything is as it was, after it everything is as planned. Files that stay are linked into the
 * new folder, not copied, so they keep all they have.
 * @throws Fault where it ends before the swap, so that the target is untouched: `interrupted`,
 *   `changed-meanwhile`, or why writing failed */
export async function applyPlan(
  plan: Plan,
  situation: Situation,
  options: ApplyOptions,
): Promise<void> {
  const { step, signal, exchange = exchangeByPerl } = options;
  const { place, disk } = situation;
  const { real, target } = place;
  const room = roomOf(real);
  const fresh = join(room, "new");
  const before: Before = async (effect) => {
    // Lets the lock be renewed and signals arrive.
    await setImmediate();
    if (signal?.aborted)
      throw new Fault("interrupted", "interrupted", "nothing changed", EXIT.interrupted);
    step?.(effect);
  };
  try {
    await before("room");
    fs.mkdirSync(room);
    await saveOld(plan, situation, before);
    const isStaged = await stage(fresh, plan, situation, before);
    refuseChanged(situation);
    await before("backup");
    if (plan.backup !== null) fs.moveSync(join(room, "backup"), plan.backup);
    await before("swap");
    if (!isStaged) fs.renameSync(real, join(room, "gone"));
    else if (disk.target === "missing" || !exchange(fresh, real)) {
      if (disk.target !== "missing") fs.renameSync(real, join(room, "old"));
      // Killed here, `recover` puts the old one back.
      step?.("swap in");
      fs.renameSync(fresh, real);
    }
  } catch (error) {
    await recover(place);
    const { code, message, hint } = asFault(error);
    if (code === "interrupted" || code === "changed-meanwhile") throw error;
    const what = `${message}; nothing changed: ${target} is as before`;
    throw new Fault(code, what, hint, EXIT.writing);
  }
  step?.("clear");
  await clear(room);
  step?.("done");
}

/** Copies what will be overwritten, for the backup. */
async function saveOld(plan: Plan, { place }: Situation, before: Before): Promise<void> {
  for (const path of plan.saved) {
    await before(`back up ${path}`);
    const to = join(roomOf(place.real), "backup", path || "minion");
    await fs.copy(join(place.real, path), to, { preserveTimestamps: true });
  }
}

/** @throws Fault `changed-meanwhile` where the disk is no more what was planned for */
function refuseChanged({ place, disk }: Situation): void {
  const now = scanDisk(place);
  const entriesOf = ({ entries }: Disk): string => JSON.stringify([...entries]);
  if (now.target === disk.target && entriesOf(now) === entriesOf(disk)) return;
  const what = `${place.target} changed meanwhile`;
  throw new Fault("changed-meanwhile", what, "nothing was written; call again");
}

/** Clears what a run that failed or was killed has left, and undoes a swap that was cut in two. To
 * be called under the lock. */
export async function recover({ real }: Root): Promise<void> {
  const old = join(roomOf(real), "old");
  if (exists(old) && !exists(real)) fs.renameSync(old, real);
  await clear(roomOf(real));
}

/** Lays the folder as it is to be; false where nothing is to be there at all. */
async function stage(
  fresh: string,
  plan: Plan,
  { pack, place, disk }: Situation,
  before: Before,
): Promise<boolean> {
  const { actions, manifest } = plan;
  const stays = actions.filter((action) => action.do !== "remove");
  if (!manifest && stays.length === 0 && disk.manifest?.made) return false;
  const folders = new Set<string>();
  const folder = async (path: string): Promise<void> => {
    if (folders.has(path)) return;
    folders.add(path);
    await before(`folder ${path}`);
    fs.mkdirSync(join(fresh, path));
  };
  await folder("");
  for (const { path, from } of stays) {
    for (const parent of parentsOf(path)) await folder(parent);
    const file = from === undefined ? undefined : pack?.files.get(from);
    const kind = disk.entries.get(path)?.kind;
    const to = join(fresh, path);
    if (file) {
      await before(`write ${path}`);
      fs.writeFileSync(to, fs.readFileSync(file.source), { mode: file.executable ? 0o755 : 0o644 });
    } else if (kind === "folder") await folder(path);
    else {
      await before(`keep ${path}`);
      keep(join(place.real, path), to, kind === "link");
    }
  }
  await before("manifest");
  if (manifest) fs.writeJsonSync(join(fresh, MANIFEST), manifest, { spaces: 2 });
  // Last and from below, since a folder that may not be written could not be filled.
  for (const path of [...folders].sort().reverse()) {
    const kind = path === "" ? disk.target : disk.entries.get(path)?.kind;
    if (kind !== "folder") continue;
    await before(`mode ${path}`);
    fs.chmodSync(join(fresh, path), fs.lstatSync(join(place.real, path)).mode & 0o7777);
  }
  return true;
}

/** Lays a file or a link as it is on the disk. */
function keep(from: string, to: string, isLink: boolean): void {
  try {
    if (isLink) fs.symlinkSync(fs.readlinkSync(from), to);
    else fs.linkSync(from, to);
  } catch {
    // Not every file system has hard links, and not every file may be linked.
    fs.copySync(from, to, { preserveTimestamps: true });
  }
}

/** The number of the system call renameat2, by architecture. */
const RENAMEAT2: Partial<Record<NodeJS.Architecture, number>> = { x64: 316, arm64: 276 };

/** renameat2 with RENAME_EXCHANGE: Node has no call for it, and perl comes with git. */
function exchangeByPerl(a: string, b: string): boolean {
  const call = RENAMEAT2[process.arch];
  if (process.platform !== "linux" || call === undefined) return false;
  const program = `exit(syscall(${call}, -100, $ARGV[0], -100, $ARGV[1], 2) == 0 ? 0 : 1)`;
  return spawnSync("perl", ["-e", program, a, b]).status === 0;
}

/** Removes a tree, also one with folders that may not be written. */
async function clear(path: string): Promise<void> {
  // Only folders get another mode: what is no folder may be linked elsewhere.
  const open = (folder: string): void => {
    if (!fs.lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
    fs.chmodSync(folder, 0o700);
    for (const name of fs.readdirSync(folder)) open(join(folder, name));
  };
  try {
    open(path);
    await fs.remove(path);
  } catch {
    // The next call tries again; doctor says that something is left.
  }
}
