import { isArea } from "../journal/family.ts";
import { isRedRound } from "../journal/rounds.ts";
import type { Reason } from "../journal/shapes.ts";
import {
  dependentsLeft,
  isOpen,
  type RunState,
  rateLimited,
  type TaskState,
  withWork,
} from "../journal/state.ts";
import { riskOf } from "../plan/risk.ts";
import { branchRef, pathspecs, typed } from "../program/typed.ts";
import { type Alarm, alarmLine, isBudgetSpent } from "./alarms.ts";

/** Something that a person has to decide, and what they can do about it. */
export type Attention = Readonly<{
  task: string;
  reason: Reason | null;
  note: string;
  choices: readonly Choice[];
}>;
type Choice = Readonly<{ label: string; command: string }>;

const overRed = (run: string): Choice[] => [
  { label: "mend the base, commit that, and start a new run", command: "/minion" },
  {
    label: "go on: what fails there as well does not count",
    command: typed(`resume --run ${run} --red-base`),
  },
];

/** Where to look first: what makes the task risky, then what was found. */
function linesFirst({ blueprint: { risks } }: RunState, { result }: TaskState): string {
  const paths = result?.submitted?.paths ?? [];
  const risky = paths.filter((path) => riskOf(risks, "", [path], "").risk !== "");
  return pathspecs((risky.length > 0 ? risky : paths).slice(0, 10));
}

/** What waits for a person: tasks, and the run as a whole where nothing more is dispatched (`task`
 * is empty then). */
export function attentionOf(
  run: RunState,
  alarms: readonly Alarm[],
  at: Readonly<{ dollars: number | null; now: number }>,
): Attention[] {
  const ofTasks = asking(run).map((task) => ofTask(run, task));
  return isOpen(run) ? [...ofRun(run, alarms, at), ...ofTasks] : ofTasks;
}

/** The tasks that wait for a person: of one that is made of others only where none of those says
 * what it waits for. */
export function asking(state: RunState): TaskState[] {
  const waiting = [...state.tasks.values()].filter((task) => task.state === "needs-human");
  return waiting.filter((task) => {
    const part = state.tasks.get(task.heldBy ?? "");
    return part === undefined || !isSaid(state, part);
  });
}

/** Does a task wait for a person, or hang on one that does? */
const isSaid = (state: RunState, task: TaskState): boolean =>
  task.state === "needs-human" ||
  task.depends.some((id) => {
    const other = state.tasks.get(id);
    return task.state === "blocked" && other !== undefined && isSaid(state, other);
  });

/** Why nothing more is dispatched before a person says so. */
function ofRun(
  state: RunState,
  alarms: readonly Alarm[],
  { dollars, now }: Readonly<{ dollars: number | null; now: number }>,
): Attention[] {
  const { budget, run, limitedUntil } = state;
  const end = { label: "end it here; what landed stays", command: typed(`abort --run ${run}`) };
  const onward = { label: "go on as it is", command: typed(`resume --run ${run}`) };
  const paused = alarms.filter(({ pause }) => pause);
  const all: Attention[] = paused.map((alarm) => ({
    task: "",
    reason: "alarm",
    note: alarmLine(alarm),
    choices: [onward, end],
  }));
  if (isBudgetSpent(state, dollars)) {
    const more = Math.max(2 * (budget ?? 0), Math.ceil((dollars ?? 0) + 1));
    const command = typed(`resume --run ${run} --budget ${more}`);
    const note = `$${dollars?.toFixed(2)} of $${budget} are spent.`;
    const label = `go on, up to $${more} in all`;
    all.push({ task: "", reason: "budget", note, choices: [{ label, command }, end] });
  }
  if (rateLimited(state, now)) {
    const until = limitedUntil > now ? ` until ${localTime(limitedUntil)}` : "";
    const note = `The account's limit is reached: nothing more is started${until}.`;
    const again = { ...onward, label: "try again now" };
    all.push({ task: "", reason: "rate-limit", note, choices: [again, end] });
  }
  return all;
}

/** A time as the clock and calendar here show it. */
const localTime = (at: number): string =>
  new Date(at).toLocaleString("sv-SE", { dateStyle: "short", timeStyle: "short" });

/** Why a task waits for a person. What there is of it can be seen and landed. */
function ofTask(state: RunState, task: TaskState): Attention {
  const { id, reason, note } = task;
  const { run, aborted } = state;
  if (reason === "base-red" && !aborted) return { task: id, reason, note, choices: overRed(run) };
  const held = state.tasks.get(task.heldBy ?? "");
  if (held && !aborted) return { task: id, reason, note, choices: ofHeld(state, held) };
  const choices: Choice[] = [];
  const made = worthSeeing(task);
  for (const [index, { id: attempt, begun }] of made.entries()) {
    const range = `git diff ${begun.base.slice(0, 10)} ${branchRef(begun.branch)}`;
    const isRisk = reason === "high-risk" && index === 0;
    const command = isRisk ? `${range} -- ${linesFirst(state, task)}` : range;
    const whose = made.length > 1 ? ` of ${attempt}` : "";
    choices.push({ label: `see what there is${whose}`, command });
  }
  const branches = made.map(({ begun }) => begun.branch);
  const [branch] = branches;
  if (aborted) {
    const label = "the run was aborted: merge its branch yourself";
    if (branch) choices.push({ label, command: `git merge ${branchRef(branch)}` });
    return { task: id, reason, note, choices };
  }
  const variants = made.filter(({ variant, submitted }) => variant > 0 && submitted);
  if (variants.length > 0)
    for (const { id: attempt, variant } of variants)
      choices.push({
        label: `land variant ${variant}`,
        command: typed(`land ${attempt} --run ${run}`),
      });
  else if (branch) {
    const mend = `mend it on its branch (${branches.join(" or ")}), then land that`;
    const label = reason === "high-risk" ? "land it" : mend;
    choices.push({ label, command: typed(`land ${id} --run ${run}`) });
  }
  const again = typed(`retry ${id} --run ${run}`);
  if (reason === "question")
    choices.unshift({ label: "answer it", command: `${again} -m "the answer"` });
  else choices.push({ label: againLabel(task), command: again });
  choices.push(leaveUndone(state, task));
  return { task: id, reason, note, choices };
}

/** The attempts of a task that left something: of rounds the last one, which stands on all before. */
const worthSeeing = (task: TaskState): ReturnType<typeof withWork> =>
  withWork(task).filter((each) => !isRedRound(each) || each === task.result);

/** What trying again means where others do a task's work. */
function againLabel(task: TaskState): string {
  if (task.whole?.red) return "check the whole once more";
  if (task.each) return task.isListed ? "go on with what it listed" : "list it once more";
  return isArea(task) ? "let its planner come again" : "let a worker try again";
}

/** What can be done where a task waits for one that it is made of, and no entry says so: that hangs
 * on what was dropped. */
function ofHeld(state: RunState, part: TaskState): Choice[] {
  const gone = part.depends.filter((id) => state.tasks.get(id)?.isDropped);
  const anew = gone.map((id) => ({
    label: `begin ${id} anew, on which ${part.id} hangs`,
    command: typed(`retry ${id} --run ${state.run}`),
  }));
  return [...anew, leaveUndone(state, part)];
}

function leaveUndone(state: RunState, { id }: TaskState): Choice {
  const standing = dependentsLeft(state, [id]);
  const all = [...standing, id].join(" ");
  const along = standing.length > 0 ? `, with ${standing.join(", ")} that stands on it` : "";
  const label = `leave it undone${along}`;
  return { label, command: typed(`drop ${all} --run ${state.run}`) };
}
