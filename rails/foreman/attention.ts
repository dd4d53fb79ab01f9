import type { Reason } from "../journal/shapes.ts";
import { isOpen, type RunState, type TaskState } from "../journal/state.ts";
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

const overRed = (): Choice[] => [
  { label: "mend the base, commit that, and start a new run", command: "/minion" },
  { label: "go on: what fails there as well does not count", command: typed("resume --red-base") },
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
  dollars: number | null,
): Attention[] {
  const ofTasks = [...run.tasks.values()]
    .filter(({ state }) => state === "needs-human")
    .map((task) => ofTask(run, task));
  return isOpen(run) ? [...ofRun(run, alarms, dollars), ...ofTasks] : ofTasks;
}

/** Why nothing more is dispatched before a person says so. */
function ofRun(run: RunState, alarms: readonly Alarm[], dollars: number | null): Attention[] {
  const { budget } = run;
  const end = { label: "end it here; what landed stays", command: typed("abort") };
  const onward = { label: "go on as it is", command: typed("resume") };
  const paused = alarms.filter(({ pause }) => pause);
  const all: Attention[] = paused.map((alarm) => ({
    task: "",
    reason: "alarm",
    note: alarmLine(alarm),
    choices: [onward, end],
  }));
  if (isBudgetSpent(run, dollars)) {
    const command = typed(`resume --budget ${2 * (budget ?? 0)}`);
    const more = { label: "go on with twice as much", command };
    const note = `$${dollars?.toFixed(2)} of $${budget} are spent.`;
    all.push({ task: "", reason: "budget", note, choices: [more, end] });
  }
  return all;
}

/** Why a task waits for a person. What there is of it can be seen and landed. */
function ofTask(run: RunState, task: TaskState): Attention {
  const { id, reason, note, attempts } = task;
  if (reason === "base-red") return { task: id, reason, note, choices: overRed() };
  const choices: Choice[] = [];
  const begun = attempts.findLast((each) => each.begun)?.begun;
  if (begun) {
    const range = `git diff ${begun.base.slice(0, 10)} ${branchRef(begun.branch)}`;
    const isRisk = reason === "high-risk";
    const command = isRisk ? `${range} -- ${linesFirst(run, task)}` : range;
    const land = isRisk ? "land it" : "mend it on its branch, then land that";
    choices.push({ label: "see what there is", command });
    choices.push({ label: land, command: typed(`land ${id}`) });
  }
  choices.push({ label: "let a worker try again", command: typed(`retry ${id}`) });
  return { task: id, reason, note, choices };
}
