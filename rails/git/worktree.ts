import { createHash } from "node:crypto";
import type { Stats } from "node:fs";
import { lstat, mkdir, realpath, rm, rmdir } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";
import { EXIT, Fault } from "../program/fault.ts";
import { withLock } from "../program/lock.ts";
import { temporaryFolder } from "../program/world.ts";
import { git, NO_HOOKS } from "./git.ts";
import {
  cloneInto,
  commitOf,
  gitDirOf,
  isCheckout,
  listWorktrees,
  type Place,
} from "./repository.ts";
import { putOn, workIn } from "./submodule.ts";

/** Making and removing worktrees and branches races inside git (on `commondir` and the config): one
 * at a time. */
export const withGitLock = <T>({ common }: Place, work: () => Promise<T>): Promise<T> =>
  withLock(join(common, "minion"), "git", work);

/** Makes a detached worktree on a commit, or puts the one that is there on it, with nothing left
 * over in it. Where git can make none (`.claude` is a file, say) that is a clone in a temporary
 * folder, of which `bringBack` brings commits.
 * @param path of a worktree that only one process at a time uses
 * @returns the path that is in use
 * @throws Fault `not-ours` where somebody else's folder is in the clone's place; `git`, `no-filter`
 */
export async function freshWorktree(place: Place, path: string, commit: string): Promise<string> {
  const make = () => makeWorktree(place, path, commit).catch(() => makeClone(place, path, commit));
  const at = await withGitLock(place, make);
  // Left by a git that was killed with the process that used the worktree before.
  await rm(join((await gitDirOf(at)) as string, "index.lock"), { force: true });
  await git(at, "cherry-pick", "--quit");
  await putOn(at, place.main, commit);
  return at;
}

async function makeWorktree({ main }: Place, path: string, commit: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  const at = await asListed(path);
  const isListed = (await listWorktrees(main)).some((tree) => tree.path === at);
  if (isListed && (await isCheckout(at))) return at;
  await rm(at, { recursive: true, force: true });
  // Twice: also where it is locked. All the same no `prune`: the person's worktrees may be on a
  // disk that is away.
  if (isListed) await git(main, "worktree", "remove", "--force", "--force", at);
  await git(main, ...NO_HOOKS, "worktree", "add", "--no-checkout", "--detach", at, commit);
  return at;
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

/** Removes a worktree, or the clone in its stead, and nothing else: links in it are unlinked and
 * not followed. Folders above it that are empty then go too, up to the main checkout.
 * @param made what commands made in it: nobody's work
 * @throws Fault `dirty` where it or its submodules hold work; else `git` */
export async function removeWorktree(
  place: Place,
  path: string,
  made: readonly string[],
): Promise<void> {
  const gitDir = (await isCheckout(path)) ? await gitDirOf(path) : null;
  if (gitDir === join(path, ".git") && gitDir !== place.common)
    return rm(path, { recursive: true });
  await withGitLock(place, async () => {
    const work = gitDir === null ? null : await workIn(path, place.main, made);
    if (work) throw new Fault("dirty", `${path}: ${work}`, "look at it there");
    // By force twice: also where it is locked, or has submodules, for which git does not look
    // itself.
    await git(place.main, "worktree", "remove", "--force", "--force", path);
  });
  for (let at = dirname(path); at.startsWith(place.main + sep); at = dirname(at))
    if (await rmdir(at).catch(() => true)) return;
}
