import { Option } from "commander";
import { findPlace } from "../git/repository.ts";
import type { Verb } from "../program/verb.ts";
import { agree, type Consent, newRails } from "./agreed.ts";
import { blueprintAt, overlaysAt, replacedAt } from "./layers.ts";

export const verb: Verb<{ agree?: true }> = {
  usage: "blueprint",
  about: "print the rails in force and where each value comes from",
  options: [
    new Option("--agree", "for a person: remember that the project's own rails may be used"),
  ],
  async run({ options }, world) {
    const place = await findPlace(world.cwd);
    const blueprint = await blueprintAt(place, await overlaysAt(place));
    const data = { ...blueprint, replaced: await replacedAt(place) };
    if (!options.agree) return { text: null, data };
    const rails = await newRails(place.top, place.common);
    await agree(rails, place.common);
    return { text: agreedTo(rails), data };
  },
};

/** What a person just said yes to, in one line each. */
function agreedTo(rails: Consent | null): string {
  if (!rails) return "There is nothing new to agree to.";
  const { commands } = rails;
  if (commands.length === 0) return "Agreed: this project's rails, which name no command.";
  return ["Agreed:", ...commands.map((command) => `  ${command}`)].join("\n");
}
