import { EXIT, Fault } from "../program/fault.ts";
import { git, gitList, gitText, NO_HOOKS, PLAIN_MERGE, wordsOf } from "./git.ts";
import { changedPaths, gitDirOf, type Place } from "./repository.ts";
import { signingAt } from "./signing.ts";

/** What came of putting commits on top: how many of them changed nothing there, and so were passed
 * over; or what clashed, in words: then the worktree is as before. */
export type Applied = Readonly<{ skipped: number } | { clash: string }>;

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
export async function clear(path: string, commit: string): Promise<void> {
  await git({ cwd: path, accept: [128] }, "cherry-pick", "--quit");
  await git(path, "reset", "--quiet", "--hard", commit);
  await git(path, "clean", "-ffdxq");
}

/** Picks commits, in order, onto what lies there.
 * @param isOurs may what commands left there be cleared away?
 * @throws Fault `git`, `no-filter` where git fails for a reason that is not the commits': then the
 *   worktree is as before */
export async function pickOnto(
  place: Place,
  path: string,
  commits: readonly string[],
  isOurs = true,
): Promise<Applied> {
  const before = await gitText(path, "rev-parse", "HEAD");
  const { options, env, isSigned } = await makingAt(place, path);
  const committer = await committerOf(commits.at(-1) ?? "HEAD", path);
  const where = { cwd: path, env: { ...env, ...committer }, accept: [1, 128] };
  // Made anew where commits are signed: what a worker left unsigned would else stay so.
  const how = isSigned ? [] : ["--ff"];
  const pick = () => git(where, ...options, "cherry-pick", ...how, ...commits);
  let answer = await pick();
  if (isOurs && IN_THE_WAY.test(answer.stderr)) {
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
export async function mergeInto(
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
export async function takeBackOn(
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
