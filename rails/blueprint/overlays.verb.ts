import { findPlace } from "../git/repository.ts";
import type { Verb } from "../program/verb.ts";
import { overlaysAt } from "./layers.ts";

export const verb: Verb = {
  usage: "overlays",
  about: "list the expertise that a task can name under Agent:",
  async run(_, world) {
    const all = await overlaysAt(await findPlace(world.cwd));
    const usable = [...all.values()].filter(({ fault }) => fault === null);
    const overlays = usable.map(({ name, when, isRole }) => ({
      name,
      kind: isRole ? "role" : "domain",
      when,
    }));
    return { text: null, data: { overlays } };
  },
};
