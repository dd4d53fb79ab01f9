import type { Phase } from "../blueprint/workflow.ts";
import { withDependents } from "../plan/dependencies.ts";
import type { PlannedTask } from "../plan/task.ts";
import type { ProcessMark } from "../program/process.ts";
import type { Event, EventData } from "./events.ts";
import { endOf, type Reason, type State } from "./shapes.ts";

/** Of each of these an attempt keeps the last. */
type Kept = { [N in "begun" | "refused" | "submitted" | "nothing" | "measured"]?: Event<N> };

/** One worker's try at a task. */
export interface AttemptState extends Kept {
  readonly id: string;
  readonly task: TaskState;
  readonly phase: Phase;
  readonly agent: string; // Expertise beyond the task's own; empty where there is none
  readonly model: string; // As Claude Code names it; empty: the session's own
  readonly variant: number; // Which of several that are to be chosen from; 0 where it is alone
  readonly order: readonly string[]; // Those attempts, as it is to see them that chooses
  left: number; // Tasks that it left, where it plans
  // How it ended without a result, or why its result did not land
  over?: Event<"ended" | "not-landed"> | undefined;
  isExtra: boolean; // By a person's word, beside the run's bound of dispatches
  isForgiven: boolean; // It counts against no bound: a person let the task be tried again
  // Its agents: more than one where the first was told of late
  readonly launches: Event<"launched">[];
  readonly failures: Record<string, number>; // Failed runs by gate
  readonly sentBack: Event<"sent-back">[];
  readonly objections: Event<"objection">[];
  readonly dispatchedAt: number;
  lastSign: number; // When it was last heard of …
  sleptBefore: number; // … and how long the machine had slept by then, in milliseconds
}

/** A task's state, and why it is in it; `heldBy`: where it waits only for a task that it is made of,
 * which one. */
export type Standing = { state: State; reason: Reason | null; note: string; heldBy: string | null };

/** A task of the list as the run has brought it on. */
export interface TaskState extends Omit<PlannedTask, "risk" | "wave">, Standing {
  wave: number;
  planned: PlannedTask; // As the list has it, or the last change
  risk: PlannedTask["risk"]; // Raised by what its work touches
  way: readonly Phase[]; // All phases that there are for it …
  phases: readonly Phase[]; // … and those for its risk
  phase: Phase | null; // The one that is on or comes next; null where the last is over
  result: AttemptState | undefined; // Whose commits are what there is of it
  readonly attempts: AttemptState[];
  extra: number; // Dispatches that a person's word gave it, beside the run's bound
  asked: string; // The last question that it waited for; empty where there was none
  stop: string | null; // Nobody works at it: with what question, or empty; null where somebody may
  isDropped: boolean; // Not to be done
  // Who added it while the run went on; empty: of the list
  added: "" | "session" | "person" | "planner" | "each";
  words: readonly string[]; // What a person said of it since, oldest first
  tried: number; // How many attempts there were when last something of it did not land …
  anew: number; // … and when it last began from the start
  picked: string | null; // The attempt that was chosen among variants …
  pickedBy: Event<"picked">["by"] | "person" | null; // … and by what
  isClosed: boolean; // No more variants of it are started
  wants: number; // How many workers are to be started for it now
  isListed: boolean; // Its `Each:` has listed what it is made of …
  leftOut: number; // … without so many lines that were blank or there already …
  notListed: string | null; // … or could not, in words
  whole: Event<"whole-checked"> | null; // How its own `Verify:` came out last, where others do it
  endedAt: number; // When it landed, was dropped, or listed what it is made of; 0 while neither
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** What a run began with, and keeps, unless a person changes the plan or takes new rails. */
type Frozen = Omit<EventData["started"], "tasks" | "version" | "session" | "owner" | "budget">;

/** A change of the plan, and what it changed as that was before; `stops`: what those tasks waited
 * for, by their ids. */
export type PlanChange = Readonly<{
  event: Event<"changed">;
  before: readonly PlannedTask[];
  stops: ReadonlyMap<string, string | null>;
}>;

/** A run as its journal tells it. Built by `fold`, changed by nobody else. */
export interface RunState extends Writable<Frozen> {
  session: string; // Whose it is now: this session's …
  owner: ProcessMark | null; // … in this process of the client
  budget: number | null; // Dollars after which nothing more is dispatched
  tip: string; // Where the line stands, as far as the journal knows
  // Gates that are red on the base; null where it was not looked at yet
  baseRed: readonly string[] | null;
  baseAccepted: boolean; // A person goes on over that: what fails there as well does not count
  readonly tasks: Map<string, TaskState>;
  readonly attempts: Map<string, AttemptState>;
  // Started and not known to have ended; its process may be gone
  readonly jobs: Map<string, Event<"job">>;
  readonly errors: Map<string, string | null>; // Of jobs that ended: what broke them
  readonly evidence: Event<"evidence">[];
  readonly landings: Readonly<EventData["proven"] & { at: number; attempts: readonly string[] }>[];
  end: Event<"end-checked"> | null; // How the gates for the end came out last
  readonly spent: Map<string, Event<"spent">>; // By transcript, as far as it was taken down
  built: Event<"merge-built"> | null; // The newest merge that was tried
  merged: Event<"merged"> | null; // Where it was merged last
  dropping: readonly string[]; // Landed tasks that are to be taken back from the line
  notDropped: string; // Why that could not be done, the last time
  isStale: boolean; // What landed was proven by other rails than those in force
  proven: EventData["proven"] | null; // The line was about to move there when the journal ends
  limited: number; // Attempts in a row, up to now, that a rate limit ended
  limitedUntil: number; // When the limit is over that ended one, as far as that was told; else 0
  left: number; // How many more there may be: those that were lost by nobody's fault do not count
  readonly listed: number; // So many tasks had its list
  readonly changes: PlanChange[]; // Of the plan, oldest first, without those that were undone
  readonly told: Set<string>; // What its session was told, by keys …
  forgottenAt: number; // … since it last lost that
  readonly notified: Set<string>; // What the person was called for, by keys …
  notifiedAt: number; // … and when that was last
  waitedAt: number; // When somebody last began to wait in its place, or it was told to go on
  wokenAt: number; // When who waited in its place woke it last …
  wokenBy: ProcessMark | null; // … and in which process
  toLaunch: ReadonlySet<string>; // The attempts for which alone it was woken last
  reminded: boolean; // Its session was told that work is ready, and nothing has come of it yet
  done: boolean; // Nothing is running, ready or mergeable
  aborted: boolean;
  seenAt: number; // When the run was last resumed: what was alarming before that has been seen …
  spentBefore: number; // … and so many dollars with it
  readonly startedAt: number;
  lastAt: number; // When something last happened to its tasks
  readonly bad: readonly number[]; // Lines of the journal that could not be read
}

/** Did nobody start a worker for it, as far as is known? What ended as only a worker's can had one. */
export const isUnlaunched = (attempt: AttemptState): boolean => {
  const { launches, begun, over } = attempt;
  const isSeen = launches.length > 0 || begun !== undefined;
  return !isSeen && !hasResult(attempt) && (over?.reason ?? "never-began") === "never-began";
};

/** Did something end the attempt that says nothing of the work, or was there never a worker? Then it
 * counts against no bound. */
export const isLost = (attempt: AttemptState): boolean =>
  endOf(attempt.over?.reason).cause === "nobody" || isUnlaunched(attempt);

/** Is there no use in starting anything? Up to the time at which a limit ends; where that was not
 * told, once it has ended the last two attempts, with no result and no new session since.
 * @param now milliseconds since 1970 */
export const rateLimited = ({ limited, limitedUntil }: RunState, now: number): boolean =>
  limitedUntil > 0 ? now < limitedUntil : limited >= 2;

/** May the task be given to a worker now, as far as its own state goes? */
export const isDispatchable = ({ state }: TaskState): boolean =>
  state === "ready" || state === "verify-failed";

/** Is there work of a task that is neither landed nor given up, after its first worker? */
export const isBetween = (task: TaskState): boolean =>
  isDispatchable(task) && (task.phase !== task.phases[0] || isHandedIn(task.result));

const isHandedIn = (attempt: AttemptState | undefined): boolean =>
  attempt?.submitted !== undefined && !attempt.over;

/** The attempts of a task at which somebody is: several where they are to be chosen from. */
export const activeOf = ({ attempts }: Pick<TaskState, "attempts">): AttemptState[] =>
  attempts.filter(isActive);

/** Which tasks that conflict with this one are under way: dispatched, or between phases, and
 * neither landed nor over. */
export function rivalsOn(state: RunState, id: string): string[] {
  const rivals: string[] = [];
  for (const [one, other] of state.conflicts) {
    if (one !== id && other !== id) continue;
    const rival = state.tasks.get(one === id ? other : one);
    if (rival && isUnderWay(rival)) rivals.push(rival.id);
  }
  return rivals;
}

const isUnderWay = (task: TaskState): boolean =>
  task.state === "running" || task.state === "mergeable" || isBetween(task);

/** Neither done nor aborted. */
export const isOpen = (state: RunState): boolean => !state.done && !state.aborted;

/** Can nothing go on by itself, while something is a person's to decide? */
export const isWaiting = ({ done, aborted, tasks }: RunState): boolean =>
  done && !aborted && [...tasks.values()].some(({ state }) => state === "needs-human");

/** The ids of the tasks whose attempts these are; none of attempts that the run does not know. */
export const tasksOf = (state: RunState, attempts: readonly string[]): string[] =>
  attempts.flatMap((id) => state.attempts.get(id)?.task.id ?? []);

/** When an attempt ended, or undefined while it goes on. */
export const endedAt = ({ submitted, nothing, over }: AttemptState): number | undefined =>
  (submitted ?? nothing ?? over)?.at;

/** Did it hand something in, or say that there is nothing to do? */
export const hasResult = ({ submitted, nothing }: AttemptState): boolean =>
  Boolean(submitted ?? nothing);

/** An attempt that has a worktree and a branch of its own. */
type Begun = AttemptState & { readonly begun: Event<"begun"> };

/** The attempts of a task that have a branch, newest first. */
export const withBranches = ({ attempts }: TaskState): Begun[] =>
  attempts
    .filter((each): each is Begun => each.begun !== undefined)
    .sort((a, b) => b.begun.at - a.begun.at);

/** Those of them on whose branches a worker was to leave something. */
export const withWork = (task: TaskState): Begun[] =>
  withBranches(task).filter(({ phase }) => phase.writes);

/** The branch that an attempt is put on: `minion/r1/2-post-endpoint.1` for `r1/2.1`. */
export function branchOf({ id, task }: AttemptState): string {
  const words = task.title.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const slug = words.slice(0, 4).map((word) => `-${word.slice(0, 12)}`);
  return `minion/${id.replace(/(?=\.\d+$)/, slug.join(""))}`;
}

/** Is the attempt still a worker's to work on? */
export const isActive = (attempt: AttemptState): boolean => !attempt.over && !hasResult(attempt);

/** Which tasks hang on some, by however many steps, are not among them, and were not dropped. */
export function dependentsLeft(state: RunState, ids: readonly string[]): string[] {
  const left = inOrder(state).filter((task) => !task.isDropped && task.state !== "skipped");
  return [...withDependents(ids, left)].filter((id) => !ids.includes(id));
}

/** The tasks, each after what it depends on: waves were worked out before the run started, and
 * cycles refused. */
export const inOrder = ({ tasks }: RunState): TaskState[] =>
  [...tasks.values()].sort((a, b) => a.wave - b.wave);
