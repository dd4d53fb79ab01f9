import { mkdir, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { git } from "./git.ts";
import { withLock } from "./lock.ts";
import { listWorktrees, type Place } from "./repository.ts";

/** For the rails' own git calls: the project's hooks may ask somebody who is not there, or change what they prove. */
export const NO_HOOKS = ["-c", "core.hooksPath=/dev/null"];

/** Making and removing worktrees and branches races inside git (on `commondir` and the config): one at a time. */
export const withGitLock = <T>({ common }: Place, work: () => Promise<T>): Promise<T> =>
  withLock(join(common, "minion"), "git", work);

/** Makes a detached worktree on a commit, or puts the one that is there on it, with nothing left over in it. */
export async function freshWorktree(place: Place, path: string, commit: string): Promise<void> {
  await withGitLock(place, async () => {
    await git(place.main, "worktree", "prune");
    if ((await listWorktrees(place.main)).some((tree) => tree.path === path)) return;
    await rm(path, { recursive: true, force: true });
    await mkdir(dirname(path), { recursive: true });
    await git(place.main, ...NO_HOOKS, "worktree", "add", "--detach", path, commit);
  });
  await git(path, "cherry-pick", "--quit");
  await git(path, ...NO_HOOKS, "checkout", "--quiet", "--force", "--detach", commit);
  // Ignored files stay (dependencies, caches): making them anew for every landing would cost minutes.
  await git(path, "clean", "-ffdq");
}

/**
 * Removes a worktree that git knows and nothing else: git refuses a dirty one and unlinks links without following them.
 * What commands made in it goes first, as far as it is not tracked. Folders above it that are empty then go too, up to the main checkout.
 */
export async function removeWorktree(place: Place, path: string, made: readonly string[]): Promise<void> {
  await withGitLock(place, async () => {
    await git({ cwd: place.main, accept: [128] }, "worktree", "unlock", path);
    if (await stat(path).catch(() => null)) {
      const others = made.map((each) => `:(top,literal)${each}`);
      if (others.length > 0) await git(path, "clean", "-ffdq", "--", ...others);
      await git(place.main, "worktree", "remove", path);
    }
    await git(place.main, "worktree", "prune");
  });
  for (let at = dirname(path); at.startsWith(place.main + sep); at = dirname(at))
    if (await rmdir(at).catch(() => true)) return;
}
