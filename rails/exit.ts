import { type Command, CommanderError } from "commander";
import { asFault, EXIT, type ExitCode, Fault } from "./fault.ts";

/** Version of every JSON document that the programs print: raised when one changes its shape. */
const FORMAT = 1;

/** What a command has to say: the result for people, the same as data, and what the process ends with. */
export type Said = readonly [text: string, json: object, exit?: ExitCode];

/** Prints what a command says: as text, or as one document. */
export function print([text, json, exit = EXIT.done]: Said, asJson: boolean): void {
  const output = asJson ? JSON.stringify({ version: FORMAT, ...json }) : text;
  if (output !== "") process.stdout.write(output.endsWith("\n") ? output : `${output}\n`);
  process.exitCode = exit;
}

/** The one way out of a program: runs its commands, and prints any fault as one line with a hint on stderr, or as a
 * document on stdout where `--json` was asked for. */
export async function main(program: Command, argv: readonly string[]): Promise<void> {
  try {
    for (const command of [program, ...program.commands])
      command.exitOverride().configureOutput({ writeErr: () => {} });
    await program.parseAsync([...argv], { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return;
    const { code, message, hint, exit } = error instanceof CommanderError ? usage(error, program) : asFault(error);
    const isJson = argv.includes("--json");
    if (!isJson) process.stderr.write(`${program.name()}: ${message}\n  → ${hint}\n`);
    print(["", { error: { code, message, hint } }, exit], isJson);
  }
}

function usage(error: CommanderError, program: Command): Fault {
  const message = error.message.replace(/^error: /, "").replaceAll("\n", " ");
  return new Fault("usage", message, `see ${program.name()} --help`, EXIT.usage);
}
