import { mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
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

/**
 * Finds the repository around a folder.
 * @throws Fault `no-repository` outside of one and in a bare one
 */
export async function findPlace(cwd: string): Promise<Place> {
  const answer = await git(
    [
      "rev-parse",
      "--path-format=absolute",
      "--show-toplevel",
      "--git-common-dir",
      "--absolute-git-dir",
      "--show-prefix",
    ],
    { cwd, accept: [128] },
  );
  const [top, common, gitDir, prefix] = answer.stdout.split("\n");
  if (answer.code !== 0 || !top || !common || !gitDir)
    throw new Fault(
      "no-repository",
      `${cwd} is not in a git checkout`,
      "go to the project, or make it one with git init",
      EXIT.usage,
    );
  const shared = await realpath(common);
  let main = dirname(shared);
  if (basename(shared) !== ".git") {
    const { stdout } = await git(["worktree", "list", "--porcelain", "-z"], { cwd });
    main = stdout.split("\0", 1)[0]?.replace(/^worktree /, "") ?? top;
  }
  return {
    top: await realpath(top),
    main: await realpath(main),
    common: shared,
    gitDir: await realpath(gitDir),
    prefix: (prefix ?? "").replace(/\/$/, ""),
  };
}

/** The `.git` folder of the worktree around a folder without starting git, or null: for the hooks, which must be quick. */
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
  const answer = await git(["rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`], {
    cwd,
    accept: [1, 128],
  });
  return answer.code === 0 ? answer.stdout.trim() : null;
}

/** The tree of all tracked and all untracked, not ignored files as they lie there now: what evidence is bound to. */
export async function treeOf(top: string, gitDir: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "minion-index-"));
  try {
    const env = { GIT_INDEX_FILE: join(folder, "index") };
    // A copy of the index spares git from reading every unchanged file again.
    const index = await readFile(join(gitDir, "index")).catch(() => null);
    if (index) await writeFile(env.GIT_INDEX_FILE, index);
    await git(["add", "--all", "--", ":/"], { cwd: top, env });
    return await gitText(["write-tree"], { cwd: top, env });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Paths that differ from HEAD or are not tracked, relative to the top; ignored ones are not among them. */
export async function changedPaths(top: string): Promise<string[]> {
  const { stdout } = await git(["status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames"], {
    cwd: top,
  });
  return stdout
    .split("\0")
    .filter(Boolean)
    .map((entry) => entry.slice(3));
}

/** The commits of `from..to`, oldest first, with their number of parents. */
export async function commitsBetween(
  from: string,
  to: string,
  cwd: string,
): Promise<{ id: string; parents: number }[]> {
  const text = await gitText(["rev-list", "--reverse", "--topo-order", "--parents", `${from}..${to}`], {
    cwd,
  });
  return text
    .split("\n")
    .filter(Boolean)
    .map((line) => line.split(" "))
    .map(([id, ...parents]) => ({ id: id as string, parents: parents.length }));
}

/** Paths that differ between two commits. */
export async function pathsBetween(from: string, to: string, cwd: string): Promise<string[]> {
  const { stdout } = await git(["diff", "--name-only", "-z", "--no-renames", from, to], { cwd });
  return stdout.split("\0").filter(Boolean);
}

export const isAncestor = (older: string, newer: string, cwd: string): Promise<boolean> =>
  gitAsks(["merge-base", "--is-ancestor", older, newer], { cwd });
