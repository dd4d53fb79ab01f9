import { join } from "node:path";
import { git, gitText, NO_HOOKS, PLAIN_MERGE } from "../git/git.ts";
import { holderOf } from "../git/holder.ts";
import { changedPaths, commitOf, gitDirOf, type Place } from "../git/repository.ts";
import { fillSubmodules } from "../git/submodule.ts";
import { bringBack, freshWorktree } from "../git/worktree.ts";
import type { Evidence } from "../journal/events.ts";
import type { Run } from "../journal/journal.ts";
import type { Command } from "../journal/shapes.ts";
import type { AttemptState, RunState } from "../journal/state.ts";
import { Fault } from "../program/fault.ts";
import { type Objection, objectionTo } from "../proof/objections.ts";
import { prove } from "../proof/prove.ts";

/** The rails' own worktrees, one for each of the jobs: beside the workers' and not inside `.git`,
 * where some test runners look for no tests. */
export const landingPath = (
  place: Place,
  run: string,
  job: "landing" | "merge" = "landing",
): string => join(place.main, ".claude/worktrees", `minion-${run}-${job}`);

/** Where landing tries things out, and what it does to the line: all that it does outside of the
 * journal. What is done when is `landAll`'s to decide, by what comes back from here. */
export type Site = ReturnType<typeof siteOf>;

/** The site of a run in a repository. */
export function siteOf(
  place: Place,
  run: string,
  line: string,
  job: "landing" | "merge" = "landing",
) {
  const { main } = place;
  let path = landingPath(place, run, job);
  return {
    /** The line's commit, or null where its branch is gone. */
    lineAt: (): Promise<string | null> => commitOf(`refs/heads/${line}`, main),
    /** Is the commit also on a branch that is not the run's line? */
    async isElsewhere(commit: string): Promise<boolean> {
      const refs = await gitText(
        main,
        "for-each-ref",
        "--contains",
        commit,
        "--format=%(refname)",
        "refs/heads",
      );
      return refs.split("\n").some((ref) => ref !== "" && ref !== `refs/heads/${line}`);
    },
    /** What a person has to agree to before the attempt's work lands. */
    async objection(
      state: RunState,
      { task, begun, submitted }: AttemptState,
    ): Promise<Objection | null> {
      if (!begun || !submitted || submitted.byHand) return null;
      return objectionTo(state, task, { base: begun.base, head: submitted.head, cwd: main });
    },
    /** Puts the rails' own worktree on a commit, with nothing left over in it. */
    async reset(commit: string): Promise<void> {
      path = await freshWorktree(place, landingPath(place, run, job), commit);
    },
    /** Puts commits on top, in order. @returns how many changed nothing there, and so were passed
     * over; or what clashed: then the worktree is as before */
    pick: (commits: readonly string[]): Promise<number | string> =>
      apply(path, commits.at(-1) ?? "HEAD", ["cherry-pick", "--ff", ...commits]),
    /** Merges a commit, forward where that is possible. @returns null, or what clashed: then the
     * worktree is as before */
    async merge(commit: string, message: string): Promise<string | null> {
      const result = await apply(path, commit, [
        "merge",
        "--quiet",
        "--ff",
        ...PLAIN_MERGE,
        "-m",
        message,
        commit,
      ]);
      return typeof result === "string" ? result : null;
    },
    /** Makes what lies there known to the repository, where it is a clone of it. */
    async keep(commit: string): Promise<void> {
      if ((await commitOf(commit, main)) === null) await bringBack(place, path, commit);
    },
    /** Puts beside the files what belongs to them (submodules). @returns null, or what is not to be
     * had */
    async fill(): Promise<string | null> {
      const fault = await fillSubmodules(path, main, true).catch((error: Error) => error);
      return fault?.message ?? null;
    },
    /** The commit in the worktree, and its tree. */
    async tip(): Promise<{ commit: string; tree: string }> {
      const [commit = "", tree = ""] = (
        await gitText(path, "rev-parse", "HEAD", "HEAD^{tree}")
      ).split("\n");
      return { commit, tree };
    },
    /** Runs a command on what lies there, for these attempts. */
    async prove(at: Run, attempts: readonly string[], command: Command): Promise<Evidence> {
      const gitDir = (await gitDirOf(path)) as string;
      return prove({ ...at, place: { top: path, gitDir }, by: "landing", attempts }, command);
    },
    /** Moves the line. @returns false where it does not stand on `from` any more @throws Fault
     * `line-in-use` */
    async move(from: string, to: string): Promise<boolean> {
      const holder = await holderOf(place, line);
      if (holder)
        throw new Fault(
          "line-in-use",
          `${line} is checked out in ${holder.path}`,
          "switch to another branch there",
        );
      await this.keep(to);
      const where = { cwd: main, accept: [1, 128] };
      return (
        (await git(where, "update-ref", "-m", "minion: land", `refs/heads/${line}`, to, from))
          .code === 0
      );
    },
  };
}

/** Puts something on top of what lies there. @param whose the commit whose committer it is to have:
 * the machine may have none for us. Unsigned, since signing may ask somebody. */
async function apply(
  path: string,
  whose: string,
  how: readonly string[],
): Promise<number | string> {
  const before = await gitText(path, "rev-parse", "HEAD");
  const [name, email] = (await gitText(path, "log", "-1", "--format=%cn%n%ce", whose)).split("\n");
  const committer = { GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email };
  const author = how[0] === "merge" ? { GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email } : {};
  const where = { cwd: path, env: { ...committer, ...author }, accept: [1, 128] };
  const run = async (...words: readonly string[]): Promise<boolean> =>
    (await git(where, ...NO_HOOKS, "-c", "commit.gpgSign=false", ...words)).code === 0;
  let isDone = await run(...how);
  for (let skipped = 0; ; skipped++) {
    if (isDone) return skipped;
    // Where nothing is left to commit, git stops as well.
    if (how[0] === "merge" || skipped === how.length || (await changedPaths(path)).length > 0)
      break;
    isDone = await run("cherry-pick", "--skip");
  }
  const clash = (await changedPaths(path)).slice(0, 5).join(", ");
  await git({ cwd: path, accept: [128] }, how[0] as string, "--quit");
  await git(path, "reset", "--quiet", "--hard", before);
  return `It clashes in ${clash}.`;
}
