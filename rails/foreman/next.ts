import type { Place } from "../git/repository.ts";
import { type Attention, attentionOf } from "../record/attention.ts";
import type { NewEvent } from "../record/events.ts";
import { attach, type JobCall } from "../record/job.ts";
import type { Journal } from "../record/journal.ts";
import { isAlive } from "../record/process.ts";
import { type AttemptState, dispatchable, isActive, type RunState, type TaskState } from "../record/state.ts";

/** The agent that does a task, as Claude Code names it. */
export const WORKER = "minion:minion-worker";

export interface Dispatch {
  readonly attempt: string;
  readonly task: string;
  readonly agent: string;
  readonly description: string;
  readonly prompt: string;
}

export type Why = "dependency" | "conflict" | "landing" | "slots";

export interface Next {
  readonly run: string;
  readonly done: boolean;
  readonly landed: readonly string[];
  readonly dispatch: readonly Dispatch[];
  readonly waiting: readonly { readonly task: string; readonly why: Why }[];
  readonly attention: readonly Attention[];
  /** Why landing itself could not be done, where it could not. */
  readonly fault: string | null;
}

/** The job that lands what is mergeable. */
export const landingJob = (run: string, place: Place): JobCall => ({
  name: "land",
  args: ["land", run],
  cwd: place.main,
});

/**
 * Lands what is mergeable, then names what is to be dispatched now. It waits for landing only where nothing else
 * could be started meanwhile.
 */
export async function next(journal: Journal, place: Place, until: number): Promise<Next> {
  const before = await journal.state();
  let fault: string | null = null;
  if (!before.aborted && hasMergeable(before)) {
    const wait = choose(before).length > 0 ? 0 : until;
    const answer = await attach(journal, landingJob(before.run, place), (now) => !hasMergeable(now) || undefined, wait);
    if ("error" in answer) fault = answer.error;
  }
  await journal.decide(async (state) => ({ events: state.aborted ? [] : await expire(state), result: null }));
  return journal.decide((state) => {
    const chosen = state.aborted ? [] : choose(state);
    const offered = state.aborted ? [] : unlaunched(state);
    const dispatch = [
      ...offered.map(({ task, id }) => dispatchOf(state, task, id)),
      ...chosen.map(({ task, attempts }) =>
        dispatchOf(state, task.id, `${state.run}/${task.id}.${attempts.length + 1}`),
      ),
    ];
    const events = dispatch.map(({ task, attempt }) => ({ event: "dispatched", task, attempt }) as const);
    return { events, result: { ...views(state, new Set(dispatch.map(({ task }) => task))), dispatch, fault } };
  });
}

const hasMergeable = (state: RunState): boolean => [...state.tasks.values()].some((task) => task.state === "mergeable");

/** The tasks to start now: longest remaining path first, none that conflicts with what is under way. */
export function choose(state: RunState): TaskState[] {
  const all = [...state.tasks.values()];
  const busy = new Set(
    all.filter((task) => task.state === "running" || task.state === "mergeable").map(({ task }) => task.id),
  );
  let slots = state.blueprint.bounds.workers - all.filter((task) => task.state === "running").length;
  const left = ({ task }: TaskState): number => state.remaining[task.id] ?? 0;
  const chosen: TaskState[] = [];
  for (const task of all.filter(dispatchable).sort((a, b) => left(b) - left(a))) {
    if (slots <= 0) break;
    if (conflicts(state, task.task.id, busy)) continue;
    chosen.push(task);
    busy.add(task.task.id);
    slots--;
  }
  return chosen;
}

const conflicts = (state: RunState, id: string, busy: ReadonlySet<string>): boolean =>
  state.conflicts.some(([a, b]) => (a === id && busy.has(b)) || (b === id && busy.has(a)));

/** Dispatched, but no agent was started for it: the launch was refused, or the foreman forgot. */
const unlaunched = (state: RunState): AttemptState[] =>
  [...state.attempts.values()].filter((each) => isActive(each) && each.agent === null && each.begun === null);

/** Attempts that nobody has heard of for the length of the lease; one whose command still runs is alive. */
async function expire(state: RunState): Promise<NewEvent[]> {
  const events: NewEvent[] = [];
  const limit = Date.now() - state.blueprint.bounds.lease * 60_000;
  for (const attempt of state.attempts.values()) {
    if (!isActive(attempt) || attempt.lastSign > limit) continue;
    const jobs = [...state.jobs.values()].filter((job) => job.attempt === attempt.id);
    if ((await Promise.all(jobs.map((job) => isAlive(job.process)))).some(Boolean)) continue;
    const note = `Nothing was heard of it for ${state.blueprint.bounds.lease} minutes.`;
    events.push({ event: "ended", attempt: attempt.id, reason: attempt.begun ? "stalled" : "never-began", note });
  }
  return events;
}

function dispatchOf(state: RunState, id: string, attempt: string): Dispatch {
  const title = state.tasks.get(id)?.task.title ?? "";
  return {
    attempt,
    task: id,
    agent: WORKER,
    description: `${id} ${title}`.slice(0, 50),
    prompt: `Run \`minion begin ${attempt}\` and do what it prints.`,
  };
}

function views(state: RunState, taken: ReadonlySet<string>): Omit<Next, "dispatch" | "fault"> {
  const all = [...state.tasks.values()];
  const started = all.filter((task) => taken.has(task.task.id) && task.state !== "running").length;
  const slots = state.blueprint.bounds.workers - all.filter((task) => task.state === "running").length - started;
  const why = (task: TaskState): Why | null => {
    if (task.state === "waiting") return "dependency";
    if (task.state === "mergeable") return "landing";
    if (!dispatchable(task) || taken.has(task.task.id)) return null;
    return slots > 0 ? "conflict" : "slots";
  };
  return {
    run: state.run,
    done: state.done || state.aborted,
    landed: all.filter((task) => task.state === "landed").map((task) => task.task.id),
    waiting: all.flatMap((task) => {
      const reason = why(task);
      return reason ? [{ task: task.task.id, why: reason }] : [];
    }),
    attention: attentionOf(state),
  };
}
