import { Option } from "commander";
import { findPlace } from "../git/repository.ts";
import type { Verb } from "../program/verb.ts";
import { agree } from "./agreed.ts";
import { blueprintAt, overlaysAt } from "./layers.ts";

export const verb: Verb<{ agree?: true }> = {
  usage: "blueprint",
  about: "print the rails in force and where each value comes from",
  options: [
    new Option("--agree", "for a person: remember that the project's own rails may be used"),
  ],
  async run({ options }, world) {
    const place = await findPlace(world.cwd);
    const blueprint = await blueprintAt(place, await overlaysAt(place));
    if (options.agree) await agree(place.top, place.common);
    return { text: null, data: blueprint };
  },
};
