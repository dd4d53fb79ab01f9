import { randomUUID } from "node:crypto";
import { stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { Place } from "../git/repository.ts";
import type { Journal } from "../journal/journal.ts";
import type { RunState } from "../journal/state.ts";
import { isIdle, landed } from "../line/land.ts";
import { isAlive, markOf, type ProcessMark } from "../program/process.ts";
import { outside } from "../program/world.ts";
import { isRunning } from "../proof/jobs.ts";
import { alarmsOf, haltOf } from "./alarms.ts";
import { askNext } from "./ask.ts";
import { attentionOf } from "./attention.ts";
import { launchesKnown, toStart } from "./dispatch.ts";
import { doneAt, faultAt, isToldOf, newsOf } from "./news.ts";
import { endExpired } from "./next.ts";

/** How often the journal is looked at, and what only time changes: leases, limits of an account. */
const POLL_MS = 250;
const TICK_MS = 10_000;

/** How long one look at what lands may take before it is seen whether something can be started. */
const LANDING_MS = 2000;

/** The name of the job in which somebody waits in place of a session. */
const waiterOf = ({ run }: RunState): string => `wait ${run}`;

/** Does somebody wait in place of the run's session? Then it need not be woken by anything else. */
export const isWaitedFor = async (state: RunState): Promise<boolean> =>
  !isForgotten(state) && (await isRunning(state, waiterOf(state)));

/** Did somebody wait in place of the run's session and was ended from outside? Then nobody comes
 * before its next turn is over. */
export const isLeft = async (state: RunState): Promise<boolean> =>
  state.jobs.has(waiterOf(state)) && !(await isWaitedFor(state));

/** Is the session's turn over with the launch of an attempt? Where all was launched for which alone
 * it was woken, nothing is left to be said or done in it. */
export const isAllLaunched = ({ toLaunch, attempts }: RunState, attempt: string): boolean => {
  const isLaunched = (id: string): boolean => (attempts.get(id)?.launches.length ?? 0) > 0;
  return toLaunch.has(attempt) && [...toLaunch].every(isLaunched);
};

/** Was the session's context made anew, and has it not been told since to go on? The client takes no
 * word of who waited in its place before. */
export const isForgotten = ({ forgottenAt, waitedAt }: RunState): boolean => forgottenAt > waitedAt;

/** How a waiter ends that has nothing to say. */
const GAVE_UP = "nothing would have come of waiting";

/** Did the last one who waited end with nothing said? Its session is idle then, and nobody waits. */
export const hasGivenUp = (state: RunState): boolean =>
  state.errors.get(waiterOf(state)) === GAVE_UP;

/** What a waiter found to say; `given` is to be called once it was said. */
export type Woken = Readonly<{ answer: object; given: () => Promise<unknown> }>;

/** Waits in place of a session whose turn is over: lands what is ready, and comes back as soon as
 * there is something to start, to decide or to report. Whoever comes last is the one that waits:
 * the client forgets who did so before its context was made anew.
 * @param session the one that leads the run
 * @param isOnItsWay has it been woken meanwhile, or is it about to be, and acts on that?
 * @returns the whole answer of `next`; null where somebody else waits by then, or nothing will come
 *   of waiting */
export async function waitFor(
  journal: Journal,
  place: Place,
  session: string,
  isOnItsWay: () => Promise<boolean>,
): Promise<Woken | null> {
  await launchesKnown(journal);
  const name = waiterOf(await journal.state());
  const token = randomUUID();
  const own = (await markOf(process.pid)) as ProcessMark;
  await journal.add({ event: "job", name, attempt: null, process: own, token });
  const isMine = ({ jobs }: RunState): boolean => jobs.get(name)?.token === token;
  let woken: Woken | null = null;
  try {
    const asked = await untilSomething(journal, place, session, isMine, isOnItsWay);
    woken = asked && toLaunchOnly(journal, asked, own);
    return woken;
  } finally {
    const error = woken === null ? GAVE_UP : null;
    await journal.decide((state, write) => {
      if (isMine(state)) write({ event: "job-ended", name, attempt: null, error });
    });
  }
}

async function untilSomething(
  journal: Journal,
  place: Place,
  session: string,
  isMine: (state: RunState) => boolean,
  isOnItsWay: () => Promise<boolean>,
): Promise<AskedNext | null> {
  for (;;) {
    await endExpired(journal);
    const state = await journal.state();
    if (!isMine(state) || isForgotten(state) || state.session !== session) return null;
    if (state.aborted || !(await isLed(state))) return null;
    const fault = await landSome(journal, place, state);
    const now = await journal.state();
    if (!isMine(now) || isForgotten(now)) return null;
    if (fault !== null && isToldOf(now, ...faultAt(now, fault))) return null;
    // Of two answers the session would act on both.
    if ((fault !== null || hasSomething(now)) && !(await isOnItsWay())) {
      if (isReminder(now)) await journal.add({ event: "reminded", what: "" });
      const woken = await askNext(journal, place, outside().now());
      if (saysSomething(woken.answer, now)) return woken;
    }
    if (!(await goesOn(now))) return null;
    await changeOf(journal);
  }
}

/** Has an answer anything for its session? Where the money is spent, what is ready is not started,
 * and that is said once. */
function saysSomething(
  { dispatch, findings, attention, alarms, blocked, done, fault }: Answer,
  state: RunState,
): boolean {
  const isEnd = done && !isToldOf(state, ...doneAt(state));
  const all = [dispatch, findings, attention, alarms, blocked];
  return isEnd || fault !== null || all.some((each) => each.length > 0);
}

/** Takes down for what a session is woken, where that is to launch workers and nothing else.
 * @param own who wakes it */
function toLaunchOnly(journal: Journal, { answer, given }: AskedNext, own: ProcessMark): Woken {
  const { dispatch, findings, attention, alarms, blocked, fault } = answer;
  const isMore = [findings, attention, alarms, blocked].some((each) => each.length > 0);
  const attempts = isMore || fault !== null ? [] : dispatch.map(({ attempt }) => attempt);
  return {
    answer,
    given: async () => {
      await given();
      await journal.add({ event: "woken", attempts, process: own });
    },
  };
}

type AskedNext = Awaited<ReturnType<typeof askNext>>;
type Answer = AskedNext["answer"];

/** Does the client that leads the run still run, as far as that is known? */
export const isLed = async ({ owner }: RunState): Promise<boolean> =>
  owner === null || (await isAlive(owner));

/** Lands what is ready, for a little while. @returns null, or why that could not be done */
async function landSome(journal: Journal, place: Place, state: RunState): Promise<string | null> {
  if (!needsLanding(state)) return null;
  try {
    await landed(journal, place, state, outside().now() + LANDING_MS);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

const needsLanding = (state: RunState): boolean =>
  !(state.done && !state.baseRed) && (state.baseRed === null || !isIdle(state));

/** Is there something to start, to decide or to report that its session was not told yet? What it
 * costs is not looked up here: where that stops a run, the answer of `next` says so. */
function hasSomething(state: RunState): boolean {
  const at = { dollars: null, now: outside().now() };
  const alarms = alarmsOf(state, at);
  const { news } = newsOf(state, attentionOf(state, alarms, at), alarms, false);
  if (news.attention.length > 0 || news.alarms.length > 0 || news.blocked.length > 0) return true;
  if (state.done) return !isToldOf(state, ...doneAt(state));
  if (haltOf(state, alarms, at)) return false;
  const start = toStart(state);
  return state.reminded ? start.some(({ named }) => !named) : start.length > 0;
}

/** Is all that there is to say what was said before? Once more, and then no more until something
 * comes of it. */
const isReminder = (state: RunState): boolean => toStart(state).some(({ named }) => named !== null);

/** Will something come of waiting: does a worker work, does something land, or does a limit end? */
async function goesOn(state: RunState): Promise<boolean> {
  if (state.done) return false;
  const isAtWork = [...state.tasks.values()].some((task) => task.state === "running");
  if (isAtWork || needsLanding(state)) return true;
  return state.limitedUntil > outside().now();
}

/** Waits until the journal has grown, or some time has passed. */
async function changeOf({ file }: Journal): Promise<void> {
  const sizeNow = async () => (await stat(file).catch(() => null))?.size ?? 0;
  const size = await sizeNow();
  for (let waited = 0; waited < TICK_MS && (await sizeNow()) === size; waited += POLL_MS)
    await sleep(POLL_MS);
}
