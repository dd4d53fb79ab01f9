import { attentionAt } from "../foreman/look.ts";
import { runAt } from "../journal/run-at.ts";
import { type OfRun, RUN, type Verb } from "../program/verb.ts";
import { attentionText } from "./said.ts";

export const verb: Verb<OfRun> = {
  usage: "attention",
  about: "show what waits for a person, and the choices",
  options: [RUN],
  async run({ options }, world) {
    const { place, state } = await runAt(world, options.run);
    const attention = await attentionAt(place, state);
    return {
      text: attentionText(attention).join("\n") || "Nothing waits for you.",
      data: { run: state.run, attention },
    };
  },
};
