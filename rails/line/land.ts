import { join } from "node:path";
import { Fault } from "../fault.ts";
import { git, gitText } from "../git/git.ts";
import { changedPaths, commitOf, isAncestor, listWorktrees, type Place, resultOf } from "../git/repository.ts";
import { freshWorktree, NO_HOOKS } from "../git/worktree.ts";
import type { Candidate, Evidence } from "../record/events.ts";
import { evidenceFor, isPass, type Proof, prove } from "../record/evidence.ts";
import { attach } from "../record/job.ts";
import type { Journal } from "../record/journal.ts";
import { inOrder, type RunState } from "../record/state.ts";

/** The rails' own worktree: beside the workers' and not inside `.git`, where some test runners look for no tests. */
export const landingPath = (place: Place, run: string): string =>
  join(place.main, ".claude/worktrees", `minion-${run}-landing`);

/** What waits to be landed, each after what it depends on. */
const mergeable = (state: RunState): Candidate[] =>
  inOrder(state).flatMap((task) => (task.state === "mergeable" ? (task.attempts.at(-1)?.submitted ?? []) : []));

/** Waits until nothing is left to land.
 * @returns false where landing still runs when the time is up
 * @throws Fault `job` where landing itself could not be done */
export async function landed(journal: Journal, { main }: Place, run: string, until: number): Promise<boolean> {
  const job = { journal, cwd: main, job: `land ${run}`, until };
  return (await attach(job, (state) => mergeable(state).length === 0 || undefined)) ?? false;
}

/** What the job `land` does: puts everything mergeable on the line until nothing is left, several proven together and,
 * where that is red, one by one. Each is on the line afterwards, or has a `not-landed` event that says why. */
export async function landAll(journal: Journal, place: Place): Promise<void> {
  for (;;) {
    const state = await caughtUp(journal, place);
    const ready = mergeable(state);
    if (ready.length === 0 || state.aborted) return;
    if (await landTogether(journal, place, ready)) continue;
    for (const one of ready) {
      const now = await journal.state();
      const isStill = !now.aborted && mergeable(now).some(({ attempt }) => attempt === one.attempt);
      if (isStill) await landTogether(journal, place, [one]);
    }
  }
}

/** Makes a task mergeable by a person's word, with what is on the branch of its last attempt now. It has no evidence;
 * landing makes its own, as for any other.
 * @throws Fault where there is nothing to land */
export async function takeByHand(journal: Journal, place: Place, id: string): Promise<void> {
  await journal.decide(async ({ tasks, run, aborted }, write) => {
    const task = tasks.get(id);
    const attempt = task?.attempts.at(-1);
    if (aborted) throw new Fault("aborted", `run ${run} was aborted`, "merge its branch yourself");
    if (task?.state === "landed" || task?.state === "mergeable") return;
    const head = attempt?.begun && (await commitOf(`refs/heads/${attempt.begun.branch}`, place.main));
    if (!attempt?.begun || !head) throw new Fault("no-branch", `task ${id} has no branch to land`, "see minion board");
    const handoff = attempt.submitted?.handoff ?? "Taken by a person's word.";
    const result = await resultOf(attempt.begun.base, head, place.main);
    write({ event: "submitted", attempt: attempt.id, handoff, ...result });
  });
}

/** After a crash git is asked first: did the line move to where the journal says that it was about to? */
async function caughtUp(journal: Journal, place: Place): Promise<RunState> {
  const state = await journal.state();
  const { line, tip, proven } = state;
  const now = await commitOf(`refs/heads/${line}`, place.main);
  if (now === null) throw new Fault("no-line", `branch ${line} is gone`, `make it again: git branch ${line} ${tip}`);
  if (proven && (await isAncestor(proven.to, now, place.main))) {
    await journal.add({ event: "landed", to: proven.to });
    return caughtUp(journal, place);
  }
  if (now === tip) return state;
  throw new Fault("line-moved", `somebody moved ${line} to ${now}`, `put it back: git branch -f ${line} ${tip}`);
}

/** @returns false where several were red together, so that nothing was decided */
async function landTogether(journal: Journal, place: Place, candidates: readonly Candidate[]): Promise<boolean> {
  const state = await journal.state();
  const { line, tip: from } = state;
  const path = landingPath(place, state.run);
  await freshWorktree(place, path, from);
  const landed: Candidate[] = [];
  for (const { attempt, commits } of candidates) {
    const note = await pickAll(path, commits);
    if (note) await journal.add({ event: "not-landed", attempt, reason: "conflict", note });
    else landed.push({ attempt, commits });
  }
  const [first] = landed;
  if (!first) return true;
  const ask = ["--absolute-git-dir", "HEAD", "HEAD^{tree}"];
  const [gitDir = "", to = "", tree = ""] = (await gitText(path, "rev-parse", ...ask)).split("\n");
  const attempts = landed.map(({ attempt }) => attempt);
  const red = await proveTip({ journal, state, place: { top: path, gitDir }, by: "landing", attempts }, tree);
  if (red && landed.length > 1) return false;
  if (red) {
    const how = red.code === null ? "ran out of time" : red.code === 0 ? "changed files" : `ended with ${red.code}`;
    const note = `${red.gate} ${how} on the line with it: ${red.output}.`;
    await journal.add({ event: "not-landed", attempt: first.attempt, reason: "line-red", note });
    return true;
  }
  const holder = (await listWorktrees(place.main)).find(({ branch }) => branch === line)?.path;
  if (holder) throw new Fault("line-in-use", `${line} is checked out in ${holder}`, "switch to another branch there");
  await journal.add({ event: "proven", from, to, tree, landed });
  await git(place.main, "update-ref", "-m", "minion: land", `refs/heads/${line}`, to, from);
  await journal.add({ event: "landed", to });
  return true;
}

/** Puts commits on top, in order. @returns null, or what clashed: then the worktree is as before */
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

/** Runs setup and gates on what lies in landing's worktree, as far as there is no evidence of landing's own for it.
 * @returns what was red */
async function proveTip(proof: Proof, tree: string): Promise<Evidence | null> {
  const { journal, state } = proof;
  for (const command of [...(state.setup ? [state.setup] : []), ...state.gates]) {
    if (isPass(evidenceFor(state, command, tree, "landing"))) continue;
    const evidence = await prove(proof, command);
    await journal.add({ event: "evidence", ...evidence });
    if (!isPass(evidence)) return evidence;
  }
  return null;
}
