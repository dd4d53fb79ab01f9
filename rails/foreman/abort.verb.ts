import { runToChange } from "../journal/run-at.ts";
import { typed } from "../program/typed.ts";
import { type OfRun, RUN, type Verb } from "../program/verb.ts";
import { abort } from "./abort.ts";

export const verb: Verb<OfRun> = {
  usage: "abort",
  about: "end a run where it stands; what landed stays",
  options: [RUN],
  async run({ options }, world) {
    const { journal, state } = await runToChange(world, "abort", options.run);
    const { run } = state;
    await abort(journal);
    return {
      text: `run ${run} is ended; branches and worktrees stay until ${typed(`clean --run ${run}`)}`,
      data: { run },
    };
  },
};
