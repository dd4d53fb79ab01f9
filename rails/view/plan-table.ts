import { TOOL_NAMES, type Tools } from "../blueprint/tools.ts";
import type { Estimate } from "../journal/shapes.ts";
import type { fitting } from "../money/estimate.ts";
import { grouped } from "../plan/collections.ts";
import type { Plan } from "../plan/task.ts";
import { oneLine, table } from "./text.ts";

/** Conflicts beyond this many are only counted; the JSON has them all. */
const SHOWN = 40;

/** A plan for people: tasks by wave, conflicts, tools, findings. No line of a table is wider than
 * `columns`, nor than 100 columns. */
export function planTable(
  plan: Plan,
  tools: Tools,
  columns: number,
  estimate: readonly string[] = [],
): string {
  const most = Math.max(40, Math.min(columns, 100));
  const tables = plan.tasks.length > 0 ? tablesOf(plan, tools, estimate) : [];
  const findings = plan.findings.map(({ level, line, message, hint }) => {
    return [
      oneLine(`${level}${line > 0 ? ` line ${line}` : ""}: ${message}`),
      `  → ${oneLine(hint)}`,
    ];
  });
  return [...tables.map((rows) => table(rows, most)), ...findings]
    .map((lines) => `${lines.join("\n")}\n`)
    .join("\n");
}

/** An estimate for people: a line each for time, money and budget. */
export function estimateLines(
  estimate: Estimate | null,
  budget: ReturnType<typeof fitting> | null,
): string[] {
  if (!estimate) return [];
  const { workers, minutes, oneByOne, dollars, tokens, basis, unpriced } = estimate;
  const [low, likely, high, one] = [minutes.low, minutes.likely, minutes.high, oneByOne].map(
    (each) => each.toFixed(0),
  );
  const many = workers === 1 ? "1 worker" : `${workers} workers`;
  const money =
    dollars && [dollars.likely, dollars.low, dollars.high].map((each) => each.toFixed(2));
  const left = budget && budget.left.length > 0 ? `; left: ${budget.left.join(", ")}` : "";
  return [
    `about ${likely} min (${low}–${high}) with ${many}, one after another ${one} min (${basis})`,
    money
      ? `about $${money[0]} (${money[1]}–${money[2]}) at list prices, ${(tokens / 1e6).toFixed(1)} million tokens`
      : `cost not known: prices.md has no ${unpriced.join(", ")}`,
    ...(budget
      ? [`$${budget.dollars.toFixed(2)} pay for ${budget.fits.length} of these tasks${left}`]
      : []),
  ];
}

function tablesOf(
  { tasks, waves, criticalPath, conflicts }: Plan,
  tools: Tools,
  more: readonly string[],
) {
  const count = (of: readonly unknown[], what: string) =>
    `${of.length} ${what}${of.length === 1 ? "" : "s"}`;
  const done = tasks.filter((task) => task.done).length;
  const counts = [
    count(tasks, "task"),
    done > 0 && `${done} done`,
    count(waves, "wave"),
    count(conflicts, "conflict"),
  ];
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
  const open = tasks.filter((task) => !task.done);
  const ways = grouped(
    open.map(({ id, workflow, workflowWhy }) => [`${workflow} (${workflowWhy})`, id]),
  );
  const workflowRows = [...ways].map(([way, ids]) => [way, ids.join(", ")]);
  const hasAgents = tasks.some(({ agent }) => agent.length > 0);
  return [
    [
      [counts.filter(Boolean).join(" · ")],
      ...(criticalPath.length > 1 ? [[chain]] : []),
      ...more.map((line) => [line]),
    ],
    [["wave", "id", "task", "after", "agent", "files"], ...taskRows].map((row) =>
      row.toSpliced(4, hasAgents ? 0 : 1),
    ),
    conflictRows.length > 0
      ? [["conflict", "both touch", "never at the same time"], ...conflictRows]
      : [],
    open.some(({ workflow }) => workflow) ? [["workflow", "tasks"], ...workflowRows] : [],
    [["tool", "command", "found in"], ...toolRows],
  ].filter((rows) => rows.length > 0);
}
