import { readdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { readIfThere } from "../program/files.ts";
import { listWorktrees, type Place } from "./repository.ts";

/** Where a branch is in use; `isBusy`: not checked out, but a rebase or bisection there goes on with
 * it. */
export type Holder = Readonly<{ path: string; isBusy: boolean }>;

/** The checkout in which a branch is in use right now, or null. */
export async function holderOf(place: Place, branch: string): Promise<Holder | null> {
  const there = (await listWorktrees(place.main)).find((each) => each.branch === branch);
  if (there) return { path: there.path, isBusy: false };
  for (const { path, gitDir } of await gitDirs(place))
    if (await isUnderWay(gitDir, branch)) return { path, isBusy: true };
  return null;
}

/** The git folders of all worktrees, with where their files lie. */
async function gitDirs({ main, common }: Place): Promise<{ path: string; gitDir: string }[]> {
  const names = await readdir(join(common, "worktrees")).catch(() => []);
  const linked = names.map(async (name) => {
    const gitDir = join(common, "worktrees", name);
    const file = (await readIfThere(join(gitDir, "gitdir"))) ?? "";
    return { path: resolve(gitDir, dirname(file.trim())), gitDir };
  });
  return [{ path: main, gitDir: common }, ...(await Promise.all(linked))];
}

/** What git writes down while it is on commits of a branch: its name, whole or short, as a line. */
const UNDER_WAY = [
  "rebase-merge/head-name",
  "rebase-merge/update-refs",
  "rebase-apply/head-name",
  "BISECT_START",
];

async function isUnderWay(gitDir: string, branch: string): Promise<boolean> {
  const texts = await Promise.all(UNDER_WAY.map((name) => readIfThere(join(gitDir, name))));
  const lines = texts.flatMap((text) => text?.split("\n") ?? []);
  return lines.includes(branch) || lines.includes(`refs/heads/${branch}`);
}
