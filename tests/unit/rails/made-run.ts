import type { Event, EventData, NewEvent } from "../../../rails/journal/events.ts";
import { fold } from "../../../rails/journal/fold.ts";
import { changedEvent, heldIn } from "../../../rails/journal/replan.ts";
import type { RunState } from "../../../rails/journal/state.ts";
import { changeTo } from "../../../rails/plan/change.ts";
import { listedTasks } from "../../../rails/plan/each.ts";
import { makePlan } from "../../../rails/plan/plan.ts";
import type { PlannedTask } from "../../../rails/plan/task.ts";
import { ONE_PHASE, phasesOf, startedWith } from "./run.ts";

// Runs with tasks that are made of others, that come again, and of which there are several.

const WORKFLOWS = {
  ...ONE_PHASE,
  area: phasesOf("- {name: plan, tasks: 12, rounds: 12}"),
  loop: phasesOf("- {name: implement, rounds: 6}"),
  choice: phasesOf(
    "- {name: ways, writes: false}\n- {name: implement, variants: 3}\n- {name: choose, picks: implement}",
  ),
  look: phasesOf("- {name: look, writes: false}"),
};

/** What happens next: events, or one that is made from the run as it is then. */
export type Step = NewEvent | readonly NewEvent[] | ((state: RunState) => NewEvent);

/** A run of a list whose base is green, each event a second after the one before. */
export function madeRun(list: string, ...steps: readonly Step[]): RunState {
  const [first, ...rest] = madeEvents(list, steps);
  return fold(first, [first, ...rest], []);
}

/** The journal of such a run. */
export function madeEvents(list: string, steps: readonly Step[]): [Event<"started">, ...Event[]] {
  const first = startedWith(list, { workflows: WORKFLOWS });
  const events: [Event<"started">, ...Event[]] = [first];
  const add = (event: NewEvent): void =>
    void events.push({ at: events.length * 1000, ...event } as Event);
  add({ event: "base-checked", red: [] });
  for (const step of steps) {
    const made = typeof step === "function" ? step(fold(first, events, [])) : step;
    for (const event of [made].flat()) add(event);
  }
  return events;
}

const idOf = (task: string, n: number): string => `r1/${task}.${n}`;

export const begun = (task: string, n = 1, phase = "implement", variant = 0): NewEvent[] => {
  const where = { worktree: "w", branch: `minion/r1/${task}.${n}`, base: "b", foundBranch: "f" };
  const which = variant > 0 ? { variant } : {};
  const attempt = idOf(task, n);
  return [
    { event: "dispatched", task, attempt, phase, ...which },
    { event: "launched", attempt, agent: `a${task}-${n}` },
    { event: "begun", attempt, ...where },
  ];
};

/** @param more what is other about it, as the gates that a round left red */
export const handedIn = (
  task: string,
  n = 1,
  more: Partial<EventData["submitted"]> = {},
): NewEvent => {
  const head = `h${task}${n}`;
  const result = { head, tree: `t${task}${n}`, commits: [head], paths: ["src/a.ts"], deleted: [] };
  return { event: "submitted", attempt: idOf(task, n), handoff: "It.", ...result, ...more };
};

export const ended = (task: string, n = 1): NewEvent => {
  return { event: "ended", attempt: idOf(task, n), reason: "gate-failed", note: "" };
};

/** A worker's gate that is red, and by which lines. */
export const red = (task: string, n: number, ...errors: string[]): NewEvent => ({
  event: "evidence",
  gate: "verify",
  by: "worker",
  attempts: [idOf(task, n)],
  tree: `t${task}${n}`,
  changed: [],
  made: [],
  command: "npm test",
  cwd: "",
  setup: "",
  code: 1,
  untested: false,
  known: false,
  ms: 1,
  errors,
  output: "o",
});

/** A round that is handed in red. */
export const round = (task: string, n: number, ...errors: string[]): NewEvent[] => [
  ...begun(task, n),
  red(task, n, ...errors),
  handedIn(task, n, { red: ["verify"], handoff: `Tried ${n}.` }),
];

export const landed = (task: string, n = 1): NewEvent[] => {
  const to = `l${task}.${n}`;
  const own = [{ attempt: idOf(task, n), commits: [`h${task}${n}`] }];
  return [
    { event: "proven", from: "b", to, tree: "t", landed: own },
    { event: "landed", to },
  ];
};

export const done = (task: string): NewEvent[] => [...begun(task), handedIn(task), ...landed(task)];

/** Two workers in a row that came to nothing: a person is asked. */
export const stuck = (task: string): NewEvent[] => [
  ...begun(task, 1),
  ended(task, 1),
  ...begun(task, 2),
  ended(task, 2),
];

const changed = (
  state: RunState,
  tasks: readonly PlannedTask[],
  more: Partial<EventData["changed"]>,
): NewEvent => changedEvent(state, changeTo(heldIn(state), [], tasks), tasks, more);

/** The task's `Each:` lists these. */
export const listing =
  (task: string, lines: readonly string[], leftOut = 0) =>
  (state: RunState): NewEvent => {
    const planned = state.tasks.get(task)?.planned as PlannedTask;
    return changed(state, listedTasks(planned, lines), { listed: task, leftOut });
  };

/** A visit of an area's planner, who leaves these tasks: `A/1`, or `A/2 area` for an area. */
export const visit = (area: string, n: number, ...left: string[]): Step[] => [
  ...begun(area, n, "plan").map((event) => [event]),
  (state) => {
    const tasks = left.map((each) => {
      const [id = "", workflow = ""] = each.split(" ");
      const [task] = makePlan(`### Task 1: Part ${id}\n`, "list").tasks;
      return { ...(task as PlannedTask), id, workflow };
    });
    return changed(state, tasks, { by: idOf(area, n) });
  },
  handedIn(area, n, { paths: [], handoff: `Page ${n}.` }),
];
