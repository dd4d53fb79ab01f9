import { runAt } from "../journal/run-at.ts";
import { type OfRun, RUN, type Verb } from "../program/verb.ts";

export const verb: Verb<OfRun> = {
  usage: "events",
  about: "print the run's journal",
  options: [RUN],
  async run({ options }, world) {
    const { journal } = await runAt(world, options.run);
    return { text: null, data: await journal.read() };
  },
};
