import type { Command } from "commander";
import { type Context, runChange, withWriting } from "./options.ts";

/** `minion-toolkit update` */
export function update(program: Command, context: Context): void {
  withWriting(program.command("update"))
    .description("replace what you did not edit by this version; keep the rest")
    .action((flags) => runChange("update", flags, context));
}
