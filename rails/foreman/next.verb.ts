import { Option } from "commander";
import { runToDrive } from "../journal/run-at.ts";
import { type OfRun, RUN, untilOf, type Verb, WAIT, type Waiting } from "../program/verb.ts";
import { askNext } from "./ask.ts";

export const verb: Verb<OfRun & Waiting & { all?: true }> = {
  usage: "next",
  about: "land what is ready, then name what to start now",
  options: [new Option("--all", "say also what was said before"), WAIT, RUN],
  async run({ options }, world) {
    const until = untilOf(options, world);
    const { journal, place } = await runToDrive(world, options.run);
    const { answer, given } = await askNext(journal, place, until, options.all);
    return { text: null, data: answer, printed: given };
  },
};
