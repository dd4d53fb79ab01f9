import { link, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { git, gitList, gitText } from "../git/git.ts";
import { treeOf, type Worktop } from "../git/repository.ts";
import type { Evidence } from "../journal/events.ts";
import { commandOf, isSetup } from "../journal/evidence.ts";
import type { RunState } from "../journal/state.ts";
import { outside } from "../program/world.ts";

// A setup may write to files that are tracked, and beside them. In a worker's worktree the worker
// may be at work meanwhile, and nothing tells who wrote what. So only that is the setup's there
// which it also left in the rails' own worktree, where nobody else is: the same path with the very
// same content.

/** A setup that has run: whose worktree it was, and what the run knew before. */
type SetUp = Readonly<{ by: Evidence["by"]; state: RunState; place: Worktop }>;

/** A path that differs between two trees; `id`: its blob in the second, zeros where it is gone. */
type Left = Readonly<{ path: string; id: string }>;

/** What setups of this run left in the rails' own worktree. */
const ofLanding = (state: RunState): Evidence[] =>
  state.evidence.filter((each) => each.by === "landing" && isSetup(state, commandOf(each)));

/** Which of the new untracked files are the setup's. */
export function madeBySetup({ by, state }: SetUp, fresh: readonly string[]): readonly string[] {
  if (by === "landing") return fresh;
  const known = ofLanding(state).flatMap(({ made }) => made);
  return fresh.filter((path) => known.includes(path));
}

/** Takes back what a setup changed of tracked files.
 * @param tree the files as they were before it
 * @param made what lies beside them and is nobody's
 * @returns the paths that are as before again, each with the blob that the setup had left there */
export async function undoSetup(
  { by, state, place }: SetUp,
  tree: string,
  made: readonly string[],
): Promise<Record<string, string>> {
  const all = await leftIn(place, tree, made);
  if (by === "landing") {
    // The rails' own worktree: nobody else is at it.
    await git(place.top, "checkout", "--quiet", "--force", "--", ":/");
    return Object.fromEntries(all.map(({ path, id }) => [path, id]));
  }
  const known = ofLanding(state).map(({ undone = {} }) => undone);
  const undone: Record<string, string> = {};
  for (const left of all.filter(({ path, id }) => known.some((each) => each[path] === id)))
    if (await takeBack(place, left)) undone[left.path] = left.id;
  return undone;
}

/** The tracked files that are other than they were. */
async function leftIn(place: Worktop, tree: string, made: readonly string[]): Promise<Left[]> {
  const now = await treeOf(place, made);
  const how = ["-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--diff-filter=MDT"];
  const fields = await gitList(place.top, "diff-tree", ...how, tree, now);
  const left: Left[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [, , , id = ""] = (fields[at] as string).split(" ");
    left.push({ path: fields[at + 1] as string, id });
  }
  return left;
}

/** Puts a file back as the index has it, if what lies there is still what was seen. It is moved
 * aside first, and nothing is ever written over: whoever writes there in between keeps that.
 * @returns whether it is back */
async function takeBack({ top, gitDir }: Worktop, { path, id }: Left): Promise<boolean> {
  const file = join(top, path);
  const aside = join(gitDir, `minion-aside-${outside().now().toString(36)}`);
  const moved = rename(file, aside);
  const isThere = await moved.then(() => true).catch(() => false);
  const isSeen = isThere ? (await blobOf(top, path, aside)) === id : /^0+$/.test(id);
  if (isSeen && (await putIn(top, path))) {
    await rm(aside, { force: true });
    return true;
  }
  // Unlike a rename, a link replaces nothing.
  if (isThere) await link(aside, file).then(() => rm(aside));
  return false;
}

/** Puts a tracked file where none is. @returns whether it could */
async function putIn(top: string, path: string): Promise<boolean> {
  const how = ["--literal-pathspecs", "checkout-index", "--quiet", "--", path];
  const { code } = await git({ cwd: top, accept: [1, 128] }, ...how);
  return code === 0;
}

/** The blob that a file would be at a path. */
const blobOf = (top: string, path: string, file: string): Promise<string> =>
  gitText({ cwd: top, accept: [1, 128] }, "hash-object", `--path=${path}`, "--", file);
