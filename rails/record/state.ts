import type { Blueprint } from "../blueprint/blueprint.ts";
import type { Task } from "../plan/task.ts";
import type { Command, Event, EventData, Evidence, ProcessMark, Reason, State } from "./events.ts";
import type { BadLine } from "./journal.ts";

export interface AttemptState {
  readonly id: string;
  readonly task: string;
  agent: string | null;
  begun: EventData["begun"] | null;
  submitted: EventData["submitted"] | null;
  nothing: string | null;
  /** How it ended without a result, or why its result did not land. */
  over: { readonly reason: Reason; readonly note: string } | null;
  /** Failed runs by gate. */
  readonly failures: Record<string, number>;
  readonly sentBack: { readonly reason: string; readonly tree: string }[];
  readonly dispatchedAt: number;
  /** When it was last heard of. */
  lastSign: number;
  endedAt: number | null;
}

interface Verdict {
  state: State;
  reason: Reason | null;
  note: string;
}

export interface TaskState extends Verdict {
  readonly task: Task;
  readonly attempts: AttemptState[];
  /** Index of the first attempt that counts against the bound: a person's retry starts anew. */
  counted: number;
}

export interface Job {
  readonly name: string;
  readonly attempt: string | null;
  readonly process: ProcessMark;
}

/** A run as its journal tells it. Built by `fold`, changed by nobody else. */
export interface RunState {
  readonly run: string;
  readonly base: string;
  readonly line: string;
  readonly prefix: string;
  readonly blueprint: Blueprint;
  readonly gates: readonly Command[];
  readonly setup: Command | null;
  readonly conflicts: readonly (readonly [string, string])[];
  readonly remaining: Readonly<Record<string, number>>;
  readonly startedAt: number;
  session: string;
  owner: ProcessMark | null;
  /** Where the line stands, as far as the journal knows. */
  tip: string;
  readonly tasks: Map<string, TaskState>;
  readonly attempts: Map<string, AttemptState>;
  /** Started and not known to have ended: whether a job's process still lives is for the caller to ask. */
  readonly jobs: Map<string, Job>;
  readonly evidence: Evidence[];
  readonly landings: { readonly to: string; readonly attempts: readonly string[]; readonly at: number }[];
  /** The line was about to move there when the journal ends. */
  proven: EventData["proven"] | null;
  dispatches: number;
  /** Nothing is running, ready or mergeable. */
  done: boolean;
  aborted: boolean;
  /** Neither done nor aborted. */
  open: boolean;
  lastAt: number;
  readonly bad: readonly BadLine[];
}

/** The state after the events of a journal; the first of them starts the run. */
export function fold(
  first: Event & { event: "started" },
  events: readonly Event[],
  bad: readonly BadLine[] = [],
): RunState {
  const { run, base, line, prefix, blueprint, gates, setup, conflicts, remaining, session, owner, at } = first;
  const tasks = new Map<string, TaskState>();
  for (const task of first.tasks)
    tasks.set(task.id, {
      task,
      state: task.done ? "landed" : "waiting",
      reason: null,
      note: "",
      attempts: [],
      counted: 0,
    });
  const state: RunState = {
    ...{ run, base, line, prefix, blueprint, gates, setup, conflicts, remaining, session, owner, tasks, bad },
    startedAt: at,
    tip: base,
    attempts: new Map(),
    jobs: new Map(),
    evidence: [],
    landings: [],
    proven: null,
    dispatches: 0,
    done: false,
    aborted: false,
    open: true,
    lastAt: at,
  };
  for (const event of events) apply(state, event);
  settle(state);
  return state;
}

function apply(state: RunState, event: Event): void {
  state.lastAt = Math.max(state.lastAt, event.at);
  const attempt = "attempt" in event && event.attempt !== null ? state.attempts.get(event.attempt) : undefined;
  if (attempt) attempt.lastSign = event.at;
  switch (event.event) {
    case "dispatched":
      dispatched(state, event);
      return;
    case "launched":
      if (attempt) attempt.agent = event.agent;
      return;
    case "begun":
      if (attempt) attempt.begun = event;
      return;
    case "job":
      state.jobs.set(event.name, event);
      return;
    case "job-ended":
      state.jobs.delete(event.name);
      return;
    case "evidence":
      evidence(state, event);
      return;
    case "sent-back":
      attempt?.sentBack.push(event);
      return;
    case "submitted":
      if (attempt) Object.assign(attempt, { submitted: event, over: null, endedAt: event.at });
      return;
    case "nothing":
      if (attempt) Object.assign(attempt, { nothing: event.why, over: null, endedAt: event.at });
      return;
    case "ended":
      if (attempt && !attempt.submitted && attempt.nothing === null)
        Object.assign(attempt, { over: { reason: event.reason, note: event.note }, endedAt: event.at });
      return;
    case "not-landed":
      if (attempt) attempt.over = { reason: event.reason, note: event.note };
      return;
    case "proven":
      state.proven = event;
      return;
    case "landed":
      landed(state, event);
      return;
    case "retried": {
      const task = state.tasks.get(event.task);
      if (task) task.counted = task.attempts.length;
      return;
    }
    case "owner":
      state.session = event.session;
      state.owner = event.owner;
      return;
    case "aborted":
      state.aborted = true;
      return;
  }
}

function dispatched(state: RunState, event: EventData["dispatched"] & { at: number }): void {
  state.dispatches++;
  const task = state.tasks.get(event.task);
  if (!task || state.attempts.has(event.attempt)) return;
  const attempt: AttemptState = {
    id: event.attempt,
    task: event.task,
    agent: null,
    begun: null,
    submitted: null,
    nothing: null,
    over: null,
    failures: {},
    sentBack: [],
    dispatchedAt: event.at,
    lastSign: event.at,
    endedAt: null,
  };
  task.attempts.push(attempt);
  state.attempts.set(event.attempt, attempt);
}

function evidence(state: RunState, event: Evidence & { at: number }): void {
  state.evidence.push(event);
  if (event.by !== "worker") return;
  for (const id of event.attempts) {
    const attempt = state.attempts.get(id);
    if (!attempt) continue;
    attempt.lastSign = event.at;
    if (event.code !== 0) attempt.failures[event.gate] = (attempt.failures[event.gate] ?? 0) + 1;
  }
}

function landed(state: RunState, { to, at }: { to: string; at: number }): void {
  if (state.proven?.to !== to) return;
  const attempts = state.proven.landed.map((own) => own.attempt);
  for (const id of attempts) {
    const task = state.tasks.get(state.attempts.get(id)?.task ?? "");
    if (task) task.state = "landed";
  }
  state.landings.push({ to, attempts, at });
  state.tip = to;
  state.proven = null;
}

/** Works out what each task's state is now. Dependencies come before what hangs on them. */
function settle(state: RunState): void {
  const left = state.blueprint.bounds.dispatches * state.tasks.size - counted(state);
  for (const id of inOrder(state.tasks)) {
    const task = state.tasks.get(id) as TaskState;
    if (task.state === "landed") continue;
    Object.assign(task, verdict(state, task));
    if (left <= 0 && dispatchable(task)) Object.assign(task, { state: "needs-human", reason: "dispatches" });
  }
  const busy = ["running", "ready", "mergeable", "verify-failed"];
  state.done = ![...state.tasks.values()].some((task) => busy.includes(task.state));
  state.open = !state.done && !state.aborted;
}

/** May the task be given to a worker now, as far as its own state goes? */
export const dispatchable = (task: TaskState): boolean => task.state === "ready" || task.state === "verify-failed";

function counted(state: RunState): number {
  return (
    state.dispatches - [...state.attempts.values()].filter((attempt) => attempt.over?.reason === "session-lost").length
  );
}

function verdict({ tasks, blueprint }: RunState, task: TaskState): Verdict {
  const last = task.attempts.at(-1);
  if (last?.nothing != null) return { state: "skipped", reason: null, note: last.nothing };
  if (last?.over) {
    const failed = task.attempts.slice(task.counted).filter(({ over }) => over && over.reason !== "session-lost");
    if (failed.length >= blueprint.bounds.attempts) return { state: "needs-human", ...last.over };
    // Neither is the work's fault: it is simply to be done again on the line as it is now.
    const blameless = last.over.reason === "session-lost" || last.over.reason === "conflict";
    return { state: blameless ? "ready" : "verify-failed", ...last.over };
  }
  const plain = (state: State): Verdict => ({ state, reason: null, note: "" });
  if (last?.submitted) return plain("mergeable");
  if (last) return plain("running");
  const before = task.task.depends.map((id) => tasks.get(id)?.state);
  if (before.some((each) => each === "needs-human" || each === "blocked"))
    return { state: "blocked", reason: "dependency", note: "" };
  return plain(before.every((each) => each === "landed" || each === "skipped") ? "ready" : "waiting");
}

/** Ids, each after what it depends on. The list was checked for cycles before the run started. */
export function inOrder(tasks: ReadonlyMap<string, TaskState>): string[] {
  const open = new Map(
    [...tasks].map(([id, { task }]) => [id, new Set(task.depends.filter((each) => tasks.has(each)))]),
  );
  const after = new Map<string, string[]>();
  for (const [id, { task }] of tasks)
    for (const each of task.depends) after.set(each, [...(after.get(each) ?? []), id]);
  const order = [...open].filter(([, needs]) => needs.size === 0).map(([id]) => id);
  for (const id of order)
    for (const next of after.get(id) ?? [])
      if (open.get(next)?.delete(id) && open.get(next)?.size === 0) order.push(next);
  return order;
}

/** The attempt that a worktree belongs to, the newest one first. */
export function attemptIn(state: RunState, worktree: string): AttemptState | undefined {
  return [...state.attempts.values()].reverse().find((attempt) => attempt.begun?.worktree === worktree);
}

/** Is the attempt still a worker's to work on? */
export const isActive = (attempt: AttemptState): boolean =>
  attempt.over === null && attempt.submitted === null && attempt.nothing === null;
