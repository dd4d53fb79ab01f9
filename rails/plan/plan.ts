import { findConflicts } from "./conflicts.ts";
import { findGaps, type Known } from "./gaps.ts";
import { readGraph } from "./graph.ts";
import { readHeader } from "./header.ts";
import { readList } from "./read-list.ts";
import type { Level, Plan } from "./task.ts";

const LEVELS: readonly Level[] = ["error", "warning", "note"];

/** What can be known of a list before anything runs; `where` is what to call it in a message. A
 * list with faults still gives a plan, of what could be read; whoever runs it refuses while a
 * finding is an error. */
export function makePlan(text: string, where: string, known: Known = {}): Plan {
  const { header, rest, findings: wrong } = readHeader(text);
  const { tasks, findings: read } = readList(rest);
  const graph = readGraph(tasks);
  const findings = [...wrong, ...read, ...graph.findings, ...findGaps(tasks, where, known)];
  const waves = new Map(graph.waves.flatMap((ids, index) => ids.map((id) => [id, index + 1])));
  return {
    goal: header.goal,
    success: header.success,
    toolsSaid: header.tools,
    tasks: tasks.map(({ dependsLine, lead, words, ...task }) => {
      return { ...task, wave: waves.get(task.id) ?? 0, workflowWhy: "" };
    }),
    waves: graph.waves,
    criticalPath: graph.criticalPath,
    conflicts: graph.waves.length > 0 ? findConflicts(tasks, graph.ordered) : [],
    findings: findings.sort(
      (a, b) => LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level) || a.line - b.line,
    ),
  };
}
