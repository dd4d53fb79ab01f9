import { type Command, CommanderError } from "commander";
import { asFault, EXIT, type ExitCode, Fault } from "./fault.ts";
import { coloured, oneLine, shown } from "./shown.ts";
import { typedIn } from "./typed.ts";
import type { Said } from "./verb.ts";
import type { World } from "./world.ts";

/** Version of every JSON document that the programs print: raised when one changes its shape. */
const FORMAT = 1;

type Streams = Pick<World, "stdout" | "stderr">;

/** Prints what a command says: as text, or as one document.
 * @returns what the process is to end with */
export async function print(
  { text, data, exit = EXIT.done, isFile = false, isColoured = false }: Said,
  asJson: boolean,
  { stdout }: Streams,
): Promise<ExitCode> {
  const isAsItIs = asJson || (isFile && !stdout.isTTY);
  const said = asJson ? JSON.stringify({ version: FORMAT, ...data }) : (text ?? (await yaml(data)));
  const output = isAsItIs ? said : (isColoured ? coloured : shown)(said);
  if (output !== "") stdout.write(output.endsWith("\n") ? output : `${output}\n`);
  return exit;
}

/** YAML is loaded where it is wanted: hooks and gates, which are called by the hundred, do without.
 */
const yaml = async (data: object): Promise<string> =>
  (await import("./yaml.ts")).stringify(data, { lineWidth: 0 });

/** The one way out of a program: runs its commands, and prints any fault as one line with a hint on
 * stderr, or as a document on stdout where `--json` was asked for.
 * @param act runs what was asked for and says what the process is to end with
 * @returns what the process is to end with */
export async function main(
  program: Command,
  argv: readonly string[],
  streams: Streams,
  act: () => Promise<ExitCode>,
): Promise<ExitCode> {
  program.configureHelp({ subcommandTerm });
  for (const command of [program, ...program.commands])
    command.exitOverride().configureOutput({
      writeOut: (text) => streams.stdout.write(text),
      writeErr: () => {},
    });
  try {
    return await act();
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.done;
    const fault = error instanceof CommanderError ? usage(error, program) : asFault(error);
    const { code, message, hint, exit } = fault;
    const isJson = argv.includes("--json");
    const way = oneLine(typedIn(hint, program.name()));
    if (!isJson) streams.stderr.write(`${program.name()}: ${oneLine(message)}\n  → ${way}\n`);
    return print({ text: "", data: { error: { code, message, hint } }, exit }, isJson, streams);
  }
}

/** A command in the help: its name and what stands behind it. Every one has options, and where the
 * names are that long nothing beside them is wrapped. */
const subcommandTerm = (command: Command): string =>
  `${command.name()} ${command.usage().replace("[options]", "").trim()}`.trimEnd();

function usage({ code, message }: CommanderError, program: Command): Fault {
  const what =
    code === "commander.help"
      ? "no command given"
      : message.replace(/^error: /, "").replaceAll("\n", " ");
  return new Fault("usage", what, `see ${program.name()} --help`, EXIT.usage);
}
