import { join } from "node:path";
import { type Applied, clear, mergeInto, pickOnto, takeBackOn } from "../git/apply.ts";
import { git, gitList, gitText, NO_HOOKS, wordsOf } from "../git/git.ts";
import { holderOf } from "../git/holder.ts";
import { commitOf, gitDirOf, isFiledAs, type Place } from "../git/repository.ts";
import { fillSubmodules } from "../git/submodule.ts";
import { bringBack, freshWorktree } from "../git/worktree.ts";
import type { Evidence } from "../journal/events.ts";
import type { Run } from "../journal/journal.ts";
import type { Command } from "../journal/shapes.ts";
import type { AttemptState, RunState } from "../journal/state.ts";
import { EXIT, Fault } from "../program/fault.ts";
import { printedBy } from "../proof/lines.ts";
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

/** A commit and its tree. */
export type Tip = Readonly<{ commit: string; tree: string }>;

/** The site of a run in a repository. */
export function siteOf(
  place: Place,
  run: string,
  line: string,
  job: "landing" | "merge" = "landing",
) {
  const { main } = place;
  let path = landingPath(place, run, job);
  const lineAt = (): Promise<string | null> => commitOf(`refs/heads/${line}`, main);
  return {
    /** The line's commit, or null where its branch is gone. */
    lineAt,
    /** Does the line stand on that commit? */
    isLineAt: async (commit: string): Promise<boolean> =>
      (await isFiledAs(commit, `refs/heads/${line}`, place.common)) || (await lineAt()) === commit,
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
      const range = { base: begun.base, head: submitted.head, cwd: main, line: path };
      return objectionTo(state, task, range);
    },
    /** Puts the rails' own worktree on a commit, with nothing left over in it. */
    async reset(commit: string): Promise<void> {
      path = await freshWorktree(place, landingPath(place, run, job), commit);
    },
    /** Is there anything in the worktree that a fresh clone would not have? What is not ignored goes
     * at each `reset`. */
    async isLittered(): Promise<boolean> {
      const how = ["--others", "--ignored", "--exclude-standard", "--directory", "-z"];
      return (await gitList(path, "ls-files", ...how)).length > 0;
    },
    /** Leaves in the worktree what a fresh clone of the commit would have. */
    clear: (commit: string): Promise<void> => clear(path, commit),
    /** Puts commits on top, in order. */
    pick: (commits: readonly string[]): Promise<Applied> => pickOnto(place, path, commits),
    /** Takes commits back, the newest first, as one. @param message of the commit that does */
    takeBack: (commits: readonly string[], message: string): Promise<Applied> =>
      takeBackOn(place, path, commits, message),
    /** The commits that lead from one to another, oldest first. */
    between: (from: string, to: string): Promise<string[]> => commitsIn(from, to, main),
    /** Merges a commit. */
    merge: (commit: string, message: string): Promise<Applied> =>
      mergeInto(place, path, commit, message),
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
    /** Is the worktree on that commit? */
    async isOn(commit: string): Promise<boolean> {
      const gitDir = await gitDirOf(path);
      if (gitDir !== null && (await isFiledAs(commit, "HEAD", gitDir))) return true;
      return (await gitText(path, "rev-parse", "HEAD")) === commit;
    },
    /** The commit in the worktree, and its tree. */
    async tip(): Promise<Tip> {
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
    /** Runs a command that lists something on what lies there. */
    async printed(at: Run, label: string, command: Parameters<typeof printedBy>[2]) {
      const gitDir = (await gitDirOf(path)) as string;
      return printedBy({ ...at, place: { top: path, gitDir } }, label, command);
    },
    /** Moves the line. @returns false where it does not stand on `from` any more
     * @throws Fault `line-in-use`; `line-stuck` where git does not move it though it stands there */
    async move(from: string, to: string): Promise<boolean> {
      const holder = await holderOf(place, line);
      if (holder)
        throw new Fault(
          "line-in-use",
          `${line} is checked out in ${holder.path}`,
          "switch to another branch there",
        );
      await this.keep(to);
      const ref = `refs/heads/${line}`;
      const moved = await git(
        { cwd: main, accept: [1, 128] },
        ...NO_HOOKS,
        "update-ref",
        // Of what stands in the line's place for another branch, nothing moves that branch.
        "--no-deref",
        "-m",
        "minion: land",
        ref,
        to,
        from,
      );
      const now = await commitOf(ref, main);
      if (moved.code === 0 && now === to) return true;
      if ((now ?? "") !== from) return false;
      const [, lock] = /Unable to create '(.*\.lock)'/i.exec(moved.stderr) ?? [];
      throw new Fault(
        "line-stuck",
        `git does not move ${line}: ${wordsOf(moved.stderr)}`,
        lock
          ? `if no git runs here, remove what one left behind: rm '${lock}'`
          : "mend that, then call again",
        EXIT.writing,
      );
    },
  };
}

async function commitsIn(from: string, to: string, cwd: string): Promise<string[]> {
  const how = ["--reverse", "--topo-order", `${from}..${to}`];
  return (await gitText(cwd, "rev-list", ...how)).split("\n").filter(Boolean);
}
