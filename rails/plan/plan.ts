import { findConflicts } from "./conflicts.ts";
import { readPattern } from "./glob.ts";
import { readGraph } from "./graph.ts";
import { readList } from "./read-list.ts";
import type { Finding, Plan } from "./task.ts";

const LEVELS: readonly Finding["level"][] = ["error", "warning", "note"];

/**
 * What can be known of a list before anything runs. Pure: the same text gives the same plan. A list with faults still gives
 * a plan, of what could be read; whoever runs it refuses while a finding is an error.
 * @param text the list
 * @param where what to call it in a message
 */
export function makePlan(text: string, where: string): Plan {
  const { tasks, findings: read, dependsLine } = readList(text);
  const graph = readGraph(tasks, (task) => dependsLine.get(task as (typeof tasks)[number]) ?? task.line);
  const findings: Finding[] = [...read, ...graph.findings];
  const add = (level: Finding["level"], code: string, line: number, message: string, hint: string) =>
    findings.push({ level, code, line, message, hint });

  const open = tasks.filter((task) => !task.done);
  const done = new Set(tasks.filter((task) => task.done).map((task) => task.id));
  for (const task of tasks) {
    const rails = task.files.find(({ path }) => readPattern(path).some(([first]) => first === ".claude"));
    if (rails && !task.done)
      add(
        "warning",
        "claude-folder",
        task.line,
        `task ${task.id} touches ${rails.path}`,
        "it can change the rails of whoever works here: read its result line by line",
      );
    const early = task.done ? task.depends.filter((id) => !done.has(id)) : [];
    if (early.length > 0)
      add(
        "warning",
        "done-early",
        task.line,
        `task ${task.id} is done, but it depends on ${early.join(", ")}`,
        "mark that as done too, or this one as open",
      );
  }
  const silent = open.filter((task) => task.files.length === 0);
  if (silent.length > 0) {
    const ids = silent
      .slice(0, 10)
      .map((task) => task.id)
      .join(", ");
    const all = silent.length > 10 ? `${ids} and ${silent.length - 10} more` : ids;
    add(
      "note",
      "no-files",
      0,
      `${silent.length === 1 ? "task" : "tasks"} ${all} of ${where} name no files: conflicts cannot be predicted`,
      "add «Files:»",
    );
  }
  const cyclic = open.length > 0 && graph.waves.length === 0;
  return {
    tasks: tasks.map((task) => ({ ...task, wave: graph.waveOf(task.id) })),
    waves: graph.waves,
    criticalPath: graph.criticalPath,
    conflicts: cyclic ? [] : findConflicts(tasks, graph.ordered),
    findings: findings.sort((a, b) => LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level) || a.line - b.line),
  };
}
