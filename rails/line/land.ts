import { join } from "node:path";
import { Fault } from "../fault.ts";
import { git, gitText } from "../git/git.ts";
import { changedPaths, commitOf, commitsBetween, isAncestor, type Place } from "../git/repository.ts";
import { freshWorktree, listWorktrees } from "../git/worktree.ts";
import type { Evidence, OwnCommit } from "../record/events.ts";
import { evidenceFor, isPass } from "../record/evidence.ts";
import type { Journal } from "../record/journal.ts";
import { prove } from "../record/prove.ts";
import { type AttemptState, inOrder, type RunState } from "../record/state.ts";

/** The rails' own worktree: beside the workers' and not inside `.git`, where test runners look for no tests. */
export const landingPath = (place: Place, run: string): string =>
  join(place.main, ".claude", "worktrees", `minion-${run}-landing`);

/** What landing wants of an attempt. */
interface Candidate {
  readonly attempt: string;
  readonly commits: readonly string[];
}

/** The attempts that wait to be landed, each after what it depends on. */
export const mergeable = (state: RunState): AttemptState[] =>
  inOrder(state.tasks).flatMap((id) => {
    const task = state.tasks.get(id);
    const last = task?.attempts.at(-1);
    return task?.state === "mergeable" && last ? [last] : [];
  });

/**
 * What the job `land` does: puts everything mergeable on the line until nothing is left, several proven together and,
 * where that is red, one by one. Each is on the line afterwards, or has a `not-landed` event that says why.
 */
export async function landAll(journal: Journal, place: Place): Promise<void> {
  for (;;) {
    const state = await caughtUp(journal, place);
    const ready = mergeable(state).map(({ id, submitted }) => ({ attempt: id, commits: submitted?.commits ?? [] }));
    if (ready.length === 0 || state.aborted) return;
    if (await landTogether(journal, place, ready)) continue;
    for (const one of ready) {
      const now = await journal.state();
      if (!now.aborted && mergeable(now).some(({ id }) => id === one.attempt))
        await landTogether(journal, place, [one]);
    }
  }
}

/**
 * Lands a task by a person's word: what is on the branch of its last attempt now, proven like any other.
 * @throws Fault where there is nothing to land, or it cannot
 */
export async function landByHand(journal: Journal, place: Place, id: string): Promise<void> {
  const state = await caughtUp(journal, place);
  const attempt = state.tasks.get(id)?.attempts.at(-1);
  if (!attempt?.begun)
    throw new Fault("no-branch", `task ${id} has no branch to land`, "minion board shows what there is");
  const head = await commitOf(`refs/heads/${attempt.begun.branch}`, place.main);
  const commits = head === null ? [] : await commitsBetween(attempt.begun.base, head, place.main);
  if (commits.length === 0)
    throw new Fault("no-commits", `${attempt.begun.branch} holds no commit of its own`, "commit there first");
  if (commits.some(({ parents }) => parents > 1))
    throw new Fault("merge-commit", `there is a merge on ${attempt.begun.branch}`, "rebase it to plain commits");
  await landTogether(journal, place, [{ attempt: attempt.id, commits: commits.map((each) => each.id) }]);
  const after = (await journal.state()).tasks.get(id);
  if (after?.state !== "landed")
    throw new Fault("not-landed", `${after?.reason}: ${after?.note}`, "mend its branch, then call again");
}

/** After a crash git is asked first: did the line move to where the journal says that it was about to? */
async function caughtUp(journal: Journal, place: Place): Promise<RunState> {
  const state = await journal.state();
  const now = await commitOf(`refs/heads/${state.line}`, place.main);
  if (now === null)
    throw new Fault("no-line", `branch ${state.line} is gone`, `make it again: git branch ${state.line} ${state.tip}`);
  if (state.proven && (await isAncestor(state.proven.to, now, place.main))) {
    await journal.add({ event: "landed", to: state.proven.to });
    return journal.state();
  }
  if (now !== state.tip)
    throw new Fault(
      "line-moved",
      `${state.line} was moved to ${now.slice(0, 10)} by somebody else`,
      `put it back: git branch -f ${state.line} ${state.tip}`,
    );
  return state;
}

/** @returns false where several were red together, so that nothing was decided */
async function landTogether(journal: Journal, place: Place, candidates: readonly Candidate[]): Promise<boolean> {
  const state = await journal.state();
  const path = landingPath(place, state.run);
  await freshWorktree(place, path, state.tip);
  const landed: OwnCommit[] = [];
  for (const candidate of candidates) {
    const clash = await pickAll(path, candidate.commits);
    if (clash) await journal.add({ event: "not-landed", attempt: candidate.attempt, reason: "conflict", note: clash });
    else landed.push(candidate);
  }
  if (landed.length === 0) return true;
  const to = await gitText(["rev-parse", "HEAD"], { cwd: path });
  const attempts = landed.map(({ attempt }) => attempt);
  const proof = await proveTip(journal, path, attempts);
  const red = proof.find((each) => !isPass(each));
  if (red && landed.length > 1) return false;
  if (red) {
    const how = red.code === 0 ? "changed files" : red.timedOut ? "ran out of time" : `ended with ${red.code}`;
    const note = `${red.gate} ${how} on the line with it: ${red.output}.`;
    await journal.add({ event: "not-landed", attempt: attempts[0] as string, reason: "line-red", note });
    return true;
  }
  await moveLine(journal, place, state, { to, landed, evidence: proof.map(({ output }) => output) });
  return true;
}

/** Puts commits on top, in order. @returns null, or what clashed: then the worktree is as before */
async function pickAll(path: string, commits: readonly string[]): Promise<string | null> {
  const before = await gitText(["rev-parse", "HEAD"], { cwd: path });
  for (const commit of commits) {
    const [name, email] = (await gitText(["log", "-1", "--format=%cn%n%ce", commit], { cwd: path })).split("\n");
    // The worker's own committer, since the machine may have none that landing could use; no hook of the project
    // runs and nothing is signed, since both may ask somebody who is not there.
    const { code } = await git(
      [
        "-c",
        "core.hooksPath=/dev/null",
        "-c",
        "commit.gpgSign=false",
        "cherry-pick",
        "--ff",
        "--allow-empty",
        "--keep-redundant-commits",
        commit,
      ],
      { cwd: path, accept: [1, 128], env: { GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email } },
    );
    if (code === 0) continue;
    const clash = (await changedPaths(path)).slice(0, 5).join(", ");
    await git(["cherry-pick", "--quit"], { cwd: path, accept: [128] });
    await git(["reset", "--quiet", "--hard", before], { cwd: path });
    return `${commit.slice(0, 10)} clashes with the line in ${clash}.`;
  }
  return null;
}

/** Landing's own evidence for what lies in its worktree, up to the first gate that is red. */
async function proveTip(journal: Journal, path: string, attempts: readonly string[]): Promise<Evidence[]> {
  const tree = await gitText(["rev-parse", "HEAD^{tree}"], { cwd: path });
  const bench = { top: path, gitDir: await gitText(["rev-parse", "--absolute-git-dir"], { cwd: path }) };
  const proof: Evidence[] = [];
  const state = await journal.state();
  const setup = state.setup && { ...state.setup, name: "setup" };
  const isSetUp = setup === null || isPass(evidenceFor(state, setup, tree, "landing"));
  for (const command of [...(isSetUp ? [] : [setup]), ...state.gates]) {
    const known = evidenceFor(state, command, tree, "landing");
    const evidence =
      known && isPass(known) ? known : await prove(journal, command, bench, "landing", attempts, state.setup);
    if (evidence !== known) await journal.add({ event: "evidence", ...evidence });
    proof.push(evidence);
    if (!isPass(evidence)) break;
  }
  return proof;
}

async function moveLine(
  journal: Journal,
  place: Place,
  state: RunState,
  { to, landed, evidence }: { to: string; landed: readonly OwnCommit[]; evidence: readonly string[] },
): Promise<void> {
  const where = (await listWorktrees(place.main)).find(({ branch }) => branch === state.line);
  if (where)
    throw new Fault(
      "line-in-use",
      `${state.line} is checked out in ${where.path}`,
      "switch to another branch there: landing moves it",
    );
  await journal.add({ event: "proven", from: state.tip, to, landed, evidence });
  await git(["update-ref", "-m", "minion: land", `refs/heads/${state.line}`, to, state.tip], { cwd: place.main });
  await journal.add({ event: "landed", to });
}
