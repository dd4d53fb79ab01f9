import { type Command, CommanderError } from "commander";
import { asFault, EXIT, type ExitCode, Fault } from "./fault.ts";

/** Version of every JSON document that the programs print: raised when one changes its shape. */
const FORMAT = 1;

/** What a command has to say: the result for people, the same as data, and what the process ends
 * with. Without a text the data is printed as YAML. */
export type Said = readonly [text: string | null, json: object, exit?: ExitCode];

/** Makes a command print what its action says: as text, or with `--json` as one document. */
export const saying =
  <A extends unknown[]>(action: (...args: A) => Promise<Said>) =>
  async (...args: A): Promise<void> =>
    print(await action(...args), (args.at(-1) as Command).opts().json === true);

async function print([text, json, exit = EXIT.done]: Said, asJson: boolean): Promise<void> {
  // YAML is loaded where it is wanted: hooks and gates, which are called by the hundred, do
  // without.
  const asText = async () => text ?? (await import("yaml")).stringify(json, { lineWidth: 0 });
  const output = asJson ? JSON.stringify({ version: FORMAT, ...json }) : await asText();
  if (output !== "") process.stdout.write(output.endsWith("\n") ? output : `${output}\n`);
  process.exitCode = exit;
}

/** The one way out of a program: runs its commands, and prints any fault as one line with a hint on
 * stderr, or as a document on stdout where `--json` was asked for. */
export async function main(program: Command, argv: readonly string[]): Promise<void> {
  try {
    for (const command of [program, ...program.commands])
      command.exitOverride().configureOutput({ writeErr: () => {} });
    await program.parseAsync([...argv], { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return;
    const { code, message, hint, exit } =
      error instanceof CommanderError ? usage(error, program) : asFault(error);
    const isJson = argv.includes("--json");
    if (!isJson) process.stderr.write(`${program.name()}: ${message}\n  → ${hint}\n`);
    await print(["", { error: { code, message, hint } }, exit], isJson);
  }
}

function usage({ code, message }: CommanderError, program: Command): Fault {
  const what =
    code === "commander.help"
      ? "no command given"
      : message.replace(/^error: /, "").replaceAll("\n", " ");
  return new Fault("usage", what, `see ${program.name()} --help`, EXIT.usage);
}
