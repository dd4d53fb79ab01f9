import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Option } from "commander";
import { flakyIn } from "../journal/flaky.ts";
import { runAt } from "../journal/run-at.ts";
import { type OfRun, RUN, type Verb } from "../program/verb.ts";
import { tasksData } from "./flows-text.ts";
import { fullReport } from "./full-report.ts";
import { reportText } from "./report.ts";
import { seenAt } from "./seen.ts";

type Options = OfRun & { full?: boolean };

export const verb: Verb<Options> = {
  usage: "report",
  about: "say what landed, what did not and why, and what to type next",
  options: [
    new Option("--full", "with handoffs, raw output, cost and how the plan was changed"),
    RUN,
  ],
  /** Writes all of it beside the run's journal as well, with its pictures, once what was used is
   * taken down there. */
  async run({ options }, world) {
    const { journal, place } = await runAt(world, options.run);
    const { state, seen } = await seenAt(place, { journal });
    const file = join(journal.folder, "report.md");
    const report = await fullReport(state, seen);
    await writeFile(file, report);
    const { run, line, tip } = state;
    const { cost, sizes } = seen;
    const tasks = tasksData(state, cost, sizes);
    const data = { run, line, tip, file, cost, flaky: flakyIn(state), tasks, report };
    const text = options.full ? await fullReport(state, seen, file) : await reportText(state, seen);
    return { text, data };
  },
};
