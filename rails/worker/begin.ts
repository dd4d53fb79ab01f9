import { join } from "node:path";
import { EXIT, Fault } from "../fault.ts";
import { git, gitText } from "../git/git.ts";
import { changedPaths, commitOf, findPlace, type Place } from "../git/repository.ts";
import { NO_HOOKS, withGitLock } from "../git/worktree.ts";
import { isPass } from "../record/evidence.ts";
import { attach } from "../record/job.ts";
import { prove } from "../record/prove.ts";
import { isActive } from "../record/state.ts";
import { attemptAt, findAttempt, markWorktree, type Own, ownAttempt } from "./attempt.ts";
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
      "run it as agent minion:minion-worker",
    );
  const { journal, task } = await findAttempt(place.common, id);
  const marked = await attemptAt(place.top);
  await journal.decide(async (state) => {
    const attempt = state.attempts.get(id);
    const other = marked === null || marked === id ? undefined : state.attempts.get(marked);
    const refuse = (code: string, what: string): never => {
      throw new Fault(code, what, "stop and say so");
    };
    if (!attempt || !isActive(attempt)) return refuse("over", `${id} is over already`);
    if (state.aborted) refuse("aborted", `run ${state.run} was aborted`);
    if (other && isActive(other)) refuse("taken", `this worktree belongs to ${other.id}`);
    if (attempt.begun?.worktree === place.top) return { events: [], result: null };
    if (attempt.begun) refuse("taken", `${id} was begun in ${attempt.begun.worktree}`);
    const changed = await changedPaths(place.top);
    if (changed.length > 0) refuse("dirty", `this worktree is not fresh: ${changed.slice(0, 3).join(", ")}`);
    const foundBranch = (await gitText(["branch", "--show-current"], { cwd: place.top })) || null;
    const branch = branchOf(id, task.task.title);
    await moveTo(place, branch, state.tip);
    await markWorktree(place.gitDir, id);
    const begun = { attempt: id, worktree: place.top, branch, base: state.tip, foundBranch };
    return { events: [{ event: "begun", ...begun }], result: null };
  });
  const own = await ownAttempt(place.top);
  return (await setUp(own, until)) ? brief(own, overlay) : null;
}

/** `minion/r1/2-post-endpoint.1` */
function branchOf(attempt: string, title: string): string {
  const words = title.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const slug = words
    .slice(0, 4)
    .map((word) => `-${word.slice(0, 12)}`)
    .join("");
  return `minion/${attempt.replace(/\.\d+$/, (n) => slug + n)}`;
}

async function moveTo(place: Place, branch: string, commit: string): Promise<void> {
  await withGitLock(place, async () => {
    // Left by a begin that died between git and the journal: only where nothing was done on it since.
    const left = await commitOf(`refs/heads/${branch}`, place.top);
    if (left !== null && left !== commit)
      throw new Fault(
        "branch-exists",
        `branch ${branch} is there already, with other work`,
        "stop: a person has to look at it",
      );
    const target = left === null ? ["--no-track", "-c", branch, commit] : [branch];
    await git([...NO_HOOKS, "switch", "--quiet", ...target], { cwd: place.top });
  });
}

async function setUp({ journal, attempt: { id }, place }: Own, until: number): Promise<boolean> {
  const answer = await attach(
    journal,
    { name: `setup ${id}`, args: ["setup"], cwd: place.top },
    (state) =>
      state.evidence.find(({ gate, attempts }) => gate === "setup" && attempts[0] === id) ??
      (state.setup ? undefined : null),
    until,
  );
  if ("running" in answer) return false;
  if ("result" in answer && (answer.result === null || isPass(answer.result))) return true;
  const note = "error" in answer ? answer.error : join(journal.folder, answer.result?.output ?? "");
  await journal.add({ event: "ended", attempt: id, reason: "setup-failed", note });
  throw new Fault("setup-failed", `the project's setup failed: ${note}`, "stop and say so", EXIT.usage);
}

/** What the job `setup` does. */
export async function runSetup({ journal, state, attempt, place }: Own): Promise<void> {
  if (!state.setup) return;
  const evidence = await prove(journal, state.setup, place, "worker", [attempt.id], null);
  await journal.add({ event: "evidence", ...evidence });
}
