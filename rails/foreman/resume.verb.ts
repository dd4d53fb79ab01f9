import { Option } from "commander";
import { sessionOf } from "../journal/owner.ts";
import { runAt } from "../journal/run-at.ts";
import { budgetOption, type OfRun, RUN, type Verb } from "../program/verb.ts";
import { spentAt } from "./look.ts";
import { isUnfinished, resume } from "./resume.ts";
import { listOf } from "./start.ts";

type Options = OfRun & { budget?: number; take?: true; redBase?: true };

export const verb: Verb<Options> = {
  usage: "resume",
  about: "go on with a run whose session is gone, or that waits for a person",
  options: [
    budgetOption("what it may cost in all from now on"),
    new Option("--take", "also where its session still runs"),
    new Option("--red-base", "though gates are red on the base: only new failures count then"),
    RUN,
  ],
  async run({ options }, world) {
    const { journal, place, state } = await runAt(world, options.run, isUnfinished);
    const dollars = await spentAt(place, state);
    const lost = await resume(journal, await sessionOf(world.env), options, dollars);
    const { run, line } = state;
    return { text: null, data: { run, line, list: listOf(journal), lost } };
  },
};
