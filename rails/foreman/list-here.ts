import { join } from "node:path";
import type { Blueprint } from "../blueprint/blueprint.ts";
import type { Place } from "../git/repository.ts";
import { TIMEOUT } from "../journal/checks.ts";
import { howIn } from "../journal/passed.ts";
import { linesIn, listedTasks, MOST_LISTED } from "../plan/each.ts";
import { type Finding, finding, type Plan, type PlannedTask } from "../plan/task.ts";
import { type Printed, printedHere } from "../proof/lines.ts";

/** What the `Each:` of a task prints here: its lines, how many were left out, and in words why it
 * cannot be; empty where it can. */
export type Listed = Readonly<{
  task: PlannedTask;
  lines: readonly string[];
  leftOut: number;
  fault: string;
}>;

/** Runs the `Each:` of all tasks that are to be done, in the checkout and folder of their list: on
 * the line they may print something else. */
export async function listHere(
  { tasks }: Pick<Plan, "tasks">,
  { top, prefix }: Place,
  rules: Pick<Blueprint, "output" | "bounds">,
): Promise<Listed[]> {
  const all: Listed[] = [];
  for (const task of tasks) {
    if (!task.each || task.done) continue;
    const ran = await printedHere(task.each, join(top, prefix), TIMEOUT, rules);
    const { lines, leftOut } = linesIn(ran.text);
    all.push({ task, lines, leftOut, fault: faultOf(ran, lines.length) });
  }
  return all;
}

/** Many such commands, as grep, end with 1 where they found nothing, and say nothing then. */
function faultOf({ code, isFailed }: Omit<Printed, "output" | "text">, count: number): string {
  if (isFailed) return "ended with 1, and said why on standard error";
  if (code !== 0 && code !== 1) return howIn({ code, untested: false });
  return count > MOST_LISTED ? `printed ${count} lines, where ${MOST_LISTED} may be` : "";
}

/** What a person should know of what was listed. */
export const findingsOn = (all: readonly Listed[]): Finding[] =>
  all.flatMap(({ task: { id, line }, lines, fault }) => {
    if (fault) return [finding("each", line, `task ${id}: its Each: ${fault}`, "mend the command")];
    if (lines.length > 0) return [];
    const what = `task ${id}: its Each: prints no line, so that nothing is to be done`;
    return [finding("each", line, what, "see whether it is meant so", "warning")];
  });

/** The tasks that would be listed. */
export const partsOf = (all: readonly Listed[]): PlannedTask[] =>
  all.flatMap(({ task, lines, fault }) => (fault ? [] : listedTasks(task, lines)));
