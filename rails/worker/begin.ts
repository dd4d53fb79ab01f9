import { join } from "node:path";
import { pickOnto } from "../git/apply.ts";
import { git, gitList, gitText, NO_HOOKS } from "../git/git.ts";
import { commitOf, findPlace, isAncestor, type Place } from "../git/repository.ts";
import { fillSubmodules } from "../git/submodule.ts";
import { withGitLock } from "../git/worktree.ts";
import type { Evidence } from "../journal/events.ts";
import { commandOf, isSetup } from "../journal/evidence.ts";
import { attemptOf, mark } from "../journal/marker.ts";
import { isRed } from "../journal/passed.ts";
import { hasRounds } from "../journal/rounds.ts";
import { type AttemptState, branchOf, isActive, type RunState } from "../journal/state.ts";
import { variantsAt } from "../journal/variants.ts";
import { EXIT, Fault } from "../program/fault.ts";
import { word } from "../program/typed.ts";
import { attach } from "../proof/jobs.ts";
import { prove } from "../proof/prove.ts";
import { asOfNow, findAttempt, type Own, uncommitted, wasBegunIn } from "./attempt.ts";

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
    const start = startFor(attempt, state.tip);
    const { base, from } = await moveTo(place, branch, start);
    await mark(place, id);
    await journal.decide(async (now, write) => {
      await refuse(now, id, marked, place);
      write({ event: "begun", attempt: id, worktree: place.top, branch, base, foundBranch, from });
    });
  }
  return setUp(await asOfNow({ place, attempt }), until);
}

/** Where an attempt starts, and above which commit lie its task's own; `again`: where it would be
 * best, if the commits that there are can be put there. */
type Start = Readonly<{ from: string; base: string; again?: string }>;

function startFor({ task, phase, variant }: AttemptState, tip: string): Start {
  // All that are to be chosen from start where the first one did.
  const [first] = variant > 0 ? variantsAt(task, phase).flatMap((each) => each.begun ?? []) : [];
  if (first) return { from: first.from ?? first.base, base: first.base };
  const { begun, submitted, over } = task.result ?? {};
  if (!begun || !submitted || over) return { from: tip, base: tip };
  const start = { from: submitted.head, base: begun.base };
  const isRound = task.result?.phase === phase && hasRounds(phase);
  return isRound && tip !== begun.base ? { ...start, again: tip } : start;
}

/** Refuses an attempt that a worker may not begin in a worktree that is marked as another's, or as
 * nobody's. */
async function refuse(
  state: RunState,
  id: string,
  marked: string | null,
  place: Place,
): Promise<void> {
  const why = await whyNot(state, id, marked, place);
  if (why !== null) throw new Fault("not-yours", why, "stop and say so");
}

async function whyNot(
  state: RunState,
  id: string,
  marked: string | null,
  { top }: Place,
): Promise<string | null> {
  const attempt = state.attempts.get(id);
  if (!attempt || !isActive(attempt)) return `${id} is over already`;
  if (state.aborted) return `run ${state.run} was aborted`;
  const other = marked === id ? undefined : state.attempts.get(marked ?? "");
  if (other && isActive(other)) return `this worktree belongs to ${marked}`;
  const { begun, task, phase } = attempt;
  if (phase.back && task.attempts.some((each) => each.phase.writes && wasBegunIn(each, top)))
    return `task ${task.id} was worked on in this worktree, and nobody judges their own work`;
  if (begun) return begun.worktree === top ? null : `${id} was begun in ${begun.worktree}`;
  const changed = await uncommitted(state, id, top);
  return changed ? `this worktree is not fresh: ${changed}` : null;
}

/** Puts the worktree on a branch of its own.
 * @returns where it stands now, and above which commit its task's own lie */
async function moveTo(
  place: Place,
  branch: string,
  start: Start,
): Promise<{ from: string; base: string }> {
  const stands = await withGitLock(place, async () => {
    const { from, base } = await pickedAgain(place, start);
    // Left by a begin that died between git and the journal: only where nothing was done on it
    // since.
    const left = await commitOf(`refs/heads/${branch}`, place.top);
    if (left !== null && !(await isTheSame(place, left, from, start)))
      throw new Fault(
        "branch-exists",
        `${branch} is there, with other work`,
        "stop: a person has to look at it",
      );
    const target = left === null ? ["--no-track", "-c", branch, from] : [branch];
    await switchTo(place, ...target);
    return { from: left ?? from, base };
  });
  await fillSubmodules(place.top, place.main);
  return stands;
}

/** Is a commit where a worker begins? Commits that are picked again are others each time, and hold
 * the same. */
async function isTheSame(
  { top }: Place,
  left: string,
  from: string,
  { again }: Start,
): Promise<boolean> {
  if (left === from) return true;
  if (!again || !(await isAncestor(again, left, top))) return false;
  const [one, other] = await Promise.all(
    [left, from].map((commit) => gitText(top, "rev-parse", `${commit}^{tree}`)),
  );
  return one === other;
}

const switchTo = ({ top }: Place, ...target: string[]) =>
  git(top, ...NO_HOOKS, "switch", "--quiet", "--no-overwrite-ignore", ...target);

/** Puts the commits of earlier rounds on the line as it is now; where they clash there, the next
 * round goes on where the last one ended. */
async function pickedAgain(place: Place, { from, base, again }: Start): Promise<Start> {
  if (!again) return { from, base };
  if (from === base) return { from: again, base: again };
  const range = ["--reverse", "--topo-order", `${base}..${from}`];
  const commits = (await gitText(place.top, "rev-list", ...range)).split("\n").filter(Boolean);
  await switchTo(place, "--detach", again);
  const applied = await pickOnto(place, place.top, commits, false);
  if ("clash" in applied) return { from, base };
  return { from: (await commitOf("HEAD", place.top)) ?? from, base: again };
}

/** Runs the project's setup in the worktree, once for each attempt.
 * @returns null while it still runs
 * @throws Fault `setup-failed`: the attempt is over then */
async function setUp(own: Own, until: number): Promise<Own | null> {
  const { journal, state, attempt, place } = own;
  if (!state.setup) return own;
  const job = { journal, cwd: place.top, job: `setup ${attempt.id}`, until };
  const ran = await attach(job, (now) => setupOf(now, attempt.id)).catch((error: Error) => error);
  if (!ran) return null;
  if (ran instanceof Error) return endUnset(own, ran.message);
  // Files that changed meanwhile are no failure: its worker may have been at them already.
  return isRed(ran) ? endUnset(own, join(journal.folder, ran.output)) : asOfNow(own);
}

/** Ends an attempt whose worktree could not be set up. @param note what went wrong, or where that
 * stands */
async function endUnset({ journal, attempt }: Own, note: string): Promise<never> {
  await journal.add({ event: "ended", attempt: attempt.id, reason: "setup-failed", note });
  const what = `the project's setup failed: ${note}`;
  throw new Fault("setup-failed", what, "stop and say so", EXIT.usage);
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
