import type { Phase } from "../blueprint/workflow.ts";
import { isAtLeast, riskOf } from "../plan/risk.ts";
import type { PlannedTask } from "../plan/task.ts";
import { END, endTask, IMPLEMENT, isBusy, isEndDue } from "./end.ts";
import { type Event, type EventData, endOf, type Reason, type State } from "./events.ts";
import { isMissed } from "./judge.ts";
import { type Progress, phasesFor, progressOf, straight, wayFor } from "./phases.ts";

/** Of each of these an attempt keeps the last. */
const KEPT = ["launched", "begun", "refused", "submitted", "nothing"] as const;
type Kept = { [N in (typeof KEPT)[number]]?: Event<N> };

/** One worker's try at a task. */
export interface AttemptState extends Kept {
  readonly id: string;
  readonly task: TaskState;
  readonly phase: Phase;
  readonly agent: string; // Expertise beyond the task's own; empty where there is none
  // How it ended without a result, or why its result did not land
  over?: Event<"ended" | "not-landed"> | undefined;
  isForgiven: boolean; // It counts against no bound: a person let the task be tried again
  readonly failures: Record<string, number>; // Failed runs by gate
  readonly sentBack: Event<"sent-back">[];
  readonly objections: Event<"objection">[];
  readonly dispatchedAt: number;
  lastSign: number; // When it was last heard of
}

type Standing = { state: State; reason: Reason | null; note: string };

export interface TaskState extends Omit<PlannedTask, "risk">, Standing {
  risk: PlannedTask["risk"]; // Raised by what its work touches
  way: readonly Phase[]; // All phases that there are for it …
  phases: readonly Phase[]; // … and those for its risk
  phase: Phase | null; // The one that is on or comes next; null where the last is over
  result: AttemptState | undefined; // Whose commits are what there is of it
  readonly attempts: AttemptState[];
  tried: number; // How many attempts there were when last something of it did not land
}

/** A run as its journal tells it. Built by `fold`, changed by nobody else. */
export interface RunState extends Omit<EventData["started"], "tasks" | "version"> {
  tip: string; // Where the line stands, as far as the journal knows
  // Gates that are red on the base; null where it was not looked at yet
  baseRed: readonly string[] | null;
  baseAccepted: boolean; // A person goes on over that: what fails there as well does not count
  readonly tasks: Map<string, TaskState>;
  readonly attempts: Map<string, AttemptState>;
  // Started and not known to have ended; its process may be gone
  readonly jobs: Map<string, EventData["job"]>;
  readonly errors: Map<string, string | null>; // Of jobs that ended: what broke them
  readonly evidence: Event<"evidence">[];
  readonly landings: Readonly<EventData["proven"] & { at: number; attempts: readonly string[] }>[];
  end: Event<"end-checked"> | null; // How the gates for the end came out last
  readonly spent: Map<string, Event<"spent">>; // By transcript, as far as it was taken down
  built: Event<"merge-built"> | null; // The newest merge that was tried
  proven: EventData["proven"] | null; // The line was about to move there when the journal ends
  dispatches: number;
  limited: number; // Attempts in a row, up to now, that a rate limit ended
  left: number; // How many more there may be: those that were lost by nobody's fault do not count
  reminded: boolean; // Its session was told that work is ready, and nothing has come of it yet
  done: boolean; // Nothing is running, ready or mergeable
  aborted: boolean;
  seenAt: number; // When the run was last resumed: what was alarming before that has been seen …
  spentBefore: number; // … and so many dollars with it
  readonly startedAt: number;
  lastAt: number;
  readonly bad: readonly number[]; // Lines of the journal that could not be read
}

/** The state after the events of a journal; the first of them starts the run. */
export function fold(
  first: Event<"started">,
  events: readonly Event[],
  bad: readonly number[],
): RunState {
  const open = (task: PlannedTask): TaskState => {
    const name = task.done ? "landed" : "waiting";
    return openTask(
      task,
      name,
      wayFor(first.workflows[task.workflow] ?? [], task.risk, first.reviews),
    );
  };
  const state: RunState = {
    ...first,
    bad,
    tip: first.base,
    startedAt: first.at,
    lastAt: first.at,
    tasks: new Map(first.tasks.map((task) => [task.id, open(task)])),
    attempts: new Map(),
    jobs: new Map(),
    errors: new Map(),
    spent: new Map(),
    evidence: [],
    landings: [],
    end: null,
    built: null,
    proven: null,
    dispatches: 0,
    limited: 0,
    left: 0,
    done: false,
    aborted: false,
    baseRed: null,
    baseAccepted: false,
    seenAt: 0,
    spentBefore: 0,
    reminded: false,
  };
  for (const event of events) {
    // What was used is taken down whenever somebody looks.
    if (event.event !== "spent") state.lastAt = Math.max(state.lastAt, event.at);
    changeRun(state, event);
    const id =
      "attempts" in event
        ? event.by === "worker" && event.attempts[0]
        : "attempt" in event && event.attempt;
    const attempt = state.attempts.get(id || "");
    if (attempt) changeAttempt(attempt, event);
    if (attempt && event.event === "submitted") raiseRisk(state, attempt.task, event.paths);
  }
  settle(state);
  return state;
}

const openTask = (task: PlannedTask, state: State, way: readonly Phase[]): TaskState => {
  const now = { state, reason: null, note: "", phase: null, result: undefined };
  return { ...task, ...now, way, phases: phasesFor(way, task.risk), attempts: [], tried: 0 };
};

/** What shows that a reminder was heeded, or that there is something new to be reminded of. */
const HEEDED = ["dispatched", "launched", "landed", "base-checked", "owner"];

/** What an event changes in the run. */
function changeRun(state: RunState, event: Event): void {
  if (event.event === "dispatched") dispatch(state, event);
  if (event.event === "job") state.jobs.set(event.name, event);
  if (event.event === "job-ended" && state.jobs.delete(event.name))
    state.errors.set(event.name, event.error);
  if (event.event === "evidence") state.evidence.push(event);
  if (event.event === "proven") state.proven = event;
  if (event.event === "merge-built") state.built = event;
  if (event.event === "spent") state.spent.set(event.transcript, event);
  if (event.event === "end-checked") checkEnd(state, event);
  if (event.event === "landed" && state.proven?.to === event.to)
    land(state, state.proven, event.at);
  if (event.event === "base-checked") state.baseRed = event.red;
  if (event.event === "base-accepted") state.baseAccepted = true;
  if (event.event === "owner") {
    const { session, owner, at, dollars = state.spentBefore, budget = state.budget } = event;
    Object.assign(state, { session, owner, budget, seenAt: at, spentBefore: dollars });
  }
  if (event.event === "aborted") state.aborted = true;
  if (event.event === "reminded") state.reminded = true;
  else if (HEEDED.includes(event.event)) state.reminded = false;
  const task = event.event === "retried" && state.tasks.get(event.task);
  for (const attempt of task ? task.attempts : [])
    attempt.isForgiven = attempt.over !== undefined || attempt.submitted?.verdict === "fail";
  if (event.event === "ended" && event.reason === "rate-limit") state.limited++;
  else if (["ended", "submitted", "nothing", "owner"].includes(event.event)) state.limited = 0;
}

function dispatch(
  state: RunState,
  { task: name, attempt: id, agent = "", at, ...of }: Event<"dispatched">,
): void {
  state.dispatches++;
  const task = state.tasks.get(name);
  const phase = task?.way.find((each) => each.name === of.phase);
  if (!task || !phase || state.attempts.has(id)) return;
  const made = {
    id,
    task,
    phase,
    agent,
    isForgiven: false,
    failures: {},
    sentBack: [],
    objections: [],
    dispatchedAt: at,
    lastSign: at,
  };
  task.attempts.push(made);
  state.attempts.set(id, made);
}

function checkEnd(state: RunState, event: Event<"end-checked">): void {
  state.end = event;
  if (event.red === null || state.tasks.has(END)) return;
  const wave = 1 + Math.max(...[...state.tasks.values()].map((task) => task.wave));
  state.tasks.set(
    END,
    openTask(endTask(event.red, state.blueprint.retry.agent, wave), "waiting", [IMPLEMENT]),
  );
}

function land(state: RunState, proven: EventData["proven"], at: number): void {
  const attempts = proven.landed.map(({ attempt }) => attempt);
  for (const id of attempts) Object.assign(state.attempts.get(id)?.task ?? {}, { state: "landed" });
  state.landings.push({ ...proven, at, attempts });
  Object.assign(state, { tip: proven.to, proven: null });
}

/** What an event changes in the attempt that it is about. */
function changeAttempt(attempt: AttemptState, event: Event): void {
  attempt.lastSign = event.at;
  if (KEPT.some((name) => name === event.event)) Object.assign(attempt, { [event.event]: event });
  if (event.event === "submitted" || event.event === "nothing") attempt.over = undefined;
  if (event.event === "not-landed" || (event.event === "ended" && !hasResult(attempt)))
    attempt.over = event;
  if (event.event === "not-landed") attempt.task.tried = attempt.task.attempts.length;
  if (event.event === "sent-back") attempt.sentBack.push(event);
  if (event.event === "objection") attempt.objections.push(event);
  if (
    event.event !== "evidence" ||
    !isMissed({ red: attempt.phase.red.includes(event.gate) }, event)
  )
    return;
  attempt.failures[event.gate] = (attempt.failures[event.gate] ?? 0) + 1;
}

/** Works out what each task's state is now. Dependencies come before what hangs on them. */
function settle(state: RunState): void {
  const { attempts, tasks, dispatches, blueprint, baseRed, baseAccepted } = state;
  const blameless = [...attempts.values()].filter(isLost).length;
  const steps = [...tasks.values()].reduce((sum, { phases }) => sum + straight(phases).length, 0);
  state.left = Math.max(0, blueprint.bounds.dispatches * steps - (dispatches - blameless));
  const red = (!baseAccepted && baseRed?.join(", ")) || "";
  for (const task of inOrder(state)) {
    const { phase, result, ...now } = progressOf(task, blueprint.bounds.cycles);
    Object.assign(task, { phase, result });
    if (task.state === "landed") continue;
    Object.assign(task, standing(state, task, now));
    if (!isDispatchable(task)) continue;
    if (red)
      Object.assign(task, {
        state: "needs-human",
        reason: "base-red",
        note: `Red on the base: ${red}.`,
      });
    else if (state.left === 0) Object.assign(task, { state: "needs-human", reason: "dispatches" });
  }
  state.done = ![...tasks.values()].some(isBusy) && !isEndDue(state);
}

/** What a worker touched may be riskier than what the task named. */
function raiseRisk(
  { blueprint, reviews }: RunState,
  task: TaskState,
  paths: readonly string[],
): void {
  const [risk] = riskOf(blueprint.risks, "", paths, "");
  if (isAtLeast(task.risk, risk)) return;
  const way = wayFor(task.way, risk, reviews);
  Object.assign(task, { risk, way, phases: phasesFor(way, risk) });
}

type Recent = Pick<Progress, "recent" | "isDoubted">;
function standing(
  { tasks, blueprint }: RunState,
  task: TaskState,
  { recent, isDoubted }: Recent,
): Standing {
  const { attempts, depends, phase } = task;
  const last = attempts.at(-1);
  const as = (state: State, reason: Reason | null = null, note = ""): Standing => ({
    state,
    reason,
    note,
  });
  if (last?.nothing) return as("skipped", null, last.nothing.why);
  if (recent?.over) {
    const { reason, note } = recent.over;
    const failed = attempts.filter(
      (each) => each.over && !each.isForgiven && each.phase === phase && !isLost(each),
    );
    // What another attempt would not change: a person has to agree, or to say no.
    const isPersons = endOf(reason).cause === "person" && !recent.isForgiven;
    if (isPersons || failed.length >= blueprint.bounds.attempts)
      return as("needs-human", reason, note);
    // Neither is the work's fault: it is simply to be done again on the line as it is now.
    return as(
      isLost(recent) || endOf(reason).cause === "line" ? "ready" : "verify-failed",
      reason,
      note,
    );
  }
  if (isDoubted) return as("needs-human", "findings", last?.submitted?.handoff);
  if (last && isActive(last)) return as("running");
  const isAsked = !phase && task.risk === "high" && last && !last.submitted?.byHand;
  if (isAsked)
    return as("needs-human", "high-risk", last.submitted?.verdict ? last.submitted.handoff : "");
  if (last) return as(phase ? "ready" : "mergeable");
  const before = depends.map((id) => tasks.get(id)?.state);
  if (before.includes("needs-human") || before.includes("blocked"))
    return as("blocked", "dependency");
  return as(before.every((each) => each === "landed" || each === "skipped") ? "ready" : "waiting");
}

/** Did something end the attempt that says nothing of the work? Then it counts against no bound. */
const isLost = ({ over }: AttemptState): boolean => endOf(over?.reason).cause === "nobody";

/** Did a rate limit end the last two attempts, with no result and no new session since? */
export const rateLimited = ({ limited }: RunState): boolean => limited >= 2;

/** May the task be given to a worker now, as far as its own state goes? */
export const isDispatchable = ({ state }: TaskState): boolean =>
  state === "ready" || state === "verify-failed";

/** Is there work of a task that is neither landed nor given up, in a phase after its first? */
export const isBetween = (task: TaskState): boolean =>
  isDispatchable(task) && task.phase !== task.phases[0];

/** Which tasks that conflict with this one are under way: dispatched, or between phases, and
 * neither landed nor over. */
export const rivalsOn = (state: RunState, id: string): string[] =>
  state.conflicts.flatMap((pair) => {
    const rival = pair.includes(id)
      ? state.tasks.get(pair[0] === id ? pair[1] : pair[0])
      : undefined;
    const isOn =
      rival && (rival.state === "running" || rival.state === "mergeable" || isBetween(rival));
    return isOn ? rival.id : [];
  });

/** Neither done nor aborted. */
export const isOpen = (state: RunState): boolean => !state.done && !state.aborted;

/** The ids of the tasks whose attempts these are. */
export const tasksOf = (state: RunState, attempts: readonly string[]): string[] =>
  attempts.flatMap((id) => state.attempts.get(id)?.task.id ?? []);

/** When an attempt ended, or undefined while it goes on. */
export const endedAt = ({ submitted, nothing, over }: AttemptState): number | undefined =>
  (submitted ?? nothing ?? over)?.at;

export const hasResult = ({ submitted, nothing }: AttemptState): boolean =>
  Boolean(submitted ?? nothing);

/** The branch that an attempt is put on: `minion/r1/2-post-endpoint.1`. */
export function branchOf({ id, task: { title } }: AttemptState): string {
  const words = title.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const slug = words.slice(0, 4).map((word) => `-${word.slice(0, 12)}`);
  return `minion/${id.replace(/(?=\.\d+$)/, slug.join(""))}`;
}

/** Is the attempt still a worker's to work on? */
export const isActive = (attempt: AttemptState): boolean => !attempt.over && !hasResult(attempt);

/** The tasks, each after what it depends on: waves were worked out before the run started, and
 * cycles refused. */
export const inOrder = ({ tasks }: RunState): TaskState[] =>
  [...tasks.values()].sort((a, b) => a.wave - b.wave);
