import type { Command } from "commander";
import { type Context, writing } from "./options.ts";

/** `minion-toolkit update` */
export function update(program: Command, context: Context): void {
  writing(program.command("update"), "update", context).description(
    "replace what you did not edit by this version; keep the rest",
  );
}
