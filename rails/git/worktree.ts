import { mkdir, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { git, gitText } from "./git.ts";
import { withLock } from "./lock.ts";
import { changedPaths, commitOf, listWorktrees, type Place, type Worktree } from "./repository.ts";

/** For the rails' own git calls: the project's hooks may ask somebody who is not there, or change what they prove. */
export const NO_HOOKS = ["-c", "core.hooksPath=/dev/null"];

/** Making and removing worktrees and branches races inside git (on `commondir` and the config): one at a time. */
export const withGitLock = <T>({ common }: Place, work: () => Promise<T>): Promise<T> =>
  withLock(join(common, "minion"), "git", work);

/** Makes a detached worktree on a commit, or puts the one that is there on it, with nothing left over in it. */
export async function freshWorktree(place: Place, path: string, commit: string): Promise<void> {
  await withGitLock(place, async () => {
    await git(["worktree", "prune"], { cwd: place.main });
    if ((await listWorktrees(place.main)).some((tree) => tree.path === path)) return;
    await rm(path, { recursive: true, force: true });
    await mkdir(dirname(path), { recursive: true });
    await git([...NO_HOOKS, "worktree", "add", "--detach", path, commit], { cwd: place.main });
  });
  await git(["cherry-pick", "--quit"], { cwd: path });
  await git([...NO_HOOKS, "checkout", "--quiet", "--force", "--detach", commit], { cwd: path });
  // Ignored files stay (dependencies, caches): making them anew for every landing would cost minutes.
  await git(["clean", "-ffdq"], { cwd: path });
}

/**
 * Why a worktree may not be removed: there is work in it that is nowhere else. Null where it may.
 * @param safe commits whose changes are known to be elsewhere
 */
export async function worthKeeping({ path, head }: Worktree, safe: readonly string[]): Promise<string | null> {
  const changed = await changedPaths(path).catch(() => []);
  if (changed.length > 0) return `not committed: ${changed.slice(0, 3).join(", ")}`;
  const own = ["rev-list", "--max-count=1", head, "--not", "--branches", "--tags", "--remotes", ...safe];
  return (await gitText(own, { cwd: path })) === "" ? null : "commits that are on no branch";
}

/**
 * Removes a worktree that git knows and nothing else: git refuses a dirty one and unlinks links without following them.
 * Folders above it that are empty then go too, up to the main checkout.
 */
export async function removeWorktree(place: Place, path: string): Promise<void> {
  await withGitLock(place, async () => {
    await git(["worktree", "unlock", path], { cwd: place.main, accept: [128] });
    if (await stat(path).catch(() => null)) await git(["worktree", "remove", path], { cwd: place.main });
    await git(["worktree", "prune"], { cwd: place.main });
  });
  for (let at = dirname(path); at.startsWith(place.main + sep); at = dirname(at))
    if (
      !(await rmdir(at).then(
        () => true,
        () => false,
      ))
    )
      return;
}

/** Removes a branch where it still stands on the commit that is expected, whatever moves meanwhile. */
export async function removeBranch(place: Place, branch: string, expected: string): Promise<void> {
  const ref = `refs/heads/${branch}`;
  await withGitLock(place, async () => {
    if ((await commitOf(ref, place.main)) === expected)
      await git(["update-ref", "-d", ref, expected], { cwd: place.main });
  });
}
