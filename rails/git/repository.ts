import {
  copyFile,
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  realpath,
  rm,
  stat,
  utimes,
} from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { EXIT, Fault } from "../program/fault.ts";
import { readIfThere } from "../program/files.ts";
import { NEEDED } from "../program/versions.ts";
import { temporaryFolder } from "../program/world.ts";
import { git, gitList, gitText } from "./git.ts";

/** Where one stands in a repository. All paths are absolute and real. */
export interface Place {
  readonly top: string; // Top folder of this worktree
  readonly main: string; // Top folder of the main checkout
  readonly common: string; // The `.git` folder that all worktrees share
  // This worktree's own folder in it; the same as `common` in the main checkout
  readonly gitDir: string;
  readonly prefix: string; // From `top` to where one stands: `` or `pkg/a`
}

/** A worktree, as far as its files are concerned. */
export type Worktop = Pick<Place, "top" | "gitDir">;

/** Finds the repository around a folder.
 * @throws Fault `no-repository` outside of a checkout, in git's own words where it does not trust the
 *   repository; `old-git` */
export async function findPlace(cwd: string): Promise<Place> {
  const paths = ["--show-toplevel", "--git-common-dir", "--absolute-git-dir"];
  const ask = ["--path-format=absolute", ...paths, "--show-prefix"];
  const { stdout } = await git(cwd, "rev-parse", ...ask).catch((error) => {
    throw noPlace(cwd, error);
  });
  if (stdout.startsWith("--")) {
    const what = `git is older than ${NEEDED.git}`;
    throw new Fault("old-git", what, "install a newer one", EXIT.usage);
  }
  const said = stdout.split("\n");
  const top = await realpath(said[0] ?? "");
  const common = await realpath(said[1] ?? "");
  const gitDir = await realpath(said[2] ?? "");
  const prefix = (said[3] ?? "").replace(/\/$/, "");
  const main = gitDir === common ? top : await mainOf(common);
  return { top, main, common, gitDir, prefix };
}

/** Why git finds no checkout around a folder, in its own words where those say more. */
function noPlace(cwd: string, error: Error): Error {
  const { message } = error;
  const no = (what: string, hint: string) => new Fault("no-repository", what, hint, EXIT.usage);
  if (/not a git repository/.test(message))
    return no(`${cwd} is not in a git checkout`, "go to one");
  if (/run in a work tree/.test(message))
    return no(
      `${cwd} is in a git folder, or a bare repository`,
      "go to a worktree: git worktree list",
    );
  const [, owned] = /dubious ownership in repository at '(.*)'/.exec(message) ?? [];
  if (owned === undefined) return error;
  const quoted = `'${owned.replaceAll("'", "'\\''")}'`;
  return no(message, `if you trust it: git config --global --add safe.directory ${quoted}`);
}

/** Where a job of ours runs: in the main checkout, which stays; of a bare repository, in the one
 * that it was asked for from. */
export const jobFolder = ({ main, common, top }: Place): string =>
  basename(common) === ".git" ? main : top;

/** The folder that stands for the whole repository. A submodule's git folder names its checkout; a
 * bare repository beside a `.git` file that names it is its folder's; any other bare one, and one
 * of --separate-git-dir, stands for itself. */
async function mainOf(common: string): Promise<string> {
  const around = dirname(common);
  if (basename(common) === ".git" || (await gitDirOf(around)) === common) return around;
  const named = await gitText({ cwd: common, accept: [1] }, "config", "core.worktree");
  return realpath(resolve(common, named));
}

/** Its branch is undefined where HEAD is detached. */
export type Worktree = Readonly<{ path: string; head: string; branch: string | undefined }>;

/** All worktrees of the repository, the main one first. */
export async function listWorktrees(cwd: string): Promise<Worktree[]> {
  const list = ["worktree", "list", "--porcelain"];
  // Before 2.36 git knows no -z here; then a path with a line break cannot be told.
  const byNul = await git({ cwd, accept: [129] }, ...list, "-z");
  const end = byNul.code === 0 ? "\0" : "\n";
  const said = byNul.code === 0 ? byNul.stdout : await gitText(cwd, ...list);
  return said.split(end + end).flatMap((block) => {
    const fields = new Map(
      block.split(end).map((line): [string, string] => {
        const [name = ""] = line.split(" ", 1);
        return [name, line.slice(name.length + 1)];
      }),
    );
    const path = fields.get("worktree");
    if (path === undefined) return [];
    const branch = fields.get("branch")?.replace("refs/heads/", "");
    return [{ path, head: fields.get("HEAD") ?? "", branch }];
  });
}

/** The git folder of the worktree around a folder, without starting git, or null: for the hooks,
 * which must be quick. */
export async function gitDirOf(folder: string): Promise<string | null> {
  for (let at = resolve(folder); ; at = dirname(at)) {
    const file = join(at, ".git");
    const text = await readFile(file, "utf8").catch((error) =>
      error.code === "EISDIR" ? "" : null,
    );
    if (text !== null) return resolve(at, text.replace(/^gitdir: /, "").trim() || file);
    if (dirname(at) === at) return null;
  }
}

/** The git folder that all worktrees share, by one of theirs, without starting git. */
export async function commonOf(gitDir: string): Promise<string> {
  const way = await readIfThere(join(gitDir, "commondir"));
  return resolve(gitDir, way?.trim() ?? "");
}

/** Does a checkout begin right there? In a folder that lost its `.git`, git would work on the
 * checkout around it. */
export const isCheckout = (top: string): Promise<boolean> =>
  stat(join(top, ".git")).then(Boolean, () => false);

/** Makes a clone without files, which borrows what the repository of another git folder holds. */
export async function cloneInto(folder: string, from: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const how = ["--quiet", "--shared", "--no-checkout", "--no-tags", "--template="];
  await git(folder, "-c", "protocol.file.allow=always", "clone", ...how, from, ".");
}

/** The commit that a name stands for, or null. */
export async function commitOf(name: string, cwd: string): Promise<string | null> {
  const ask = ["--verify", "--quiet", "--end-of-options", `${name}^{commit}`];
  return (await gitText({ cwd, accept: [1, 128] }, "rev-parse", ...ask)) || null;
}

/** Does the file of a ref in a git folder name that commit? Known without starting git; where not,
 * the ref may be packed, or git may keep refs in another way. */
export const isFiledAs = async (commit: string, ref: string, gitDir: string): Promise<boolean> =>
  (await readIfThere(join(gitDir, ref)).catch(() => null)) === `${commit}\n`;

/** Files that are neither tracked nor ignored, from the top; a folder without a tracked file stands
 * for all in it. */
export const untrackedIn = (top: string): Promise<string[]> =>
  gitList(
    top,
    "ls-files",
    "--others",
    "--exclude-standard",
    "--directory",
    "--no-empty-directory",
    "-z",
  );

/** The tree of all tracked and all untracked, not ignored files as they lie there now: what
 * evidence is bound to.
 * @param made untracked paths that are left out
 * @param untracked what `untrackedIn` says, where it has just been asked */
export async function treeOf(
  { top, gitDir }: Worktop,
  made: readonly string[],
  untracked?: readonly string[],
): Promise<string> {
  const there = made.length > 0 ? (untracked ?? (await untrackedIn(top))) : [];
  const others = made
    .filter((path) => there.includes(path))
    .map((path) => `:(top,exclude,literal)${path}`);
  const folder = await mkdtemp(join(temporaryFolder(), "minion-index-"));
  const where = { cwd: top, env: { GIT_INDEX_FILE: join(folder, "index") } };
  try {
    await copyIndex(join(gitDir, "index"), where.env.GIT_INDEX_FILE).catch(() => {});
    await git(where, "add", "--all", "--", ":/", ...others);
    return await gitText(where, "write-tree");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A copy of the index spares git from reading every unchanged file again. It has to be as old as
 * the index itself: of a file that was written in the same second git looks at the content, and not
 * only at size and time. */
async function copyIndex(from: string, to: string): Promise<void> {
  const { mtimeMs } = await stat(from);
  await copyFile(from, to);
  const second = Math.floor(mtimeMs / 1000);
  await utimes(to, second, second);
}

/** Where an index is looked at: a worktree, with another index than its own. */
type Indexed = Readonly<{ cwd: string; env?: NodeJS.ProcessEnv }>;

/** Paths at which git was told not to look (`git update-index --skip-worktree`), and what a sparse
 * checkout leaves out. */
async function unlookedIn(where: Indexed): Promise<string[]> {
  const said = await gitList(where, "ls-files", "-v", "-z");
  return said.flatMap((entry) => (/^[a-zS] /.test(entry) ? entry.slice(2) : []));
}

/** Makes git look at every file again, also those of which it was told not to: else an edit there is
 * in no tree. What a sparse checkout leaves out is left out. */
export async function lookAtAll(where: Indexed): Promise<void> {
  const top = where.cwd;
  const unlooked = await unlookedIn(where);
  if (unlooked.length === 0) return;
  const ask = ["config", "--type=bool", "core.sparseCheckout"];
  const isSparse = (await gitText({ cwd: top, accept: [1] }, ...ask)) === "true";
  const isLaid = (path: string) =>
    lstat(join(top, path)).then(
      () => true,
      () => false,
    );
  const isMeant = await Promise.all(unlooked.map(async (path) => !isSparse || isLaid(path)));
  const input = unlooked.flatMap((path, at) => (isMeant[at] ? `${path}\0` : [])).join("");
  for (const flag of ["--no-assume-unchanged", "--no-skip-worktree"])
    await git({ ...where, input }, "update-index", flag, "-z", "--stdin");
}

/** Paths of a worktree that differ from what git has of them, though it was told not to look at
 * them. */
export async function editsUnlooked({ top, gitDir }: Worktop): Promise<string[]> {
  if ((await unlookedIn({ cwd: top })).length === 0) return [];
  const folder = await mkdtemp(join(temporaryFolder(), "minion-index-"));
  const where = { cwd: top, env: { GIT_INDEX_FILE: join(folder, "index") } };
  try {
    await copyIndex(join(gitDir, "index"), where.env.GIT_INDEX_FILE);
    await lookAtAll(where);
    await git({ ...where, accept: [1] }, "update-index", "-q", "--refresh");
    return await gitList(where, "diff-files", "--name-only", "-z");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Paths that differ from HEAD or are not tracked, from the top; none that is ignored, or untracked
 * and `made`. */
export async function changedPaths(top: string, made: readonly string[] = []): Promise<string[]> {
  const list = await gitList(
    top,
    "status",
    "--porcelain",
    "-z",
    "--untracked-files=normal",
    "--no-renames",
  );
  return list
    .filter((entry) => !made.includes(entry.replace(/^\?\? /, "")))
    .map((entry) => entry.slice(3));
}

/** How paths are asked for: each by its own name, also where a submodule moved. */
const EACH = ["-z", "--no-renames", "--ignore-submodules=none"];

/** Paths that differ between two commits or trees. */
export const pathsBetween = async (from: string, to: string, cwd: string): Promise<string[]> =>
  from === to ? [] : gitList(cwd, "diff", "--name-only", ...EACH, from, to);

export const isAncestor = async (earlier: string, later: string, cwd: string): Promise<boolean> =>
  (await git({ cwd, accept: [1] }, "merge-base", "--is-ancestor", earlier, later)).code === 0;

/** What the commits of `base..head` amount to; `commits`: oldest first. */
export type Result = Readonly<{
  head: string;
  tree: string;
  commits: Paths;
  paths: Paths;
  deleted: Paths;
}>;
type Paths = readonly string[];

/** @throws Fault `moved-base`, `no-commits`, `merge-commit` where they are no row of plain commits
 *   on top of `base` */
export async function resultOf(base: string, head: string, cwd: string): Promise<Result> {
  if (!(await isAncestor(base, head, cwd)))
    throw new Fault(
      "moved-base",
      `${base}, where it began, is not below it`,
      `put it there: git rebase ${base}`,
    );
  const format = "--format=%H %T %P";
  const range = `${base}..${head}`;
  const list = await gitText(cwd, "log", "--reverse", "--topo-order", format, range);
  const commits = list.split("\n").flatMap((line) => {
    const [id = "", tree = "", ...parents] = line.split(" ");
    return id === "" ? [] : { id, tree, parents: parents.filter(Boolean) };
  });
  const last = commits.at(-1);
  if (!last)
    throw new Fault("no-commits", "there is no commit of its own", "commit the work first");
  if (commits.some(({ parents }) => parents.length > 1))
    throw new Fault(
      "merge-commit",
      "there is a merge among the commits",
      "rebase it to a row of plain commits",
    );
  const fields = await gitList(cwd, "diff", "--name-status", ...EACH, base, head);
  const isName = (at: number): boolean => at % 2 === 1;
  const paths = fields.filter((_, at) => isName(at));
  const deleted = fields.filter((_, at) => isName(at) && fields[at - 1] === "D");
  return { head, tree: last.tree, commits: commits.map(({ id }) => id), paths, deleted };
}
