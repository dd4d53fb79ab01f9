import { findConflicts } from "./conflicts.ts";
import { findGaps, type Known } from "./gaps.ts";
import { readGraph } from "./graph.ts";
import { readHeader } from "./header.ts";
import { readList } from "./read-list.ts";
import type { Finding, Level, Plan } from "./task.ts";

const LEVELS: readonly Level[] = ["error", "warning", "note"];

/** What can be known of a list before anything runs. A list with faults still gives a plan, of what
 * could be read; whoever runs it refuses while a finding is an error.
 * @param where what to call the list in a message
 * @param known what it is held against */
export function makePlan(text: string, where: string, known: Known = {}): Plan {
  const { header, rest, findings: ofHeader } = readHeader(text);
  const { tasks, findings: ofTasks } = readList(rest);
  const graph = readGraph(tasks);
  const { waves, criticalPath } = graph;
  const waveOf = new Map(waves.flatMap((ids, index) => ids.map((id) => [id, index + 1])));
  const findings = [...ofHeader, ...ofTasks, ...graph.findings, ...findGaps(tasks, where, known)];
  return {
    goal: header.goal,
    success: header.success,
    toolsSaid: header.tools,
    tasks: tasks.map(({ dependsLine, lead, words, ...task }) => {
      return { ...task, wave: waveOf.get(task.id) ?? 0, workflowWhy: "" };
    }),
    waves,
    criticalPath,
    conflicts: waves.length > 0 ? findConflicts(tasks, graph.ordered) : [],
    findings: findings.sort(byLevelAndLine),
  };
}

const byLevelAndLine = (one: Finding, other: Finding): number =>
  LEVELS.indexOf(one.level) - LEVELS.indexOf(other.level) || one.line - other.line;
