import { join } from "node:path";
import { EXIT, Fault } from "../fault.ts";
import { git, gitText } from "../git/git.ts";
import { changedPaths, commitOf, findPlace, type Place } from "../git/repository.ts";
import { withGitLock } from "../git/worktree.ts";
import { attach } from "../record/job.ts";
import { Journal } from "../record/journal.ts";
import { prove } from "../record/prove.ts";
import { attemptIn, isActive, type RunState } from "../record/state.ts";
import { findAttempt, markWorktree, ownAttempt, parseAttempt } from "./attempt.ts";
import { brief } from "./brief.ts";

/**
 * Puts the worker's worktree on the tip of the line, on a branch of the attempt's own, sets it up and says what to do.
 * Called again it says the same again.
 * @param overlay gives the text of an overlay by name
 * @returns the brief, or null while the setup still runs
 * @throws Fault where the attempt is not this worker's to begin
 */
export async function begin(
  id: string,
  cwd: string,
  until: number,
  overlay: (name: string) => string,
): Promise<string | null> {
  const place = await findPlace(cwd);
  if (place.gitDir === place.common)
    throw new Fault(
      "not-isolated",
      "minion begin is for a worker in a worktree of its own",
      "run it as agent minion:minion-worker, which has one",
    );
  const journal = new Journal(place.common, parseAttempt(id).run);
  await journal.decide(async (state) => {
    const { attempt } = findAttempt(state, id);
    if (state.aborted) throw new Fault("aborted", `run ${state.run} was aborted`, "stop and say so");
    if (!isActive(attempt))
      throw new Fault("over", `${id} is over already`, "stop and say so: another worker takes it on");
    if (attempt.begun?.worktree === place.top) return { events: [], result: null };
    if (attempt.begun) throw new Fault("taken", `${id} was begun in ${attempt.begun.worktree}`, "stop and say so");
    const other = attemptIn(state, place.top);
    if (other && isActive(other))
      throw new Fault("taken", `this worktree belongs to ${other.id}`, `go on with ${other.id}`);
    const found = await gitText(["branch", "--show-current"], { cwd: place.top });
    const branch = branchOf(state, id);
    await moveTo(place, branch, state.tip);
    await markWorktree(place.gitDir, id);
    const begun = { attempt: id, worktree: place.top, branch, base: state.tip, foundBranch: found || null };
    return { events: [{ event: "begun", ...begun }], result: null };
  });
  const ready = await setUp(journal, id, place, until);
  return ready ? brief(await ownAttempt(place.top), overlay) : null;
}

/** `minion/r1/2-post-endpoint.1` */
export function branchOf(state: RunState, id: string): string {
  const { run, task, n } = parseAttempt(id);
  const words =
    state.tasks
      .get(task)
      ?.task.title.toLowerCase()
      .match(/[a-z0-9]+/g) ?? [];
  return `minion/${run}/${[task, ...words.slice(0, 4)].join("-").slice(0, 50)}.${n}`;
}

async function moveTo(place: Place, branch: string, commit: string): Promise<void> {
  const changed = await changedPaths(place.top);
  if (changed.length > 0)
    throw new Fault(
      "dirty",
      `this worktree is not fresh: ${changed.slice(0, 3).join(", ")}`,
      "stop and say so: begin wants a worktree without changes",
    );
  await withGitLock(place, async () => {
    const cwd = place.top;
    // Left by a begin that died between git and the journal: only where nothing was done on it since.
    const left = await commitOf(`refs/heads/${branch}`, cwd);
    if (left !== null && left !== commit)
      throw new Fault(
        "branch-exists",
        `branch ${branch} is there already, with other work`,
        "stop and say so: a person has to look at it",
      );
    const target = left === null ? ["--no-track", "-c", branch, commit] : [branch];
    await git(["-c", "core.hooksPath=/dev/null", "switch", "--quiet", ...target], { cwd });
  });
}

async function setUp(journal: Journal, id: string, place: Place, until: number): Promise<boolean> {
  const name = `setup ${id}`;
  const answer = await attach(
    journal,
    { name, args: ["setup", id], cwd: place.top },
    (state) =>
      state.setup === null || state.evidence.find(({ gate, attempts }) => gate === "setup" && attempts[0] === id),
    until,
  );
  if ("running" in answer) return false;
  const failed =
    "error" in answer ? answer.error : answer.result !== true && answer.result.code !== 0 && answer.result.output;
  if (!failed) return true;
  await journal.add({ event: "ended", attempt: id, reason: "setup-failed", note: failed });
  throw new Fault(
    "setup-failed",
    `the project's setup failed: ${join(journal.folder, failed)}`,
    "stop and say so",
    EXIT.usage,
  );
}

/** What the job `setup` does. */
export async function runSetup(cwd: string): Promise<void> {
  const { journal, state, attempt, place } = await ownAttempt(cwd);
  if (state.setup)
    await journal.add({
      event: "evidence",
      ...(await prove(journal, state.setup, place, "worker", [attempt.id], null)),
    });
}
