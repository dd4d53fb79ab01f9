import type { Command } from "commander";
import { type Context, runChange, withWriting } from "./options.ts";

/** `minion-toolkit install` */
export function install(program: Command, context: Context): void {
  withWriting(program.command("install"))
    .description("lay the plugin into skills/minion of the folder that Claude Code reads")
    .option("--force", "back up what is in the way or was edited, then replace it")
    .action((flags) =>
      runChange("install", flags, context, () =>
        flags.scope === "project"
          ? "Restart Claude Code here and trust this folder; then /minion is there."
          : "Restart Claude Code; then /minion is there. To check: minion-toolkit doctor",
      ),
    );
}
