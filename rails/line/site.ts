import { join } from "node:path";
import { Fault } from "../fault.ts";
import { git, gitText, NO_HOOKS } from "../git/git.ts";
import { changedPaths, commitOf, isAncestor, listWorktrees, type Place } from "../git/repository.ts";
import { fillSubmodules } from "../git/submodule.ts";
import { bringBack, freshWorktree } from "../git/worktree.ts";
import type { Command, Evidence } from "../record/events.ts";
import { prove } from "../record/evidence.ts";
import type { Run } from "../record/journal.ts";
import { type Objection, objectionTo } from "../record/objections.ts";
import type { AttemptState, RunState } from "../record/state.ts";

/** Where landing tries things out, and what it does to the line: all that it does outside of the journal. What is done
 * when is `landAll`'s to decide, by what comes back from here. */
export interface Site {
  /** The commit on which the line's branch stands, or null where that branch is gone. */
  lineAt(): Promise<string | null>;
  /** Is the one commit below the other, or the same? */
  isBelow(earlier: string, later: string): Promise<boolean>;
  /** Is the commit also on a branch that is not the run's line? */
  isElsewhere(commit: string): Promise<boolean>;
  /** What a person has to agree to before the attempt's work lands. */
  objection(state: RunState, attempt: AttemptState): Promise<Objection | null>;
  /** Puts the rails' own worktree on a commit, with nothing left over in it. */
  reset(commit: string): Promise<void>;
  /** Puts commits on top, in order. @returns null, or what clashed: then the worktree is as before */
  pick(commits: readonly string[]): Promise<string | null>;
  /** Puts beside the files what belongs to them (submodules). @returns null, or what is not to be had */
  fill(): Promise<string | null>;
  /** The commit in the worktree, and its tree. */
  tip(): Promise<{ commit: string; tree: string }>;
  /** Runs a command on what lies there, for these attempts. */
  prove(run: Run, attempts: readonly string[], command: Command): Promise<Evidence>;
  /** Moves the line; from nowhere (``) makes it. @returns false where it stands elsewhere by now @throws Fault `line-in-use` */
  move(from: string, to: string): Promise<boolean>;
}

/** The rails' own worktree: beside the workers' and not inside `.git`, where some test runners look for no tests. */
export const landingPath = (place: Place, run: string): string =>
  join(place.main, ".claude/worktrees", `minion-${run}-landing`);

/** The site of a run in a repository. */
export function siteOf(place: Place, run: string, line: string): Site {
  const { main } = place;
  let path = landingPath(place, run);
  return {
    lineAt: () => commitOf(`refs/heads/${line}`, main),
    isBelow: (earlier, later) => isAncestor(earlier, later, main),
    async isElsewhere(commit) {
      const refs = await gitText(main, "for-each-ref", "--contains", commit, "--format=%(refname)", "refs/heads");
      return refs.split("\n").some((ref) => ref !== "" && ref !== `refs/heads/${line}`);
    },
    async objection(state, { task, begun, submitted }) {
      if (!begun || !submitted || submitted.byHand) return null;
      return objectionTo(state, task, { base: begun.base, head: submitted.head, cwd: main });
    },
    async reset(commit) {
      path = await freshWorktree(place, landingPath(place, run), commit);
    },
    pick: (commits) => pickAll(path, commits),
    fill: () =>
      fillSubmodules(path, main).then(
        () => null,
        (error: Error) => error.message,
      ),
    async tip() {
      const [commit = "", tree = ""] = (await gitText(path, "rev-parse", "HEAD", "HEAD^{tree}")).split("\n");
      return { commit, tree };
    },
    async prove(at, attempts, command) {
      const gitDir = await gitText(path, "rev-parse", "--absolute-git-dir");
      return prove({ ...at, place: { top: path, gitDir }, by: "landing", attempts }, command);
    },
    async move(from, to) {
      const holder = (await listWorktrees(main)).find(({ branch }) => branch === line)?.path;
      if (holder)
        throw new Fault("line-in-use", `${line} is checked out in ${holder}`, "switch to another branch there");
      if ((await commitOf(to, main)) === null) await bringBack(place, path, to);
      const where = { cwd: main, accept: [1, 128] };
      return (await git(where, "update-ref", "-m", "minion: land", `refs/heads/${line}`, to, from)).code === 0;
    },
  };
}

async function pickAll(path: string, commits: readonly string[]): Promise<string | null> {
  const before = await gitText(path, "rev-parse", "HEAD");
  // Unsigned, since signing may ask somebody who is not there.
  const pick = [...NO_HOOKS, "-c", "commit.gpgSign=false", "cherry-pick", "--ff"];
  for (const commit of commits) {
    // The worker's own committer, since the machine may have none for us.
    const [name, email] = (await gitText(path, "log", "-1", "--format=%cn%n%ce", commit)).split("\n");
    const env = { GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email };
    const where = { cwd: path, env, accept: [1, 128] };
    if ((await git(where, ...pick, "--allow-empty", "--keep-redundant-commits", commit)).code === 0) continue;
    const clash = (await changedPaths(path)).slice(0, 5).join(", ");
    await git(path, "cherry-pick", "--quit");
    await git(path, "reset", "--quiet", "--hard", before);
    return `${commit.slice(0, 10)} clashes with the line in ${clash}.`;
  }
  return null;
}
