import { Option } from "commander";
import { runToDrive } from "../journal/run-at.ts";
import { landed } from "../line/land.ts";
import { takeDown } from "../money/usage.ts";
import { type OfRun, RUN, untilOf, type Verb, WAIT, type Waiting } from "../program/verb.ts";
import { launchesKnown } from "./dispatch.ts";
import { spentAt } from "./look.ts";
import { next } from "./next.ts";

export const verb: Verb<OfRun & Waiting & { all?: true }> = {
  usage: "next",
  about: "land what is ready, then name what to start now",
  options: [new Option("--all", "say also what was said before"), WAIT, RUN],
  async run({ options }, world) {
    const until = untilOf(options, world);
    const { journal, place, state } = await runToDrive(world, options.run);
    await launchesKnown(journal);
    const used = await takeDown(journal, false);
    const dollars = await spentAt(place, await journal.state(), used);
    const land = (time: number) => landed(journal, place, state, time);
    const { answer, given } = await next(journal, until, dollars, land, options.all);
    return { text: null, data: answer, printed: given };
  },
};
