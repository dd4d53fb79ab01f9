import { copyFile, mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { EXIT, Fault } from "../fault.ts";
import { git, gitAsks, gitText } from "./git.ts";

/** Where one stands in a repository. All paths are absolute and real. */
export interface Place {
  /** Top folder of this worktree. */
  readonly top: string;
  /** Top folder of the main checkout. */
  readonly main: string;
  /** The `.git` folder that all worktrees share. */
  readonly common: string;
  /** This worktree's own folder in it; the same as `common` in the main checkout. */
  readonly gitDir: string;
  /** From `top` to where one stands: `` or `pkg/a`. */
  readonly prefix: string;
}

/** Finds the repository around a folder. @throws Fault `no-repository` outside of one and in a bare one */
export async function findPlace(cwd: string): Promise<Place> {
  const ask = ["--show-toplevel", "--git-common-dir", "--absolute-git-dir", "--show-prefix"];
  const { code, stdout } = await git(["rev-parse", "--path-format=absolute", ...ask], { cwd, accept: [128] });
  const [top = "", common = "", gitDir = "", prefix = ""] = stdout.split("\n");
  if (code !== 0)
    throw new Fault(
      "no-repository",
      `${cwd} is not in a git checkout`,
      "go to the project, or make it one: git init",
      EXIT.usage,
    );
  const shared = await realpath(common);
  // With --separate-git-dir, or as a submodule, the checkout is not beside its git folder: git lists it first.
  const listed = basename(shared) === ".git" ? dirname(shared) : (await listWorktrees(cwd))[0]?.path;
  const [real, main, own] = await Promise.all([top, listed ?? top, gitDir].map((path) => realpath(path)));
  return {
    top: real as string,
    main: main as string,
    common: shared,
    gitDir: own as string,
    prefix: prefix.replace(/\/$/, ""),
  };
}

export interface Worktree {
  readonly path: string;
  readonly head: string;
  /** Without `refs/heads/`; undefined where HEAD is detached. */
  readonly branch: string | undefined;
}

/** All worktrees of the repository, the main one first. */
export async function listWorktrees(cwd: string): Promise<Worktree[]> {
  const { stdout } = await git(["worktree", "list", "--porcelain", "-z"], { cwd });
  return stdout
    .split("\0\0")
    .filter(Boolean)
    .map((block) => {
      const field = (name: string): string | undefined =>
        block
          .split("\0")
          .find((line) => line.startsWith(`${name} `))
          ?.slice(name.length + 1);
      return {
        path: field("worktree") ?? "",
        head: field("HEAD") ?? "",
        branch: field("branch")?.replace("refs/heads/", ""),
      };
    });
}

/** The git folder of the worktree around a folder, without starting git, or null: for the hooks, which must be quick. */
export async function gitDirOf(folder: string): Promise<string | null> {
  for (let at = resolve(folder); ; at = dirname(at)) {
    const file = join(at, ".git");
    const text = await readFile(file, "utf8").catch((error) => (error.code === "EISDIR" ? "" : null));
    if (text !== null) return text === "" ? file : resolve(at, text.replace(/^gitdir: /, "").trim());
    if (dirname(at) === at) return null;
  }
}

/** The commit that a name stands for, or null. */
export async function commitOf(name: string, cwd: string): Promise<string | null> {
  const ask = ["rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`];
  const { code, stdout } = await git(ask, { cwd, accept: [1, 128] });
  return code === 0 ? stdout.trim() : null;
}

/** The tree of all tracked and all untracked, not ignored files as they lie there now: what evidence is bound to. */
export async function treeOf(top: string, gitDir: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "minion-index-"));
  try {
    const env = { GIT_INDEX_FILE: join(folder, "index") };
    // A copy of the index spares git from reading every unchanged file again.
    await copyFile(join(gitDir, "index"), env.GIT_INDEX_FILE).catch(() => {});
    await git(["add", "--all", "--", ":/"], { cwd: top, env });
    return await gitText(["write-tree"], { cwd: top, env });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Paths that differ from HEAD or are not tracked, relative to the top; ignored ones are not among them. */
export async function changedPaths(top: string): Promise<string[]> {
  const { stdout } = await git(["status", "--porcelain", "-z", "--untracked-files=all", "--no-renames"], { cwd: top });
  return paths(stdout).map((entry) => entry.slice(3));
}

/** Paths that differ between two commits or trees. */
export const pathsBetween = async (from: string, to: string, cwd: string): Promise<string[]> =>
  paths((await git(["diff", "--name-only", "-z", "--no-renames", from, to], { cwd })).stdout);

const paths = (list: string): string[] => list.split("\0").filter(Boolean);

/**
 * The commits of `from..to`, oldest first: a task's own.
 * @throws Fault `moved-base`, `no-commits`, `merge-commit` where they are no row of plain commits on top of `from`
 */
export async function ownCommits(from: string, to: string, cwd: string): Promise<string[]> {
  if (!(await gitAsks(["merge-base", "--is-ancestor", from, to], { cwd })))
    throw new Fault(
      "moved-base",
      `${from.slice(0, 10)}, where it began, is not below it`,
      `bring it back there: git rebase ${from}`,
    );
  const list = await gitText(["rev-list", "--reverse", "--topo-order", "--parents", `${from}..${to}`], { cwd });
  const commits = list
    .split("\n")
    .filter(Boolean)
    .map((line) => line.split(" "));
  if (commits.length === 0) throw new Fault("no-commits", "there is no commit of its own", "commit the work first");
  if (commits.some((parents) => parents.length > 2))
    throw new Fault(
      "merge-commit",
      "there is a merge among the commits",
      "a result is a row of plain commits: rebase it",
    );
  return commits.map(([id]) => id as string);
}
