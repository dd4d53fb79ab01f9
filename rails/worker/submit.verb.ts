import { Option } from "commander";
import type { Verb } from "../program/verb.ts";
import { submit, submitNothing } from "./submit.ts";

export const verb: Verb<{ nothing?: string }> = {
  usage: "submit",
  about: "for a worker: hand in what is committed, with a handoff on stdin",
  options: [new Option("--nothing <why>", "the task wants no change")],
  async run({ options: { nothing } }, world) {
    if (nothing === undefined) await submit(await world.input(), world.cwd);
    else await submitNothing(nothing, world.cwd);
    return { text: "Handed in. End now, with one line.", data: { submitted: true } };
  },
};
