import { findConflicts, matches } from "./conflicts.ts";
import { readGraph } from "./graph.ts";
import { readHeader } from "./header.ts";
import { readList } from "./read-list.ts";
import type { Finding, Level, Plan } from "./task.ts";

const LEVELS: readonly Level[] = ["error", "warning", "note"];

/** What can be known of a list before anything runs; `where` is what to call it in a message. A list with faults still
 * gives a plan, of what could be read; whoever runs it refuses while a finding is an error. */
export function makePlan(text: string, where: string): Plan {
  const { header, rest, findings: wrong } = readHeader(text);
  const { tasks, findings: read } = readList(rest);
  const graph = readGraph(tasks);
  const findings: Finding[] = [...wrong, ...read, ...graph.findings];
  const silent = tasks.filter(({ done, files }) => !done && files.length === 0).map(({ id }) => id);
  if (silent.length > 0) {
    const ids = silent.length > 10 ? [...silent.slice(0, 10), `${silent.length - 10} more`] : silent;
    const message = `${where} names no files for ${ids.join(", ")}: conflicts cannot be predicted`;
    findings.push({ level: "note", code: "no-files", line: 0, message, hint: "add «Files:»" });
  }
  for (const { id, line, files } of tasks.filter(({ done }) => !done))
    if (files.some(({ path }) => matches(".claude", path.replace(/[*?].*/, "")))) {
      const message = `task ${id} is about files under .claude/: the client refuses workers' writes there`;
      findings.push({ level: "warning", code: "claude-folder", line, message, hint: "do it by hand" });
    }
  const waves = new Map(graph.waves.flatMap((ids, index) => ids.map((id) => [id, index + 1])));
  return {
    ...{ goal: header.goal, success: header.success, toolsSaid: header.tools },
    tasks: tasks.map(({ dependsLine, ...task }) => ({ ...task, wave: waves.get(task.id) ?? 0, workflowWhy: "" })),
    waves: graph.waves,
    criticalPath: graph.criticalPath,
    conflicts: graph.waves.length > 0 ? findConflicts(tasks, graph.ordered) : [],
    findings: findings.sort((a, b) => LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level) || a.line - b.line),
  };
}
