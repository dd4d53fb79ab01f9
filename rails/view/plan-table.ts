import { styleText } from "node:util";
import { type Plan, TOOL_NAMES, type Tools } from "../plan/task.ts";
import { cell, table, wrap } from "./text.ts";

/** More conflicts than this are counted, not shown; the JSON has them all. */
const ROWS = 40;
const COLOURS = { error: "red", warning: "yellow", note: "cyan" } as const;

/** A plan for people: tasks by wave, conflicts, tools, findings. Reads the same without colour; no line is wider than
 * `columns`, nor than 100 columns. Whether the stream can show colour is the caller's to say. */
export function planTable(plan: Plan, tools: Tools, columns: number, colour = false): string {
  const most = Math.max(40, Math.min(columns, 100));
  const style = (format: "bold" | "red" | "yellow" | "cyan", text: string) =>
    colour ? styleText(format, text, { validateStream: false }) : text;
  const lines = plan.tasks.length > 0 ? summary(plan).map((line) => cell(line, most).trimEnd()) : [];
  const add = (...rows: string[][]) => {
    const [head = "", ...rest] = table(rows, most);
    lines.push(...(lines.length > 0 ? [""] : []), style("bold", head), ...rest);
  };

  if (plan.tasks.length > 0) add(...tasks(plan));
  const conflicts = plan.conflicts
    .slice(0, ROWS)
    .map(({ tasks, paths, guessed }) => [tasks.join(" × "), paths.join(", "), guessed ? "guessed" : "declared"]);
  if (conflicts.length > 0) add(["conflict", "both touch", "never at the same time"], ...conflicts);
  if (plan.conflicts.length > ROWS) lines.push(`… and ${plan.conflicts.length - ROWS} more`);
  const commands = TOOL_NAMES.map((name) => {
    const { run, cwd, source } = tools[name] ?? { run: "none found", cwd: "", source: "" };
    return [name, cwd === "" ? run : `${run} (in ${cwd})`, source];
  });
  if (plan.tasks.length > 0) add(["tool", "command", "found in"], ...commands);
  for (const { level, line, message, hint } of plan.findings) {
    const [first = "", ...rest] = wrap(`${level}${line > 0 ? ` line ${line}` : ""}: ${message}`, most - 2);
    lines.push(...(lines.length > 0 ? [""] : []), style(COLOURS[level], level) + first.slice(level.length));
    lines.push(...[...rest, ...wrap(`→ ${hint}`, most - 2)].map((text) => `  ${text}`));
  }
  return `${lines.join("\n")}\n`;
}

function summary({ tasks, waves, criticalPath, conflicts }: Plan): string[] {
  const count = (number: number, what: string) => `${number} ${what}${number === 1 ? "" : "s"}`;
  const done = tasks.filter((task) => task.done).length;
  const parts = [count(tasks.length, "task"), count(waves.length, "wave"), count(conflicts.length, "conflict")];
  if (done > 0) parts.splice(1, 0, `${done} done`);
  const chain = `longest chain (${criticalPath.length}): ${criticalPath.join(" → ")}`;
  return criticalPath.length > 1 ? [parts.join(" · "), chain] : [parts.join(" · ")];
}

function tasks({ tasks }: Plan): string[][] {
  const sorted = tasks.toSorted((a, b) => a.wave - b.wave);
  const rows = sorted.map(({ id, title, done, wave, depends, agent, files }, index) => {
    const first = wave === sorted[index - 1]?.wave ? "" : done ? "done" : wave === 0 ? "-" : String(wave);
    const paths = files.map(({ path, guessed }) => path + (guessed ? "?" : "")).join(", ");
    return [first, id, title, depends.join(", ") || "-", agent.join(", ") || "-", paths || "-"];
  });
  const all = [["wave", "id", "task", "after", "agent", "files"], ...rows];
  return tasks.some((task) => task.agent.length > 0) ? all : all.map((row) => row.toSpliced(4, 1));
}
