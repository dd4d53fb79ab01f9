import { Option } from "commander";
import { runToChange } from "../journal/run-at.ts";
import { typed } from "../program/typed.ts";
import {
  type OfRun,
  RUN,
  stillRuns,
  untilOf,
  type Verb,
  WAIT,
  type Waiting,
} from "../program/verb.ts";
import { mergeRun } from "./merge.ts";

export const verb: Verb<OfRun & Waiting & { into?: string }> = {
  usage: "merge",
  about: "for a person: merge the line, proven on the branch as it is now",
  options: [new Option("--into <branch>", "which branch, if not the one here"), WAIT, RUN],
  async run({ options }, world) {
    const at = await runToChange(world, "merge", options.run);
    const made = await mergeRun(at, options.into, untilOf(options, world));
    if (!made) return stillRuns("It");
    const clean = typed(`clean --run ${at.state.run}`);
    return {
      text: `${made.into} stands on ${made.to.slice(0, 10)}\nWhat the run left goes by ${clean}`,
      data: made,
    };
  },
};
