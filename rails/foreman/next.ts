import type { Place } from "../git/repository.ts";
import { type Attention, attentionOf } from "../record/attention.ts";
import type { NewEvent } from "../record/events.ts";
import { attach, isRunning, type Job } from "../record/job.ts";
import type { Journal } from "../record/journal.ts";
import { isActive, isDispatchable, type RunState, type TaskState } from "../record/state.ts";

export interface Dispatch {
  readonly attempt: string;
  readonly task: string;
  /** As Claude Code names it. */
  readonly agent: string;
  readonly description: string;
  readonly prompt: string;
}

export type Why = "dependency" | "conflict" | "landing" | "slots";

export interface Next {
  readonly run: string;
  readonly done: boolean;
  readonly landed: readonly string[];
  readonly running: readonly string[];
  readonly dispatch: readonly Dispatch[];
  readonly waiting: readonly { readonly task: string; readonly why: Why }[];
  readonly attention: readonly Attention[];
  /** Why landing itself could not be done, where it could not. */
  readonly fault: string | null;
}

/** The job that lands what is mergeable, or one task by a person's word. */
export const landingJob = (run: string, { main }: Place, ...task: readonly string[]): Job => ({
  name: "land",
  args: ["land", run, ...task],
  cwd: main,
});

/**
 * Lands what is mergeable, then names what is to be dispatched now. It waits for landing only where nothing else
 * could be started meanwhile.
 */
export async function next(journal: Journal, place: Place, until: number): Promise<Next> {
  const before = await journal.state();
  let fault: string | null = null;
  if (!before.aborted && count(before, "mergeable") > 0) {
    const wait = choose(before).length > 0 ? 0 : until;
    const isLanded = (state: RunState): true | undefined => (count(state, "mergeable") === 0 ? true : undefined);
    const answer = await attach(journal, landingJob(before.run, place), isLanded, wait);
    if ("error" in answer) fault = answer.error;
  }
  await journal.decide(async (state) => ({ events: await expired(state), result: null }));
  return journal.decide((state) => {
    const dispatch = state.aborted
      ? []
      : [...unlaunched(state), ...choose(state)].map((task) => dispatchOf(state, task));
    const events = dispatch.map(({ task, attempt }) => ({ event: "dispatched", task, attempt }) as const);
    const taken = new Set(dispatch.map(({ task }) => task));
    return {
      events,
      result: {
        ...{
          run: state.run,
          done: state.done || state.aborted,
          landed: idsOf(state, "landed"),
          running: idsOf(state, "running"),
        },
        dispatch,
        waiting: waiting(state, taken),
        attention: attentionOf(state),
        fault,
      },
    };
  });
}

const all = ({ tasks }: RunState): TaskState[] => [...tasks.values()];
const count = (state: RunState, name: TaskState["state"]): number => idsOf(state, name).length;
const idsOf = (state: RunState, name: TaskState["state"]): string[] =>
  all(state)
    .filter((task) => task.state === name)
    .map(({ task }) => task.id);

/** The tasks to start now: longest remaining path first, none that conflicts with what is under way. */
function choose(state: RunState): TaskState[] {
  const isBusy = (task: TaskState): boolean => task.state === "running" || task.state === "mergeable";
  const busy = new Set(
    all(state)
      .filter(isBusy)
      .map(({ task }) => task.id),
  );
  const left = ({ task }: TaskState): number => state.remaining[task.id] ?? 0;
  const slots = state.blueprint.bounds.workers - count(state, "running");
  const chosen: TaskState[] = [];
  for (const each of all(state)
    .filter(isDispatchable)
    .sort((a, b) => left(b) - left(a))) {
    const { id } = each.task;
    if (chosen.length >= slots) break;
    if (state.conflicts.some(([a, b]) => (a === id && busy.has(b)) || (b === id && busy.has(a)))) continue;
    chosen.push(each);
    busy.add(id);
  }
  return chosen;
}

/** Dispatched, but no agent was started for it: the launch was refused, or the foreman forgot. */
const unlaunched = (state: RunState): TaskState[] =>
  all(state).filter(({ attempts }) => {
    const last = attempts.at(-1);
    return last && isActive(last) && last.agent === null && last.begun === null;
  });

/** Ends attempts that nobody has heard of for the length of the lease; one whose command still runs is alive. */
async function expired(state: RunState): Promise<NewEvent[]> {
  const { lease } = state.blueprint.bounds;
  const events: NewEvent[] = [];
  for (const attempt of state.aborted ? [] : state.attempts.values()) {
    if (!isActive(attempt) || attempt.lastSign > Date.now() - lease * 60_000) continue;
    const jobs = [...state.jobs.values()].filter((job) => job.attempt === attempt.id);
    if ((await Promise.all(jobs.map(({ name }) => isRunning(state, name)))).includes(true)) continue;
    const reason = attempt.begun ? "stalled" : "never-began";
    events.push({ event: "ended", attempt: attempt.id, reason, note: `Nothing was heard of it for ${lease} minutes.` });
  }
  return events;
}

function dispatchOf({ run }: RunState, { task, state, attempts }: TaskState): Dispatch {
  const attempt = `${run}/${task.id}.${attempts.length + (state === "running" ? 0 : 1)}`;
  const prompt = `Run \`minion begin ${attempt}\` and do what it prints.`;
  return {
    attempt,
    task: task.id,
    agent: "minion:minion-worker",
    description: `${task.id} ${task.title}`.slice(0, 50),
    prompt,
  };
}

function waiting(state: RunState, taken: ReadonlySet<string>): Next["waiting"] {
  const started = all(state).filter((task) => task.state === "running" || taken.has(task.task.id)).length;
  const whyOf = (task: TaskState): Why | null => {
    if (task.state === "waiting") return "dependency";
    if (task.state === "mergeable") return "landing";
    if (!isDispatchable(task) || taken.has(task.task.id)) return null;
    return started < state.blueprint.bounds.workers ? "conflict" : "slots";
  };
  return all(state).flatMap((each) => {
    const why = whyOf(each);
    return why ? [{ task: each.task.id, why }] : [];
  });
}
