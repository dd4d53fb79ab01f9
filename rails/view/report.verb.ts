import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { faultIn, lookAt } from "../foreman/look.ts";
import { flakyIn } from "../journal/flaky.ts";
import { runAt } from "../journal/run-at.ts";
import { takeDown } from "../money/usage.ts";
import { type OfRun, RUN, type Verb } from "../program/verb.ts";
import { tasksData } from "./flows-text.ts";
import { reportText } from "./report.ts";
import { sizesOf } from "./sizes.ts";

export const verb: Verb<OfRun> = {
  usage: "report",
  about: "say what landed, what did not and why, and what to type next",
  options: [RUN],
  /** Writes it beside the run's journal as well, with its pictures, once what was used is taken
   * down there. */
  async run({ options }, world) {
    const { journal, place } = await runAt(world, options.run);
    const used = await takeDown(journal, true);
    const state = await journal.state();
    const { cost, fault } = await lookAt(place, state, used);
    const faults = faultIn(fault);
    const sizes = await sizesOf(state, place);
    const file = join(journal.folder, "report.md");
    const textOf = (drawnIn: string | null): Promise<string> =>
      reportText(state, journal.folder, cost, world.now(), faults, drawnIn, sizes);
    const report = await textOf(null);
    await writeFile(file, report);
    const { run, line, tip } = state;
    const tasks = tasksData(state, cost, sizes);
    const data = { run, line, tip, file, cost, flaky: flakyIn(state), tasks, report };
    return { text: await textOf(file), data };
  },
};
