import type { Finding, Plan, ToolName, Tools } from "../plan/task.ts";
import { cell, oneLine, type Paint, paint, width, wrap } from "./text.ts";

const MOST = 100;
/** More rows than this of conflicts or findings are counted, not shown; the JSON has them all. */
const ROWS = 40;

/**
 * A plan for people: tasks by wave, conflicts, tools, findings. Reads the same without colour; no line is wider than `columns`, nor
 * than 100 columns.
 * @param columns the terminal's width
 * @param colour may colour be added?
 */
export function planTable(plan: Plan, tools: Tools, columns: number, colour = false): string {
  const most = Math.max(40, Math.min(columns, MOST));
  const style = paint(colour);
  const blocks = [summary(plan, most), taskTable(plan, most, style), conflicts(plan, most, style)];
  if (plan.tasks.length > 0) blocks.push(toolTable(tools, most, style));
  for (const level of ["error", "warning", "note"] as const)
    blocks.push(
      findings(
        plan.findings.filter((one) => one.level === level),
        most,
        style,
      ),
    );
  return `${blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`;
}

function summary({ tasks, waves, criticalPath, conflicts }: Plan, most: number): string[] {
  const done = tasks.filter((task) => task.done).length;
  const parts = [
    count(tasks.length, "task"),
    done > 0 ? `${done} done` : "",
    count(waves.length, "wave"),
    count(conflicts.length, "conflict"),
  ];
  if (tasks.length === 0) return [];
  const lines = [parts.filter((part) => part !== "").join(" · ")];
  if (criticalPath.length > 1) lines.push(`longest chain (${criticalPath.length}): ${criticalPath.join(" → ")}`);
  return lines.map((line) => cell(line, most).trimEnd());
}

function taskTable({ tasks }: Plan, most: number, style: Paint): string[] {
  if (tasks.length === 0) return [];
  const sorted = tasks.toSorted((a, b) => a.wave - b.wave);
  const agents = tasks.some((task) => task.agent.length > 0);
  const rows = sorted.map((task, index) => [
    task.wave === sorted[index - 1]?.wave ? "" : task.done ? "done" : task.wave === 0 ? "-" : String(task.wave),
    task.id,
    task.title,
    task.depends.join(", ") || "-",
    ...(agents ? [task.agent.join(", ") || "-"] : []),
    task.files.map(({ path, guessed }) => (guessed ? `${path}?` : path)).join(", ") || "-",
  ]);
  const names = ["wave", "id", "task", "after", ...(agents ? ["agent"] : []), "files"];
  return table(names, rows, most, style);
}

/** Columns as wide as what is in them; where that is too much the widest gives way first. */
function table(names: readonly string[], rows: readonly string[][], most: number, style: Paint): string[] {
  const widths = names.map((name, column) =>
    rows.reduce((widest, row) => Math.max(widest, Math.min(most, width(oneLine(row[column] ?? "")))), name.length),
  );
  for (let over = widths.reduce((sum, one) => sum + one + 2, -2) - most; over > 0; over--)
    widths[widths.indexOf(Math.max(...widths))] = Math.max(...widths) - 1;
  const line = (cells: readonly string[]) =>
    cells
      .map((text, column) => cell(text, widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  return [style("bold", line(names)), ...rows.map(line)];
}

function conflicts({ conflicts }: Plan, most: number, style: Paint): string[] {
  if (conflicts.length === 0) return [];
  const rows = conflicts
    .slice(0, ROWS)
    .map(({ tasks, paths, guessed }) => [tasks.join(" × "), paths.join(", "), guessed ? "guessed" : "declared"]);
  const more = conflicts.length > ROWS ? [`… and ${conflicts.length - ROWS} more`] : [];
  return [...table(["conflict", "both touch", "never at the same time"], rows, most, style), ...more];
}

function toolTable(tools: Tools, most: number, style: Paint): string[] {
  const rows = (["setup", "lint", "test", "build"] satisfies ToolName[]).map((name) => {
    const tool = tools[name];
    if (!tool) return [name, "none found", ""];
    return [name, tool.cwd === "" ? tool.run : `${tool.run} (in ${tool.cwd})`, tool.source];
  });
  return table(["tool", "command", "found in"], rows, most, style);
}

const COLOURS = { error: "red", warning: "yellow", note: "cyan" } as const;

function findings(list: readonly Finding[], most: number, style: Paint): string[] {
  const lines = list.slice(0, ROWS).flatMap(({ level, line, message, hint }) => {
    const [first = "", ...rest] = wrap(`${level}${line > 0 ? ` line ${line}` : ""}: ${message}`, most);
    const indented = [...rest.flatMap((text) => wrap(text, most - 2)), ...wrap(`→ ${hint}`, most - 2)];
    return [style(COLOURS[level], level) + first.slice(level.length), ...indented.map((text) => `  ${text}`)];
  });
  return list.length > ROWS ? [...lines, `… and ${list.length - ROWS} more`] : lines;
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}
