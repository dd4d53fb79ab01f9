import { join } from "node:path";
import { git, gitList, gitText, NO_HOOKS, PLAIN_MERGE, wordsOf } from "../git/git.ts";
import { holderOf } from "../git/holder.ts";
import { changedPaths, commitOf, gitDirOf, isFiledAs, type Place } from "../git/repository.ts";
import { signingAt } from "../git/signing.ts";
import { fillSubmodules } from "../git/submodule.ts";
import { bringBack, freshWorktree } from "../git/worktree.ts";
import type { Evidence } from "../journal/events.ts";
import type { Run } from "../journal/journal.ts";
import type { Command } from "../journal/shapes.ts";
import type { AttemptState, RunState } from "../journal/state.ts";
import { EXIT, Fault } from "../program/fault.ts";
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

/** What came of putting commits on top: how many of them changed nothing there, and so were passed
 * over; or what clashed, in words: then the worktree is as before. */
export type Applied = Readonly<{ skipped: number } | { clash: string }>;

async function commitsIn(from: string, to: string, cwd: string): Promise<string[]> {
  const how = ["--reverse", "--topo-order", `${from}..${to}`];
  return (await gitText(cwd, "rev-list", ...how)).split("\n").filter(Boolean);
}

/** Who a commit of ours is by: the machine may have nobody for us. */
async function committerOf(commit: string, path: string): Promise<NodeJS.ProcessEnv> {
  const said = await gitText(path, "log", "-1", "--format=%cn%n%ce", commit);
  const [name, email] = said.split("\n");
  return { GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email };
}

/** How commits of ours are made: signed where the person's are, and never by asking. What lies in
 * the worktree counts for nothing there: it may be a clone. */
async function makingAt({ main }: Place, path: string): Promise<Making> {
  const signed = await signingAt(main, (await gitDirOf(path)) as string);
  const { options = ["-c", "commit.gpgSign=false"], env = {} } = signed ?? {};
  return { options: [...NO_HOOKS, ...options], env, isSigned: signed !== null };
}

type Making = Readonly<{ options: string[]; env: NodeJS.ProcessEnv; isSigned: boolean }>;

/** How git says that a file which it does not track lies where it would lay one. */
const IN_THE_WAY = /untracked working tree files? would be (overwritten|removed)/;

/** Takes everything out of the rails' own worktree that is not of a commit, as in a fresh clone. */
async function clear(path: string, commit: string): Promise<void> {
  await git({ cwd: path, accept: [128] }, "cherry-pick", "--quit");
  await git(path, "reset", "--quiet", "--hard", commit);
  await git(path, "clean", "-ffdxq");
}

/** Picks commits, in order, onto what lies there.
 * @throws Fault `git`, `no-filter` where git fails for a reason that is not the commits': then the
 *   worktree is as before */
async function pickOnto(place: Place, path: string, commits: readonly string[]): Promise<Applied> {
  const before = await gitText(path, "rev-parse", "HEAD");
  const { options, env, isSigned } = await makingAt(place, path);
  const committer = await committerOf(commits.at(-1) ?? "HEAD", path);
  const where = { cwd: path, env: { ...env, ...committer }, accept: [1, 128] };
  // Made anew where commits are signed: what a worker left unsigned would else stay so.
  const how = isSigned ? [] : ["--ff"];
  const pick = () => git(where, ...options, "cherry-pick", ...how, ...commits);
  let answer = await pick();
  if (IN_THE_WAY.test(answer.stderr)) {
    // Of what commands left here, ignored, something lies where the commits bring a file.
    await clear(path, before);
    answer = await pick();
  }
  let skipped = 0;
  while (answer.code !== 0 && skipped < commits.length && (await isEmptyPick(path))) {
    skipped++;
    answer = await git(where, ...options, "cherry-pick", "--skip");
  }
  return answer.code === 0 ? { skipped } : undo(path, before, "cherry-pick", answer.stderr);
}

/** Who writes a commit of ours anew: whoever made a commit that it is about. */
async function whoOf(commit: string, path: string): Promise<NodeJS.ProcessEnv> {
  const committer = await committerOf(commit, path);
  const { GIT_COMMITTER_NAME, GIT_COMMITTER_EMAIL } = committer;
  return {
    ...committer,
    GIT_AUTHOR_NAME: GIT_COMMITTER_NAME,
    GIT_AUTHOR_EMAIL: GIT_COMMITTER_EMAIL,
  };
}

/** Merges a commit into what lies there, forward where that is possible. */
async function mergeInto(
  place: Place,
  path: string,
  commit: string,
  message: string,
): Promise<Applied> {
  const before = await gitText(path, "rev-parse", "HEAD");
  const making = await makingAt(place, path);
  const env = { ...making.env, ...(await whoOf(commit, path)) };
  const how = ["--quiet", "--ff", ...PLAIN_MERGE, "-m", message, commit];
  const where = { cwd: path, env, accept: [1, 128] };
  const answer = await git(where, ...making.options, "merge", ...how);
  return answer.code === 0 ? { skipped: 0 } : undo(path, before, "merge", answer.stderr);
}

/** Takes commits back in one commit of ours; where they change nothing any more, in none. */
async function takeBackOn(
  place: Place,
  path: string,
  commits: readonly string[],
  message: string,
): Promise<Applied> {
  const before = await gitText(path, "rev-parse", "HEAD");
  const making = await makingAt(place, path);
  const env = { ...making.env, ...(await whoOf(commits[0] ?? "HEAD", path)) };
  const where = { cwd: path, env, accept: [1, 128] };
  const answer = await git(where, ...making.options, "revert", "--no-commit", ...commits);
  if (answer.code !== 0) return undo(path, before, "revert", answer.stderr);
  await git({ cwd: path, accept: [128] }, "revert", "--quit");
  const isSame = await git({ cwd: path, accept: [1] }, "diff-index", "--quiet", "--cached", "HEAD");
  const how = ["commit", "--quiet", "--no-verify", "-m", message];
  if (isSame.code !== 0) await git({ cwd: path, env }, ...making.options, ...how);
  return { skipped: 0 };
}

/** Did a pick stop because nothing is left to commit? Git says so itself then: it names the commit
 * that it is at, and neither the index nor a file differs from HEAD. A filter or a hook that failed
 * looks otherwise. */
async function isEmptyPick(path: string): Promise<boolean> {
  const at = await git(
    { cwd: path, accept: [1, 128] },
    "rev-parse",
    "-q",
    "--verify",
    "CHERRY_PICK_HEAD",
  );
  if (at.code !== 0) return false;
  const isSame = await git({ cwd: path, accept: [1] }, "diff-index", "--quiet", "--cached", "HEAD");
  return isSame.code === 0 && (await changedPaths(path)).length === 0;
}

/** Puts the worktree back to where it stood, after a pick or merge that did not go through.
 * @returns what clashed
 * @throws Fault where nothing did: then it is no fault of the commits */
async function undo(path: string, before: string, how: string, stderr: string): Promise<Applied> {
  const clashing = await gitList(path, "diff", "--name-only", "-z", "--diff-filter=U");
  await git({ cwd: path, accept: [128] }, how, "--quit");
  await git(path, "reset", "--quiet", "--hard", before);
  const names = [...new Set(clashing)];
  if (names.length === 0)
    throw new Fault(
      "git",
      `git ${how} failed in ${path}, not for what the commits change: ${wordsOf(stderr)}`,
      "mend that, then call the same again",
      EXIT.usage,
    );
  return { clash: `It clashes in ${namedShort(names)}.` };
}

/** So many names of files stand in a message. */
const NAMES_SHOWN = 20;

const namedShort = (names: readonly string[]): string => {
  const more = names.length - NAMES_SHOWN;
  return names.slice(0, NAMES_SHOWN).join(", ") + (more > 0 ? ` and ${more} more` : "");
};
