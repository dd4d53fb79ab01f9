import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import fs from "fs-extra";
import { asFault, EXIT, Fault } from "../rails/fault.ts";
import { MANIFEST, printManifest } from "./manifest.ts";
import type { Package } from "./package.ts";
import type { Place } from "./paths.ts";
import { type Plan, parentsOf } from "./plan.ts";
import { backupsOf, type Disk, exists, namesIn, roomOf, scanDisk } from "./scan.ts";

export interface ApplyOptions {
  /** Told before each effect on the disk, and after the last. */
  readonly step?: (effect: string) => void;
  /** Aborted: ends before the next effect, as long as nothing was swapped. */
  readonly signal?: AbortSignal;
  /** Exchanges two paths in one go; false where this machine cannot. */
  readonly exchange?: (a: string, b: string) => boolean;
}

/**
 * The one writer. Lays the whole new folder beside the target and swaps the two: before the swap everything is as it was,
 * after it everything is as planned. Files that stay are linked into the new folder, not copied, so they keep all they have.
 * @param disk what the plan was made from
 * @returns what could not be cleared away after the swap; the next call tries again
 * @throws Fault where it ends before the swap, so that the target is untouched: `interrupted`, `changed-meanwhile`, or why writing failed
 */
export async function applyPlan(
  { plan, pack, place, disk }: { plan: Plan; pack: Package | undefined; place: Place; disk: Disk },
  { step, signal, exchange = exchangeByPerl }: ApplyOptions,
): Promise<string[]> {
  const { real, target } = place;
  const room = roomOf(real);
  const [fresh, old, gone] = [join(room, "new"), join(room, "old"), join(room, "gone")];
  const before = async (effect: string): Promise<void> => {
    // Lets the lock be renewed and signals arrive.
    await setImmediate();
    if (signal?.aborted) throw new Fault("interrupted", "interrupted", "nothing changed", EXIT.interrupted);
    step?.(effect);
  };
  try {
    await before("room");
    fs.mkdirSync(room);
    if (plan.backup !== null) await backUp(real, plan.saved, plan.backup, before);
    const staged = await stage(fresh, real, plan, pack, disk, before);
    const seen = scanDisk(place);
    if (seen.target !== disk.target || JSON.stringify([...seen.entries]) !== JSON.stringify([...disk.entries]))
      throw new Fault("changed-meanwhile", `${target} changed meanwhile`, "nothing was written; call again");
    await before("swap");
    if (!staged && disk.target !== "missing") fs.renameSync(real, gone);
    else if (staged && disk.target === "missing") fs.renameSync(fresh, real);
    else if (staged && !exchange(fresh, real)) {
      await before("swap out");
      fs.renameSync(real, old);
      // Killed here, `recover` puts the old one back.
      step?.("swap in");
      fs.renameSync(fresh, real);
    }
  } catch (error) {
    if (exists(old) && !exists(real)) fs.renameSync(old, real);
    await cleared(room);
    const { code, message, hint } = asFault(error);
    if (code === "interrupted" || code === "changed-meanwhile") throw error;
    throw new Fault(code, `${message}; nothing changed: ${target} is as before`, hint, EXIT.writing);
  }
  step?.("clear");
  const left = (await cleared(room)) ? [] : [room];
  step?.("done");
  return left;
}

/**
 * Clears what a killed run has left, and undoes a swap that was cut in two. To be called under the lock, before the disk is scanned.
 */
export async function recover({ root, real }: Place): Promise<void> {
  const old = join(roomOf(real), "old");
  if (exists(old) && !exists(real)) fs.renameSync(old, real);
  await cleared(roomOf(real));
  for (const name of namesIn(backupsOf(root)))
    if (name.endsWith(".partial")) await cleared(join(backupsOf(root), name));
}

type Before = (effect: string) => Promise<void>;

async function backUp(real: string, saved: readonly string[], backup: string, before: Before): Promise<void> {
  for (const path of saved) {
    await before(`back up ${path}`);
    await fs.copy(join(real, path), join(`${backup}.partial`, path || "minion"), { preserveTimestamps: true });
  }
  await before("backup");
  fs.renameSync(`${backup}.partial`, backup);
}

/** Lays the folder as it is to be; false where nothing is to be there at all. */
async function stage(
  fresh: string,
  real: string,
  { actions, manifest, made }: Plan,
  pack: Package | undefined,
  disk: Disk,
  before: Before,
): Promise<boolean> {
  const stays = actions.filter((action) => action.do !== "remove");
  if (!manifest && stays.length === 0 && (made.includes(".") || disk.target !== "folder")) return false;
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
    if (!file && kind === "folder") await folder(path);
    else {
      await before(`${file ? "write" : "keep"} ${path}`);
      if (!file) keep(join(real, path), join(fresh, path), kind === "link");
      else fs.writeFileSync(join(fresh, path), fs.readFileSync(file.source), { mode: file.executable ? 0o755 : 0o644 });
    }
  }
  if (manifest) {
    await before("manifest");
    fs.writeFileSync(join(fresh, MANIFEST), printManifest(manifest));
  }
  // Last and from below, since a folder that may not be written could not be filled.
  for (const path of [...folders].sort().reverse()) {
    if ((path === "" ? disk.target : disk.entries.get(path)?.kind) !== "folder") continue;
    await before(`mode ${path}`);
    fs.chmodSync(join(fresh, path), fs.lstatSync(join(real, path)).mode & 0o7777);
  }
  return true;
}

function keep(from: string, to: string, isLink: boolean): void {
  try {
    if (isLink) fs.symlinkSync(fs.readlinkSync(from), to);
    else fs.linkSync(from, to);
  } catch {
    // Not every file system has hard links, and not every file may be linked.
    fs.copySync(from, to, { preserveTimestamps: true });
  }
}

/** renameat2 with RENAME_EXCHANGE: Node has no call for it, and perl comes with git. */
function exchangeByPerl(a: string, b: string): boolean {
  const call = process.platform === "linux" ? { x64: 316, arm64: 276 }[process.arch as string] : undefined;
  const program = `exit(syscall(${call}, -100, $ARGV[0], -100, $ARGV[1], 2) == 0 ? 0 : 1)`;
  try {
    if (call !== undefined) execFileSync("perl", ["-e", program, a, b], { stdio: "ignore" });
    return call !== undefined;
  } catch {
    return false;
  }
}

/** Removes a tree, also one with folders that may not be written; false where it could not. */
async function cleared(path: string): Promise<boolean> {
  // Only folders get another mode: what is no folder may be linked elsewhere.
  const open = (folder: string): void => {
    if (!fs.lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
    fs.chmodSync(folder, 0o700);
    for (const name of fs.readdirSync(folder)) open(join(folder, name));
  };
  try {
    open(path);
    await fs.remove(path);
    return true;
  } catch {
    return false;
  }
}
