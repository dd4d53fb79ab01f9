import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { git, gitList, gitText, NO_HOOKS } from "../git/git.ts";
import { commitOf } from "../git/repository.ts";
import { withGitLock } from "../git/worktree.ts";
import type { Finding } from "../plan/task.ts";
import { Fault } from "../program/fault.ts";
import { type Check, inScratch, of } from "./flight.ts";

/** Repositories within the repository that are neither submodules nor ignored: of one without a
 * commit git can make no entry, and `git add -A` fails. */
export const embedded: Check = async ({ place: { top } }) => {
  const others = ["ls-files", "-z", "--others", "--exclude-standard", "--directory"];
  const folders = (await gitList(top, ...others)).filter((path) => path.endsWith("/"));
  const found: string[] = [];
  for (const folder of folders)
    if (existsSync(join(top, folder, ".git")) && !(await commitOf("HEAD", join(top, folder))))
      found.push(folder);
  if (found.length === 0) return [];
  return [
    of(
      `${found.join(", ")} is a repository of its own without a commit: git add -A fails over it`,
      "commit something in it, ignore it, or move it away",
      "warning",
    ),
  ];
};

/** Do files differ from what is committed as soon as they are checked out? */
export const cleanliness: Check = ({ place, base }) =>
  inScratch(async (folder) => {
    const tree = join(folder, "tree");
    await mkdir(tree);
    const at = (index: string) => ({
      cwd: tree,
      env: { GIT_DIR: place.gitDir, GIT_WORK_TREE: tree, GIT_INDEX_FILE: join(folder, index) },
    });
    try {
      await git(at("made"), "read-tree", "-m", "-u", base);
      // An index that knows no times: every file is read again.
      await git(at("read"), "read-tree", base);
      await git({ ...at("read"), accept: [1] }, "update-index", "-q", "--refresh");
      const changed = await gitList(
        at("read"),
        "diff-files",
        "--name-only",
        "-z",
        "--ignore-submodules",
        // What a sparse checkout leaves out.
        "--diff-filter=d",
      );
      return changed.length > 0 ? [unclean(changed)] : [];
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return [of(`HEAD cannot be checked out: ${error.message}`, error.hint)];
    }
  });

function unclean(paths: readonly string[]): Finding {
  const more = paths.length > 3 ? ` and ${paths.length - 3} more` : "";
  return of(
    `${paths.slice(0, 3).join(", ")}${more}: changed as soon as checked out, since what is ` +
      "committed is not what .gitattributes or core.autocrlf make of it: no worktree is ever clean",
    'git add --renormalize . && git commit -m "chore: renormalize", or mend .gitattributes',
  );
}

/** Makes a worktree as the client makes one, with the project's hooks. */
export const worktreeAsGiven: Check = ({ place, base }) =>
  inScratch(async (folder) => {
    const path = join(folder, "worktree");
    return withGitLock(place, async () => {
      try {
        await git(place.top, "worktree", "add", "--quiet", "--detach", path, base);
        const left = await gitText(path, "status", "--porcelain", "--untracked-files=normal");
        if (left === "") return [];
        const [first = ""] = left.split("\n");
        const what = `a fresh worktree is not clean (${first.slice(3)}): post-checkout changes it`;
        return [of(what, "let the hook leave files alone, or ignore what it makes")];
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        const what = `git can make no worktree as a worker gets one: ${error.message}`;
        return [of(what, "mend the hook post-checkout, if there is one, or what git names")];
      } finally {
        const remove = ["worktree", "remove", "--force", "--force", path];
        await git({ cwd: place.top, accept: [1, 128] }, ...NO_HOOKS, ...remove);
      }
    });
  });
