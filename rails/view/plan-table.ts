import { styleText } from "node:util";
import { type Plan, TOOL_NAMES, type Tools } from "../plan/task.ts";
import { table, wrap } from "./text.ts";

/** Conflicts beyond this many are only counted; the JSON has them all. */
const SHOWN = 40;
const COLOURS = { error: "red", warning: "yellow", note: "cyan" } as const;

/** A plan for people: tasks by wave, conflicts, tools, findings. Reads the same without colour; no line is wider than
 * `columns`, nor than 100 columns. Whether the stream can show colour is the caller's to say. */
export function planTable(plan: Plan, tools: Tools, columns: number, colour = false): string {
  const most = Math.max(40, Math.min(columns, 100));
  const block = (format: "bold" | "red" | "yellow" | "cyan", [first = "", ...rest]: string[]): string =>
    [colour ? styleText(format, first, { validateStream: false }) : first, ...rest].join("\n");
  const findings = plan.findings.map(({ level, line, message, hint }) => {
    const [first = "", ...rest] = wrap(`${level}${line > 0 ? ` line ${line}` : ""}: ${message}`, most - 2);
    const below = [...rest, ...wrap(`→ ${hint}`, most - 2)].map((text) => `  ${text}`);
    return block(COLOURS[level], [first, ...below]);
  });
  const tables = [summary(plan), tasks(plan), conflicts(plan), commands(tools)].filter((rows) => rows.length > 0);
  const blocks = plan.tasks.length > 0 ? tables.map((rows) => block("bold", table(rows, most))) : [];
  return `${[...blocks, ...findings].join("\n\n")}\n`;
}

function summary({ tasks, waves, criticalPath, conflicts }: Plan): string[][] {
  const count = (of: readonly unknown[], what: string) => `${of.length} ${what}${of.length === 1 ? "" : "s"}`;
  const done = tasks.filter((task) => task.done).length;
  const counts = [count(tasks, "task"), done > 0 && `${done} done`, count(waves, "wave"), count(conflicts, "conflict")];
  const chain = `longest chain (${criticalPath.length}): ${criticalPath.join(" → ")}`;
  return [[counts.filter(Boolean).join(" · ")], ...(criticalPath.length > 1 ? [[chain]] : [])];
}

function conflicts({ conflicts }: Plan): string[][] {
  const rows = conflicts.slice(0, SHOWN).map(({ tasks, paths, guessed }) => {
    return [tasks.join(" × "), paths.join(", "), guessed ? "guessed" : "declared"];
  });
  return rows.length > 0 ? [["conflict", "both touch", "never at the same time"], ...rows] : [];
}

function commands(tools: Tools): string[][] {
  const rows = TOOL_NAMES.map((name) => {
    const { run, cwd, source } = tools[name] ?? { run: "none found", cwd: "", source: "" };
    return [name, cwd === "" ? run : `${run} (in ${cwd})`, source];
  });
  return [["tool", "command", "found in"], ...rows];
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
