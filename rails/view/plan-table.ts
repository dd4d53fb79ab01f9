import { type Plan, TOOL_NAMES, type Tools } from "../plan/task.ts";
import { oneLine, table } from "./text.ts";

/** Conflicts beyond this many are only counted; the JSON has them all. */
const SHOWN = 40;

/** A plan for people: tasks by wave, conflicts, tools, findings. No line of a table is wider than `columns`, nor than 100
 * columns. */
export function planTable(plan: Plan, tools: Tools, columns: number): string {
  const most = Math.max(40, Math.min(columns, 100));
  const tables = plan.tasks.length > 0 ? tablesOf(plan, tools) : [];
  const findings = plan.findings.map(({ level, line, message, hint }) => {
    return [oneLine(`${level}${line > 0 ? ` line ${line}` : ""}: ${message}`), `  → ${oneLine(hint)}`];
  });
  return [...tables.map((rows) => table(rows, most)), ...findings].map((lines) => `${lines.join("\n")}\n`).join("\n");
}

function tablesOf({ tasks, waves, criticalPath, conflicts }: Plan, tools: Tools): string[][][] {
  const count = (of: readonly unknown[], what: string) => `${of.length} ${what}${of.length === 1 ? "" : "s"}`;
  const done = tasks.filter((task) => task.done).length;
  const counts = [count(tasks, "task"), done > 0 && `${done} done`, count(waves, "wave"), count(conflicts, "conflict")];
  const chain = `longest chain (${criticalPath.length}): ${criticalPath.join(" → ")}`;
  const sorted = tasks.toSorted((a, b) => a.wave - b.wave);
  const taskRows = sorted.map(({ id, title, done, wave, depends, agent, files }, index) => {
    const first = wave === sorted[index - 1]?.wave ? "" : done ? "done" : String(wave || "-");
    const paths = files.map(({ path, guessed }) => path + (guessed ? "?" : ""));
    return [first, id, title, ...[depends, agent, paths].map((list) => list.join(", ") || "-")];
  });
  const conflictRows = conflicts.slice(0, SHOWN).map(({ tasks, paths, guessed }) => {
    return [tasks.join(" × "), paths.join(", "), guessed ? "guessed" : "declared"];
  });
  const toolRows = TOOL_NAMES.map((name) => {
    const { run, cwd, source } = tools[name] ?? { run: "none found", cwd: "", source: "" };
    return [name, cwd === "" ? run : `${run} (in ${cwd})`, source];
  });
  const hasAgents = tasks.some(({ agent }) => agent.length > 0);
  return [
    [[counts.filter(Boolean).join(" · ")], ...(criticalPath.length > 1 ? [[chain]] : [])],
    [["wave", "id", "task", "after", "agent", "files"], ...taskRows].map((row) => row.toSpliced(4, hasAgents ? 0 : 1)),
    conflictRows.length > 0 ? [["conflict", "both touch", "never at the same time"], ...conflictRows] : [],
    [["tool", "command", "found in"], ...toolRows],
  ].filter((rows) => rows.length > 0);
}
