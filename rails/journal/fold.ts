import type { Phase } from "../blueprint/workflow.ts";
import { isAtLeast, riskOf } from "../plan/risk.ts";
import { type PlannedTask, parentOf } from "../plan/task.ts";
import { ownOf } from "../program/files.ts";
import {
  endRoundsLeft,
  endTask,
  IMPLEMENT,
  JUDGE,
  nextEnd,
  SUCCESS,
  successTask,
} from "./end-task.ts";
import type { Event, EventData, EventName } from "./events.ts";
import { isMissed } from "./passed.ts";
import { phasesFor, stepsIn, wayFor } from "./phases.ts";
import type { State } from "./shapes.ts";
import { settle } from "./standing.ts";
import {
  type AttemptState,
  activeOf,
  hasResult,
  type PlanChange,
  type RunState,
  type TaskState,
} from "./state.ts";

/** The state after the events of a journal.
 * @param first the one that starts the run
 * @param events all of them, the first among them
 * @param bad the numbers of lines that could not be read */
export function fold(
  first: Event<"started">,
  events: readonly Event[],
  bad: readonly number[],
): RunState {
  const state = stateAtStart(first, bad);
  for (const event of events) apply(state, event);
  settle(state);
  return state;
}

/** Shows a run as it stood after each of its events.
 * @param see it must not keep the state, which goes on */
export function replay(
  events: readonly Event[],
  see: (state: RunState, event: Event) => void,
): void {
  const first = events.find((event) => event.event === "started");
  if (!first) return;
  const state = stateAtStart(first, []);
  for (const event of events) {
    apply(state, event);
    if (!BRINGS_NOTHING_ON.has(event.event) || event.event === "owner") {
      settle(state);
      see(state, event);
    }
  }
}

/** The run before anything happened in it. */
function stateAtStart(first: Event<"started">, bad: readonly number[]): RunState {
  const open = (task: PlannedTask): TaskState => {
    return openTask(task, task.done ? "landed" : "waiting", wayOf(first, task));
  };
  return {
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
    merged: null,
    dropping: [],
    notDropped: "",
    isStale: false,
    proven: null,
    limited: 0,
    limitedUntil: 0,
    left: 0,
    done: false,
    aborted: false,
    baseRed: null,
    baseAccepted: false,
    seenAt: 0,
    spentBefore: 0,
    listed: first.tasks.length,
    changes: [],
    told: new Set(),
    forgottenAt: 0,
    notified: new Set(),
    notifiedAt: 0,
    waitedAt: 0,
    wokenAt: 0,
    wokenBy: null,
    toLaunch: new Set(),
    reminded: false,
  };
}

/** All phases that there are for a task in a run. */
const wayOf = (
  { workflows, reviews }: Pick<RunState, "workflows" | "reviews">,
  { workflow, risk }: Pick<PlannedTask, "workflow" | "risk">,
): readonly Phase[] => wayFor(ownOf(workflows, workflow) ?? [], risk, reviews);

/** The task as it stands before anything happened to it.
 * @param way all phases that there are for it, whatever its risk */
const openTask = (task: PlannedTask, state: State, way: readonly Phase[]): TaskState => ({
  ...task,
  planned: task,
  state,
  reason: null,
  note: "",
  heldBy: null,
  phase: null,
  result: undefined,
  way,
  phases: phasesFor(way, task.risk),
  attempts: [],
  extra: 0,
  tried: 0,
  anew: 0,
  picked: null,
  pickedBy: null,
  isClosed: false,
  wants: 0,
  isListed: false,
  leftOut: 0,
  notListed: null,
  whole: null,
  endedAt: 0,
  asked: task.ask,
  stop: task.ask || null,
  isDropped: false,
  added: "",
  words: [],
});

/** What somebody looks up, says or merges, also once a run is over: nothing happens to its tasks. */
const BRINGS_NOTHING_ON: ReadonlySet<EventName> = new Set([
  "spent",
  "job",
  "job-ended",
  "evidence",
  "merge-built",
  "merged",
  "owner",
  "reminded",
  "told",
  "forgotten",
  "sent-on",
  "woken",
  "notified",
]);

/** Takes an event into the state: first into the attempt that it is about, then into the run. */
function apply<N extends EventName>(state: RunState, event: Event<N>): void {
  if (!BRINGS_NOTHING_ON.has(event.event)) state.lastAt = Math.max(state.lastAt, event.at);
  // Both tables are keyed by the event's name: each reducer gets its own.
  const ofAttempt = OF_ATTEMPT[event.event] as AttemptReducer<N> | undefined;
  const ofRun = OF_RUN[event.event] as RunReducer<N> | undefined;
  const attempt = attemptOf(state, event);
  if (attempt) {
    attempt.lastSign = event.at;
    attempt.sleptBefore = event.slept ?? 0;
    ofAttempt?.(attempt, event, state);
  }
  ofRun?.(state, event);
}

/** The attempt that an event is about. */
function attemptOf(state: RunState, event: Event): AttemptState | undefined {
  if (event.event === "evidence")
    return event.by === "worker" ? state.attempts.get(event.attempts[0] ?? "") : undefined;
  return "attempt" in event ? state.attempts.get(event.attempt ?? "") : undefined;
}

type AttemptReducer<N extends EventName> = (
  attempt: AttemptState,
  event: Event<N>,
  state: RunState,
) => void;
type RunReducer<N extends EventName> = (state: RunState, event: Event<N>) => void;

/** What an event changes in the attempt that it is about, and in that one's task. What is not named
 * changes nothing but when it was last heard of. */
const OF_ATTEMPT: { [N in EventName]?: AttemptReducer<N> } = {
  launched(attempt, event) {
    attempt.launches.push(event);
  },
  begun(attempt, event) {
    attempt.begun = event;
  },
  refused(attempt, event) {
    attempt.refused = event;
  },
  evidence(attempt, event) {
    const isRedWanted = attempt.phase.red.includes(event.gate);
    if (!isMissed({ red: isRedWanted }, event)) return;
    attempt.failures[event.gate] = (ownOf(attempt.failures, event.gate) ?? 0) + 1;
  },
  "sent-back"(attempt, event) {
    attempt.sentBack.push(event);
  },
  objection(attempt, event) {
    attempt.objections.push(event);
  },
  measured(attempt, event) {
    attempt.measured = event;
  },
  submitted(attempt, event, state) {
    attempt.submitted = event;
    attempt.over = undefined;
    if (event.byHand) takeByHand(attempt, event.at);
    // What a person lands, or what comes late after all, is what happened to the task last.
    const { attempts } = attempt.task;
    attempts.push(...attempts.splice(attempts.indexOf(attempt), 1));
    raiseRisk(state, attempt.task, event.paths);
  },
  nothing(attempt, event) {
    attempt.nothing = event;
    attempt.over = undefined;
  },
  ended(attempt, event) {
    if (!hasResult(attempt)) attempt.over = event;
  },
  "not-landed"(attempt, event) {
    attempt.over = event;
    attempt.task.tried = attempt.task.attempts.length;
  },
};

/** What an event changes in the run. What is not named changes nothing but when it was last heard
 * of. */
const OF_RUN: { [N in EventName]?: RunReducer<N> } = {
  dispatched(state, event) {
    state.reminded = false;
    addAttempt(state, event);
  },
  launched(state) {
    state.reminded = false;
  },
  job(state, event) {
    state.jobs.set(event.name, event);
    if (event.name === `wait ${state.run}`) state.waitedAt = event.at;
  },
  "job-ended"(state, event) {
    if (state.jobs.delete(event.name)) state.errors.set(event.name, event.error);
  },
  evidence(state, event) {
    state.evidence.push(event);
  },
  submitted: unlimit,
  nothing: unlimit,
  ended(state, event) {
    if (event.reason !== "rate-limit") return unlimit(state);
    state.limited++;
    state.limitedUntil = Math.max(state.limitedUntil, event.until ?? 0);
  },
  proven(state, event) {
    state.proven = event;
  },
  landed(state, event) {
    state.reminded = false;
    if (state.proven?.to === event.to) land(state, state.proven, event.at);
  },
  "base-checked"(state, event) {
    state.baseRed = event.red;
    state.reminded = false;
  },
  "base-accepted"(state) {
    state.baseAccepted = true;
  },
  "end-checked"(state, event) {
    state.end = event;
    state.isStale = false;
    const isToJudge = state.successWords !== "" && !state.tasks.has(SUCCESS);
    if (event.red === null && isToJudge) addSuccessTask(state);
    if (event.red !== null) addEndTask(state, event.red, event.checks ?? []);
  },
  "merge-built"(state, event) {
    state.built = event;
  },
  merged(state, event) {
    state.merged = event;
  },
  spent(state, event) {
    state.spent.set(event.transcript, event);
  },
  picked(state, event) {
    const task = state.tasks.get(event.task);
    if (task) Object.assign(task, { picked: event.attempt, pickedBy: event.by });
  },
  "variants-closed"(state, event) {
    const task = state.tasks.get(event.task);
    if (task) task.isClosed = true;
  },
  "not-listed"(state, event) {
    const task = state.tasks.get(event.task);
    if (task) task.notListed = event.note;
  },
  "whole-checked"(state, event) {
    const task = state.tasks.get(event.task);
    if (task) task.whole = event;
  },
  changed: changePlan,
  "rails-changed"(state, event) {
    const { blueprint, gates, setup, workflows, reviews } = event;
    Object.assign(state, { blueprint, gates, setup, workflows, reviews });
    // What is new among the gates was never seen on the base.
    state.baseRed = null;
    state.baseAccepted = false;
    state.isStale = true;
    for (const task of state.tasks.values()) rephase(state, task);
  },
  stopped(state, event) {
    const task = state.tasks.get(event.task);
    if (!task) return;
    task.stop = event.question;
    task.asked = event.question || task.asked;
  },
  dropped(state, event) {
    // What a planner takes out is nothing that it has not seen: it does not come again for that.
    const at = state.attempts.get(event.by ?? "")?.begun?.at ?? event.at;
    for (const id of event.tasks) drop(state.tasks.get(id), at);
  },
  dropping(state, event) {
    state.dropping = [...new Set([...state.dropping, ...event.tasks])];
    state.notDropped = "";
  },
  "not-dropped"(state, event) {
    state.dropping = without(state.dropping, event.tasks);
    state.notDropped = event.note;
  },
  told(state, event) {
    for (const key of event.keys) state.told.add(key);
  },
  forgotten(state, event) {
    state.told.clear();
    state.toLaunch = new Set();
    state.forgottenAt = event.at;
  },
  notified(state, event) {
    for (const key of event.keys) state.notified.add(key);
    state.notifiedAt = event.at;
  },
  "sent-on"(state, event) {
    state.waitedAt = event.at;
  },
  woken(state, event) {
    state.wokenAt = event.at;
    state.wokenBy = event.process;
    state.toLaunch = new Set(event.attempts);
  },
  retried(state, event) {
    const task = state.tasks.get(event.task);
    if (!task) return;
    if (event.words) task.words = [...task.words, event.words];
    if (task.each && task.isDropped) restoreParts(state, task);
    task.stop = null;
    task.isDropped = false;
    task.isClosed = false;
    task.notListed = null;
    task.whole = null;
    task.extra = state.blueprint.bounds.dispatches * stepsIn(task.phases);
    for (const attempt of task.attempts)
      attempt.isForgiven =
        attempt.over !== undefined ||
        attempt.submitted?.verdict === "fail" ||
        attempt.phase.rounds !== undefined;
  },
  owner(state, event) {
    state.session = event.session;
    state.owner = event.owner;
    state.budget = event.budget ?? state.budget;
    state.spentBefore = event.dollars ?? state.spentBefore;
    state.seenAt = event.at;
    state.told.clear();
    state.toLaunch = new Set();
    unlimit(state);
    state.reminded = false;
  },
  reminded(state) {
    state.reminded = true;
  },
  aborted(state) {
    state.aborted = true;
  },
};

/** Something came through, or somebody says that it will. */
function unlimit(state: RunState): void {
  state.limited = 0;
  state.limitedUntil = 0;
}

/** Adds the attempt that was dispatched; none where nobody knows its task or phase, or where it is
 * there already. */
function addAttempt(state: RunState, event: Event<"dispatched">): void {
  const task = state.tasks.get(event.task);
  const phase = task?.way.find(({ name }) => name === event.phase);
  if (!task || !phase || state.attempts.has(event.attempt)) return;
  const attempt: AttemptState = {
    id: event.attempt,
    task,
    phase,
    agent: event.agent ?? "",
    model: event.model ?? "",
    variant: event.variant ?? 0,
    order: event.order ?? [],
    left: 0,
    isExtra: task.extra > 0,
    isForgiven: false,
    failures: {},
    launches: [],
    sentBack: [],
    objections: [],
    dispatchedAt: event.at,
    lastSign: event.at,
    sleptBefore: event.slept ?? 0,
  };
  task.extra = Math.max(0, task.extra - 1);
  task.attempts.push(attempt);
  state.attempts.set(attempt.id, attempt);
}

/** Adds a task that mends what is red at the end, after all others, where one more may be.
 * @param red in words what is
 * @param checks the commands that show it mended, beside the gates */
function addEndTask(state: RunState, red: string, checks: readonly string[]): void {
  const id = nextEnd(state);
  if (id === null) return;
  const waves = [...state.tasks.values()].map(({ wave }) => wave);
  const { agent } = state.blueprint.retry;
  const task = {
    ...endTask(red, agent, 1 + Math.max(...waves)),
    id,
    verify: checks.join("\n"),
    checks,
  };
  const phase = { ...IMPLEMENT, rounds: endRoundsLeft(state) };
  state.tasks.set(id, openTask(task, "waiting", [phase]));
}

/** Adds the task that judges the whole, after all others. */
function addSuccessTask(state: RunState): void {
  const waves = [...state.tasks.values()].map(({ wave }) => wave);
  const task = successTask(state.successWords, 1 + Math.max(...waves));
  state.tasks.set(SUCCESS, openTask(task, "waiting", [JUDGE]));
}

const without = (ids: readonly string[], others: readonly string[]): string[] =>
  ids.filter((id) => !others.includes(id));

/** Moves the line to what was proven. */
function land(state: RunState, proven: EventData["proven"], at: number): void {
  const attempts = proven.landed.map(({ attempt }) => attempt);
  for (const id of attempts) {
    const task = state.attempts.get(id)?.task;
    if (task) Object.assign(task, { state: "landed", endedAt: at });
  }
  for (const id of proven.dropped ?? []) drop(state.tasks.get(id), at);
  state.dropping = without(state.dropping, proven.dropped ?? []);
  state.landings.push({ ...proven, at, attempts });
  state.tip = proven.to;
  state.proven = null;
  state.isStale = false;
}

/** Who adds tasks by a change. */
function addedBy({ by, listed, session, loosened }: Event<"changed">): TaskState["added"] {
  if (listed) return "each";
  if (by) return "planner";
  return session === "" || loosened.length > 0 ? "person" : "session";
}

/** Takes in the plan as it was changed. What is at work or has landed is not among what changes. */
function changePlan(state: RunState, event: Event<"changed">): void {
  state.workflows = { ...state.workflows, ...event.workflows };
  const added = addedBy(event);
  const planner = state.attempts.get(event.by ?? "");
  if (planner) planner.left += event.tasks.filter(({ id }) => !state.tasks.has(id)).length;
  const before: PlannedTask[] = [];
  const stops = new Map<string, string | null>();
  const undone = event.isUndo ? state.changes.at(-1) : undefined;
  for (const planned of event.tasks) {
    const task = state.tasks.get(planned.id);
    if (task) {
      before.push(task.planned);
      stops.set(task.id, task.stop);
      // What its work touched is known already, and may be riskier than its words.
      const isRisky = task.result !== undefined && isAtLeast(task.risk, planned.risk);
      const risk = isRisky ? task.risk : planned.risk;
      const stop = undone ? stopBefore(undone, task) : stopAfter(task, planned);
      forgetCounted(task, planned);
      const asked = planned.ask || task.asked;
      Object.assign(task, planned, { planned, risk, asked, stop });
      rephase(state, task);
    } else {
      const opened = openTask(planned, "waiting", wayOf(state, planned));
      state.tasks.set(planned.id, { ...opened, added });
    }
  }
  for (const id of event.removed) state.tasks.delete(id);
  for (const task of state.tasks.values()) task.wave = ownOf(event.waves, task.id) ?? task.wave;
  state.conflicts = event.conflicts;
  state.priority = event.priority;
  const listed = state.tasks.get(event.listed ?? "");
  if (listed)
    Object.assign(listed, { isListed: true, leftOut: event.leftOut ?? 0, endedAt: event.at });
  if (event.isUndo) state.changes.pop();
  else if (!listed && !planner) state.changes.push({ event, before, stops });
  state.reminded = false;
}

/** What a task's commands said counts for nothing once they are others. */
function forgetCounted(task: TaskState, { each, measure, checks }: PlannedTask): void {
  if (each !== task.each) task.notListed = null;
  if (`${checks}` !== `${task.checks}`) task.whole = null;
  if (measure !== task.measure) for (const attempt of task.attempts) delete attempt.measured;
}

/** What a task waits for once its words are others: also a question that is new. */
const stopAfter = ({ stop, planned: before }: TaskState, { ask }: PlannedTask): string | null =>
  ask !== "" && ask !== before.ask ? ask : stop;

/** What a task waits for once a change of it is taken back: what it asked there is asked no more. */
function stopBefore({ event, stops }: PlanChange, { id, stop }: TaskState): string | null {
  const asked = event.tasks.find((task) => task.id === id)?.ask;
  return asked && asked === stop ? (stops.get(id) ?? null) : stop;
}

/** The phases of a task whose words or rails are others now. Those that it went through stay as they
 * were; where they are in no way any more, so does all of it. */
function rephase(state: RunState, task: TaskState): void {
  const gone = new Map(task.attempts.map(({ phase }) => [phase.name, phase]));
  const way = wayOf(state, task).map((phase) => gone.get(phase.name) ?? phase);
  const isKept = [...gone.values()].every((phase) => way.includes(phase));
  if (way.length === 0 || !isKept) return;
  task.way = way;
  task.phases = phasesFor(way, task.risk);
}

/** Nothing is to be done any more: what was at work is over, by nobody's fault, and what there is of
 * it counts for nothing. */
function drop(task: TaskState | undefined, at: number): void {
  if (!task) return;
  const note = "The task was dropped.";
  for (const attempt of task.attempts) {
    attempt.isForgiven = true;
    const { id } = attempt;
    attempt.over ??= { event: "ended", at, attempt: id, reason: "dropped", note };
  }
  Object.assign(task, { state: "dropped", isDropped: true, stop: null, endedAt: at, picked: null });
  task.tried = task.attempts.length;
  task.anew = task.attempts.length;
}

/** What was listed is frozen: where the whole is to be done after all, so are those of its parts that
 * were dropped with it. */
function restoreParts({ tasks }: RunState, whole: TaskState): void {
  for (const task of tasks.values())
    if (parentOf(task.id) === whole.id && task.endedAt >= whole.endedAt) task.isDropped = false;
}

/** A person lands what there is of an attempt: who is at another one of its task works for nothing. */
function takeByHand({ id, task }: AttemptState, at: number): void {
  Object.assign(task, { stop: null, isDropped: false, anew: 0, picked: id, pickedBy: "person" });
  const note = `A person landed ${id}.`;
  for (const other of activeOf(task))
    other.over = { event: "ended", at, attempt: other.id, reason: "changed", note };
}

/** What a worker touched may be riskier than what the task named. */
function raiseRisk(state: RunState, task: TaskState, paths: readonly string[]): void {
  const { risk } = riskOf(state.blueprint.risks, "", paths, "");
  if (isAtLeast(task.risk, risk)) return;
  task.risk = risk;
  task.way = wayFor(task.way, risk, state.reviews);
  task.phases = phasesFor(task.way, risk);
}
