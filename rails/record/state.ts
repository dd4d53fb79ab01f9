import type { Plan } from "../plan/task.ts";
import type { Event, EventData, EventName, Evidence, Reason, State } from "./events.ts";
import { isRed } from "./judge.ts";

/** One worker's try at a task. */
export interface AttemptState {
  readonly id: string;
  readonly task: TaskState;
  readonly agent: string; // Expertise beyond the task's own; empty where there is none
  launched?: Event<"launched">;
  begun?: Event<"begun">;
  refused?: Event<"refused">; // The last call for which it had no permission
  submitted?: Event<"submitted">;
  nothing?: Event<"nothing">;
  over?: Event<"ended" | "not-landed"> | undefined; // How it ended without a result, or why its result did not land
  readonly failures: Record<string, number>; // Failed runs by gate
  readonly sentBack: { readonly reason: string; readonly tree: string }[];
  readonly objections: Event<"objection">[];
  readonly dispatchedAt: number;
  lastSign: number; // When it was last heard of
}

type Verdict = { state: State; reason: Reason | null; note: string };

type PlannedTask = Plan["tasks"][number];

export interface TaskState extends PlannedTask, Verdict {
  readonly attempts: AttemptState[];
  counted: number; // Index of the first attempt that counts against the bound: a person's retry starts anew
}

/** A run as its journal tells it. Built by `fold`, changed by nobody else. */
export interface RunState extends Omit<EventData["started"], "tasks" | "version"> {
  tip: string; // Where the line stands, as far as the journal knows
  baseRed: readonly string[] | null; // Gates that are red on the base; null where it was not looked at yet
  baseAccepted: boolean; // A person goes on over that: what fails there as well does not count
  readonly tasks: Map<string, TaskState>;
  readonly attempts: Map<string, AttemptState>;
  /** Started and not known to have ended: whether a job's process still lives is for the caller to ask. */
  readonly jobs: Map<string, EventData["job"]>;
  readonly errors: Map<string, string>; // Of the jobs that broke last time
  readonly evidence: Evidence[];
  readonly landings: { readonly to: string; readonly tree: string; readonly attempts: readonly string[] }[];
  proven: EventData["proven"] | null; // The line was about to move there when the journal ends
  dispatches: number;
  limited: number; // Attempts in a row, up to now, that a rate limit ended
  left: number; // How many more there may be: those that were lost by nobody's fault do not count
  done: boolean; // Nothing is running, ready or mergeable
  aborted: boolean;
  readonly startedAt: number;
  lastAt: number;
  readonly bad: readonly number[]; // Lines of the journal that could not be read
}

/** The state after the events of a journal; the first of them starts the run. */
export function fold(first: Event<"started">, events: readonly Event[], bad: readonly number[]): RunState {
  const open = (task: PlannedTask): TaskState => {
    const name = task.done ? "landed" : "waiting";
    return { ...task, state: name, reason: null, note: "", attempts: [], counted: 0 };
  };
  const state: RunState = {
    ...{ ...first, bad, tip: first.base, startedAt: first.at, lastAt: first.at },
    tasks: new Map(first.tasks.map((task) => [task.id, open(task)])),
    ...{ attempts: new Map(), jobs: new Map(), errors: new Map(), evidence: [], landings: [] },
    ...{ proven: null, dispatches: 0, limited: 0, left: 0, done: false, aborted: false, baseRed: null },
    baseAccepted: false,
  };
  for (const event of events) {
    state.lastAt = Math.max(state.lastAt, event.at);
    const inRun: Change<RunState, never> | undefined = IN_RUN[event.event];
    inRun?.(state, event as never);
    const attempt = "attempt" in event && event.attempt !== null ? state.attempts.get(event.attempt) : undefined;
    if (!attempt) continue;
    attempt.lastSign = event.at;
    const inAttempt: Change<AttemptState, never> | undefined = IN_ATTEMPT[event.event];
    inAttempt?.(attempt, event as never);
  }
  settle(state);
  return state;
}

type Change<Of, N extends EventName> = (of: Of, event: Event<N>) => unknown;
type Changes<Of> = { readonly [N in EventName]?: Change<Of, N> };

/** What each event changes in the run. */
const IN_RUN: Changes<RunState> = {
  dispatched(state, { task: id, attempt, agent = "", at }) {
    state.dispatches++;
    const task = state.tasks.get(id);
    if (!task || state.attempts.has(attempt)) return;
    const empty = { failures: {}, sentBack: [], objections: [] };
    const made = { id: attempt, task, agent, dispatchedAt: at, lastSign: at, ...empty };
    task.attempts.push(made);
    state.attempts.set(attempt, made);
  },
  job: (state, job) => state.jobs.set(job.name, job),
  "job-ended"({ jobs, errors }, { name, error }) {
    jobs.delete(name);
    if (error) errors.set(name, error);
    else errors.delete(name);
  },
  evidence(state, event) {
    state.evidence.push(event);
    const attempt = event.by === "worker" ? state.attempts.get(event.attempts[0] ?? "") : undefined;
    if (!attempt) return;
    attempt.lastSign = event.at;
    if (isRed(event)) attempt.failures[event.gate] = (attempt.failures[event.gate] ?? 0) + 1;
  },
  proven: (state, proven) => Object.assign(state, { proven }),
  landed(state, { to }) {
    if (state.proven?.to !== to) return;
    const attempts = state.proven.landed.map(({ attempt }) => attempt);
    for (const id of attempts) Object.assign(state.attempts.get(id)?.task ?? {}, { state: "landed" });
    state.landings.push({ to, tree: state.proven.tree, attempts });
    Object.assign(state, { tip: to, proven: null });
  },
  "base-checked": (state, { red }) => Object.assign(state, { baseRed: red }),
  "base-accepted": (state) => Object.assign(state, { baseAccepted: true }),
  retried({ tasks }, { task: id }) {
    const task = tasks.get(id);
    if (task) task.counted = task.attempts.length;
  },
  ended: (state, { reason }) => Object.assign(state, { limited: reason === "rate-limit" ? state.limited + 1 : 0 }),
  submitted: (state) => Object.assign(state, { limited: 0 }),
  nothing: (state) => Object.assign(state, { limited: 0 }),
  owner: (state, { session, owner }) => Object.assign(state, { session, owner, limited: 0 }),
  aborted: (state) => Object.assign(state, { aborted: true }),
};

/** What each event changes in the attempt that it names. */
const IN_ATTEMPT: Changes<AttemptState> = {
  launched: (attempt, launched) => Object.assign(attempt, { launched }),
  begun: (attempt, begun) => Object.assign(attempt, { begun }),
  refused: (attempt, refused) => Object.assign(attempt, { refused }),
  "sent-back": (attempt, event) => attempt.sentBack.push(event),
  objection: (attempt, event) => attempt.objections.push(event),
  submitted: (attempt, submitted) => Object.assign(attempt, { submitted, over: undefined }),
  nothing: (attempt, nothing) => Object.assign(attempt, { nothing, over: undefined }),
  ended: (attempt, over) => hasResult(attempt) || Object.assign(attempt, { over }),
  "not-landed": (attempt, over) => Object.assign(attempt, { over }),
};

/** Works out what each task's state is now. Dependencies come before what hangs on them. */
function settle(state: RunState): void {
  const blameless = [...state.attempts.values()].filter(isLost).length;
  state.left = Math.max(0, state.blueprint.bounds.dispatches * state.tasks.size - (state.dispatches - blameless));
  for (const task of inOrder(state)) {
    if (task.state === "landed") continue;
    Object.assign(task, verdict(state, task));
    const red = state.baseAccepted ? [] : (state.baseRed ?? []);
    if (red.length > 0 && isDispatchable(task))
      Object.assign(task, { state: "needs-human", reason: "base-red", note: `Red on the base: ${red.join(", ")}.` });
    if (state.left === 0 && isDispatchable(task)) Object.assign(task, { state: "needs-human", reason: "dispatches" });
  }
  const busy: readonly State[] = ["running", "ready", "mergeable", "verify-failed"];
  state.done = ![...state.tasks.values()].some((task) => busy.includes(task.state));
}

/** What another attempt would not change: a person has to agree, or to say no. */
const PERSONS: readonly Reason[] = ["forbidden", "proof-changed"];

function verdict({ tasks, blueprint }: RunState, { attempts, counted, depends }: TaskState): Verdict {
  const last = attempts.at(-1);
  const plain = (state: State): Verdict => ({ state, reason: null, note: "" });
  if (last?.nothing) return { ...plain("skipped"), note: last.nothing.why };
  if (last?.over) {
    const { reason, note } = last.over;
    const failed = attempts.slice(counted).filter((each) => each.over && !isLost(each));
    const isPersons = PERSONS.includes(reason) && attempts.length > counted;
    if (isPersons || failed.length >= blueprint.bounds.attempts) return { state: "needs-human", reason, note };
    // Neither is the work's fault: it is simply to be done again on the line as it is now.
    const isBlameless = isLost(last) || reason === "conflict";
    return { state: isBlameless ? "ready" : "verify-failed", reason, note };
  }
  if (last) return plain(last.submitted ? "mergeable" : "running");
  const before = depends.map((id) => tasks.get(id)?.state);
  if (before.includes("needs-human") || before.includes("blocked"))
    return { ...plain("blocked"), reason: "dependency" };
  return plain(before.every((each) => each === "landed" || each === "skipped") ? "ready" : "waiting");
}

/** Did something end the attempt that says nothing of the work? Then it counts against no bound. */
const isLost = ({ over }: AttemptState): boolean => over?.reason === "session-lost" || over?.reason === "rate-limit";

/** Did a rate limit end the last two attempts, with no result and no new session since? */
export const rateLimited = ({ limited }: RunState): boolean => limited >= 2;

/** May the task be given to a worker now, as far as its own state goes? */
export const isDispatchable = ({ state }: TaskState): boolean => state === "ready" || state === "verify-failed";

/** Is a task that conflicts with this one among these, or under way: dispatched, and neither landed nor over? */
export const hasRival = (state: RunState, id: string, others: readonly TaskState[] = []): boolean =>
  state.conflicts.some((pair) => {
    const rival = pair.includes(id) ? state.tasks.get(pair[0] === id ? pair[1] : pair[0]) : undefined;
    return rival && (rival.state === "running" || rival.state === "mergeable" || others.includes(rival));
  });

/** Neither done nor aborted. */
export const isOpen = (state: RunState): boolean => !state.done && !state.aborted;

export const hasResult = ({ submitted, nothing }: AttemptState): boolean => Boolean(submitted ?? nothing);

/** The branch that an attempt is put on: `minion/r1/2-post-endpoint.1`. */
export function branchOf({ id, task: { title } }: AttemptState): string {
  const words = title.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const slug = words.slice(0, 4).map((word) => `-${word.slice(0, 12)}`);
  return `minion/${id.replace(/(?=\.\d+$)/, slug.join(""))}`;
}

/** Is the attempt still a worker's to work on? */
export const isActive = (attempt: AttemptState): boolean => !attempt.over && !hasResult(attempt);

/** The tasks, each after what it depends on: waves were worked out before the run started, and cycles refused. */
export const inOrder = ({ tasks }: RunState): TaskState[] => [...tasks.values()].sort((a, b) => a.wave - b.wave);
