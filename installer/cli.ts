import { Command } from "commander";
import { main, print } from "../rails/program/exit.ts";
import { EXIT, type ExitCode } from "../rails/program/fault.ts";
import { guardProcess } from "../rails/program/streams.ts";
import type { Verb } from "../rails/program/verb.ts";
import { ownWorld } from "../rails/program/world.ts";
import { install, uninstall, update } from "./change.verb.ts";
import { demo } from "./demo.verb.ts";
import { doctor } from "./doctor.verb.ts";
import { validate } from "./validate.verb.ts";

declare const __VERSION__: string;

// biome-ignore lint/suspicious/noExplicitAny: each verb knows the options that it declares
type AnyVerb = Verb<any>;

/** All verbs, in the order of the help. */
const VERBS: readonly AnyVerb[] = [install, update, uninstall, doctor, validate, demo];

const seen = guardProcess("minion-toolkit");
const program = new Command("minion-toolkit")
  .description(
    "Installs and checks minion, the plugin that makes a Claude Code session\n" +
      "the foreman of parallel workers.",
  )
  .version(__VERSION__)
  .helpCommand(false);

let exit: ExitCode = EXIT.done;
for (const verb of VERBS) {
  const command = program.command(verb.usage).description(verb.about);
  for (const option of verb.options ?? []) command.addOption(option);
  command.action(async () => {
    const options = command.opts();
    const said = await verb.run({ words: command.args, options }, ownWorld);
    exit = await print(said, options.json === true, ownWorld);
  });
}

const argv = process.argv.slice(2);
void main(program, argv, ownWorld, async () => {
  await program.parseAsync(argv, { from: "user" });
  return exit;
}).then((code) => {
  process.exitCode = seen.exit ?? code;
});
