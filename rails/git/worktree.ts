import { createHash } from "node:crypto";
import type { Stats } from "node:fs";
import { lstat, mkdir, readdir, realpath, rm, rmdir, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve, sep } from "node:path";
import { EXIT, Fault } from "../program/fault.ts";
import { readIfThere } from "../program/files.ts";
import { withLock } from "../program/lock.ts";
import { temporaryFolder } from "../program/world.ts";
import { git, NO_HOOKS } from "./git.ts";
import {
  cloneInto,
  commitOf,
  gitDirOf,
  isCheckout,
  listWorktrees,
  lookAtAll,
  type Place,
} from "./repository.ts";
import { putOn, workIn } from "./submodule.ts";

/** Making and removing worktrees and branches races inside git (on `commondir` and the config): one
 * at a time. */
export const withGitLock = <T>({ common }: Place, work: () => Promise<T>): Promise<T> =>
  withLock(join(common, "minion"), "git", work);

/** What of a pick or a merge that was stopped lies in a git folder. */
const UNDER_WAY = /^(sequencer|(CHERRY_PICK|REVERT|MERGE|SQUASH)_\w+|AUTO_MERGE)$/;

/** In the git folder of a worktree of the rails' own: what lies in it is nobody's work. */
const ROOM = "minion-room";

/** Makes a detached worktree on a commit, or puts the one that is there on it, with nothing left
 * over in it. Where git can make none (`.claude` is a file, say) that is a clone in a temporary
 * folder, of which `bringBack` brings commits.
 * @param path of a worktree that only one process at a time uses
 * @returns the path that is in use
 * @throws Fault `not-ours` where somebody else's folder is in the worktree's or the clone's place;
 *   `git`, `no-filter` */
export async function freshWorktree(place: Place, path: string, commit: string): Promise<string> {
  const make = () =>
    makeWorktree(place, path, commit).catch((error) => {
      if (error instanceof Fault && error.code === "not-ours") throw error;
      return makeClone(place, path, commit);
    });
  const at = await withGitLock(place, make);
  // Left by a git that was killed with the process that used the worktree before.
  const gitDir = (await gitDirOf(at)) as string;
  await rm(join(gitDir, "index.lock"), { force: true });
  if ((await readdir(gitDir)).some((name) => UNDER_WAY.test(name)))
    await git(at, "cherry-pick", "--quit");
  await lookAtAll({ cwd: at });
  await putOn(at, place.main, commit);
  return at;
}

async function makeWorktree(place: Place, path: string, commit: string): Promise<string> {
  const { main } = place;
  await makeIgnored(dirname(path));
  const at = await asListed(path);
  const isListed = (await listWorktrees(main)).some((tree) => tree.path === at);
  const isReady = isListed && (await isRoom(place, at));
  if (!isReady) {
    // An empty one is nobody's; git makes none where one is.
    await rmdir(at).catch(() => {});
    const found = await lstat(at).catch(() => null);
    const way = "move it elsewhere, then call again";
    if (found) throw new Fault("not-ours", `${at} is there, and no run made it`, way);
    // Twice: also where it is locked. All the same no `prune`: the person's worktrees may be on a
    // disk that is away.
    if (isListed) await git(main, "worktree", "remove", "--force", "--force", at);
    await git(main, ...NO_HOOKS, "worktree", "add", "--no-checkout", "--detach", at, commit);
  }
  await writeFile(join((await gitDirOf(at)) as string, ROOM), "");
  return at;
}

/** Is a listed worktree one of the rails' own? Also one that a version made which did not mark it,
 * as long as nobody's work is in it. */
async function isRoom({ main, common }: Place, at: string): Promise<boolean> {
  const gitDir = (await isCheckout(at)) ? await gitDirOf(at) : null;
  if (gitDir === null || !gitDir.startsWith(common + sep)) return false;
  const isThere = async (name: string) =>
    (await lstat(join(gitDir, name)).catch(() => null)) !== null;
  // One without an index was never filled: whoever made it was killed.
  return (await isThere(ROOM)) || !(await isThere("index")) || (await workIn(at, main)) === null;
}

/** Makes a folder, if there is none, in which git ignores everything: no `git add` takes a worktree
 * for a part of the person's checkout. One that was there is not ours to write to. */
async function makeIgnored(folder: string): Promise<void> {
  const made = await mkdir(folder, { recursive: true });
  if (made !== undefined) await writeFile(join(folder, ".gitignore"), IGNORED, { flag: "wx" });
}

const IGNORED = "*\n";

/** Takes away what `makeIgnored` wrote into a folder, if nothing else is in it any more. */
async function dropIgnored(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  const file = join(folder, ".gitignore");
  const isOurs = names.length === 1 && (await readIfThere(file).catch(() => null)) === IGNORED;
  if (isOurs) await rm(file);
}

/** A path as git lists it: folders above it may be links. */
export const asListed = async (path: string): Promise<string> =>
  join(await realpath(dirname(path)).catch(() => dirname(path)), basename(path));

/** Where the clone lies, if there is one, that stands in for a worktree. */
export async function cloneFor({ common }: Place, path: string): Promise<string> {
  const name = createHash("sha256").update(`${common}\0${path}`).digest("hex").slice(0, 16);
  return join(await realpath(temporaryFolder()), `minion-clone-${name}`);
}

async function makeClone(place: Place, path: string, commit: string): Promise<string> {
  const at = await cloneFor(place, path);
  const found = await lstat(at).catch(() => null);
  if (found && !isOnlyOurs(found)) {
    const way = "remove it, or set TMPDIR to a folder of yours";
    throw new Fault("not-ours", `${at} is somebody else's`, way, EXIT.usage);
  }
  if ((await isCheckout(at)) && (await commitOf(commit, at))) return at;
  await rm(at, { recursive: true, force: true });
  await mkdir(at, { mode: 0o700 });
  await cloneInto(at, place.common);
  return at;
}

/** Anybody may make folders there, and links: what another one can write to would be run. */
const isOnlyOurs = ({ uid, mode }: Stats): boolean =>
  uid === process.getuid?.() && (mode & 0o077) === 0;

/** Puts the commit that HEAD is on in a place that `freshWorktree` gave, into the repository: a
 * worktree's is there. */
export async function bringBack(
  { main, common }: Place,
  from: string,
  commit: string,
): Promise<void> {
  if ((await gitDirOf(from))?.startsWith(common + sep)) return;
  const quietly = ["--quiet", "--no-write-fetch-head", "--no-tags", "--no-recurse-submodules"];
  const fetch = ["-c", "protocol.file.allow=always", "fetch", ...quietly, from, commit];
  await git(main, ...NO_HOOKS, ...fetch);
}

/** Why a worktree is not ours to remove, or null: somebody locked it. The client's own locks name a
 * process; one that was killed leaves them. */
async function lockOn({ common }: Place, path: string): Promise<string | null> {
  for (const name of await readdir(join(common, "worktrees")).catch(() => [])) {
    const gitDir = join(common, "worktrees", name);
    const file = (await readIfThere(join(gitDir, "gitdir"))) ?? "";
    // Newer versions of git may name it from there.
    if (resolve(gitDir, dirname(file.trim())) !== path) continue;
    const reason = await readIfThere(join(gitDir, "locked"));
    if (reason === null || /^claude\b.*\bpid \d+/.test(reason)) return null;
    return ["locked", reason.trim()].filter(Boolean).join(": ");
  }
  return null;
}

/** Does a clone lie there that stands in for a worktree? */
const isClone = async (path: string): Promise<boolean> =>
  dirname(path) === (await realpath(temporaryFolder())) &&
  basename(path).startsWith("minion-clone-");

/** What keeps a worktree, or the clone in its stead, from being removed: what lies in it and nowhere
 * else, or that it is not ours to remove; null where nothing does. A folder that somebody removed
 * by hand holds nothing any more.
 * @param made what commands made in it: nobody's work */
export async function whyKept(
  place: Place,
  path: string,
  made: readonly string[],
): Promise<string | null> {
  const lock = await lockOn(place, path);
  if (lock !== null || !(await lstat(path).catch(() => null))) return lock;
  if (!(await isCheckout(path))) return "it lost its .git";
  const isListed = (await gitDirOf(path))?.startsWith(place.common + sep);
  if (!isListed && !(await isClone(path))) return "another repository lies there";
  return workIn(path, place.main, made);
}

/** Removes a worktree, or the clone in its stead, and nothing else: links in it are unlinked and
 * not followed. Folders above it that are empty then go too, up to the main checkout.
 * @param made what commands made in it: nobody's work
 * @throws Fault `dirty` where it is locked, or it or its submodules hold work; else `git` */
export async function removeWorktree(
  place: Place,
  path: string,
  made: readonly string[],
): Promise<void> {
  await withGitLock(place, async () => {
    const why = await whyKept(place, path, made);
    if (why !== null) throw new Fault("dirty", `${path}: ${why}`, "look at it there");
    if (await isClone(path)) return rm(path, { recursive: true });
    // By force twice: also where the client left its lock, or it has submodules, for which git does
    // not look itself.
    await git(place.main, "worktree", "remove", "--force", "--force", path);
  });
  await dropIgnored(dirname(path));
  for (let at = dirname(path); at.startsWith(place.main + sep); at = dirname(at))
    if (await rmdir(at).catch(() => true)) return;
}
