import { randomInt } from "node:crypto";
import type { Phase } from "../blueprint/workflow.ts";
import type { NewEvent } from "../journal/events.ts";
import type { Journal } from "../journal/journal.ts";
import { isToBegin, straight } from "../journal/phases.ts";
import { ALIKE_FOR_ANOTHER_WAY, alikeInARow } from "../journal/rounds.ts";
import { endOf } from "../journal/shapes.ts";
import {
  type AttemptState,
  isActive,
  isBetween,
  isDispatchable,
  isUnlaunched,
  type RunState,
  type TaskState,
} from "../journal/state.ts";
import { candidatesAt, freeVariants, isChosenFrom } from "../journal/variants.ts";
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

/** A worker that is to be started: the attempt that was named for it before, where it was; and
 * which of several it is that are to be chosen from, else 0. */
export type Start = Readonly<{ task: TaskState; named: AttemptState | null; variant: number }>;

/** Writes down that workers are dispatched. */
export function dispatchAll(
  state: RunState,
  starts: readonly Start[],
  write: (event: NewEvent) => void,
): Dispatch[] {
  const fresh = new Map<TaskState, number>();
  return starts.map((start) => {
    const { task, named } = start;
    if (named) return dispatch(state, start, named.id, write);
    const number = (fresh.get(task) ?? lastNumber(state, task)) + 1;
    fresh.set(task, number);
    return dispatch(state, start, `${state.run}/${task.id}.${number}`, write);
  });
}

/** The number of the newest attempt that there was under a task's id: one that a change took out of
 * the plan had it before. */
function lastNumber({ attempts, run }: RunState, { id }: TaskState): number {
  const start = `${run}/${id}.`;
  const own = [...attempts.keys()].filter((name) => name.startsWith(start));
  return Math.max(0, ...own.map((name) => Number(name.slice(start.length))));
}

function dispatch(
  state: RunState,
  { task, variant }: Start,
  attempt: string,
  write: (event: NewEvent) => void,
): Dispatch {
  const { id } = task;
  const phase = task.phase as Phase;
  const extra = {
    ...extraFor(state, task, phase, variant),
    ...(variant > 0 ? { variant } : {}),
    ...(phase.picks ? { order: drawn(candidatesFor(task, phase)) } : {}),
  };
  write({ event: "dispatched", task: id, attempt, phase: phase.name, ...extra });
  return {
    attempt,
    task: id,
    agent: phase.back || phase.picks ? "minion:minion-verifier" : "minion:minion-worker",
    description: describe(task, phase, variant),
    prompt: promptFor(attempt),
    ...(extra.model ? { model: extra.model } : {}),
  };
}

/** The attempts that a phase is to choose among. */
function candidatesFor(task: TaskState, { picks }: Phase): string[] {
  const from = task.phases.find(({ name }) => name === picks);
  return from ? candidatesAt(task, from).map(({ id }) => id) : [];
}

/** In an order that says nothing: whoever chooses is not to know whose is whose. */
const drawn = (ids: readonly string[]): string[] =>
  ids
    .map((id) => ({ id, lot: randomInt(2 ** 32) }))
    .sort((a, b) => a.lot - b.lot)
    .map(({ id }) => id);

/** What the client shows of a worker, and calls it by where it is stopped: each is another. */
export function describe({ id, title, phases }: TaskState, phase: Phase, variant: number): string {
  const isOnly = straight(phases).length <= 1;
  const which = variant > 0 ? ` ${variant}` : "";
  const description = isOnly ? `${id} ${title}` : `${id} ${phase.name}${which}: ${title}`;
  return oneLine(description).slice(0, 50);
}

type Extra = Readonly<{ agent?: string; model?: string }>;

/** What the task's next worker gets beside the task: expertise where the one before failed, and a
 * model, where any of these names one: what follows a failure, the task, the phase, the roles. */
function extraFor(state: RunState, task: TaskState, phase: Phase, variant: number): Extra {
  const { models } = state.blueprint;
  const retry = { ...state.blueprint.retry, ...phase.retry };
  const isRetry = variant === 0 && isToChange(state, task, phase);
  const ofRole = [phase.agent, ...task.agent].map((role) => ownOf(models, role)).find(Boolean);
  const ofPhase = modelFor(phase, variant);
  const own = variant > 0 ? ofPhase || task.model : task.model || ofPhase;
  const model = (isRetry && retry.model) || own || ofRole;
  return {
    ...(isRetry && phase.writes && retry.agent ? { agent: retry.agent } : {}),
    ...(model ? { model } : {}),
  };
}

/** Is another approach to be taken? Where the work of the one before failed, or two rounds left the
 * same. */
function isToChange(state: RunState, task: TaskState, phase: Phase): boolean {
  if (isToBegin(task)) return false;
  const last = task.attempts.findLast(
    (each) => each.phase === phase && (each.over || each.submitted),
  );
  if (last?.over) return endOf(last.over.reason).cause === "work";
  return alikeInARow(state, task, phase) >= ALIKE_FOR_ANOTHER_WAY;
}

/** The model that a phase names; of a list each variant has one, from its beginning on. */
const modelFor = ({ model }: Phase, variant: number): string =>
  typeof model === "string" ? model : (model[Math.max(0, variant - 1) % model.length] ?? "");

/** The workers that are to be started now: first those that were named before and never were. */
export const toStart = (state: RunState): Start[] =>
  state.aborted ? [] : withinBound(state, [...unlaunched(state), ...choose(state)]);

/** As many of these as the run's bound allows, and those that a person's word gave more. */
function withinBound(state: RunState, starts: readonly Start[]): Start[] {
  let { left } = state;
  const isAllowed = (start: Start): boolean => isFree(start) || left-- > 0;
  return starts.filter(isAllowed);
}

/** Does a dispatch count against no bound of the run? */
export const isFree = ({ task, named }: Start): boolean => (named ? named.isExtra : task.extra > 0);

/** The workers to start now; none before the base was looked at. Tasks between two phases come
 * first: what conflicts with them waits, while of two that both are neither waits for the other.
 * Of a phase that is chosen from, the others start where slots are left. */
export function choose(state: RunState): Start[] {
  const tasks = chosen(state);
  const places = state.blueprint.bounds.workers - atWork(state);
  const starts = tasks.map((task) => ({ task, left: freeOf(task) }));
  const found = starts.map(
    ({ task, left }): Start => ({ task, named: null, variant: left.shift() ?? 0 }),
  );
  const begun = [...state.tasks.values()].filter(
    (task) => task.state === "running" && task.wants > 0,
  );
  const further = [...begun.map((task) => ({ task, left: freeOf(task) })), ...starts];
  for (const { task, left } of further)
    for (const variant of left)
      if (state.baseRed && found.length < places) found.push({ task, named: null, variant });
  return found;
}

/** The numbers of a task's variants that are to be started. */
function freeOf(task: TaskState): number[] {
  const { phase, wants } = task;
  return phase && isChosenFrom(task, phase) ? freeVariants(task, phase).slice(0, wants) : [];
}

/** How many workers are at work. */
const atWork = ({ attempts }: RunState): number => [...attempts.values()].filter(isActive).length;

/** The tasks at which nobody is, to start now. */
function chosen(state: RunState): TaskState[] {
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
  const open = all.filter((task) => isDispatchable(task) && task.wants > 0);
  const between = byUrgency(open.filter(isBetween));
  const untouched = byUrgency(open.filter((task) => !isBetween(task)));
  const running = idsIn("running");
  const busy = [...running, ...idsIn("mergeable")];
  const slots = blueprint.bounds.workers - atWork(state);
  const further = startNow(between, busy, rivals, slots);
  const fresh = startNow(untouched, [...busy, ...between], rivals, slots - further.length);
  return [...further, ...fresh].flatMap((id) => tasks.get(id) ?? []);
}

/** Dispatched, but no agent was started for it: the launch was refused, or the foreman forgot. */
const unlaunched = ({ attempts }: RunState): Start[] =>
  [...attempts.values()]
    .filter((each) => isActive(each) && isUnlaunched(each))
    .map((named) => ({ task: named.task, named, variant: named.variant }));

/** The client tells of a launch a little after the agent runs. */
const LAUNCH_MS = 3000;

/** Waits until it is known of each dispatch whether it was launched: asked before, `next` would
 * name it a second time. */
export async function launchesKnown(journal: Journal): Promise<void> {
  const isFresh = ({ named }: Start): boolean =>
    (named?.lastSign ?? 0) > outside().now() - LAUNCH_MS;
  while (unlaunched(await journal.state()).some(isFresh))
    await new Promise((resolve) => setTimeout(resolve, 100));
}
