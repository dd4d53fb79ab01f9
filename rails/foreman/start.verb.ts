import { Option } from "commander";
import { agree, newCommands, newRails } from "../blueprint/agreed.ts";
import { findPlace } from "../git/repository.ts";
import { sessionOf } from "../journal/owner.ts";
import { budgetOption, type Verb } from "../program/verb.ts";
import { broughtBy, estimateAt, planAt, refuseUnpriced, WORKFLOW } from "./planned.ts";
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
    const place = await findPlace(world.cwd);
    const { top, common } = place;
    // Before anything else is read: what changes from here on was not seen.
    const rails = await newRails(top, common);
    const planned = await planAt(file, world, options, true, place);
    const session = await sessionOf(world.env);
    const estimate = await estimateAt(planned);
    refuseUnpriced(options.budget, estimate);
    const started = await start({ ...planned, estimate }, session, isBeside, budget);
    // Whoever starts has seen the project's commands and the list's: a person by their own hand, a
    // session by the hook that asks for it.
    await agree(rails, common);
    await agree(await newCommands(broughtBy(planned.plan, planned.success), common), common);
    return { text: null, data: started };
  },
};
