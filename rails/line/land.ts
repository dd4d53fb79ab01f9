import { jobFolder, type Place } from "../git/repository.ts";
import { checksOfAll, isLookedAt } from "../journal/checks.ts";
import { isEndDue } from "../journal/end-task.ts";
import type { NewEvent } from "../journal/events.ts";
import type { Journal } from "../journal/journal.ts";
import type { Candidate, Reason } from "../journal/shapes.ts";
import { type AttemptState, inOrder, type RunState } from "../journal/state.ts";
import { Fault } from "../program/fault.ts";
import { word } from "../program/typed.ts";
import { attach, isRunning } from "../proof/jobs.ts";
import { checkBase, lookAtBase } from "./base.ts";
import { count, isCounting } from "./count.ts";
import { checkEnd } from "./end.ts";
import {
  idsOf,
  isSameRails,
  type Landing,
  landingAt,
  moveLine,
  redOnTip,
  unmetOnTip,
} from "./landing.ts";
import { type Site, siteOf } from "./site.ts";
import { takeBack } from "./take-back.ts";

/** What waits to be landed, each after what it depends on. */
export const mergeable = (state: RunState): Candidate[] =>
  inOrder(state).flatMap((task) =>
    task.state === "mergeable" ? (task.result?.submitted ?? []) : [],
  );

/** Is there nothing that landing has to do? */
export const isIdle = (state: RunState): boolean =>
  mergeable(state).length === 0 &&
  state.dropping.length === 0 &&
  !isEndDue(state) &&
  !isCounting(state);

/** Waits until the base was looked at, nothing is left to land, and the line stands where landing
 * put it.
 * @returns false where landing still runs when the time is up
 * @throws Fault `job` where landing itself could not be done */
export async function landed(
  journal: Journal,
  place: Place,
  { run, line }: RunState,
  until: number,
): Promise<boolean> {
  const job = { journal, cwd: jobFolder(place), job: `land ${run}`, until };
  const isDone = await attach(job, (state) => (state.baseRed && isIdle(state)) || undefined);
  const site = siteOf(place, run, line);
  const state = await journal.state();
  if (isDone && !(await site.isLineAt(state.tip)) && !(await isRunning(state, job.job)))
    await caughtUp(landingAt(journal, site));
  return isDone === true;
}

/** What the job `land` does: looks at the base once, then puts what is mergeable on the line until
 * nothing is left. What is not on the line then has a `not-landed` event that says why. */
export async function landAll(journal: Journal, site: Site): Promise<void> {
  const landing = landingAt(journal, site);
  for (;;) {
    const state = await caughtUp(landing);
    const ready = mergeable(state).map(({ attempt }) => attempt);
    if (state.aborted || (state.baseRed && isIdle(state) && state.done)) return;
    if (state.baseRed && isIdle(state)) {
      // Nobody waits for it: what is ready meanwhile lands first.
      const [unknown] = checksOfAll(state, [...state.tasks.values()])
        .map(({ command }) => command)
        .filter((command) => !isLookedAt(state, command));
      if (!unknown || state.baseRed.length > 0) return;
      await lookAtBase(landing, state, unknown);
      continue;
    }
    if (!state.baseRed) await checkBase(landing, state);
    else if (state.dropping.length > 0) await takeBack(landing, state);
    else if (ready.length === 0 && isCounting(state)) await count(landing, state);
    else if (isEndDue(state)) await checkEnd(landing, state);
    else await landInHalves(landing, ready);
  }
}

/** Proves what is ready together and, where that is red, each half by itself: of sixteen with one
 * that is red, nine runs of the gates instead of seventeen. */
async function landInHalves(landing: Landing, ready: readonly string[]): Promise<void> {
  if (await landTogether(landing, ready)) return;
  const half = Math.ceil(ready.length / 2);
  await landInHalves(landing, ready.slice(0, half));
  await landInHalves(landing, ready.slice(half));
}

/** After a crash git is asked first: did the line move to where the journal says that it was about
 * to? What the journal calls proven is proven again then, since this process did not see it. */
async function caughtUp(landing: Landing): Promise<RunState> {
  const { journal, site } = landing;
  const state = await journal.state();
  const { line, tip, proven } = state;
  const now = await site.lineAt();
  const isNew = now === null && state.landings.length === 0; // killed before the line was made
  if (isNew) await moveLine(landing, "", tip);
  if (isNew || now === tip) return state;
  if (now === null)
    throw new Fault(
      "no-line",
      `branch ${line} is gone`,
      `make it again: git branch ${word(line)} ${tip}`,
    );
  if (now === proven?.to) {
    await site.reset(now);
    if (!(await redOnTip(landing, idsOf(proven.landed), await site.tip()))) {
      await journal.add({ event: "landed", to: now });
      return journal.state();
    }
  }
  if (!(await site.isElsewhere(now)))
    throw new Fault(
      "line-moved",
      `somebody moved ${line} to ${now}`,
      `put it back: git branch -f ${word(line)} ${tip}`,
    );
  if (await moveLine(landing, now, tip))
    await journal.add({ event: "line-restored", from: now, to: tip });
  return caughtUp(landing);
}

/** Lands what is still mergeable of some attempts. @returns false where several are red together:
 * nothing is decided */
async function landTogether(landing: Landing, ready: readonly string[]): Promise<boolean> {
  const { journal, site } = landing;
  const state = await journal.state();
  if (state.aborted) return true;
  await site.reset(state.tip);
  const picked = await pickAll(landing, state, ready);
  const [first] = picked;
  if (!first) return true;
  const proving = await site.tip();
  const lack = await site.fill();
  const unmet = lack ? [] : await unmetOnTip(landing, idsOf(picked), proving);
  if (unmet.length > 0) {
    // Each is its own task's fault: the others are proven without these.
    for (const { attempt, red } of unmet) await refuse(landing, state, attempt, "line-red", red);
    const refused = unmet.map(({ attempt }) => attempt);
    const rest = ready.filter((id) => !refused.includes(id));
    return rest.length === 0 || landTogether(landing, rest);
  }
  const red = lack ?? (await redOnTip(landing, idsOf(picked), proving));
  if (red && picked.length > 1) return false;
  if (red) {
    await refuse(landing, state, first.attempt, lack ? "setup-failed" : "line-red", red);
    return true;
  }
  // What was fixed before the gates ran is what lands, whatever they did there.
  const { commit: to, tree } = proving;
  const proven: NewEvent = { event: "proven", from: state.tip, to, tree, landed: picked };
  if (!(await decided(landing, state, idsOf(picked), proven))) return true;
  // Moved by somebody meanwhile: looked at before anything else is landed.
  if (await moveLine(landing, state.tip, to)) await journal.add({ event: "landed", to });
  return true;
}

/** Writes down what came of attempts, unless somebody acted while they were proven: stopped or
 * dropped one, ended the run, took other rails. Then nothing is decided, and what is left is looked
 * at anew.
 * @param before the state with which they were proven
 * @returns whether it was written down */
const decided = (
  { journal }: Landing,
  before: RunState,
  attempts: readonly string[],
  event: NewEvent,
): Promise<boolean> =>
  journal.decide((now, write) => {
    const open = mergeable(now).map(({ attempt }) => attempt);
    const isSame = !now.aborted && isSameRails(now, before);
    if (!isSame || !attempts.every((id) => open.includes(id))) return false;
    write(event);
    return true;
  });

const refuse = (
  landing: Landing,
  before: RunState,
  attempt: string,
  reason: Reason,
  note: string,
): Promise<boolean> =>
  decided(landing, before, [attempt], { event: "not-landed", attempt, reason, note });

/** Picks what is mergeable of some attempts onto the worktree, which stands on the line's tip. What
 * clashes with the line is refused; what clashes with others that are only picked is left for when
 * it is known whether these land.
 * @returns what lies there then */
async function pickAll(
  landing: Landing,
  state: RunState,
  ready: readonly string[],
): Promise<Candidate[]> {
  const picked: Candidate[] = [];
  for (const { attempt, commits } of mergeable(state)) {
    if (!ready.includes(attempt)) continue;
    const own = state.attempts.get(attempt) as AttemptState;
    const objection = await landing.site.objection(state, own);
    if (objection) {
      await refuse(landing, state, attempt, objection.reason, `${objection.what.join(", ")}.`);
      continue;
    }
    const applied = await landing.site.pick(commits);
    if ("skipped" in applied) picked.push({ attempt, commits, skipped: applied.skipped });
    else if (picked.length === 0) await refuse(landing, state, attempt, "conflict", applied.clash);
  }
  return picked;
}
