import { overlaysAt } from "../blueprint/layers.ts";
import { stillRuns, untilOf, type Verb, WAIT, type Waiting } from "../program/verb.ts";
import { begin, leftBySetup } from "./begin.ts";
import { brief } from "./brief.ts";

export const verb: Verb<Waiting> = {
  usage: "begin <attempt>",
  about: "for a worker: put its worktree on the line and say what to do",
  options: [WAIT],
  async run({ words: [attempt = ""], options }, world) {
    const own = await begin(attempt, world.cwd, untilOf(options, world));
    if (!own) return stillRuns("The setup");
    const overlays = await overlaysAt(own.place);
    const told = brief(own, (name) => overlays.get(name.toLowerCase()));
    const text = [told, await leftBySetup(own)].filter(Boolean).join("\n\n");
    return { text, data: { attempt, brief: text } };
  },
};
