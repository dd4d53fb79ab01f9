import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { Command, CommanderError } from "commander";
import { EXIT, Fault } from "../rails/fault.ts";
import { demo } from "./demo.ts";
import { doctor } from "./doctor.ts";
import { install } from "./install.ts";
import type { Context } from "./options.ts";
import { printFault } from "./output.ts";
import { uninstall } from "./uninstall.ts";
import { update } from "./update.ts";
import { validateCommand } from "./validate.ts";

declare const __VERSION__: string;

/** The one list of commands, in the order in which help shows them. */
const COMMANDS: ((program: Command, context: Context) => void)[] = [
  install,
  update,
  uninstall,
  doctor,
  validateCommand,
  demo,
];

async function main(argv: readonly string[]): Promise<void> {
  const version = typeof __VERSION__ === "string" ? __VERSION__ : "0.0.0";
  const json = argv.includes("--json");
  // The bundle is dist/minion-toolkit.js; npm starts it through a link.
  const assets = join(dirname(realpathSync(argv[1] ?? "")), "..", "assets");
  const program = new Command("minion-toolkit")
    .description(
      "Installs and checks minion, the plugin that makes a Claude Code session\nthe foreman of parallel workers.",
    )
    .version(version)
    .showHelpAfterError(false)
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  for (const add of COMMANDS) add(program, { assets, version });
  for (const command of program.commands) command.copyInheritedSettings(program);
  try {
    await program.parseAsync(argv);
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return;
    const help = error instanceof CommanderError && error.code === "commander.help";
    process.exitCode = printFault(
      error instanceof CommanderError ? usage(help ? "no command given" : error.message) : error,
      json,
    );
  }
}

const usage = (message: string): Fault =>
  new Fault("usage", message.replace(/^error: /, ""), "minion-toolkit --help lists the commands", EXIT.usage);

void main(process.argv);
