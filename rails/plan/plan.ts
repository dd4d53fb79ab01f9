import { grouped } from "./collections.ts";
import { findConflicts } from "./conflicts.ts";
import { findGaps, type Known } from "./gaps.ts";
import { readGraph } from "./graph.ts";
import { readHeader } from "./header.ts";
import type { ListedTask } from "./item.ts";
import { readList } from "./read-list.ts";
import { type Finding, type Level, type Plan, parentOf } from "./task.ts";

const LEVELS: readonly Level[] = ["error", "warning", "note"];

/** What can be known of a list before anything runs. A list with faults still gives a plan, of what
 * could be read; whoever runs it refuses while a finding is an error.
 * @param where what to call the list in a message
 * @param known what it is held against */
export function makePlan(text: string, where: string, known: Known = {}): Plan {
  const { header, rest, findings: ofHeader } = readHeader(text);
  const { tasks, findings: ofTasks } = readList(rest);
  const { findings: ofGraph, ...related } = relate(tasks);
  const findings = [...ofHeader, ...ofTasks, ...ofGraph, ...findGaps(tasks, where, known)];
  return {
    goal: header.goal,
    success: header.success,
    toolsSaid: header.tools,
    ...related,
    findings: findings.sort(byLevelAndLine),
  };
}

type Related = Pick<Plan, "tasks" | "waves" | "criticalPath" | "conflicts" | "findings">;

/** What follows for tasks from all of them together. */
export function relate(tasks: readonly ListedTask[]): Related {
  const { findings, waves, criticalPath, ordered } = readGraph(asWhole(tasks));
  const waveOf = new Map(waves.flatMap((ids, index) => ids.map((id) => [id, index + 1])));
  return {
    tasks: tasks.map(({ dependsLine, lead, words, said, ...task }) => {
      return { ...task, wave: waveOf.get(task.id) ?? 0, workflowWhy: "" };
    }),
    waves,
    criticalPath,
    conflicts: waves.length > 0 ? findConflicts(tasks, ordered) : [],
    findings,
  };
}

/** The tasks as they wait for one another: one that is made of others is over after all of them. */
function asWhole(tasks: readonly ListedTask[]): readonly ListedTask[] {
  const parts = grouped(
    tasks.flatMap(({ id, done }) => {
      const parent = parentOf(id);
      return parent === null || done ? [] : [[parent, id] as const];
    }),
  );
  if (parts.size === 0) return tasks;
  return tasks.map((task) => {
    return { ...task, depends: [...new Set([...task.depends, ...(parts.get(task.id) ?? [])])] };
  });
}

export const byLevelAndLine = (one: Finding, other: Finding): number =>
  LEVELS.indexOf(one.level) - LEVELS.indexOf(other.level) || one.line - other.line;
