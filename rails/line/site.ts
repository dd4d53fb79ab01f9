import { join } from "node:path";
import { git, gitText, NO_HOOKS } from "../git/git.ts";
import { changedPaths, commitOf, gitDirOf, listWorktrees, type Place } from "../git/repository.ts";
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
      const range = { base: begun.base, head: submitted.head, cwd: main, line: path };
      return objectionTo(state, task, range);
    },
    /** Puts the rails' own worktree on a commit, with nothing left over in it. */
    async reset(commit: string): Promise<void> {
      path = await freshWorktree(place, landingPath(place, run, job), commit);
    },
    /** Puts commits on top, in order. Where one clashes the worktree is as before. */
    pick: (commits: readonly string[]): Promise<Picked> => pickOnto(path, commits),
    /** Merges a commit, forward where that is possible. @returns null, or what clashed: then the
     * worktree is as before */
    merge: (commit: string, message: string): Promise<string | null> =>
      mergeOnto(path, commit, message),
    /** Makes what lies there known to the repository, where it is a clone of it. */
    async keep(commit: string): Promise<void> {
      if ((await commitOf(commit, main)) === null) await bringBack(place, path, commit);
    },
    /** Puts beside the files what belongs to them (submodules). @returns null, or what is not to be
     * had */
    async fill(): Promise<string | null> {
      const fault = await fillSubmodules(path, main).catch((error: Error) => error);
      return fault?.message ?? null;
    },
    /** The commit in the worktree, and its tree. */
    async tip(): Promise<{ commit: string; tree: string }> {
      const said = await gitText(path, "rev-parse", "HEAD", "HEAD^{tree}");
      const [commit = "", tree = ""] = said.split("\n");
      return { commit, tree };
    },
    /** Runs a command on what lies there, for these attempts. */
    async prove(at: Run, attempts: readonly string[], command: Command): Promise<Evidence> {
      const gitDir = (await gitDirOf(path)) as string;
      return prove({ ...at, place: { top: path, gitDir }, by: "landing", attempts }, command);
    },
    /** Moves the line.
     * @returns false where it does not stand on `from` any more
     * @throws Fault `line-in-use` */
    async move(from: string, to: string): Promise<boolean> {
      const holder = (await listWorktrees(main)).find(({ branch }) => branch === line)?.path;
      if (holder) {
        const what = `${line} is checked out in ${holder}`;
        throw new Fault("line-in-use", what, "switch to another branch there");
      }
      await this.keep(to);
      const move = ["update-ref", "-m", "minion: land", `refs/heads/${line}`, to, from];
      const { code } = await git({ cwd: main, accept: [1, 128] }, ...move);
      return code === 0;
    },
  };
}

/** How picking came out: how many commits changed nothing there, and so were passed over; or what
 * clashed, in words. */
export type Picked = Readonly<{ skipped: number } | { clash: string }>;

async function pickOnto(path: string, commits: readonly string[]): Promise<Picked> {
  const before = await headOf(path);
  const { name, email } = await committerOf(path, commits.at(-1) ?? "HEAD");
  const env = { GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email };
  // More than there are to pass over: whatever git says, this comes to an end.
  const most = commits.length + 2;
  let isDone = await applies(path, env, "cherry-pick", "--ff", ...commits);
  let skipped = 0;
  // Git stops at a commit of which nothing is left to commit as well as at one that clashes. Where
  // files differ from HEAD then, it is taken for a clash, else for an empty one.
  while (!isDone && skipped < most && (await changedPaths(path)).length === 0) {
    isDone = await applies(path, env, "cherry-pick", "--skip");
    skipped++;
  }
  return isDone ? { skipped } : { clash: await giveUp(path, "cherry-pick", before) };
}

/** @returns null, or what clashed, in words */
async function mergeOnto(path: string, commit: string, message: string): Promise<string | null> {
  const before = await headOf(path);
  const { name, email } = await committerOf(path, commit);
  const env = {
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
  };
  const isDone = await applies(path, env, "merge", "--quiet", "--ff", "-m", message, commit);
  return isDone ? null : giveUp(path, "merge", before);
}

const headOf = (path: string): Promise<string> => gitText(path, "rev-parse", "HEAD");

/** Who committed a commit: whoever puts it somewhere else stays that, since the machine may have no
 * name for us. */
async function committerOf(
  path: string,
  commit: string,
): Promise<{ name: string | undefined; email: string | undefined }> {
  const [name, email] = (await gitText(path, "log", "-1", "--format=%cn%n%ce", commit)).split("\n");
  return { name, email };
}

/** Runs what makes commits: unsigned, since signing may ask somebody.
 * @returns whether git came to the end of it, and did not stop on the way */
async function applies(
  path: string,
  env: NodeJS.ProcessEnv,
  ...words: readonly string[]
): Promise<boolean> {
  const where = { cwd: path, env, accept: [1, 128] };
  return (await git(where, ...NO_HOOKS, "-c", "commit.gpgSign=false", ...words)).code === 0;
}

/** Takes back what git stopped in the middle of. @returns what it stopped at, in words */
async function giveUp(
  path: string,
  what: "cherry-pick" | "merge",
  before: string,
): Promise<string> {
  const clash = (await changedPaths(path)).slice(0, 5).join(", ");
  await git({ cwd: path, accept: [128] }, what, "--quit");
  await git(path, "reset", "--quiet", "--hard", before);
  return `It clashes in ${clash}.`;
}
