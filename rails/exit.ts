import { type Command, CommanderError } from "commander";
import { asFault, EXIT, type ExitCode, Fault } from "./fault.ts";

/** Version of every JSON document that the programs print: raised when one changes its shape. */
export const FORMAT = 1;

/** What a command has to say: the result for people, the same as data, and what the process ends with. */
export type Said = readonly [text: string, json: object, exit?: ExitCode];

/** Makes a command print what its action says: as text, or with `--json` as one document. */
export function saying<A extends unknown[]>(action: (...args: A) => Promise<Said>): (...args: A) => Promise<void> {
  return async (...args) => {
    const [text, json, exit = EXIT.done] = await action(...args);
    const command = args.at(-1) as Command;
    print(command.opts().json ? JSON.stringify({ version: FORMAT, ...json }) : text);
    process.exitCode = exit;
  };
}

/**
 * The one way out of a program: runs its commands, and prints any fault as one line with a hint on stderr, or as a
 * document on stdout where `--json` was asked for.
 */
export async function main(program: Command, argv: readonly string[]): Promise<void> {
  try {
    for (const command of [program, ...program.commands])
      command.exitOverride().configureOutput({ writeErr: () => {} });
    await program.parseAsync([...argv], { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return;
    const { code, message, hint, exit } = error instanceof CommanderError ? usage(error, program) : asFault(error);
    if (argv.includes("--json")) print(JSON.stringify({ version: FORMAT, error: { code, message, hint } }));
    else process.stderr.write(`${program.name()}: ${message}\n  → ${hint}\n`);
    process.exitCode = exit;
  }
}

const print = (text: string): boolean => text === "" || process.stdout.write(text.endsWith("\n") ? text : `${text}\n`);

function usage(error: CommanderError, program: Command): Fault {
  const none = error.code === "commander.help";
  const message = none ? "no command given" : error.message.replace(/^error: /, "").replaceAll("\n", " ");
  return new Fault("usage", message, `see ${program.name()} --help`, EXIT.usage);
}
