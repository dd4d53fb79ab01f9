import { mkdir, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { git, gitText } from "./git.ts";
import { withLock } from "./lock.ts";
import { changedPaths, commitOf, type Place } from "./repository.ts";

export interface Worktree {
  readonly path: string;
  readonly head: string;
  /** Without `refs/heads/`; null where HEAD is detached. */
  readonly branch: string | null;
  readonly locked: boolean;
}

/** All worktrees of the repository, the main one first. */
export async function listWorktrees(cwd: string): Promise<Worktree[]> {
  const { stdout } = await git(["worktree", "list", "--porcelain", "-z"], { cwd });
  return stdout
    .split("\0\0")
    .filter(Boolean)
    .map((block) => {
      const fields = new Map(
        block
          .split("\0")
          .filter(Boolean)
          .map((line) => {
            const space = line.indexOf(" ");
            return space < 0 ? [line, ""] : [line.slice(0, space), line.slice(space + 1)];
          }),
      );
      return {
        path: fields.get("worktree") ?? "",
        head: fields.get("HEAD") ?? "",
        branch: fields.get("branch")?.replace(/^refs\/heads\//, "") ?? null,
        locked: fields.has("locked"),
      };
    });
}

/** Making and removing worktrees and branches races inside git (on `commondir` and the config): one at a time. */
export function withGitLock<T>(place: Place, work: () => Promise<T>): Promise<T> {
  return withLock(join(place.common, "minion"), "git", work);
}

/** Makes a detached worktree on a commit, or puts the one that is there on it, with nothing left over in it. */
export async function freshWorktree(place: Place, path: string, commit: string): Promise<void> {
  await withGitLock(place, async () => {
    await git(["worktree", "prune"], { cwd: place.main });
    const known = (await listWorktrees(place.main)).some((tree) => tree.path === path);
    if (known && (await stat(path).catch(() => null))) return;
    await rm(path, { recursive: true, force: true });
    await mkdir(dirname(path), { recursive: true });
    await git(["-c", "core.hooksPath=/dev/null", "worktree", "add", "--detach", path, commit], { cwd: place.main });
  });
  for (const operation of ["cherry-pick", "am", "rebase"])
    await git([operation, "--quit"], { cwd: path, accept: [1, 128, 129] });
  await git(["-c", "core.hooksPath=/dev/null", "checkout", "--quiet", "--force", "--detach", commit], { cwd: path });
  // Ignored files stay (dependencies, caches): making them anew for every landing would cost minutes.
  await git(["clean", "-ffdq"], { cwd: path });
}

/** Why a worktree may not be removed: there is work in it that is nowhere else. Null where it may. */
export async function worthKeeping(tree: Worktree, reachable: readonly string[]): Promise<string | null> {
  const changed = await changedPaths(tree.path).catch(() => []);
  if (changed.length > 0) return `${changed.length} uncommitted file${changed.length > 1 ? "s" : ""}`;
  const own = await gitText(
    ["rev-list", "--max-count=1", tree.head, "--not", "--branches", "--tags", "--remotes", ...reachable],
    {
      cwd: tree.path,
    },
  );
  return own === "" ? null : "commits that are on no branch";
}

/**
 * Removes a worktree that git knows and nothing else. A link in it is unlinked, never followed; git refuses a dirty one.
 * Folders above it that are empty then are removed too, up to the main checkout.
 */
export async function removeWorktree(place: Place, path: string): Promise<void> {
  await withGitLock(place, async () => {
    await git(["worktree", "unlock", path], { cwd: place.main, accept: [128] });
    if (await stat(path).catch(() => null)) await git(["worktree", "remove", path], { cwd: place.main });
    await git(["worktree", "prune"], { cwd: place.main });
  });
  await removeEmptyAbove(place.main, path);
}

/** Removes the folders between `top` and `path` that hold nothing. */
export async function removeEmptyAbove(top: string, path: string): Promise<void> {
  for (let at = dirname(path); inside(top, at); at = dirname(at))
    if (
      !(await rmdir(at).then(
        () => true,
        () => false,
      ))
    )
      return;
}

/** True where `path` lies below `folder`. */
export function inside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && !way.startsWith("/");
}

/** Removes a branch where it still stands on the commit that is expected, whatever moves meanwhile. */
export async function removeBranch(place: Place, branch: string, expected: string): Promise<void> {
  await withGitLock(place, async () => {
    if ((await commitOf(`refs/heads/${branch}`, place.main)) === expected)
      await git(["update-ref", "-d", `refs/heads/${branch}`, expected], { cwd: place.main });
  });
}
