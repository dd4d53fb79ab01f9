import type { Phase } from "../blueprint/workflow.ts";
import { END, isEndDue } from "../journal/end-task.ts";
import type { Journal } from "../journal/journal.ts";
import { straight } from "../journal/phases.ts";
import { endOf } from "../journal/shapes.ts";
import {
  type AttemptState,
  isActive,
  isBetween,
  isDispatchable,
  type RunState,
  type TaskState,
} from "../journal/state.ts";
import { byPriority, rivalsOf, startNow } from "../plan/schedule.ts";
import { outside } from "../program/world.ts";
import { isRunning } from "../proof/jobs.ts";
import { alarmLine, alarmsOf, haltOf } from "./alarms.ts";
import { attentionOf } from "./attention.ts";

/** Lands what is mergeable, then names what is to be dispatched now, as Claude Code's tool wants
 * it. It waits for landing only where nothing else could be started meanwhile; `fault`: why landing
 * could not be done.
 * @param dollars what the run has cost up to now; null where that is not known
 * @param land lands what is mergeable, for as long as that time */
export async function next(
  journal: Journal,
  until: number,
  dollars: number | null,
  land: (until: number) => Promise<unknown>,
) {
  const before = await journal.state();
  let fault: string | null = null;
  if (!before.aborted && (before.baseRed || !before.done))
    await land(choose(before).length > 0 ? 0 : until).catch((error: Error) => {
      fault = error.message;
    });
  await journal.decide(async (state, write) => {
    const note = `Nothing was heard of it for ${state.blueprint.bounds.lease} minutes.`;
    for (const attempt of state.aborted ? [] : state.attempts.values())
      if (await isExpired(state, attempt))
        write({
          event: "ended",
          attempt: attempt.id,
          reason: attempt.begun ? "stalled" : "never-began",
          note,
        });
  });
  return journal.decide((state, write) => {
    const { run, aborted } = state;
    const alarms = alarmsOf(state, { dollars, now: outside().now() });
    const stop = haltOf(state, alarms, dollars);
    const tasks = stop ? [] : toStart(state);
    const dispatch = tasks.map((task) => {
      const { id, title, attempts } = task;
      const attempt = `${run}/${id}.${attempts.length + (task.state === "running" ? 0 : 1)}`;
      const phase = task.phase as Phase;
      const extra = extraFor(state, task, phase);
      write({ event: "dispatched", task: id, attempt, phase: phase.name, ...extra });
      const prompt = promptFor(attempt);
      const what =
        straight(task.phases).length > 1 ? `${id} ${phase.name}: ${title}` : `${id} ${title}`;
      const agent = phase.back ? "minion:minion-verifier" : "minion:minion-worker";
      const { model } = extra;
      return {
        attempt,
        task: id,
        agent,
        description: what.slice(0, 50),
        prompt,
        ...(model ? { model } : {}),
      };
    });
    const landed = idsOf(state, "landed");
    const running = idsOf(state, "running");
    const waits = waiting(state, new Set(dispatch.map(({ task }) => task)), stop);
    const attention = attentionOf(state, alarms, dollars);
    const done = state.done || aborted;
    return {
      run,
      done,
      landed,
      running,
      dispatch,
      waiting: waits,
      attention,
      alarms: alarms.map(alarmLine),
      fault,
    };
  });
}

/** All that a worker's agent is told at its launch: what the task is, `begin` prints, the same for
 * whoever starts it. */
export const promptFor = (attempt: string): string =>
  `Run \`minion begin ${attempt}\` and do what it prints.`;

/** The client tells of a launch a little after the agent runs. */
const LAUNCH_MS = 3000;

/** Waits until it is known of each dispatch whether it was launched: asked before, `next` would
 * name it a second time. */
export async function launchesKnown(journal: Journal): Promise<void> {
  const isFresh = ({ attempts }: TaskState): boolean =>
    (attempts.at(-1)?.lastSign ?? 0) > outside().now() - LAUNCH_MS;
  while (unlaunched(await journal.state()).some(isFresh))
    await new Promise((resolve) => setTimeout(resolve, 100));
}

/** The tasks for which workers are to be started now: first those that were named before and for
 * which none was. */
export const toStart = (state: RunState): TaskState[] =>
  state.aborted ? [] : [...unlaunched(state), ...choose(state)].slice(0, state.left);

const idsOf = ({ tasks }: RunState, name: TaskState["state"]): string[] =>
  [...tasks.values()].filter(({ state }) => state === name).map(({ id }) => id);

/** The tasks to start now; none before the base was looked at. Those between two phases come first:
 * what conflicts with them waits, while of two that both are neither waits for the other. */
function choose(state: RunState): TaskState[] {
  if (!state.baseRed) return [];
  const { tasks, priority, blueprint } = state;
  const rivals = rivalsOf(state.conflicts);
  const urgency = new Map(Object.entries(priority));
  const open = (isOn: boolean): string[] => {
    const isOpen = (task: TaskState): boolean => isDispatchable(task) && isBetween(task) === isOn;
    const ids = [...tasks.values()].flatMap((task) => (isOpen(task) ? task.id : []));
    return byPriority(ids, urgency);
  };
  const running = idsOf(state, "running");
  const busy = [...running, ...idsOf(state, "mergeable")];
  const slots = blueprint.bounds.workers - running.length;
  const further = startNow(open(true), busy, rivals, slots);
  const fresh = startNow(open(false), [...busy, ...open(true)], rivals, slots - further.length);
  return [...further, ...fresh].flatMap((id) => tasks.get(id) ?? []);
}

/** Dispatched, but no agent was started for it: the launch was refused, or the foreman forgot. */
const unlaunched = ({ tasks }: RunState): TaskState[] =>
  [...tasks.values()].filter(({ attempts }) => {
    const last = attempts.at(-1);
    return last && isActive(last) && !last.launched && !last.begun;
  });

/** Has nobody heard of an attempt for the length of the lease? One whose command still runs is
 * alive. */
async function isExpired(state: RunState, attempt: AttemptState): Promise<boolean> {
  if (
    !isActive(attempt) ||
    attempt.lastSign > outside().now() - state.blueprint.bounds.lease * 60_000
  )
    return false;
  const jobs = [...state.jobs.values()].filter((job) => job.attempt === attempt.id);
  return !(await Promise.all(jobs.map(({ name }) => isRunning(state, name)))).includes(true);
}

/** What the task's next worker gets beside the task: expertise where the one before failed, and a
 * model, where any of these names one: what follows a failure, the task, the phase, the roles. */
function extraFor(
  { blueprint: { retry, models } }: RunState,
  task: TaskState,
  phase: Phase,
): Extra {
  const last = task.attempts.findLast((each) => each.over && each.phase === phase)?.over?.reason;
  const isRetry = endOf(last).cause === "work";
  const ofRole = [phase.agent, ...task.agent].map((role) => models[role]).find(Boolean);
  const model = (isRetry && retry.model) || task.model || phase.model || ofRole;
  return {
    ...(isRetry && phase.writes ? { agent: retry.agent } : {}),
    ...(model ? { model } : {}),
  };
}
type Extra = Readonly<{ agent?: string; model?: string }>;

/** Why tasks that are not `taken` now wait; `stop`: why none is started before a person resumes the
 * run. */
export function waiting(state: RunState, taken: ReadonlySet<string>, stop: string | null) {
  const busy = new Set([...idsOf(state, "running"), ...taken]).size;
  const why = (task: TaskState): string | null => {
    if (task.state === "waiting") return "dependency";
    if (task.state === "mergeable") return "landing";
    if (!isDispatchable(task) || taken.has(task.id)) return null;
    if (!state.baseRed) return "landing";
    if (stop) return stop;
    return busy < state.blueprint.bounds.workers ? "conflict" : "slots";
  };
  const waits = [...state.tasks.values()].map((task) => ({ task: task.id, why: why(task) }));
  return [...waits, { task: END, why: isEndDue(state) ? "landing" : null }].filter(
    (each) => each.why !== null,
  );
}
