import { type Command, CommanderError } from "commander";
import { asFault, EXIT, type ExitCode, Fault } from "./fault.ts";

/** Version of every JSON document that the programs print: raised when one changes its shape. */
const FORMAT = 1;

/** What a command has to say: the result for people, the same as data, and what the process ends with. */
export type Said = readonly [text: string, json: object, exit?: ExitCode];

/** Makes a command print what its action says: as text, or with `--json` as one document. */
export const saying =
  <A extends unknown[]>(action: (...args: A) => Promise<Said>) =>
  async (...args: A): Promise<void> =>
    print(await action(...args), (args.at(-1) as Command).opts().json === true);

function print([text, json, exit = EXIT.done]: Said, asJson: boolean): void {
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
  const none = error.code === "commander.help";
  const message = none ? "no command given" : error.message.replace(/^error: /, "").replaceAll("\n", " ");
  return new Fault("usage", message, `see ${program.name()} --help`, EXIT.usage);
}
