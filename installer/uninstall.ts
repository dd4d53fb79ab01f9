import type { Command } from "commander";
import { type Context, writing } from "./options.ts";

/** `minion-toolkit uninstall` */
export function uninstall(program: Command, context: Context): void {
  writing(program.command("uninstall"), "uninstall", context).description(
    "remove what was installed and not edited, and nothing else",
  );
}
