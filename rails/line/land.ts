import { join } from "node:path";
import { Fault } from "../fault.ts";
import { git, gitAsks, gitText } from "../git/git.ts";
import { changedPaths, commitOf, listWorktrees, ownCommits, type Place } from "../git/repository.ts";
import { freshWorktree, NO_HOOKS } from "../git/worktree.ts";
import type { EventData, Evidence } from "../record/events.ts";
import { evidenceFor, isPass } from "../record/evidence.ts";
import type { Journal } from "../record/journal.ts";
import { prove } from "../record/prove.ts";
import { inOrder, type RunState } from "../record/state.ts";

/** The rails' own worktree: beside the workers' and not inside `.git`, where some test runners look for no tests. */
export const landingPath = (place: Place, run: string): string =>
  join(place.main, ".claude/worktrees", `minion-${run}-landing`);

/** An attempt and its own commits, oldest first. */
type Candidate = EventData["proven"]["landed"][number];

/** What waits to be landed, each after what it depends on. */
const mergeable = (state: RunState): Candidate[] =>
  inOrder(state).flatMap((task) => {
    const submitted = task.state === "mergeable" ? task.attempts.at(-1)?.submitted : null;
    return submitted ? [submitted] : [];
  });

/**
 * What the job `land` does: puts everything mergeable on the line until nothing is left, several proven together and,
 * where that is red, one by one. Each is on the line afterwards, or has a `not-landed` event that says why.
 */
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

/**
 * Lands a task by a person's word: what is on the branch of its last attempt now, proven like any other.
 * @throws Fault where there is nothing to land, or it cannot
 */
export async function landByHand(journal: Journal, place: Place, id: string): Promise<void> {
  const attempt = (await caughtUp(journal, place)).tasks.get(id)?.attempts.at(-1);
  const head = attempt?.begun && (await commitOf(`refs/heads/${attempt.begun.branch}`, place.main));
  if (!attempt?.begun || !head)
    throw new Fault("no-branch", `task ${id} has no branch to land`, "minion board shows what there is");
  const commits = await ownCommits(attempt.begun.base, head, place.main);
  await landTogether(journal, place, [{ attempt: attempt.id, commits }]);
  const after = (await journal.state()).tasks.get(id);
  if (after?.state !== "landed")
    throw new Fault("not-landed", `${after?.reason}: ${after?.note}`, "mend its branch, then call again");
}

/** After a crash git is asked first: did the line move to where the journal says that it was about to? */
async function caughtUp(journal: Journal, place: Place): Promise<RunState> {
  const state = await journal.state();
  const { line, tip, proven } = state;
  const now = await commitOf(`refs/heads/${line}`, place.main);
  if (now === null) throw new Fault("no-line", `branch ${line} is gone`, `make it again: git branch ${line} ${tip}`);
  if (proven && (await gitAsks(["merge-base", "--is-ancestor", proven.to, now], { cwd: place.main }))) {
    await journal.add({ event: "landed", to: proven.to });
    return caughtUp(journal, place);
  }
  if (now !== tip)
    throw new Fault(
      "line-moved",
      `${line} was moved to ${now.slice(0, 10)} by somebody else`,
      `put it back: git branch -f ${line} ${tip}`,
    );
  return state;
}

/** @returns false where several were red together, so that nothing was decided */
async function landTogether(journal: Journal, place: Place, candidates: readonly Candidate[]): Promise<boolean> {
  const state = await journal.state();
  const path = landingPath(place, state.run);
  await freshWorktree(place, path, state.tip);
  const landed: Candidate[] = [];
  for (const { attempt, commits } of candidates) {
    const note = await pickAll(path, commits);
    if (note) await journal.add({ event: "not-landed", attempt, reason: "conflict", note });
    else landed.push({ attempt, commits });
  }
  if (landed.length === 0) return true;
  const [to = "", tree = ""] = (await gitText(["rev-parse", "HEAD", "HEAD^{tree}"], { cwd: path })).split("\n");
  const red = await proveTip(
    journal,
    path,
    tree,
    landed.map(({ attempt }) => attempt),
  );
  if (red && landed.length > 1) return false;
  if (red) {
    const how = red.code === null ? "ran out of time" : red.code === 0 ? "changed files" : `ended with ${red.code}`;
    const note = `${red.gate} ${how} on the line with it: ${red.output}.`;
    await journal.add({ event: "not-landed", attempt: landed[0]?.attempt ?? "", reason: "line-red", note });
    return true;
  }
  const where = (await listWorktrees(place.main)).find(({ branch }) => branch === state.line);
  if (where)
    throw new Fault(
      "line-in-use",
      `${state.line} is checked out in ${where.path}: landing cannot move it`,
      "switch to another branch there",
    );
  await journal.add({ event: "proven", from: state.tip, to, tree, landed });
  await git(["update-ref", "-m", "minion: land", `refs/heads/${state.line}`, to, state.tip], { cwd: place.main });
  await journal.add({ event: "landed", to });
  return true;
}

/** Puts commits on top, in order. @returns null, or what clashed: then the worktree is as before */
async function pickAll(path: string, commits: readonly string[]): Promise<string | null> {
  const before = await gitText(["rev-parse", "HEAD"], { cwd: path });
  for (const commit of commits) {
    // The worker's own committer, since the machine may have none for us; unsigned, since signing may ask somebody.
    const who = (await gitText(["log", "-1", "--format=%cn%n%ce", commit], { cwd: path })).split("\n");
    const env = { GIT_COMMITTER_NAME: who[0], GIT_COMMITTER_EMAIL: who[1] };
    const pick = [
      ...NO_HOOKS,
      "-c",
      "commit.gpgSign=false",
      "cherry-pick",
      "--ff",
      "--allow-empty",
      "--keep-redundant-commits",
      commit,
    ];
    if ((await git(pick, { cwd: path, env, accept: [1, 128] })).code === 0) continue;
    const clash = (await changedPaths(path)).slice(0, 5).join(", ");
    await git(["cherry-pick", "--quit"], { cwd: path });
    await git(["reset", "--quiet", "--hard", before], { cwd: path });
    return `${commit.slice(0, 10)} clashes with the line in ${clash}.`;
  }
  return null;
}

/** Runs setup and gates on what lies in landing's worktree, as far as there is no evidence of landing's own for it. */
async function proveTip(
  journal: Journal,
  path: string,
  tree: string,
  attempts: readonly string[],
): Promise<Evidence | null> {
  const worktree = { top: path, gitDir: await gitText(["rev-parse", "--absolute-git-dir"], { cwd: path }) };
  const state = await journal.state();
  for (const command of [...(state.setup ? [state.setup] : []), ...state.gates]) {
    if (isPass(evidenceFor(state, command, tree, "landing"))) continue;
    const evidence = await prove(journal, command, worktree, "landing", attempts, state.setup);
    await journal.add({ event: "evidence", ...evidence });
    if (!isPass(evidence)) return evidence;
  }
  return null;
}
