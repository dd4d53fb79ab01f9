import { execFile } from "node:child_process";
import {
  chmod,
  copyFile,
  link,
  lstat,
  mkdir,
  readdir,
  readlink,
  rename,
  rm,
  rmdir,
  symlink,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import fs from "fs-extra";
import { asFault, EXIT, Fault } from "../rails/fault.ts";
import { MANIFEST, printManifest } from "./manifest.ts";
import type { Package } from "./package.ts";
import type { Place } from "./paths.ts";
import { type Plan, parentsOf } from "./plan.ts";
import { backupsOf, type Disk, roomOf, scanDisk } from "./scan.ts";

export interface ApplyOptions {
  /** Told before each effect on the disk, and after the last. */
  readonly step?: (effect: string) => void;
  /** Aborted: ends before the next effect, as long as nothing was swapped. */
  readonly signal?: AbortSignal;
  /** Exchanges two paths in one go; false where this machine cannot. */
  readonly exchange?: (a: string, b: string) => Promise<boolean>;
}

/**
 * The one writer. Lays the whole new folder beside the target and swaps the two: before the swap everything is as it was,
 * after it everything is as planned. Files that stay are linked into the new folder, not copied, so they keep all they have.
 * @returns what could not be cleared away after the swap; the next call tries again
 * @throws Fault where it failed before the swap: the target is untouched; `interrupted`, `changed-meanwhile` likewise
 */
export async function applyPlan(
  plan: Plan,
  pack: Package | undefined,
  place: Place,
  disk: Disk,
  options: ApplyOptions = {},
): Promise<string[]> {
  const { real } = place;
  const room = roomOf(real);
  const fresh = join(room, "new");
  const effect = async <T>(name: string, run: () => Promise<T>): Promise<T> => {
    if (options.signal?.aborted) throw new Fault("interrupted", "interrupted", "nothing changed", EXIT.interrupted);
    options.step?.(name);
    return run();
  };
  try {
    await effect("room", () => mkdir(room));
    if (plan.backup !== null) await backUp(plan, real, plan.backup, effect);
    const staged = await stage(plan, pack, real, fresh, disk, effect);
    const now = scanDisk(place);
    if (now.target !== disk.target || print(now) !== print(disk))
      throw new Fault(
        "changed-meanwhile",
        `${place.target} changed while it was worked on`,
        "nothing was written; call again",
      );
    await swap(fresh, real, staged, disk.target !== "missing", effect, options.exchange ?? exchange);
  } catch (error) {
    await removeTree(room).catch(() => undefined);
    const fault = asFault(error);
    if (fault.code === "interrupted" || fault.code === "changed-meanwhile") throw fault;
    throw new Fault(
      fault.code,
      `${fault.message}; nothing changed: ${place.target} is as before`,
      fault.hint,
      EXIT.writing,
    );
  }
  options.step?.("clear");
  const left = await removeTree(room).then(
    () => [],
    () => [room],
  );
  options.step?.("done");
  return left;
}

/**
 * Clears what a killed run has left in its room, and finishes a swap that was cut in two.
 * To be called under the lock, before the disk is scanned.
 */
export async function recover({ root, real }: Place): Promise<void> {
  const room = roomOf(real);
  if ((await exists(join(room, "old"))) && !(await exists(real))) await rename(join(room, "old"), real);
  await removeTree(room);
  const backups = await readdir(backupsOf(root)).catch(() => []);
  for (const name of backups.filter((name) => name.endsWith(".partial"))) await removeTree(join(backupsOf(root), name));
}

/** Removes the folders that were made for the installation, where nothing else is in them. To be called without the lock. */
export async function removeMade(real: string, made: readonly string[]): Promise<void> {
  for (const above of made.filter((path) => path !== ".")) {
    // Full again, or gone already: then it is not ours to remove.
    await rmdir(join(real, above)).catch(() => undefined);
  }
}

type Effect = <T>(name: string, run: () => Promise<T>) => Promise<T>;

const print = (disk: Disk): string => JSON.stringify([...disk.entries]);

async function backUp(plan: Plan, real: string, backup: string, effect: Effect): Promise<void> {
  const partial = `${backup}.partial`;
  for (const path of plan.saved)
    await effect(`back up ${path}`, () =>
      fs.copy(join(real, path), join(partial, path || "minion"), { dereference: false, preserveTimestamps: true }),
    );
  await effect("backup", () => rename(partial, backup));
}

/** Lays the folder as it is to be; false where nothing is to be there at all. */
async function stage(
  plan: Plan,
  pack: Package | undefined,
  real: string,
  fresh: string,
  disk: Disk,
  effect: Effect,
): Promise<boolean> {
  const stays = plan.actions.filter((action) => action.do !== "remove");
  if (plan.manifest === null && stays.length === 0 && (plan.made.includes(".") || disk.target !== "folder"))
    return false;
  await effect("folder", () => mkdir(fresh));
  const folders = new Set<string>();
  const programs = new Set(
    [...(pack?.files.values() ?? [])].filter((file) => file.executable).map((file) => file.from),
  );
  for (const { path, from } of stays) {
    const to = join(fresh, path);
    for (const parent of parentsOf(path).filter((parent) => !folders.has(parent))) {
      folders.add(parent);
      await effect(`folder ${parent}`, () => mkdir(join(fresh, parent), { recursive: true }));
    }
    const entry = disk.entries.get(path);
    if (from !== undefined && pack) {
      const mode = programs.has(from) ? 0o755 : 0o644;
      await effect(`write ${path}`, async () =>
        writeFile(to, await fs.readFile(join(pack.assets, from)), { mode, flag: "wx" }),
      );
    } else if (entry?.kind === "folder") {
      folders.add(path);
      await effect(`folder ${path}`, () => mkdir(to, { recursive: true }));
    } else await effect(`keep ${path}`, () => keep(join(real, path), to, entry?.kind === "link"));
  }
  if (plan.manifest !== null) {
    const text = printManifest(plan.manifest);
    await effect("manifest", () => writeFile(join(fresh, MANIFEST), text, { flag: "wx" }));
  }
  // Last and from below, since a folder that may not be written could not be filled.
  for (const folder of [...folders].sort().reverse().concat("")) {
    const before = await lstat(join(real, folder)).catch(() => undefined);
    if (before?.isDirectory()) await effect(`mode ${folder}`, () => chmod(join(fresh, folder), before.mode & 0o7777));
  }
  return true;
}

async function keep(from: string, to: string, isLink: boolean): Promise<void> {
  if (isLink) return symlink(await readlink(from), to);
  try {
    await link(from, to);
  } catch {
    // Not every file system has hard links, and not every file may be linked.
    await copyFile(from, to);
    const { atime, mtime, mode } = await lstat(from);
    await chmod(to, mode & 0o7777);
    await fs.utimes(to, atime, mtime);
  }
}

async function swap(
  fresh: string,
  real: string,
  staged: boolean,
  there: boolean,
  effect: Effect,
  exchange: (a: string, b: string) => Promise<boolean>,
): Promise<void> {
  const room = dirname(fresh);
  if (!staged) return there ? effect("swap", () => rename(real, join(room, "gone"))) : undefined;
  if (!there) return effect("swap", () => rename(fresh, real));
  if (await effect("swap", () => exchange(fresh, real))) return;
  // Killed between these two, `recover` puts the old one back.
  await effect("swap out", () => rename(real, join(room, "old")));
  try {
    await effect("swap in", () => rename(fresh, real));
  } catch (error) {
    await rename(join(room, "old"), real);
    throw error;
  }
}

/** renameat2 with RENAME_EXCHANGE: Node has no call for it, and perl comes with git. */
async function exchange(a: string, b: string): Promise<boolean> {
  const call = process.platform === "linux" ? { x64: 316, arm64: 276 }[process.arch as string] : undefined;
  if (call === undefined) return false;
  const program = `exit(syscall(${call}, -100, $ARGV[0], -100, $ARGV[1], 2) == 0 ? 0 : 1)`;
  return promisify(execFile)("perl", ["-e", program, a, b]).then(
    () => true,
    () => false,
  );
}

/** Removes a tree, also one with folders that may not be written. Only folders get another mode: files may be linked elsewhere. */
async function removeTree(path: string): Promise<void> {
  const stats = await lstat(path).catch(() => undefined);
  if (!stats) return;
  if (stats.isDirectory()) {
    if ((stats.mode & 0o700) !== 0o700) await chmod(path, 0o700);
    for (const name of await readdir(path)) await removeTree(join(path, name));
    await rmdir(path);
  } else await rm(path);
}

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );
