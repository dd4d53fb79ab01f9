import { findTools } from "../blueprint/toolchain.ts";
import { makePlan } from "../plan/plan.ts";
import type { Plan, Tools } from "../plan/task.ts";
import { planTable } from "./plan-table.ts";

export interface PlanOptions {
  readonly json: boolean;
  /** The repository's root. */
  readonly root: string;
  /** The folder that the list is for, relative to the root. */
  readonly prefix: string;
  /** The text of `toolchains.md`. */
  readonly table: string;
  readonly columns: number;
  readonly colour?: boolean;
}

/** The one document of `minion plan --json`, the same for the same plan. */
export function planJson({ tasks, waves, criticalPath, conflicts, findings }: Plan, tools: Tools): string {
  const list = tasks.map(({ doneWhen, ...task }) => ({ ...task, done_when: doneWhen }));
  return `${JSON.stringify({ version: 1, tasks: list, waves, criticalPath, conflicts, tools, findings })}\n`;
}

/**
 * `minion plan`: reads the list and the project, writes nothing.
 * @param source what to call the list: its path, or `-`
 * @param text the list
 * @returns what to print on stdout; exit 1 where a finding is an error
 * @throws Fault where the table of tools or a file that it asks about cannot be read
 */
export async function planCommand(
  source: string,
  text: string,
  options: PlanOptions,
): Promise<{ output: string; exit: 0 | 1 }> {
  const plan = makePlan(text, source === "-" ? "the list" : source);
  const tools = await findTools(options.root, options.prefix, options.table);
  const output = options.json
    ? planJson(plan, tools)
    : planTable(plan, tools, options.columns, options.colour);
  return { output, exit: plan.findings.some(({ level }) => level === "error") ? 1 : 0 };
}
