import { git } from "../git/git.ts";
import { commitOf, type Place, resultOf } from "../git/repository.ts";
import { isEndDue } from "../journal/end-task.ts";
import type { Evidence } from "../journal/events.ts";
import { isPass } from "../journal/evidence.ts";
import type { Journal } from "../journal/journal.ts";
import type { Candidate, Command, Reason } from "../journal/shapes.ts";
import { type AttemptState, inOrder, type RunState } from "../journal/state.ts";
import { Fault } from "../program/fault.ts";
import { word } from "../program/typed.ts";
import { attach, isRunning } from "../proof/jobs.ts";
import { type Site, siteOf } from "./site.ts";

/** What waits to be landed, each after what it depends on. */
const mergeable = (state: RunState): Candidate[] =>
  inOrder(state).flatMap((task) =>
    task.state === "mergeable" ? (task.result?.submitted ?? []) : [],
  );

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
  const job = { journal, cwd: place.main, job: `land ${run}`, until };
  const isIdle = (state: RunState): boolean => mergeable(state).length === 0 && !isEndDue(state);
  const isDone = await attach(job, (state) => (state.baseRed && isIdle(state)) || undefined);
  const site = siteOf(place, run, line);
  const state = await journal.state();
  if (isDone && (await site.lineAt()) !== state.tip && !(await isRunning(state, job.job)))
    await caughtUp({ journal, site, seen: new Set() });
  return isDone === true;
}

/** Makes a task mergeable by a person's word, with what is on the branch of its last attempt now.
 * @throws Fault where there is nothing to land */
export async function takeByHand(journal: Journal, place: Place, id: string): Promise<void> {
  await journal.decide(async ({ tasks, run, aborted, line, tip }, write) => {
    const task = tasks.get(id);
    const attempt = task?.attempts.at(-1);
    if (aborted) throw new Fault("aborted", `run ${run} was aborted`, "merge its branch yourself");
    if (task?.state === "landed") return;
    const head =
      attempt?.begun && (await commitOf(`refs/heads/${attempt.begun.branch}`, place.main));
    if (!attempt?.begun || !head)
      throw new Fault("no-branch", `task ${id} has no branch to land`, "see minion board");
    const handoff = attempt.submitted?.handoff ?? "Taken by a person's word.";
    const result = await resultOf(attempt.begun.base, head, place.main);
    // Cleaned away once it was merged: it goes on from where it stood.
    if (!(await commitOf(`refs/heads/${line}`, place.main)))
      await git(place.main, "update-ref", "-m", "minion: land", `refs/heads/${line}`, tip, "");
    write({ event: "submitted", attempt: attempt.id, handoff, ...result, byHand: true });
  });
}

/** `seen`: what this process saw pass. Evidence that stands in the journal may be anybody's: that
 * moves no line. */
type Landing = Readonly<{ journal: Journal; site: Site; seen: Set<string> }>;

/** What the job `land` does: looks at the base once, then puts what is mergeable on the line until
 * nothing is left. What is not on the line then has a `not-landed` event that says why. */
export async function landAll(journal: Journal, site: Site): Promise<void> {
  const landing = { journal, site, seen: new Set<string>() };
  for (;;) {
    const state = await caughtUp(landing);
    const ready = mergeable(state).map(({ attempt }) => attempt);
    if (state.aborted || (state.baseRed && ready.length === 0 && !isEndDue(state))) return;
    if (!state.baseRed) await checkBase(landing, state);
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
  if (isNew) await site.move("", tip);
  if (isNew || now === tip) return state;
  if (now === null)
    throw new Fault(
      "no-line",
      `branch ${line} is gone`,
      `make it again: git branch ${word(line)} ${tip}`,
    );
  if (now === proven?.to) {
    await site.reset(now);
    if (!(await redOnTip(landing, idsOf(proven.landed)))) {
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
  if (await site.move(now, tip)) await journal.add({ event: "line-restored", from: now, to: tip });
  return caughtUp(landing);
}

const idsOf = (all: readonly Candidate[]): string[] => all.map(({ attempt }) => attempt);

/** What sets a fresh worktree up, then the gates, in order: those for each task, or also those for
 * the end. */
const commandsOf = ({ setup, gates }: RunState, isEnd: boolean): Command[] => [
  ...(setup ? [setup] : []),
  ...gates.filter(({ isLast }) => isEnd || !isLast),
];

/** Runs all gates on the line as it is when nothing more will land. */
async function checkEnd(landing: Landing, { tip, landings }: RunState): Promise<void> {
  await landing.site.reset(tip);
  const attempts = landings.flatMap((each) => each.attempts);
  const red = (await landing.site.fill()) ?? (await redOnTip(landing, attempts, true));
  await landing.journal.add({ event: "end-checked", tip, red });
}

/** Runs every gate on the base, so that what is red there is said before anybody is set to work. */
async function checkBase(landing: Landing, state: RunState): Promise<void> {
  await landing.site.reset(state.base);
  const red: string[] = [];
  for (const command of commandsOf(state, true)) {
    if (!isPass(await proveHere(landing, [], command))) red.push(command.name);
    if (command === state.setup && red.length > 0) break;
  }
  await landing.journal.add({ event: "base-checked", red });
}

/** Lands what is still mergeable of some attempts. @returns false where several are red together:
 * nothing is decided */
async function landTogether(landing: Landing, ready: readonly string[]): Promise<boolean> {
  const { journal, site } = landing;
  const refuse = (attempt: string, reason: Reason, note: string): Promise<void> =>
    journal.add({ event: "not-landed", attempt, reason, note });
  const state = await journal.state();
  const { tip: from, aborted } = state;
  if (aborted) return true;
  await site.reset(from);
  const landed: Candidate[] = [];
  for (const { attempt, commits } of mergeable(state).filter((each) =>
    ready.includes(each.attempt),
  )) {
    const objection = await site.objection(state, state.attempts.get(attempt) as AttemptState);
    const picked = objection ? 0 : await site.pick(commits);
    if (objection) await refuse(attempt, objection.reason, `${objection.what.join(", ")}.`);
    else if (typeof picked === "string") await refuse(attempt, "conflict", picked);
    else landed.push({ attempt, commits, skipped: picked });
  }
  const [first] = landed;
  if (!first) return true;
  const lack = await site.fill();
  const red = lack ?? (await redOnTip(landing, idsOf(landed)));
  if (red && landed.length > 1) return false;
  if (red) {
    await refuse(first.attempt, lack ? "setup-failed" : "line-red", red);
    return true;
  }
  const { commit: to, tree } = await site.tip();
  await journal.add({ event: "proven", from, to, tree, landed });
  // Moved by somebody meanwhile: looked at before anything else is landed.
  if (await site.move(from, to)) await journal.add({ event: "landed", to });
  return true;
}

/** Runs setup and gates on what lies there, as far as this process has not seen them pass on these
 * very files.
 * @returns what was red, in words */
export async function redOnTip(
  landing: Landing,
  attempts: readonly string[],
  isEnd = false,
): Promise<string | null> {
  const { tree } = await landing.site.tip();
  for (const command of commandsOf(await landing.journal.state(), isEnd)) {
    const key = `${tree} ${command.name}`;
    if (landing.seen.has(key)) continue;
    const evidence = await proveHere(landing, attempts, command);
    const { code, gate, output } = evidence;
    const how =
      code === null ? "ran out of time" : code === 0 ? "changed files" : `ended with ${code}`;
    if (!isPass(evidence)) return `${gate} ${how} on the line with it: ${output}.`;
    landing.seen.add(key);
  }
  return null;
}

async function proveHere(
  { journal, site }: Landing,
  attempts: readonly string[],
  command: Command,
): Promise<Evidence> {
  const evidence = await site.prove({ journal, state: await journal.state() }, attempts, command);
  await journal.add({ event: "evidence", ...evidence });
  return evidence;
}
