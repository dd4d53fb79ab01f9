import { git } from "../git/git.ts";
import { commitOf, isAncestor, jobFolder, type Place, resultOf } from "../git/repository.ts";
import { checksOfAll, isLookedAt } from "../journal/checks.ts";
import { isEndDue } from "../journal/end-task.ts";
import type { Evidence } from "../journal/events.ts";
import { isDoubtful } from "../journal/flaky.ts";
import type { Journal } from "../journal/journal.ts";
import { howIn, isPass } from "../journal/passed.ts";
import type { Candidate, Command, Reason } from "../journal/shapes.ts";
import {
  type AttemptState,
  inOrder,
  type RunState,
  type TaskState,
  tasksOf,
  withBranches,
} from "../journal/state.ts";
import { Fault } from "../program/fault.ts";
import { word } from "../program/typed.ts";
import { attach, isRunning } from "../proof/jobs.ts";
import { type Site, siteOf, type Tip } from "./site.ts";

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
  const job = { journal, cwd: jobFolder(place), job: `land ${run}`, until };
  const isIdle = (state: RunState): boolean =>
    mergeable(state).length === 0 && state.dropping.length === 0 && !isEndDue(state);
  const isDone = await attach(job, (state) => (state.baseRed && isIdle(state)) || undefined);
  const site = siteOf(place, run, line);
  const state = await journal.state();
  if (isDone && !(await site.isLineAt(state.tip)) && !(await isRunning(state, job.job)))
    await caughtUp(landingAt(journal, site));
  return isDone === true;
}

/** Makes a task mergeable by a person's word, with what is on a branch of it now: the newest that
 * holds work which no older one has too.
 * @returns the branch, and in words what was passed over
 * @throws Fault where there is nothing to land */
export async function takeByHand(
  journal: Journal,
  place: Place,
  id: string,
): Promise<{ branch: string; without: readonly string[] } | null> {
  return journal.decide(async ({ tasks, run, aborted, line, tip }, write) => {
    const task = tasks.get(id);
    if (!task)
      throw new Fault(
        "no-task",
        `run ${run} has no task ${id}`,
        `it has ${[...tasks.keys()].join(", ")}`,
      );
    if (aborted) throw new Fault("aborted", `run ${run} was aborted`, "merge its branch yourself");
    if (task.state === "landed") return null;
    const { works, without } = await worksOf(task, place);
    const work = works.find(({ isFresh }) => isFresh);
    if (!work) {
      const none = without.length > 0 ? `: ${without.join(", ")}` : "";
      const way = `commit something there, or minion retry ${id} --run ${run}`;
      throw new Fault("no-branch", `task ${id} has no work to land${none}`, way);
    }
    const { attempt, head } = work;
    const handoff = attempt.submitted?.handoff ?? "Taken by a person's word.";
    const result = await resultOf(attempt.begun.base, head, place.main);
    // Cleaned away once it was merged: it goes on from where it stood.
    if (!(await commitOf(`refs/heads/${line}`, place.main)))
      await git(place.main, "update-ref", "-m", "minion: land", `refs/heads/${line}`, tip, "");
    write({ event: "submitted", attempt: attempt.id, handoff, ...result, byHand: true });
    return { branch: attempt.begun.branch, without };
  });
}

/** What there is of a task, newest first; `isFresh`: no older branch has it too. `without`: in words
 * which branches hold nothing. */
async function worksOf(task: TaskState, { main }: Place) {
  const works: {
    attempt: ReturnType<typeof withBranches>[number];
    head: string;
    isFresh: boolean;
  }[] = [];
  const without: string[] = [];
  for (const attempt of withBranches(task)) {
    const { branch, base } = attempt.begun;
    const head = await commitOf(`refs/heads/${branch}`, main);
    if (head === null) without.push(`${branch} is gone`);
    else if (head === base) without.push(`${branch} has no commit`);
    else works.push({ attempt, head, isFresh: true });
  }
  for (const [index, work] of works.entries())
    for (const older of works.slice(index + 1))
      if (await isAncestor(work.head, older.head, main)) work.isFresh = false;
  return { works, without };
}

/** What landing works with. */
interface Landing {
  readonly journal: Journal;
  readonly site: Site;
  /** What this process saw pass, a tree and a command each. Evidence that stands in the journal may
   * be anybody's: that moves no line. */
  readonly seen: Set<string>;
  /** How often in a row the line stood elsewhere when it was to be moved. */
  misses: number;
}

export const landingAt = (journal: Journal, site: Site): Landing => ({
  journal,
  site,
  seen: new Set(),
  misses: 0,
});

/** So often in a row the line may be moved by somebody while landing proves. */
const MISSES = 5;

/** Moves the line. @returns false where it stands elsewhere meanwhile @throws Fault `line-moving`
 * where that is so again and again */
async function moveLine(landing: Landing, from: string, to: string): Promise<boolean> {
  const isMoved = await landing.site.move(from, to);
  landing.misses = isMoved ? 0 : landing.misses + 1;
  if (landing.misses <= MISSES) return isMoved;
  const { line } = await landing.journal.state();
  throw new Fault(
    "line-moving",
    `${line} was moved by somebody ${landing.misses} times while it was proven`,
    "find who moves it, then call again",
  );
}

/** What the job `land` does: looks at the base once, then puts what is mergeable on the line until
 * nothing is left. What is not on the line then has a `not-landed` event that says why. */
export async function landAll(journal: Journal, site: Site): Promise<void> {
  const landing = landingAt(journal, site);
  for (;;) {
    const state = await caughtUp(landing);
    const ready = mergeable(state).map(({ attempt }) => attempt);
    const isIdle = ready.length === 0 && state.dropping.length === 0 && !isEndDue(state);
    if (state.aborted || (state.baseRed && isIdle && state.done)) return;
    if (state.baseRed && isIdle) {
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

const idsOf = (all: readonly Candidate[]): string[] => all.map(({ attempt }) => attempt);

/** What sets a fresh worktree up, then the gates, in order: those for each task, or also those for
 * the end. */
const commandsOf = ({ setup, gates }: RunState, isEnd: boolean): Command[] => [
  ...(setup ? [setup] : []),
  ...gates.filter(({ isLast }) => isEnd || !isLast),
];

/** The checks of tasks whose attempts these are, each command once. */
const checksIn = (state: RunState, attempts: readonly string[]) => {
  const tasks = attempts.flatMap((id) => state.attempts.get(id)?.task ?? []);
  return checksOfAll(state, [...new Set(tasks)]);
};

/** Proves the line as it is when nothing more will land: with the gates that are for the end, and
 * with nothing beside the files that a fresh clone would not have. What was just proven on such a
 * floor is not proven again. */
async function checkEnd(landing: Landing, state: RunState): Promise<void> {
  const { journal, site, seen } = landing;
  const { tip, landings, fresh, gates } = state;
  await site.reset(tip);
  const isLittered = fresh && (await site.isLittered());
  if (isLittered) {
    await site.clear(tip);
    seen.clear();
  }
  const attempts = landings.flatMap((each) => each.attempts);
  const isProven = !isLittered && !gates.some(({ isLast }) => isLast);
  const red = isProven
    ? null
    : ((await site.fill()) ?? (await redOnTip(landing, attempts, await site.tip(), true)));
  const unmet = red === null ? await unmetAtEnd(landing, state) : [];
  await journal.add({
    event: "end-checked",
    tip,
    red: red ?? (unmet.map((each) => each.red).join(" ") || null),
    checks: unmet.map(({ command }) => command),
  });
}

/** Runs the checks of all that landed on the line as it stands at the end: what a later task broke
 * is named with both.
 * @returns the commands that are red, each with that in words */
async function unmetAtEnd(
  landing: Landing,
  state: RunState,
): Promise<{ command: string; red: string }[]> {
  const { site } = landing;
  const landed = [...state.tasks.values()].filter((task) => task.state === "landed");
  const checks = checksOfAll(state, landed);
  const unmet: { command: string; red: string }[] = [];
  for (const { command, tasks } of checks) {
    await site.reset(state.tip);
    const attempts = tasks.flatMap((id) => state.tasks.get(id)?.result?.id ?? []);
    const red = await redNow(landing, attempts, await site.tip(), command);
    if (red === null) continue;
    const breakers = await breakersOf(landing, state, attempts, command);
    const whose = `Of task ${tasks.join(", ")}: ${red}`;
    const since = breakers.length > 0 ? ` It passed until ${breakers.join(", ")} landed.` : "";
    unmet.push({ command: command.run, red: `${whose}${since}` });
  }
  return unmet;
}

/** Which tasks landed when a check of others came to be red, since these landed; found by halves.
 * None where nothing landed after them. */
async function breakersOf(
  landing: Landing,
  state: RunState,
  attempts: readonly string[],
  command: Command,
): Promise<string[]> {
  const { landings } = state;
  const own = landings.findLastIndex((each) => each.attempts.some((id) => attempts.includes(id)));
  let [green, red] = [own, landings.length - 1];
  if (own < 0 || green === red) return [];
  while (red - green > 1) {
    const middle = Math.floor((green + red) / 2);
    await landing.site.reset(landings[middle]?.to ?? state.tip);
    const tip = await landing.site.tip();
    if ((await redNow(landing, attempts, tip, command)) === null) green = middle;
    else red = middle;
  }
  const { attempts: broke = [], dropped = [] } = landings[red] ?? {};
  return [...tasksOf(state, broke), ...dropped];
}

/** Runs a check on the base, where it shows whether the task is done before anybody has begun. */
async function lookAtBase(landing: Landing, state: RunState, command: Command): Promise<void> {
  await landing.site.reset(state.base);
  const tip = await landing.site.tip();
  await proveHere(landing, [], command);
  await putBack(landing, tip);
}

/** Runs every gate on the base, so that what is red there is said before anybody is set to work. */
async function checkBase(landing: Landing, state: RunState): Promise<void> {
  await landing.site.reset(state.base);
  const tip = await landing.site.tip();
  const red: string[] = [];
  // What shows that the whole is done is red there, and is to be.
  for (const command of commandsOf(state, true).filter(({ isCheck }) => !isCheck)) {
    const evidence = await proveHere(landing, [], command);
    const isMoved = await putBack(landing, tip);
    if (!isPass(evidence) || isMoved) red.push(command.name);
    if (command === state.setup && red.length > 0) break;
  }
  await landing.journal.add({ event: "base-checked", red });
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
    for (const { attempt, red } of unmet) await refuse(landing, attempt, "line-red", red);
    const refused = unmet.map(({ attempt }) => attempt);
    const rest = ready.filter((id) => !refused.includes(id));
    return rest.length === 0 || landTogether(landing, rest);
  }
  const red = lack ?? (await redOnTip(landing, idsOf(picked), proving));
  if (red && picked.length > 1) return false;
  if (red) {
    await refuse(landing, first.attempt, lack ? "setup-failed" : "line-red", red);
    return true;
  }
  // What was fixed before the gates ran is what lands, whatever they did there.
  const { commit: to, tree } = proving;
  await journal.add({ event: "proven", from: state.tip, to, tree, landed: picked });
  // Moved by somebody meanwhile: looked at before anything else is landed.
  if (await moveLine(landing, state.tip, to)) await journal.add({ event: "landed", to });
  return true;
}

/** Takes what has landed of tasks back from the line, the newest first, all of it or none, in one
 * landing that is proven like any other. */
async function takeBack(landing: Landing, state: RunState): Promise<void> {
  const { journal, site } = landing;
  const { dropping: tasks, tip } = state;
  const note = await takenBack(landing, state);
  if (note !== null) {
    await journal.add({ event: "not-dropped", tasks, note });
    return;
  }
  const { commit: to, tree } = await site.tip();
  await journal.add({ event: "proven", from: tip, to, tree, landed: [], dropped: tasks });
  if (to === tip || (await moveLine(landing, tip, to))) await journal.add({ event: "landed", to });
}

/** Puts into the worktree what the line is without some tasks, and proves that.
 * @returns null, or in words why that cannot be */
async function takenBack(landing: Landing, state: RunState): Promise<string | null> {
  const { site } = landing;
  await site.reset(state.tip);
  for (const { task, commits } of await commitsOf(site, state)) {
    if (commits.length === 0) continue;
    const which = commits.map((commit) => `This reverts commit ${commit}.`);
    const message = [`revert: take back task ${task.id}`, "", task.title, "", ...which].join("\n");
    const taken = await site.takeBack(commits, message);
    if ("clash" in taken) return `What came after task ${task.id} stands on it. ${taken.clash}`;
  }
  const proving = await site.tip();
  const red = (await site.fill()) ?? (await redOnTip(landing, [], proving));
  if (red === null && (await site.tip()).commit !== proving.commit) return "The gates moved HEAD.";
  return red;
}

/** What stands on the line of the tasks that are to be taken back: the tasks that landed last
 * first, and of each its newest commits first. */
async function commitsOf(site: Site, state: RunState) {
  const found: { task: TaskState; commits: string[] }[] = [];
  for (const { from, to, landed } of state.landings.toReversed()) {
    const isMeant = landed.some(({ attempt }) => isDropping(state, attempt));
    if (!isMeant) continue;
    const commits = await site.between(from, to);
    for (const { attempt, commits: own, skipped = 0 } of landed) {
      const part = commits.splice(0, own.length - skipped);
      const task = state.attempts.get(attempt)?.task;
      if (task && isDropping(state, attempt)) found.push({ task, commits: part.reverse() });
    }
  }
  return found;
}

/** Is an attempt's work to be taken back? What was taken back before is not on the line any more. */
function isDropping(state: RunState, id: string): boolean {
  const attempt = state.attempts.get(id);
  return attempt !== undefined && !attempt.over && state.dropping.includes(attempt.task.id);
}

const refuse = ({ journal }: Landing, attempt: string, reason: Reason, note: string) =>
  journal.add({ event: "not-landed", attempt, reason, note });

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
      await refuse(landing, attempt, objection.reason, `${objection.what.join(", ")}.`);
      continue;
    }
    const applied = await landing.site.pick(commits);
    if ("skipped" in applied) picked.push({ attempt, commits, skipped: applied.skipped });
    else if (picked.length === 0) await refuse(landing, attempt, "conflict", applied.clash);
  }
  return picked;
}

/** Runs the checks of what lies there, after the setup.
 * @returns the attempts whose task is not done by its own measure, each with what is red, in words */
async function unmetOnTip(
  landing: Landing,
  attempts: readonly string[],
  tip: Tip,
): Promise<{ attempt: string; red: string }[]> {
  const state = await landing.journal.state();
  const checks = checksIn(state, attempts);
  // Where nothing can be set up, the gates say so.
  const isReady = async ({ setup }: RunState): Promise<boolean> =>
    setup === null || (await redNow(landing, attempts, tip, setup)) === null;
  if (checks.length === 0 || !(await isReady(state))) return [];
  const unmet = new Map<string, string>();
  for (const { command, tasks } of checks) {
    const own = attempts.filter((id) => tasks.includes(state.attempts.get(id)?.task.id ?? ""));
    const red = await redNow(landing, own, tip, command);
    if (red !== null) for (const attempt of own) unmet.set(attempt, red);
  }
  return [...unmet].map(([attempt, red]) => ({ attempt, red }));
}

/** Runs setup and gates on what lies there, as far as this process has not seen them pass on these
 * very files.
 * @param tip the commit and its tree that are being proven
 * @returns what was red, in words */
export async function redOnTip(
  landing: Landing,
  attempts: readonly string[],
  tip: Tip,
  isEnd = false,
): Promise<string | null> {
  for (const command of commandsOf(await landing.journal.state(), isEnd)) {
    const red = await redNow(landing, attempts, tip, command);
    if (red !== null) return red;
  }
  return null;
}

/** Runs a command on what lies there, where this process has not seen it pass on these very files.
 * @returns what was red, in words */
async function redNow(
  landing: Landing,
  attempts: readonly string[],
  tip: Tip,
  command: Command,
): Promise<string | null> {
  // Of checks the command counts, whatever each task calls it.
  const key = [tip.tree, command.isCheck ? "" : command.name, command.cwd, command.run].join("\0");
  if (landing.seen.has(key)) return null;
  const red = await redBy(landing, attempts, tip, command);
  if (red === null) landing.seen.add(key);
  return red;
}

/** Runs a command on what lies there, and once more where it is red on files on which it passed
 * before: what is flaky costs nobody an attempt.
 * @returns what was red, in words */
async function redBy(
  landing: Landing,
  attempts: readonly string[],
  tip: Tip,
  command: Command,
): Promise<string | null> {
  for (let runs = 1; ; runs++) {
    const evidence = await proveHere(landing, attempts, command);
    const { gate, output, changed } = evidence;
    if (await putBack(landing, tip))
      return `${gate} moved HEAD in the worktree in which it was run: ${output}.`;
    if (isPass(evidence)) return null;
    if (runs > 1 || !isDoubtful(await landing.journal.state(), evidence)) {
      const again = runs > 1 ? ", also when run once more" : "";
      return `${gate} ${howIn(evidence)} on the line with it${again}: ${output}.`;
    }
    if (changed.length > 0) await landing.site.reset(tip.commit);
  }
}

/** Puts the worktree back on what is being proven, where a command took it elsewhere.
 * @returns whether it did */
async function putBack({ site }: Landing, { commit }: Tip): Promise<boolean> {
  if (await site.isOn(commit)) return false;
  await site.reset(commit);
  return true;
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
