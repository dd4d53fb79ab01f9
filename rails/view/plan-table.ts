import type { Phase } from "../blueprint/workflow.ts";
import type { Listed } from "../foreman/list-here.ts";
import { stepsIn } from "../journal/phases.ts";
import { isToPlan } from "../journal/replan.ts";
import { hasRounds } from "../journal/rounds.ts";
import type { Estimate } from "../journal/shapes.ts";
import { variantsOf } from "../journal/variants.ts";
import type { fitting } from "../money/estimate.ts";
import { grouped } from "../plan/collections.ts";
import type { Plan, PlannedTask } from "../plan/task.ts";
import { ownOf } from "../program/files.ts";
import { oneLine } from "../program/shown.ts";
import { table } from "./text.ts";

/** Conflicts beyond this many are only counted; the JSON has them all. */
const SHOWN = 40;

/** What a plan's table is drawn with beside the plan: what tasks go through, and what bounds those
 * that are planned as they go; `listed`: what `Each:` printed, null where it was not run. */
type Flows = Readonly<{
  workflows: Readonly<Record<string, readonly Phase[]>>;
  planned: number; // Tasks that planners may add, all together
  budget: number | null; // In dollars
  listed: readonly Listed[] | null;
}>;

/** A command that a run would call, and where it comes from, for people; `run`: empty where there is
 * none. */
export type Called = Readonly<{
  name: string; // `setup`, or a gate's
  run: string;
  cwd: string; // From the repository's root; empty is that
  source: string;
  isLast: boolean; // Not for each task, but once all have landed
}>;

/** A plan for people: tasks by wave, conflicts, commands, findings. No line of a table is wider than
 * `columns`, nor than 100 columns.
 * @param estimate lines on what it is likely to take */
export function planTable(
  plan: Plan,
  called: readonly Called[],
  columns: number,
  estimate: readonly string[] = [],
  flows: Flows = { workflows: {}, planned: 0, budget: null, listed: null },
): string {
  const most = Math.max(40, Math.min(columns, 100));
  const tables = plan.tasks.length > 0 ? tablesOf(plan, called, estimate, flows) : [];
  const parts = [
    ...tables.map((rows) => table(rows, most)),
    ...plan.findings.map(({ level, line, message, hint }) => {
      const where = line > 0 ? ` line ${line}` : "";
      return [oneLine(`${level}${where}: ${message}`), `  → ${oneLine(hint)}`];
    }),
  ];
  return parts.map((lines) => `${lines.join("\n")}\n`).join("\n");
}

/** An estimate for people: a line each for time, money and budget. Nothing without an estimate. */
export function estimateLines(
  estimate: Estimate | null,
  budget: ReturnType<typeof fitting> | null,
): string[] {
  if (!estimate) return [];
  const lines = [timeLine(estimate), moneyLine(estimate)];
  if (budget) lines.push(budgetLine(budget));
  return lines;
}

function timeLine({ workers, minutes, oneByOne, basis }: Estimate): string {
  const low = minutes.low.toFixed(0);
  const likely = minutes.likely.toFixed(0);
  const high = minutes.high.toFixed(0);
  const many = workers === 1 ? "1 worker" : `${workers} workers`;
  return (
    `about ${likely} min (${low}–${high}) with ${many}, ` +
    `one after another ${oneByOne.toFixed(0)} min (${basis})`
  );
}

function moneyLine({ dollars, tokens, unpriced }: Estimate): string {
  if (!dollars) return `cost not known: prices.md has no ${unpriced.join(", ")}`;
  const low = dollars.low.toFixed(2);
  const likely = dollars.likely.toFixed(2);
  const high = dollars.high.toFixed(2);
  const millions = (tokens / 1e6).toFixed(1);
  return `about $${likely} (${low}–${high}) at list prices, ${millions} million tokens`;
}

function budgetLine({ dollars, fits, left }: ReturnType<typeof fitting>): string {
  const rest = left.length > 0 ? `; left: ${left.join(", ")}` : "";
  return `$${dollars.toFixed(2)} pay for ${fits.length} of these tasks${rest}`;
}

type Row = readonly string[];

/** The tables of a plan, each as its rows; none that would be empty. */
function tablesOf(
  plan: Plan,
  called: readonly Called[],
  estimate: readonly string[],
  flows: Flows,
): Row[][] {
  return [
    [...summaryRows(plan), ...estimate.map((line) => [line]), ...areaRows(plan, flows)],
    taskRows(plan),
    eachRows(plan, flows),
    conflictRows(plan),
    workflowRows(plan, flows),
    gateRows(called),
    checkRows(plan),
  ].filter((rows) => rows.length > 0);
}

const counted = (all: readonly unknown[], what: string): string =>
  `${all.length} ${what}${all.length === 1 ? "" : "s"}`;

function summaryRows({ tasks, waves, conflicts, criticalPath }: Plan): Row[] {
  const done = tasks.filter((task) => task.done).length;
  const counts = [counted(tasks, "task")];
  if (done > 0) counts.push(`${done} done`);
  counts.push(counted(waves, "wave"), counted(conflicts, "conflict"));
  const rows = [[counts.join(" · ")]];
  if (criticalPath.length > 1)
    rows.push([`longest chain (${criticalPath.length}): ${criticalPath.join(" → ")}`]);
  return rows;
}

/** What of a plan shows only as it goes, and where that ends. */
function areaRows({ tasks }: Plan, { workflows, planned, budget }: Flows): Row[] {
  const areas = tasks.filter((task) => !task.done && isToPlan(task, workflows));
  if (areas.length === 0) return [];
  const dollars = budget === null ? "no budget" : `$${budget}`;
  const ids = areas.map(({ id }) => id).join(", ");
  return [[`planned as they go: at most ${planned} tasks, ${dollars} (${ids})`]];
}

/** What tasks with `Each:` come to, as far as that is known, and the command. */
function eachRows({ tasks }: Plan, { listed }: Flows): Row[] {
  const rows = tasks.flatMap(({ id, each, done }) => {
    if (!each || done) return [];
    const found = listed?.find(({ task }) => task.id === id);
    return [[id, found ? countText(found) : "not counted: minion plan --each counts it", each]];
  });
  return rows.length > 0 ? [["each", "tasks", "one for each line of"], ...rows] : [];
}

function countText({ lines, leftOut, fault }: Listed): string {
  if (fault) return fault;
  const left = leftOut > 0 ? `, ${leftOut} lines left out (blank or doubled)` : "";
  return `${lines.length}${left}`;
}

/** What is run to see whether a task is done, beside the gates: each command, and of which tasks. */
function checkRows({ tasks }: Plan): Row[] {
  const own = tasks.filter(({ done }) => !done);
  const byCommand = grouped(own.flatMap(({ id, checks }) => checks.map((run) => [run, id])));
  return [...byCommand].map(([run, ids], at) => [at === 0 ? "verify" : "", ids.join(", "), run]);
}

/** The tasks by wave, which is said of the first of each; expertise only where a task names it. */
function taskRows({ tasks }: Plan): Row[] {
  const hasAgents = tasks.some(({ agent }) => agent.length > 0);
  const agentCell = (text: string): Row => (hasAgents ? [text] : []);
  const rows: Row[] = [["wave", "id", "task", "after", ...agentCell("agent"), "files"]];
  let above: number | undefined;
  for (const task of tasks.toSorted((a, b) => a.wave - b.wave)) {
    const { id, title, depends, agent, files, wave } = task;
    const paths = files.map(({ path, guessed }) => path + (guessed ? "?" : ""));
    rows.push([
      wave === above ? "" : waveText(task),
      id,
      title,
      listed(depends),
      ...agentCell(listed(agent)),
      listed(paths),
    ]);
    above = wave;
  }
  return rows;
}

const listed = (all: readonly string[]): string => all.join(", ") || "-";

function waveText({ done, wave }: PlannedTask): string {
  if (done) return "done";
  return wave > 0 ? String(wave) : "-";
}

function conflictRows({ conflicts }: Plan): Row[] {
  if (conflicts.length === 0) return [];
  const rows = conflicts
    .slice(0, SHOWN)
    .map(({ tasks, paths, guessed }) => [
      tasks.join(" × "),
      paths.join(", "),
      guessed ? "guessed" : "declared",
    ]);
  return [["conflict", "both touch", "never at the same time"], ...rows];
}

/** Which tasks get which workflow, and why; nothing where none gets one. */
function workflowRows({ tasks }: Plan, { workflows }: Flows): Row[] {
  const open = tasks.filter((task) => !task.done);
  if (!open.some(({ workflow }) => workflow)) return [];
  const idsByWay = grouped(
    open.map(({ id, workflow, workflowWhy }) => {
      const many = manyText(ownOf(workflows, workflow) ?? []);
      return [`${workflow} (${workflowWhy})${many}`, id];
    }),
  );
  return [["workflow", "tasks"], ...[...idsByWay].map(([way, ids]) => [way, ids.join(", ")])];
}

/** Of what comes again or is done by several at once, how many workers it takes at most. */
function manyText(phases: readonly Phase[]): string {
  const isMany = phases.some((phase) => hasRounds(phase) || variantsOf(phase) > 1);
  return isMany ? `: up to ${stepsIn(phases)} workers` : "";
}

/** The gates in force, with what is set up before them. */
function gateRows(called: readonly Called[]): Row[] {
  if (called.length === 0) return [];
  const rows = called.map(({ name, run, cwd, source, isLast }) => {
    const where = cwd === "" ? "" : ` (in ${cwd})`;
    return [
      name,
      run === "" ? "none found" : `${run}${where}${isLast ? ", at the end" : ""}`,
      source,
    ];
  });
  return [["gate", "command", "from"], ...rows];
}
