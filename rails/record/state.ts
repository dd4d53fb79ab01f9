import type { Plan } from "../plan/task.ts";
import type { Event, EventData, EventName, Evidence, Reason, State } from "./events.ts";
import type { BadLine } from "./journal.ts";

/** One worker's try at a task. */
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

type PlannedTask = Plan["tasks"][number];

interface Verdict {
  state: State;
  reason: Reason | null;
  note: string;
}

export interface TaskState extends Verdict {
  readonly task: PlannedTask;
  readonly attempts: AttemptState[];
  /** Index of the first attempt that counts against the bound: a person's retry starts anew. */
  counted: number;
}

/** A run as its journal tells it. Built by `fold`, changed by nobody else. */
export interface RunState extends Omit<EventData["started"], "tasks" | "session" | "owner" | "version"> {
  session: string;
  owner: EventData["owner"]["owner"];
  /** Where the line stands, as far as the journal knows. */
  tip: string;
  readonly tasks: Map<string, TaskState>;
  readonly attempts: Map<string, AttemptState>;
  /** Started and not known to have ended: whether a job's process still lives is for the caller to ask. */
  readonly jobs: Map<string, EventData["job"]>;
  readonly evidence: Evidence[];
  readonly landings: { readonly to: string; readonly tree: string; readonly attempts: readonly string[] }[];
  /** The line was about to move there when the journal ends. */
  proven: EventData["proven"] | null;
  dispatches: number;
  /** Nothing is running, ready or mergeable. */
  done: boolean;
  aborted: boolean;
  readonly startedAt: number;
  lastAt: number;
  readonly bad: readonly BadLine[];
}

/** The state after the events of a journal; the first of them starts the run. */
export function fold(first: Event & { event: "started" }, events: readonly Event[], bad: readonly BadLine[]): RunState {
  const blank = { reason: null, note: "", counted: 0 };
  const open = (task: PlannedTask): TaskState => ({
    ...blank,
    task,
    state: task.done ? "landed" : "waiting",
    attempts: [],
  });
  const state: RunState = {
    ...first,
    tasks: new Map(first.tasks.map((task) => [task.id, open(task)])),
    ...{ attempts: new Map(), jobs: new Map(), evidence: [], landings: [], bad },
    ...{ tip: first.base, proven: null, dispatches: 0, done: false, aborted: false },
    ...{ startedAt: first.at, lastAt: first.at },
  };
  for (const event of events) {
    const attempt = "attempt" in event && event.attempt !== null ? state.attempts.get(event.attempt) : undefined;
    state.lastAt = Math.max(state.lastAt, event.at);
    if (attempt) attempt.lastSign = event.at;
    const reduce = REDUCERS[event.event] as Reducer<EventName> | undefined;
    reduce?.(state, event, attempt);
  }
  settle(state);
  return state;
}

type Reducer<N extends EventName> = (
  state: RunState,
  event: Event & { event: N },
  attempt: AttemptState | undefined,
) => void;

/** What each event changes. Those that are not here change nothing but when a run or an attempt was last heard of. */
const REDUCERS: { readonly [N in EventName]?: Reducer<N> } = {
  dispatched(state, { task: id, attempt, at }) {
    state.dispatches++;
    const task = state.tasks.get(id);
    if (!task || state.attempts.has(attempt)) return;
    const fresh = { agent: null, begun: null, submitted: null, nothing: null, over: null, endedAt: null };
    const made = { ...fresh, id: attempt, task: id, failures: {}, sentBack: [], dispatchedAt: at, lastSign: at };
    task.attempts.push(made);
    state.attempts.set(attempt, made);
  },
  launched: (_, { agent }, attempt) => Object.assign(attempt ?? {}, { agent }),
  begun: (_, begun, attempt) => Object.assign(attempt ?? {}, { begun }),
  job: (state, job) => state.jobs.set(job.name, job),
  "job-ended": (state, { name }) => state.jobs.delete(name),
  evidence(state, event) {
    state.evidence.push(event);
    const attempt = event.by === "worker" ? state.attempts.get(event.attempts[0] ?? "") : undefined;
    if (!attempt) return;
    attempt.lastSign = event.at;
    if (event.code !== 0) attempt.failures[event.gate] = (attempt.failures[event.gate] ?? 0) + 1;
  },
  "sent-back": (_, event, attempt) => attempt?.sentBack.push(event),
  submitted: (_, event, attempt) => Object.assign(attempt ?? {}, { submitted: event, over: null, endedAt: event.at }),
  nothing: (_, { why, at }, attempt) => Object.assign(attempt ?? {}, { nothing: why, over: null, endedAt: at }),
  ended(_, { reason, note, at }, attempt) {
    if (attempt && !attempt.submitted && attempt.nothing === null)
      Object.assign(attempt, { over: { reason, note }, endedAt: at });
  },
  "not-landed": (_, { reason, note }, attempt) => Object.assign(attempt ?? {}, { over: { reason, note } }),
  proven: (state, event) => Object.assign(state, { proven: event }),
  landed(state, { to }) {
    if (state.proven?.to !== to) return;
    const attempts = state.proven.landed.map((own) => own.attempt);
    for (const id of attempts)
      Object.assign(state.tasks.get(state.attempts.get(id)?.task ?? "") ?? {}, { state: "landed" });
    state.landings.push({ to, tree: state.proven.tree, attempts });
    Object.assign(state, { tip: to, proven: null });
  },
  retried(state, { task: id }) {
    const task = state.tasks.get(id);
    if (task) task.counted = task.attempts.length;
  },
  owner: (state, { session, owner }) => Object.assign(state, { session, owner }),
  aborted: (state) => Object.assign(state, { aborted: true }),
};

/** Works out what each task's state is now. Dependencies come before what hangs on them. */
function settle(state: RunState): void {
  const blameless = [...state.attempts.values()].filter(({ over }) => over?.reason === "session-lost").length;
  const left = state.blueprint.bounds.dispatches * state.tasks.size - (state.dispatches - blameless);
  for (const task of inOrder(state)) {
    if (task.state === "landed") continue;
    Object.assign(task, verdict(state, task));
    if (left <= 0 && isDispatchable(task)) Object.assign(task, { state: "needs-human", reason: "dispatches" });
  }
  const busy: readonly State[] = ["running", "ready", "mergeable", "verify-failed"];
  state.done = ![...state.tasks.values()].some((task) => busy.includes(task.state));
}

function verdict({ tasks, blueprint }: RunState, task: TaskState): Verdict {
  const last = task.attempts.at(-1);
  const plain = (state: State): Verdict => ({ state, reason: null, note: "" });
  if (last?.nothing != null) return { ...plain("skipped"), note: last.nothing };
  if (last?.over) {
    const failed = task.attempts.slice(task.counted).filter(({ over }) => over && over.reason !== "session-lost");
    if (failed.length >= blueprint.bounds.attempts) return { state: "needs-human", ...last.over };
    // Neither is the work's fault: it is simply to be done again on the line as it is now.
    const blameless = last.over.reason === "session-lost" || last.over.reason === "conflict";
    return { state: blameless ? "ready" : "verify-failed", ...last.over };
  }
  if (last) return plain(last.submitted ? "mergeable" : "running");
  const before = task.task.depends.map((id) => tasks.get(id)?.state);
  if (before.some((each) => each === "needs-human" || each === "blocked"))
    return { ...plain("blocked"), reason: "dependency" };
  return plain(before.every((each) => each === "landed" || each === "skipped") ? "ready" : "waiting");
}

/** May the task be given to a worker now, as far as its own state goes? */
export const isDispatchable = ({ state }: TaskState): boolean => state === "ready" || state === "verify-failed";

/** Neither done nor aborted. */
export const isOpen = (state: RunState): boolean => !state.done && !state.aborted;

/** Is the attempt still a worker's to work on? */
export const isActive = ({ over, submitted, nothing }: AttemptState): boolean =>
  !over && !submitted && nothing === null;

/** The tasks, each after what it depends on: waves were worked out before the run started, and cycles refused. */
export const inOrder = ({ tasks }: Pick<RunState, "tasks">): TaskState[] =>
  [...tasks.values()].sort((a, b) => a.task.wave - b.task.wave);
