import { text } from "node:stream/consumers";
import { type Command, CommanderError } from "commander";
import { asFault, EXIT, type ExitCode, Fault } from "./fault.ts";

/** Version of every JSON document that the programs print: raised when one changes its shape. */
export const FORMAT = 1;

/** What a command has to say: the result for people, the same as data, and what the process ends with. */
export interface Said {
  readonly text: string;
  readonly json?: object;
  readonly exit?: ExitCode;
}

/**
 * The one way out of a program: runs its commands, prints the result on stdout, and any fault as one line with a hint:
 * on stderr, or as a document on stdout where `--json` was asked for.
 */
export async function main(program: Command, argv: readonly string[]): Promise<void> {
  const json = argv.includes("--json");
  try {
    program.exitOverride().configureOutput({ writeErr: () => {} });
    for (const command of program.commands) command.exitOverride().configureOutput({ writeErr: () => {} });
    await program.parseAsync([...argv], { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return;
    const fault = error instanceof CommanderError ? usage(error, program) : asFault(error);
    if (json)
      print(JSON.stringify({ version: FORMAT, error: { code: fault.code, message: fault.message, hint: fault.hint } }));
    else process.stderr.write(`${program.name()}: ${fault.message}\n  → ${fault.hint}\n`);
    process.exitCode = fault.exit;
  }
}

/** Prints what a command says. */
export function say({ text, json, exit }: Said, asJson: boolean | undefined): void {
  print(asJson && json ? JSON.stringify({ version: FORMAT, ...json }) : text);
  process.exitCode = exit ?? EXIT.done;
}

/** A file's text, or standard input for `-`. */
export async function readSource(source: string, read: (path: string) => Promise<string>): Promise<string> {
  if (source !== "-") return read(source);
  if (process.stdin.isTTY)
    throw new Fault("no-input", "nothing comes on standard input", "pipe a text in, or name a file", EXIT.usage);
  return text(process.stdin);
}

function print(line: string): void {
  if (line !== "") process.stdout.write(line.endsWith("\n") ? line : `${line}\n`);
}

function usage(error: CommanderError, program: Command): Fault {
  const message = error.message.replace(/^error: /, "").replaceAll("\n", " ");
  return new Fault("usage", message, `see ${program.name()} --help`, EXIT.usage);
}
