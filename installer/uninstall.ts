import type { Command } from "commander";
import { type Context, runChange, withWriting } from "./options.ts";

/** `minion-toolkit uninstall` */
export function uninstall(program: Command, context: Context): void {
  withWriting(program.command("uninstall"))
    .description("remove what was installed and not edited, and nothing else")
    .action((flags) => runChange("uninstall", flags, context));
}
