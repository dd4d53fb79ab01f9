import { findPlace } from "../git/repository.ts";
import type { Verb } from "../program/verb.ts";
import { statsOf, statsTable } from "./stats.ts";
import { columnsOf } from "./text.ts";

export const verb: Verb = {
  usage: "stats",
  about: "count per week and per version of the rails what landed, and what a person had to do",
  async run(_, world) {
    const weeks = await statsOf(await findPlace(world.cwd));
    return { text: statsTable(weeks, columnsOf(world)), data: { weeks } };
  },
};
