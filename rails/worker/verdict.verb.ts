import type { Verb } from "../program/verb.ts";
import { giveVerdict } from "./verdict.ts";

export const verb: Verb = {
  usage: "verdict <attempt> <pass|fail>",
  about: "for a worker that judges: say what it found, on stdin",
  async run({ words: [attempt = "", verdict = ""] }, world) {
    await giveVerdict(attempt, verdict, await world.input(), world.cwd);
    return { text: "Taken. End now, with one line.", data: { submitted: true } };
  },
};
