import { styleText } from "node:util";
import { type Plan, TOOL_NAMES, type Tools } from "../plan/task.ts";
import { cell, table, wrap } from "./text.ts";

/** More rows than this of conflicts or findings are counted, not shown; the JSON has them all. */
const ROWS = 40;
const COLOURS = { error: "red", warning: "yellow", note: "cyan" } as const;

/**
 * A plan for people: tasks by wave, conflicts, tools, findings. Reads the same without colour; no line is wider than `columns`, nor
 * than 100 columns.
 * @param columns the terminal's width
 * @param colour may colour be added? Whether the stream can show it is the caller's to say.
 */
export function planTable(plan: Plan, tools: Tools, columns: number, colour = false): string {
  const most = Math.max(40, Math.min(columns, 100));
  const style = (format: Parameters<typeof styleText>[0], text: string) =>
    colour ? styleText(format, text, { validateStream: false }) : text;
  const withHead = (rows: string[][]) =>
    table(rows, most).map((line, index) => (index > 0 ? line : style("bold", line)));
  const blocks: string[][] = [];

  if (plan.tasks.length > 0)
    blocks.push(
      summary(plan).map((line) => cell(line, most).trimEnd()),
      withHead(tasks(plan)),
    );
  const conflicts = plan.conflicts.map(({ tasks, paths, guessed }) => [
    tasks.join(" × "),
    paths.join(", "),
    guessed ? "guessed" : "declared",
  ]);
  const shown = conflicts.slice(0, ROWS);
  if (shown.length > 0)
    blocks.push([...withHead([["conflict", "both touch", "never at the same time"], ...shown]), ...more(conflicts)]);
  const commands = TOOL_NAMES.map((name) => {
    const { run, cwd, source } = tools[name] ?? { run: "none found", cwd: "", source: "" };
    return [name, cwd === "" ? run : `${run} (in ${cwd})`, source];
  });
  if (plan.tasks.length > 0) blocks.push(withHead([["tool", "command", "found in"], ...commands]));
  for (const { level, line, message, hint } of plan.findings.slice(0, ROWS)) {
    const [first = "", ...rest] = wrap(`${level}${line > 0 ? ` line ${line}` : ""}: ${message}`, most - 2);
    const indented = [...rest, ...wrap(`→ ${hint}`, most - 2)].map((text) => `  ${text}`);
    blocks.push([style(COLOURS[level], level) + first.slice(level.length), ...indented]);
  }
  blocks.push(more(plan.findings));
  return `${blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`;
}

function more({ length }: readonly unknown[]): string[] {
  return length > ROWS ? [`… and ${length - ROWS} more`] : [];
}

function summary({ tasks, waves, criticalPath, conflicts }: Plan): string[] {
  const count = (number: number, what: string) => `${number} ${what}${number === 1 ? "" : "s"}`;
  const done = tasks.filter((task) => task.done).length;
  const parts = [
    count(tasks.length, "task"),
    ...(done > 0 ? [`${done} done`] : []),
    count(waves.length, "wave"),
    count(conflicts.length, "conflict"),
  ];
  const chain = `longest chain (${criticalPath.length}): ${criticalPath.join(" → ")}`;
  return [parts.join(" · "), ...(criticalPath.length > 1 ? [chain] : [])];
}

function tasks({ tasks }: Plan): string[][] {
  const sorted = tasks.toSorted((a, b) => a.wave - b.wave);
  const agents = tasks.some((task) => task.agent.length > 0);
  const rows = sorted.map(({ id, title, done, wave, depends, agent, files }, index) => [
    wave === sorted[index - 1]?.wave ? "" : done ? "done" : wave === 0 ? "-" : String(wave),
    id,
    title,
    depends.join(", ") || "-",
    ...(agents ? [agent.join(", ") || "-"] : []),
    files.map(({ path, guessed }) => path + (guessed ? "?" : "")).join(", ") || "-",
  ]);
  return [["wave", "id", "task", "after", ...(agents ? ["agent"] : []), "files"], ...rows];
}
