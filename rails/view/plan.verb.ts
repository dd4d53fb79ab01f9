import { Option } from "commander";
import { estimateAt, planAt, refuseUnpriced, WORKFLOW } from "../foreman/planned.ts";
import { fitting } from "../money/estimate.ts";
import { EXIT, Fault } from "../program/fault.ts";
import { budgetOption, numberOption, type Verb } from "../program/verb.ts";
import { mermaid } from "./mermaid.ts";
import { estimateLines, planTable } from "./plan-table.ts";
import { columnsOf } from "./text.ts";

type Options = {
  workflow?: string;
  expect?: number;
  budget?: number;
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
    new Option("--mermaid", "print it as a Mermaid flowchart"),
    new Option("--format <form>", "print the list instead, in our form").choices(["minion"]),
  ],
  async run({ words: [file = ""], options }, world) {
    const planned = await planAt(file, world, options);
    const { plan, tools } = planned;
    const estimate = await estimateAt(planned);
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
      return planTable(plan, tools, columnsOf(world), estimateLines(estimate, budget));
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
      data: { ...shown, tasks, gates, tools, estimate, budget },
      exit: error ? EXIT.refused : EXIT.done,
      isFile: options.format !== undefined,
    };
  },
};

/** Where a gate's command comes from: the list, a page of the blueprint, or a file of the project. */
function sourceOf({ blueprint, tools }: Awaited<ReturnType<typeof planAt>>, name: string): string {
  const gate = blueprint.gates.find((each) => each.name === name);
  if (!gate) return "success: of the list";
  const found = gate.tool ? tools[gate.tool] : null;
  return found?.source ?? blueprint.sources.gates ?? "";
}
