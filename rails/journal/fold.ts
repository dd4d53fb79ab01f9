import type { Phase } from "../blueprint/workflow.ts";
import { isAtLeast, riskOf } from "../plan/risk.ts";
import type { PlannedTask } from "../plan/task.ts";
import { END, endTask, IMPLEMENT, isBusy, isEndDue } from "./end-task.ts";
import type { Event, EventData, EventName } from "./events.ts";
import { isMissed } from "./evidence.ts";
import { type Progress, phasesFor, progressOf, straight, wayFor } from "./phases.ts";
import { endOf, type Reason, type State } from "./shapes.ts";
import {
  type AttemptState,
  hasResult,
  inOrder,
  isActive,
  isDispatchable,
  isLost,
  type RunState,
  type Standing,
  type TaskState,
} from "./state.ts";

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
  for (const event of events) reduce(state, event);
  settle(state);
  return state;
}

/** The task as it stands before anything happened to it.
 * @param way all phases that there are for it, whatever its risk */
const openTask = (task: PlannedTask, state: State, way: readonly Phase[]): TaskState => ({
  ...task,
  state,
  reason: null,
  note: "",
  phase: null,
  result: undefined,
  way,
  phases: phasesFor(way, task.risk),
  attempts: [],
  tried: 0,
});

/** What an event changes in the run, by its name. What is not named changes nothing but what was
 * heard last. */
type Reducers = { [N in EventName]?: (state: RunState, event: Event<N>) => void };

function reduce<N extends EventName>(state: RunState, event: Event<N>): void {
  // What was used is taken down whenever somebody looks.
  if (event.event !== "spent") state.lastAt = Math.max(state.lastAt, event.at);
  const attempt = attemptOf(state, event);
  if (attempt) attempt.lastSign = event.at;
  // The name of the event is what the table is keyed by: each gets its own.
  (REDUCERS[event.event] as ((state: RunState, event: Event<N>) => void) | undefined)?.(
    state,
    event,
  );
}

/** The attempt that an event is about. */
function attemptOf(state: RunState, event: Event): AttemptState | undefined {
  if (event.event === "evidence")
    return event.by === "worker" ? state.attempts.get(event.attempts[0] ?? "") : undefined;
  return "attempt" in event ? state.attempts.get(event.attempt ?? "") : undefined;
}

const REDUCERS: Reducers = {
  dispatched(state, event) {
    dispatch(state, event);
    state.reminded = false;
  },
  launched(state, event) {
    Object.assign(attemptOf(state, event) ?? {}, { launched: event });
    state.reminded = false;
  },
  begun: (state, event) => void Object.assign(attemptOf(state, event) ?? {}, { begun: event }),
  refused: (state, event) => void Object.assign(attemptOf(state, event) ?? {}, { refused: event }),
  job: (state, event) => void state.jobs.set(event.name, event),
  "job-ended"(state, event) {
    if (state.jobs.delete(event.name)) state.errors.set(event.name, event.error);
  },
  evidence(state, event) {
    state.evidence.push(event);
    const attempt = attemptOf(state, event);
    if (!attempt || !isMissed({ red: attempt.phase.red.includes(event.gate) }, event)) return;
    attempt.failures[event.gate] = (attempt.failures[event.gate] ?? 0) + 1;
  },
  "sent-back": (state, event) => void attemptOf(state, event)?.sentBack.push(event),
  objection: (state, event) => void attemptOf(state, event)?.objections.push(event),
  submitted(state, event) {
    state.limited = 0;
    const attempt = attemptOf(state, event);
    if (!attempt) return;
    attempt.submitted = event;
    attempt.over = undefined;
    raiseRisk(state, attempt.task, event.paths);
  },
  nothing(state, event) {
    state.limited = 0;
    Object.assign(attemptOf(state, event) ?? {}, { nothing: event, over: undefined });
  },
  ended(state, event) {
    state.limited = event.reason === "rate-limit" ? state.limited + 1 : 0;
    const attempt = attemptOf(state, event);
    if (attempt && !hasResult(attempt)) attempt.over = event;
  },
  "not-landed"(state, event) {
    const attempt = attemptOf(state, event);
    if (!attempt) return;
    attempt.over = event;
    attempt.task.tried = attempt.task.attempts.length;
  },
  proven: (state, event) => void Object.assign(state, { proven: event }),
  landed(state, event) {
    if (state.proven?.to === event.to) land(state, state.proven, event.at);
    state.reminded = false;
  },
  "base-checked"(state, event) {
    state.baseRed = event.red;
    state.reminded = false;
  },
  "base-accepted": (state) => void Object.assign(state, { baseAccepted: true }),
  "end-checked": checkEnd,
  "merge-built": (state, event) => void Object.assign(state, { built: event }),
  spent: (state, event) => void state.spent.set(event.transcript, event),
  retried(state, event) {
    for (const attempt of state.tasks.get(event.task)?.attempts ?? [])
      attempt.isForgiven = attempt.over !== undefined || attempt.submitted?.verdict === "fail";
  },
  owner(state, event) {
    const { session, owner, at, budget = state.budget, dollars = state.spentBefore } = event;
    Object.assign(state, { session, owner, budget, spentBefore: dollars, seenAt: at });
    state.limited = 0;
    state.reminded = false;
  },
  reminded: (state) => void Object.assign(state, { reminded: true }),
  aborted: (state) => void Object.assign(state, { aborted: true }),
};

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
  const { risk } = riskOf(blueprint.risks, "", paths, "");
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
