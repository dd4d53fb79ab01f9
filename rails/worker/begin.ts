import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { git, gitList, gitText, NO_HOOKS } from "../git/git.ts";
import { commitOf, findPlace, type Place } from "../git/repository.ts";
import { fillSubmodules } from "../git/submodule.ts";
import { withGitLock } from "../git/worktree.ts";
import type { Evidence } from "../journal/events.ts";
import { commandOf, isRed, isSetup } from "../journal/evidence.ts";
import { branchOf, isActive, type RunState, type TaskState } from "../journal/state.ts";
import { EXIT, Fault } from "../program/fault.ts";
import { word } from "../program/typed.ts";
import { attach } from "../proof/jobs.ts";
import { prove } from "../proof/prove.ts";
import { attemptOf, findAttempt, MARKER, type Own, ownAttempt, uncommitted } from "./attempt.ts";

/** Puts the worker's worktree on the tip of the line, or on what earlier phases made of the task,
 * on a branch of the attempt's own, and sets it up. Called again it does what is left to do.
 * @returns the attempt, or null while the setup still runs
 * @throws Fault where the attempt is not this worker's to begin */
export async function begin(id: string, cwd: string, until: number): Promise<Own | null> {
  const place = await findPlace(cwd);
  if (place.gitDir === place.common)
    throw new Fault(
      "not-isolated",
      "begin is for a worker in its own worktree",
      "let minion:minion-worker run it",
    );
  const { journal, attempt, state } = await findAttempt(place.common, id);
  const marked = await attemptOf(place);
  await refuse(state, id, marked, place);
  if (!attempt.begun) {
    const foundBranch = await gitText(place.top, "branch", "--show-current");
    const branch = branchOf(attempt);
    // Not under the journal's lock, for which all others would wait: that the branch is made once
    // keeps two apart.
    const { from, base } = startOf(attempt.task, state.tip);
    await moveTo(place, branch, from);
    await writeFile(join(place.gitDir, MARKER), id);
    await journal.decide(async (now, write) => {
      await refuse(now, id, marked, place);
      write({ event: "begun", attempt: id, worktree: place.top, branch, base, foundBranch });
    });
  }
  return setUp(await ownAttempt(place.top), until);
}

/** Where an attempt starts, and above which commit lie its task's own. */
export function startOf({ result }: TaskState, tip: string): { from: string; base: string } {
  const { begun, submitted, over } = result ?? {};
  return begun && submitted && !over
    ? { from: submitted.head, base: begun.base }
    : { from: tip, base: tip };
}

/** Refuses an attempt that a worker may not begin in a worktree that is marked as another's, or as
 * nobody's. */
async function refuse(
  state: RunState,
  id: string,
  marked: string | null,
  { top }: Place,
): Promise<void> {
  const attempt = state.attempts.get(id);
  const begun = attempt?.begun;
  const other = marked === id ? undefined : state.attempts.get(marked ?? "");
  const changed = begun ? "" : await uncommitted(state, id, top);
  const why = [
    (!attempt || !isActive(attempt)) && `${id} is over already`,
    state.aborted && `run ${state.run} was aborted`,
    other && isActive(other) && `this worktree belongs to ${marked}`,
    begun && begun.worktree !== top && `${id} was begun in ${begun.worktree}`,
    changed && `this worktree is not fresh: ${changed}`,
  ].find(Boolean);
  if (why) throw new Fault("not-yours", why, "stop and say so");
}

async function moveTo(place: Place, branch: string, commit: string): Promise<void> {
  await withGitLock(place, async () => {
    // Left by a begin that died between git and the journal: only where nothing was done on it
    // since.
    const left = await commitOf(`refs/heads/${branch}`, place.top);
    if (left !== null && left !== commit)
      throw new Fault(
        "branch-exists",
        `${branch} is there, with other work`,
        "stop: a person has to look at it",
      );
    const target = left === null ? ["--no-track", "-c", branch, commit] : [branch];
    await git(place.top, ...NO_HOOKS, "switch", "--quiet", "--no-overwrite-ignore", ...target);
  });
  await fillSubmodules(place.top, place.main);
}

async function setUp(own: Own, until: number): Promise<Own | null> {
  const { journal, state, attempt, place } = own;
  if (!state.setup) return own;
  const job = { journal, cwd: place.top, job: `setup ${attempt.id}`, until };
  const ran = await attach(job, (now) => setupOf(now, attempt.id)).catch((error: Error) => error);
  if (!ran) return null;
  // Files that changed meanwhile are no failure: its worker may have been at them already.
  if (!(ran instanceof Error) && !isRed(ran)) return ownAttempt(place.top);
  const note = ran instanceof Error ? ran.message : join(journal.folder, ran.output);
  await journal.add({ event: "ended", attempt: attempt.id, reason: "setup-failed", note });
  throw new Fault(
    "setup-failed",
    `the project's setup failed: ${note}`,
    "stop and say so",
    EXIT.usage,
  );
}

/** What the setup of an attempt's worktree left. */
const setupOf = (state: RunState, attempt: string): Evidence | undefined =>
  state.evidence.find(
    (each) =>
      isSetup(state, commandOf(each)) && each.by === "worker" && each.attempts[0] === attempt,
  );

/** What a worker has to know of how its worktree was set up: files that changed meanwhile and were
 * left, since they may be its own. */
export async function leftBySetup({ state, attempt, place }: Own): Promise<string> {
  const { changed = [] } = setupOf(state, attempt.id) ?? {};
  if (changed.length === 0) return "";
  const tracked = await gitList(
    place.top,
    "--literal-pathspecs",
    "ls-files",
    "-z",
    "--",
    ...changed,
  );
  if (tracked.length === 0) return "";
  const paths = tracked.map((path) => word(`:/${path}`)).join(" ");
  return (
    "While the setup ran, files changed that it may not have changed, and so they were left. " +
    `What you did not change yourself, take back: \`git restore ${paths}\``
  );
}

/** What the job `setup` does. */
export async function runSetup(own: Own): Promise<void> {
  const { setup } = own.state;
  if (!setup) return;
  const evidence = await prove({ ...own, by: "worker", attempts: [own.attempt.id] }, setup);
  await own.journal.add({ event: "evidence", ...evidence });
}
