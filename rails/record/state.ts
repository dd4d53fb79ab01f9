import type { Plan } from "../plan/task.ts";
import type { Event, EventData, Evidence, Reason, State } from "./events.ts";
import { isRed } from "./judge.ts";

/** Of each of these an attempt keeps the last. */
const KEPT = ["launched", "begun", "refused", "submitted", "nothing"] as const;
type Kept = { [N in (typeof KEPT)[number]]?: Event<N> };

/** One worker's try at a task. */
export interface AttemptState extends Kept {
  readonly id: string;
  readonly task: TaskState;
  readonly agent: string; // Expertise beyond the task's own; empty where there is none
  over?: Event<"ended" | "not-landed"> | undefined; // How it ended without a result, or why its result did not land
  readonly failures: Record<string, number>; // Failed runs by gate
  readonly sentBack: Event<"sent-back">[];
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
  readonly jobs: Map<string, EventData["job"]>; // Started and not known to have ended; its process may be gone
  readonly errors: Map<string, string | null>; // Of jobs that ended: what broke them
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
    changeRun(state, event);
    const id = "attempts" in event ? event.by === "worker" && event.attempts[0] : "attempt" in event && event.attempt;
    const attempt = state.attempts.get(id || "");
    if (attempt) changeAttempt(attempt, event);
  }
  settle(state);
  return state;
}

/** What an event changes in the run. */
function changeRun(state: RunState, event: Event): void {
  if (event.event === "dispatched") dispatch(state, event);
  if (event.event === "job") state.jobs.set(event.name, event);
  if (event.event === "job-ended" && state.jobs.delete(event.name)) state.errors.set(event.name, event.error);
  if (event.event === "evidence") state.evidence.push(event);
  if (event.event === "proven") state.proven = event;
  if (event.event === "landed" && state.proven?.to === event.to) land(state, state.proven);
  if (event.event === "base-checked") state.baseRed = event.red;
  if (event.event === "base-accepted") state.baseAccepted = true;
  if (event.event === "owner") Object.assign(state, { session: event.session, owner: event.owner });
  if (event.event === "aborted") state.aborted = true;
  const task = event.event === "retried" && state.tasks.get(event.task);
  if (task) task.counted = task.attempts.length;
  if (event.event === "ended" && event.reason === "rate-limit") state.limited++;
  else if (["ended", "submitted", "nothing", "owner"].includes(event.event)) state.limited = 0;
}

function dispatch(state: RunState, { task: name, attempt: id, agent = "", at }: Event<"dispatched">): void {
  state.dispatches++;
  const task = state.tasks.get(name);
  if (!task || state.attempts.has(id)) return;
  const made = { id, task, agent, failures: {}, sentBack: [], objections: [], dispatchedAt: at, lastSign: at };
  task.attempts.push(made);
  state.attempts.set(id, made);
}

function land(state: RunState, { to, tree, landed }: EventData["proven"]): void {
  const attempts = landed.map(({ attempt }) => attempt);
  for (const id of attempts) Object.assign(state.attempts.get(id)?.task ?? {}, { state: "landed" });
  state.landings.push({ to, tree, attempts });
  Object.assign(state, { tip: to, proven: null });
}

/** What an event changes in the attempt that it is about. */
function changeAttempt(attempt: AttemptState, event: Event): void {
  attempt.lastSign = event.at;
  if (KEPT.some((name) => name === event.event)) Object.assign(attempt, { [event.event]: event });
  if (event.event === "submitted" || event.event === "nothing") attempt.over = undefined;
  if (event.event === "not-landed" || (event.event === "ended" && !hasResult(attempt))) attempt.over = event;
  if (event.event === "sent-back") attempt.sentBack.push(event);
  if (event.event === "objection") attempt.objections.push(event);
  if (event.event !== "evidence" || !isRed(event)) return;
  attempt.failures[event.gate] = (attempt.failures[event.gate] ?? 0) + 1;
}

/** Works out what each task's state is now. Dependencies come before what hangs on them. */
function settle(state: RunState): void {
  const { attempts, tasks, dispatches, blueprint, baseRed, baseAccepted } = state;
  const blameless = [...attempts.values()].filter(isLost).length;
  state.left = Math.max(0, blueprint.bounds.dispatches * tasks.size - (dispatches - blameless));
  const red = (!baseAccepted && baseRed?.join(", ")) || "";
  for (const task of inOrder(state)) {
    if (task.state === "landed") continue;
    Object.assign(task, verdict(state, task));
    if (!isDispatchable(task)) continue;
    if (red) Object.assign(task, { state: "needs-human", reason: "base-red", note: `Red on the base: ${red}.` });
    else if (state.left === 0) Object.assign(task, { state: "needs-human", reason: "dispatches" });
  }
  const busy: readonly State[] = ["running", "ready", "mergeable", "verify-failed"];
  state.done = ![...tasks.values()].some((task) => busy.includes(task.state));
}

function verdict({ tasks, blueprint }: RunState, { attempts, counted, depends }: TaskState): Verdict {
  const last = attempts.at(-1);
  const as = (state: State, reason: Reason | null = null, note = ""): Verdict => ({ state, reason, note });
  if (last?.nothing) return as("skipped", null, last.nothing.why);
  if (last?.over) {
    const { reason, note } = last.over;
    const failed = attempts.slice(counted).filter((each) => each.over && !isLost(each));
    // What another attempt would not change: a person has to agree, or to say no.
    const isPersons = ["forbidden", "proof-changed"].includes(reason) && attempts.length > counted;
    if (isPersons || failed.length >= blueprint.bounds.attempts) return as("needs-human", reason, note);
    // Neither is the work's fault: it is simply to be done again on the line as it is now.
    return as(isLost(last) || reason === "conflict" ? "ready" : "verify-failed", reason, note);
  }
  if (last) return as(last.submitted ? "mergeable" : "running");
  const before = depends.map((id) => tasks.get(id)?.state);
  if (before.includes("needs-human") || before.includes("blocked")) return as("blocked", "dependency");
  return as(before.every((each) => each === "landed" || each === "skipped") ? "ready" : "waiting");
}

/** Did something end the attempt that says nothing of the work? Then it counts against no bound. */
const isLost = ({ over }: AttemptState): boolean => over?.reason === "session-lost" || over?.reason === "rate-limit";

/** Did a rate limit end the last two attempts, with no result and no new session since? */
export const rateLimited = ({ limited }: RunState): boolean => limited >= 2;

/** May the task be given to a worker now, as far as its own state goes? */
export const isDispatchable = ({ state }: TaskState): boolean => state === "ready" || state === "verify-failed";

/** Is a task that conflicts with this one under way: dispatched, and neither landed nor over? */
export const hasRival = (state: RunState, id: string): boolean =>
  state.conflicts.some((pair) => {
    const rival = pair.includes(id) ? state.tasks.get(pair[0] === id ? pair[1] : pair[0]) : undefined;
    return rival && (rival.state === "running" || rival.state === "mergeable");
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
