import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { temporaryFolder } from "../program/world.ts";
import { git, gitList, gitText } from "./git.ts";

/** A path that commits bring in; `isLink`: a symbolic link or a submodule, whose place a folder may
 * have. */
export type Added = Readonly<{ path: string; isLink: boolean }>;

/** Paths that the commits of `base..head` bring in, each of them, also those that a later one takes
 * out again: they are in the history then. */
export async function addedBetween(base: string, head: string, cwd: string): Promise<Added[]> {
  const how = ["--format=", "--raw", "-z", "--no-renames", "--diff-filter=A"];
  const fields = await gitList(cwd, "log", ...how, "--ignore-submodules=none", `${base}..${head}`);
  const added = new Map<string, Added>();
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [, mode = ""] = (fields[at] as string).trim().split(" ");
    const path = fields[at + 1] as string;
    added.set(path, { path, isLink: mode === "120000" || mode === "160000" });
  }
  return [...added.values()];
}

/** Which of some paths the ignore rules leave out, those of any of some commits and the person's own:
 * as files, and as the folders that may stand in their place.
 * @param cwd in the repository; how the files lie there says nothing */
export async function ignoredAt(
  commits: readonly string[],
  added: readonly Added[],
  cwd: string,
): Promise<string[]> {
  if (added.length === 0) return [];
  const gitDir = await gitText(cwd, "rev-parse", "--absolute-git-dir");
  const rules = await Promise.all([...new Set(commits)].map((each) => rulesAt(each, added, cwd)));
  // Most commits change no rule: what is the same is asked for once.
  const differing = new Map(rules.map((each) => [JSON.stringify(each), each])).values();
  const ignored = await Promise.all(
    [...differing].map((each) => ignoredBy(each, added, { cwd, gitDir })),
  );
  return [...new Set(ignored.flat())].sort();
}

/** An ignore file: where it lies from the top, and its blob. */
type Rules = Readonly<{ path: string; id: string }>;

/** Which of some paths these ignore files leave out, with the person's own. */
async function ignoredBy(
  rules: readonly Rules[],
  added: readonly Added[],
  { cwd, gitDir }: Readonly<{ cwd: string; gitDir: string }>,
): Promise<string[]> {
  // Git reads the rules as they lie in a work tree: here is one that holds nothing but them.
  const top = await mkdtemp(join(await realpath(temporaryFolder()), "minion-ignored-"));
  const env = { GIT_DIR: gitDir, GIT_WORK_TREE: top, GIT_INDEX_FILE: `${top}.index` };
  const matching = async (paths: readonly string[]): Promise<string[]> => {
    if (paths.length === 0) return [];
    // As paths of this folder: none is taken for a pattern.
    const input = paths.map((path) => `./${path}\0`).join("");
    const ask = ["check-ignore", "--no-index", "-z", "--stdin"];
    const found = await gitList({ cwd: top, env, accept: [1], input }, ...ask);
    return found.map((path) => path.slice("./".length));
  };
  try {
    await layRules(rules, cwd, top);
    const asFiles = await matching(added.map(({ path }) => path));
    const links = added.flatMap(({ path, isLink }) => (isLink ? path : []));
    const inside = await matching(links.map((path) => join(path, INSIDE)));
    for (const { path } of added) await mkdir(join(top, path), { recursive: true }).catch(() => {});
    const asFolders = await matching(added.map(({ path }) => path));
    return [...asFiles, ...asFolders, ...inside.map(dirname)];
  } finally {
    await rm(top, { recursive: true, force: true });
  }
}

/** A file as any folder may hold one: a rule such as `cache/*` ignores what lies in a folder, and
 * not the folder. */
const INSIDE = "any-file";

/** A commit's ignore files that count for some paths. */
async function rulesAt(commit: string, added: readonly Added[], cwd: string): Promise<Rules[]> {
  const above = new Set(added.flatMap(({ path }) => foldersAbove(path)));
  const files = await gitList(cwd, "ls-tree", "-r", "-z", "--full-tree", commit);
  return files.flatMap((entry) => {
    const [, mode, id, path] = /^(\d+) \w+ (\w+)\t(.*)$/s.exec(entry) ?? [];
    if (id === undefined || path === undefined || mode === "120000") return [];
    return /(^|\/)\.gitignore$/.test(path) && above.has(dirname(path)) ? { path, id } : [];
  });
}

/** Lays ignore files into a folder, where they lie in the repository. */
async function layRules(rules: readonly Rules[], cwd: string, top: string): Promise<void> {
  for (const { path, id } of rules) {
    const { stdout } = await git(cwd, "cat-file", "blob", id);
    await mkdir(join(top, dirname(path)), { recursive: true });
    await writeFile(join(top, path), stdout);
  }
}

/** The folders that a path lies in, with the top as `.`. */
function foldersAbove(path: string): string[] {
  const folder = dirname(path);
  return folder === "." ? ["."] : [folder, ...foldersAbove(folder)];
}
