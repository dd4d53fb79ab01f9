import type { Phase } from "../blueprint/workflow.ts";
import type { NewEvent } from "../journal/events.ts";
import type { Journal } from "../journal/journal.ts";
import { straight } from "../journal/phases.ts";
import { endOf } from "../journal/shapes.ts";
import {
  isActive,
  isBetween,
  isDispatchable,
  isUnlaunched,
  type RunState,
  type TaskState,
} from "../journal/state.ts";
import { byPriority, rivalsOf, startNow } from "../plan/schedule.ts";
import { ownOf } from "../program/files.ts";
import { oneLine } from "../program/shown.ts";
import { outside } from "../program/world.ts";

/** A worker to be started now, as Claude Code's tool for agents wants it. */
export type Dispatch = Readonly<{
  attempt: string;
  task: string;
  agent: string;
  description: string;
  prompt: string;
  model?: string;
}>;

/** All that a worker's agent is told at its launch: what the task is, `begin` prints, the same for
 * whoever starts it. */
export const promptFor = (attempt: string): string =>
  `Run \`minion begin ${attempt}\` and do what it prints.`;

/** Writes down that a task is dispatched: as its last attempt where that was named before and no
 * worker was started for it, else as a new one. */
export function dispatch(
  state: RunState,
  task: TaskState,
  write: (event: NewEvent) => void,
): Dispatch {
  const { id, attempts } = task;
  const number = attempts.length + (task.state === "running" ? 0 : 1);
  const attempt = `${state.run}/${id}.${number}`;
  const phase = task.phase as Phase;
  const extra = extraFor(state, task, phase);
  write({ event: "dispatched", task: id, attempt, phase: phase.name, ...extra });
  return {
    attempt,
    task: id,
    agent: phase.back ? "minion:minion-verifier" : "minion:minion-worker",
    description: describe(task, phase),
    prompt: promptFor(attempt),
    ...(extra.model ? { model: extra.model } : {}),
  };
}

/** What the client shows of a worker, and calls it by where it is stopped. */
export function describe({ id, title, phases }: TaskState, phase: Phase): string {
  const isOnly = straight(phases).length <= 1;
  const description = isOnly ? `${id} ${title}` : `${id} ${phase.name}: ${title}`;
  return oneLine(description).slice(0, 50);
}

type Extra = Readonly<{ agent?: string; model?: string }>;

/** What the task's next worker gets beside the task: expertise where the one before failed, and a
 * model, where any of these names one: what follows a failure, the task, the phase, the roles. */
function extraFor(
  { blueprint: { retry, models } }: RunState,
  task: TaskState,
  phase: Phase,
): Extra {
  const last = task.attempts.findLast((each) => each.over && each.phase === phase)?.over?.reason;
  const isRetry = endOf(last).cause === "work";
  const ofRole = [phase.agent, ...task.agent].map((role) => ownOf(models, role)).find(Boolean);
  const model = (isRetry && retry.model) || task.model || phase.model || ofRole;
  return {
    ...(isRetry && phase.writes ? { agent: retry.agent } : {}),
    ...(model ? { model } : {}),
  };
}

/** The tasks for which workers are to be started now: first those that were named before and for
 * which none was. */
export const toStart = (state: RunState): TaskState[] =>
  state.aborted ? [] : withinBound(state, [...unlaunched(state), ...choose(state)]);

/** As many of these as the run's bound allows, and those that a person's word gave more. */
function withinBound(state: RunState, tasks: readonly TaskState[]): TaskState[] {
  let { left } = state;
  const isAllowed = (task: TaskState): boolean => isFree(task) || left-- > 0;
  return tasks.filter(isAllowed);
}

/** Does the task's next dispatch count against no bound of the run? */
export const isFree = (task: TaskState): boolean =>
  task.state === "running" ? task.attempts.at(-1)?.isExtra === true : task.extra > 0;

/** The tasks to start now; none before the base was looked at. Those between two phases come first:
 * what conflicts with them waits, while of two that both are neither waits for the other. */
export function choose(state: RunState): TaskState[] {
  if (!state.baseRed) return [];
  const { tasks, priority, blueprint } = state;
  const all = [...tasks.values()];
  const idsIn = (name: TaskState["state"]): string[] =>
    all.filter((task) => task.state === name).map(({ id }) => id);
  const rivals = rivalsOf(state.conflicts);
  const urgency = new Map(Object.entries(priority));
  const byUrgency = (some: readonly TaskState[]): string[] =>
    byPriority(
      some.map(({ id }) => id),
      urgency,
    );
  const open = all.filter(isDispatchable);
  const between = byUrgency(open.filter(isBetween));
  const untouched = byUrgency(open.filter((task) => !isBetween(task)));
  const running = idsIn("running");
  const busy = [...running, ...idsIn("mergeable")];
  const slots = blueprint.bounds.workers - running.length;
  const further = startNow(between, busy, rivals, slots);
  const fresh = startNow(untouched, [...busy, ...between], rivals, slots - further.length);
  return [...further, ...fresh].flatMap((id) => tasks.get(id) ?? []);
}

/** Dispatched, but no agent was started for it: the launch was refused, or the foreman forgot. */
const unlaunched = ({ tasks }: RunState): TaskState[] =>
  [...tasks.values()].filter(({ attempts }) => {
    const last = attempts.at(-1);
    return last && isActive(last) && isUnlaunched(last);
  });

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
