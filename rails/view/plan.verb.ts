import { Option } from "commander";
import { findingsOn, type Listed, listHere, partsOf } from "../foreman/list-here.ts";
import { estimateAt, planAt, refuseUnpriced, WORKFLOW } from "../foreman/planned.ts";
import { isToPlan } from "../journal/replan.ts";
import { fitting } from "../money/estimate.ts";
import { byLevelAndLine } from "../plan/plan.ts";
import { type Finding, finding } from "../plan/task.ts";
import { EXIT, Fault } from "../program/fault.ts";
import { budgetOption, numberOption, type Verb } from "../program/verb.ts";
import { outside } from "../program/world.ts";
import { mermaid } from "./mermaid.ts";
import { type Called, estimateLines, planTable } from "./plan-table.ts";
import { columnsOf } from "./text.ts";

type Options = {
  workflow?: string;
  expect?: number;
  budget?: number;
  each?: true;
  mermaid?: true;
  format?: "minion";
};

export const verb: Verb<Options> = {
  usage: "plan <file>",
  about: "show a list's waves, conflicts, commands and faults (-: stdin); writes nothing",
  options: [
    WORKFLOW,
    numberOption("--expect <n>", "how many tasks there should be", "12"),
    budgetOption("say how many tasks fit"),
    new Option("--each", "run the commands under Each: here, count what they list and price it"),
    new Option("--mermaid", "print it as a Mermaid flowchart"),
    new Option("--format <form>", "print the list instead, in our form").choices(["minion"]),
  ],
  async run({ words: [file = ""], options }, world) {
    const planned = await planAt(file, world, options);
    const { tools, workflows, blueprint, place } = planned;
    const listed = options.each ? await listHere(planned.plan, place, blueprint) : null;
    const findings = [
      ...planned.plan.findings,
      ...findingsOn(listed ?? []),
      ...unbounded(planned, options.budget),
    ].toSorted(byLevelAndLine);
    const plan = { ...planned.plan, findings };
    const estimate = await estimateAt(planned, partsOf(listed ?? []));
    refuseUnpriced(options.budget, estimate);
    const budget = estimate && options.budget ? fitting(estimate, options.budget) : null;
    const error = plan.findings.find(({ level }) => level === "error");
    const textOf = async (): Promise<string> => {
      if (options.format) {
        if (error) throw new Fault("plan", `line ${error.line}: ${error.message}`, error.hint);
        const { writeList } = await import("../plan/write-list.ts");
        return writeList(planned.asWritten);
      }
      if (options.mermaid) return mermaid(plan);
      const bounds = { planned: blueprint.bounds.planned, budget: options.budget ?? null };
      const lines = estimateLines(estimate, budget);
      const called = calledIn(planned);
      return planTable(plan, called, columnsOf(world), lines, { workflows, listed, ...bounds });
    };
    const { toolsSaid, ...shown } = plan;
    const tasks = plan.tasks.map(({ doneWhen, workflowWhy, checks, ...task }) => ({
      ...task,
      verify: checks,
      done_when: doneWhen,
      workflow_why: workflowWhy,
    }));
    const gates = planned.gates.map(({ name, run, cwd, isLast }) => {
      const when = isLast ? "end" : "task";
      return { name, run, cwd, source: sourceOf(planned, name), when };
    });
    return {
      text: await textOf(),
      data: {
        ...shown,
        tasks,
        gates,
        tools,
        estimate,
        budget,
        ...(listed ? { listed: listed.map(counted) } : {}),
      },
      exit: error ? EXIT.refused : EXIT.done,
      isFile: options.format !== undefined,
    };
  },
};

const counted = ({ task, lines, leftOut, fault }: Listed) => {
  return { task: task.id, count: lines.length, leftOut, fault };
};

/** What a run would be refused for: what is planned as it goes wants a budget. */
function unbounded({ plan, workflows }: Planned, budget: number | undefined): Finding[] {
  if (budget !== undefined) return [];
  const areas = plan.tasks.filter((task) => !task.done && isToPlan(task, workflows));
  return areas.map(({ id, line }) => {
    const what = `task ${id} is planned as it goes: a run of it is started with a budget only`;
    return finding("no-budget", line, what, "say --budget DOLLARS", "warning");
  });
}

type Planned = Awaited<ReturnType<typeof planAt>>;

/** All that a run of the plan would call: what is set up first, the gates in force, and those of
 * which the project has no command. */
function calledIn(planned: Planned): Called[] {
  const { tools, gates, blueprint, place } = planned;
  const { setup } = tools;
  const inForce = gates.map(({ name, run, cwd, isLast = false }) => {
    return { name, run, cwd, isLast, source: shortly(sourceOf(planned, name), place.top) };
  });
  const isMissing = ({ tool }: Gate): boolean => tool !== undefined && tools[tool] === null;
  const missing = blueprint.gates.filter(isMissing).map(({ name }) => {
    return { name, run: "", cwd: "", source: "", isLast: false };
  });
  return [...(setup ? [{ name: "setup", ...setup, isLast: false }] : []), ...inForce, ...missing];
}

type Gate = Planned["blueprint"]["gates"][number];

/** A page by its path from the repository's top, or from one's home; as it is otherwise. */
function shortly(source: string, top: string): string {
  const home = outside().env.HOME ?? "";
  if (source.startsWith(`${top}/`)) return source.slice(top.length + 1);
  return home !== "" && source.startsWith(`${home}/`) ? `~${source.slice(home.length)}` : source;
}

/** Where a gate's command comes from: the list, a page of the blueprint, or a file of the project. */
function sourceOf({ blueprint, tools }: Planned, name: string): string {
  const gate = blueprint.gates.find((each) => each.name === name);
  if (!gate) return "success: of the list";
  const found = gate.tool ? tools[gate.tool] : null;
  return found?.source ?? blueprint.sources.gates ?? "";
}
