import { join } from "node:path";
import { readIfThere } from "../program/files.ts";
import { git, gitList, gitText, NO_HOOKS } from "./git.ts";
import { changedPaths, cloneInto, editsUnlooked, gitDirOf, isCheckout } from "./repository.ts";

/** `source`: its git folder, as the main checkout has it; null where it is empty there. */
type Submodule = Readonly<{ path: string; commit: string; source: string | null }>;

/** The submodules of a checkout, found without starting git where there are none. */
async function submodulesOf(top: string, main: string): Promise<Submodule[]> {
  if ((await readIfThere(join(top, ".gitmodules"))) === null) return [];
  const around = await gitDirOf(main);
  const tracked = await gitList({ cwd: top, accept: [1] }, "ls-files", "--stage", "-z");
  const links = tracked.filter((entry) => entry.startsWith("160000 "));
  const read = async (entry: string): Promise<Submodule> => {
    const path = entry.slice(entry.indexOf("\t") + 1);
    const commit = entry.split(" ")[1] as string;
    const source = await gitDirOf(join(main, path));
    return { path, commit, source: source === around ? null : source };
  };
  return Promise.all(links.map(read));
}

/** Fills the submodules of a worktree that the main checkout has filled, those inside them too,
 * from what is there: over no network, and without a word in the person's config.
 * @param top a worktree, or a submodule in it; `main` the same place in the main checkout
 * @param isOurs nobody but the rails works there: nothing is left over in them
 * @throws Fault `git` where the main checkout has not got the commit of one, and where somebody's
 *   files are in the way */
export async function fillSubmodules(top: string, main: string, isOurs = false): Promise<void> {
  for (const { path, commit, source } of await submodulesOf(top, main)) {
    if (source === null) continue;
    const inner = join(top, path);
    if (!(await isCheckout(inner))) await cloneInto(inner, source);
    if (isOurs) await putOn(inner, join(main, path), commit);
    else await switchTo(inner, join(main, path), commit);
  }
}

/** Puts a checkout of the rails' own and its submodules on a commit, with nothing left over in them.
 */
export async function putOn(top: string, main: string, commit: string): Promise<void> {
  await git(top, ...NO_HOOKS, "checkout", "--quiet", "--force", "--detach", commit);
  // Ignored files stay (dependencies, caches): making them anew for every landing would cost
  // minutes.
  await git(top, "clean", "-ffdq");
  await fillSubmodules(top, main, true);
}

/** Puts a submodule in somebody's worktree on a commit; what lies in it stays. */
async function switchTo(top: string, main: string, commit: string): Promise<void> {
  const how = ["--quiet", "--no-overwrite-ignore", "--detach"];
  await git(top, ...NO_HOOKS, "checkout", ...how, commit);
  await fillSubmodules(top, main);
}

/** What a worktree and its submodules hold that the main checkout's submodules and the repository
 * do not, or null. What is untracked and `made` is nobody's work, and commits of the worktree
 * itself are in the repository. */
export async function workIn(
  top: string,
  main: string,
  made: readonly string[] = [],
): Promise<string | null> {
  const gitDir = await gitDirOf(top);
  const changed = await changedPaths(top, made);
  if (gitDir !== null) changed.push(...(await editsUnlooked({ top, gitDir })));
  if (changed.length > 0) return `not committed: ${changed.slice(0, 3).join(", ")}`;
  for (const { path, source } of await submodulesOf(top, main)) {
    const inner = join(top, path);
    if (!(await isCheckout(inner))) continue;
    const isThere = source !== null && (await holdsAll(source, inner));
    const work = isThere ? await workIn(inner, join(main, path)) : "commits that are nowhere else";
    if (work) return `${path}: ${work}`;
  }
  return null;
}

/** Does a repository hold all commits that another's HEAD and its own branches and tags are on? */
async function holdsAll(source: string, inner: string): Promise<boolean> {
  const ask = ["rev-parse", "HEAD", "--exclude=refs/remotes/*", "--all"];
  const tips = await gitText({ cwd: inner, accept: [128] }, ...ask);
  const look = ["rev-list", "--no-walk", "--quiet", ...tips.split("\n")];
  return (await git({ cwd: source, accept: [128] }, ...look)).code === 0;
}
