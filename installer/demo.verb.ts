import { Option } from "commander";
import type { Verb } from "../rails/program/verb.ts";
import { demo as runDemo } from "./demo.ts";
import { assetsOf } from "./package.ts";

export const demo: Verb<{ readonly dir?: string }> = {
  usage: "demo [own...]",
  about:
    "run a task list in the real Claude Code with a scripted model: no account.\n" +
    "OWN: a repository, its task list, and a folder with edits, instead of the sample",
  options: [
    new Option("--dir <folder>", "a new folder for it (default: one below the temporary folder)"),
  ],
  run: ({ words, options }, world) => runDemo(assetsOf(world.program), words, options.dir),
};
