import type { Journal } from "../journal/journal.ts";
import {
  type AttemptState,
  activeOf,
  isActive,
  type RunState,
  type TaskState,
} from "../journal/state.ts";
import { candidatesAt } from "../journal/variants.ts";
import { outside } from "../program/world.ts";
import { isRunning } from "../proof/jobs.ts";
import { alarmsOf, haltOf } from "./alarms.ts";
import { attentionOf } from "./attention.ts";
import { choose, dispatchAll, toStart } from "./dispatch.ts";
import { doneAt, faultAt, keyOf, newsOf } from "./news.ts";
import { waiting } from "./waiting.ts";

/** The shape of what `next --json` prints. */
const VERSION = 2;

/** Lands what is mergeable, then names what is to be dispatched now, as Claude Code's tool wants
 * it. It waits for landing only where nothing else could be started meanwhile; `fault`: why landing
 * could not be done.
 * @param until how long it may wait, in milliseconds since 1970
 * @param dollars what the run has cost up to now; null where that is not known
 * @param land lands what is mergeable, for as long as that time
 * @param isAll also what was said before
 * @returns the answer, and what is to be called once it was given: what it says is not said again */
export async function next(
  journal: Journal,
  until: number,
  dollars: number | null,
  land: (until: number) => Promise<unknown>,
  isAll = false,
) {
  const fault = await landFirst(await journal.state(), until, land);
  await endExpired(journal);
  return journal.decide((state, write) => {
    const at = { dollars, now: outside().now() };
    const alarms = alarmsOf(state, at);
    const stop = haltOf(state, alarms, at);
    const starts = stop ? [] : toStart(state);
    if (stop === "budget")
      for (const task of toClose(state)) write({ event: "variants-closed", task });
    const dispatches = dispatchAll(state, starts, write);
    const { news, keys } = newsOf(state, attentionOf(state, alarms, at), alarms, isAll);
    const isDone = (state.done || state.aborted) && fault === null;
    if (isDone) keys.push(keyOf(doneAt(state)));
    if (fault !== null) keys.push(keyOf(faultAt(state, fault)));
    const answer = {
      version: VERSION,
      run: state.run,
      done: isDone,
      landed: idsIn(state, "landed"),
      running: idsIn(state, "running"),
      dispatch: dispatches,
      waiting: counted(waiting(state, starts, stop).map(({ why }) => why)),
      ...news,
      fault,
    };
    const given = async () => {
      const fresh = keys.filter((key) => !state.told.has(key));
      if (fresh.length > 0) await journal.add({ event: "told", keys: fresh });
    };
    return { answer, given };
  });
}

/** The tasks of which more variants would be started, were the money not spent: those that were
 * handed in are chosen from then. */
const toClose = ({ tasks }: RunState): string[] =>
  [...tasks.values()]
    .filter(({ phase, ...task }) => {
      if (phase === null || task.wants === 0 || activeOf(task).length > 0) return false;
      return candidatesAt({ phase, ...task }, phase).length > 0;
    })
    .map(({ id }) => id);

/** How often each word is among some. */
function counted(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const each of words) counts[each] = (counts[each] ?? 0) + 1;
  return counts;
}

/** Lands what is mergeable; not in a run that is aborted, or over before its base was looked at.
 * @returns why it could not be done, or null */
async function landFirst(
  state: RunState,
  until: number,
  land: (until: number) => Promise<unknown>,
): Promise<string | null> {
  if (state.aborted || (state.done && !state.baseRed)) return null;
  try {
    await land(choose(state).length > 0 ? 0 : until);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Ends the attempts of which nobody has heard for the length of the lease. */
export const endExpired = (journal: Journal): Promise<void> =>
  journal.decide(async (state, write) => {
    if (state.aborted) return;
    const note = `Nothing was heard of it for ${state.blueprint.bounds.lease} minutes.`;
    for (const attempt of state.attempts.values()) {
      if (!(await isExpired(state, attempt))) continue;
      const reason = attempt.begun ? "stalled" : "never-began";
      write({ event: "ended", attempt: attempt.id, reason, note });
    }
  });

/** Has nobody heard of an attempt for the length of the lease? One whose command still runs is
 * alive; while the machine slept nobody could be heard. */
async function isExpired(state: RunState, attempt: AttemptState): Promise<boolean> {
  const since = outside().now() - state.blueprint.bounds.lease * 60_000;
  const slept = Math.max(0, (outside().slept?.() ?? 0) - attempt.sleptBefore);
  if (!isActive(attempt) || attempt.lastSign + slept > since) return false;
  const jobs = [...state.jobs.values()].filter((job) => job.attempt === attempt.id);
  const running = await Promise.all(jobs.map(({ name }) => isRunning(state, name)));
  return !running.includes(true);
}

const idsIn = ({ tasks }: RunState, name: TaskState["state"]): string[] =>
  [...tasks.values()].filter(({ state }) => state === name).map(({ id }) => id);
