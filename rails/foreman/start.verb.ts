import { Option } from "commander";
import { agree } from "../blueprint/agreed.ts";
import { sessionOf } from "../journal/owner.ts";
import { budgetOption, type Verb } from "../program/verb.ts";
import { estimateAt, planAt, refuseUnpriced, WORKFLOW } from "./planned.ts";
import { start } from "./start.ts";

type Options = { new?: true; workflow?: string; budget?: number };

export const verb: Verb<Options> = {
  usage: "start <file>",
  about: "open a run of a task list",
  options: [
    new Option("--new", "beside a run that is open already"),
    WORKFLOW,
    budgetOption("start no more workers once so much is spent"),
  ],
  async run({ words: [file = ""], options }, world) {
    const { new: isBeside = false, budget = null } = options;
    const planned = await planAt(file, world, options);
    const session = await sessionOf(world.env);
    const estimate = await estimateAt(planned);
    refuseUnpriced(options.budget, estimate);
    const started = await start({ ...planned, estimate }, session, isBeside, budget);
    // Whoever starts has seen the project's commands: a person by their own hand, a session by the
    // hook that asks for it.
    await agree(planned.place.top, planned.place.common);
    return { text: null, data: started };
  },
};
