import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { overlaysAt } from "../blueprint/layers.ts";
import type { Place } from "../git/repository.ts";
import type { NewEvent } from "../journal/events.ts";
import type { Journal } from "../journal/journal.ts";
import { changedEvent, heldIn, isToPlan } from "../journal/replan.ts";
import { type AttemptState, activeOf, type RunState } from "../journal/state.ts";
import { type Change, changeTo, errorsIn, readChange } from "../plan/change.ts";
import { type Finding, finding, type PlannedTask, parentOf } from "../plan/task.ts";
import { writeList } from "../plan/write-list.ts";
import { Fault } from "../program/fault.ts";
import { withChecks } from "./checks.ts";
import { type Rails, railsAt, withWorkflow } from "./planned.ts";
import { isPlanners, refuseBeyond } from "./planner.ts";

/** A change of a run's plan that could be made. */
export type Changed = Readonly<{
  event: Extract<NewEvent, { event: "changed" }>;
  added: readonly string[];
  reworded: readonly string[];
  findings: readonly Finding[];
}>;

/** So many tasks at least a session may add to a list, however short that was. */
const LEAST_ADDED = 3;

/** Reads a list that is to change a run's plan, and changes nothing.
 * @param text in our form
 * @param where what to call it in a message
 * @param planner who changes it: the attempt of an area's planner; null: a session or a person
 * @returns what it would come to; as `loosened`, in words, what only a person may decide of it
 * @throws Fault `plan`, `aborted` where it cannot be */
export async function changeFrom(
  text: string,
  where: string,
  place: Place,
  state: RunState,
  planner: AttemptState | null = null,
): Promise<Changed> {
  const overlays = await overlaysAt(place);
  const rails = await railsAt(place, state.blueprint, overlays);
  const exists = (path: string): boolean =>
    [state.prefix, ""].some((folder) => existsSync(join(place.top, folder, path)));
  const changed = changeWith(text, where, state, rails, exists, planner);
  const all = [...state.tasks.values()].map((task) => task.planned);
  const at = { place: { ...place, prefix: state.prefix }, isOurs: true };
  const checked = await Promise.all(
    changed.event.tasks.map((task) =>
      withChecks(task, { ...at, tasks: [...all, ...changed.event.tasks] }),
    ),
  );
  const findings = checked.flatMap((each) => each.findings);
  refuseErrors(findings);
  const tasks = checked.map(({ task }) => task);
  return {
    ...changed,
    event: { ...changed.event, tasks },
    findings: [...changed.findings, ...findings],
  };
}

/** The same, with what its tasks' workflows are chosen from, and which paths there are.
 * @throws Fault `plan`, `aborted` */
export function changeWith(
  text: string,
  where: string,
  state: RunState,
  rails: Rails,
  exists: (path: string) => boolean,
  planner: AttemptState | null = null,
): Changed {
  refuseAborted(state);
  const known = { vague: state.blueprint.vague, exists };
  const held = planner ? heldIn(state, isPlanners(planner)) : heldIn(state);
  const change = readChange(text, where, held, known, planner?.task.id);
  const changed = finished(state, change, rails, planner);
  refuseErrors(changed.findings);
  if (planner) refuseBeyond(state, planner, changed);
  return changed;
}

/** @throws Fault `plan` where a finding is an error */
function refuseErrors(findings: readonly Finding[]): void {
  const [error] = errorsIn(findings);
  if (!error) return;
  const what = error.line ? `line ${error.line}: ${error.message}` : error.message;
  throw new Fault("plan", `nothing was changed: ${what}`, error.hint);
}

/** The plan as it was before the last change.
 * @throws Fault `no-change`, `begun` where that cannot be any more */
export function undoneIn(state: RunState): Changed {
  refuseAborted(state);
  const last = state.changes.at(-1);
  if (!last) throw new Fault("no-change", `the plan of run ${state.run} was not changed`, "");
  const before = new Map(last.before.map((task) => [task.id, task]));
  const touched = last.event.tasks.flatMap(({ id }) => state.tasks.get(id) ?? []);
  const begun = touched.find(
    ({ attempts, isListed, endedAt }) =>
      (isListed && endedAt > last.event.at) ||
      attempts.some((each) => each.begun && each.begun.at > last.event.at),
  );
  if (begun) {
    const what = `task ${begun.id} has begun since that change`;
    throw new Fault("begun", what, `minion drop ${begun.id}, or change it again`);
  }
  const removed = last.event.tasks.map(({ id }) => id).filter((id) => !before.has(id));
  const held = heldIn(state)
    .filter(({ planned }) => !removed.includes(planned.id))
    .map((one) => ({ ...one, planned: before.get(one.planned.id) ?? one.planned }));
  const change = changeTo(held, []);
  const [error] = errorsIn(change.findings);
  if (error) throw new Fault("plan", `it cannot be undone: ${error.message}`, error.hint);
  const tasks = [...before.values()];
  const event = changedEvent(state, change, tasks, { removed, isUndo: true });
  return { event, added: [], reworded: tasks.map(({ id }) => id), findings: [] };
}

function refuseAborted({ aborted, run }: RunState): void {
  if (aborted) throw new Fault("aborted", `run ${run} was aborted`, "start a new one");
}

/** A change with workflows for its tasks, and what of it is a person's to decide. */
function finished(
  state: RunState,
  change: Change,
  rails: Rails,
  planner: AttemptState | null,
): Changed {
  const { added, reworded } = change;
  const touched = change.all.filter(({ id }) => added.includes(id) || reworded.includes(id));
  const findings = [...change.findings];
  const tasks = touched.map((task) => {
    const before = state.tasks.get(task.id)?.planned;
    if (before && before.workflow === task.workflow)
      return { ...task, workflowWhy: before.workflowWhy };
    const chosen = withWorkflow(task, "", rails);
    findings.push(...chosen.findings);
    return chosen.task;
  });
  for (const { id, depends, line } of tasks)
    for (const other of [parentOf(id) ?? "", ...depends])
      if (state.tasks.get(other)?.isDropped || state.dropping.includes(other)) {
        const what = `task ${id} needs ${other}, which was dropped`;
        findings.push(finding("dropped", line, what, `minion retry ${other} starts it anew`));
      }
  const isNew = ({ id, workflow }: PlannedTask): boolean =>
    state.tasks.get(id)?.planned.workflow !== workflow;
  const named = tasks.map(({ workflow }) => workflow);
  const workflows = { ...state.workflows };
  for (const { name, phases } of rails.all.values())
    if (named.includes(name) && !Object.hasOwn(workflows, name)) workflows[name] = phases;
  const area = tasks.find((task) => isNew(task) && isToPlan(task, workflows));
  if (area && state.budget === null) {
    const what = `task ${area.id} is planned as it goes, which needs an end: a budget`;
    findings.push(finding("no-budget", area.line, what, "minion resume --budget DOLLARS"));
  }
  const loosened = [...change.loosened, ...(planner ? [] : beyondBound(state, added))];
  const by = planner ? { by: planner.id } : {};
  const event = changedEvent(state, change, tasks, { loosened, workflows, ...by });
  return { event, added, reworded, findings };
}

/** In words, that a session would add more than it may. */
function beyondBound(
  { tasks, listed, blueprint: { bounds } }: RunState,
  added: readonly string[],
): string[] {
  const most = Math.max(LEAST_ADDED, Math.floor((listed * (bounds.added ?? 50)) / 100));
  const before = [...tasks.values()].filter((task) => task.added === "session").length;
  const all = before + added.length;
  if (added.length === 0 || all <= most) return [];
  return [`${all} tasks would be added, where ${most} may be without a person's word`];
}

/** Writes a change down. What was named for a worker and not begun is named anew where more than
 * its words changed.
 * @param make the change, from the state as it is when it is written */
export async function writeChange(
  journal: Journal,
  make: (state: RunState) => Promise<Changed> | Changed,
): Promise<Changed> {
  return journal.decide(async (state, write) => {
    const changed = await make(state);
    const { tasks, removed } = changed.event;
    const others = tasks.filter((task) => !isSameWay(state.tasks.get(task.id)?.planned, task));
    for (const id of [...removed, ...others.map((task) => task.id)]) {
      const note = "The plan was changed before it began.";
      for (const each of activeOf(state.tasks.get(id) ?? { attempts: [] }))
        if (!each.begun) write({ event: "ended", attempt: each.id, reason: "changed", note });
    }
    write(changed.event);
    return changed;
  });
}

/** Is a task dispatched as it was, though its words may be others? */
const isSameWay = (one: PlannedTask | undefined, other: PlannedTask): boolean =>
  one !== undefined &&
  other.ask === one.ask &&
  (["depends", "files", "model", "workflow", "agent", "risk"] as const).every(
    (part) => JSON.stringify(one[part]) === JSON.stringify(other[part]),
  );

/** Keeps a change readable beside the list as it was given, and the plan as it is now: in the run's
 * folder, `change-1.md` and so on, and `tasks-now.md`. */
export async function keepReadable(journal: Journal, text: string | null): Promise<void> {
  const { changes, tasks, goal, success } = await journal.state();
  if (text !== null) await writeFile(join(journal.folder, `change-${changes.length}.md`), text);
  const open = [...tasks.values()].filter(({ isDropped }) => !isDropped);
  const now = open.map(({ planned, state }) => ({ ...planned, done: state === "landed" }));
  const plan = { goal, success, toolsSaid: {}, tasks: now };
  const list = writeIfReadable(plan);
  if (list !== null) await writeFile(join(journal.folder, "tasks-now.md"), list);
}

/** A list in our form; null where a task of it would read differently there. */
function writeIfReadable(plan: Parameters<typeof writeList>[0]): string | null {
  try {
    return writeList(plan);
  } catch (error) {
    if (error instanceof Fault) return null;
    throw error;
  }
}
