import type { Command } from "commander";
import { type Context, writing } from "./options.ts";

/** `minion-toolkit install` */
export function install(program: Command, context: Context): void {
  writing(program.command("install"), "install", context, ({ scope }) =>
    scope === "project"
      ? "Restart Claude Code here and trust this folder; then /minion is there."
      : "Restart Claude Code; then /minion is there. To check: minion-toolkit doctor",
  )
    .description("lay the plugin into skills/minion of the folder that Claude Code reads")
    .option("--force", "back up what is in the way or was edited, then replace it");
}
