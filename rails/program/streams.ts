import { asFault, EXIT, type ExitCode } from "./fault.ts";

/** Sees to it that a process of ours ends in words, whatever happens to it: a reader that went away
 * is no error; output that cannot be written is one, and so is anything that nobody caught.
 * @param name of the program
 * @param broken what it ends with then
 * @returns what the process is to end with instead, where its output was not all written */
export function guardProcess(
  name: string,
  broken: ExitCode = EXIT.writing,
): { readonly exit: number | undefined } {
  const seen: { exit: number | undefined } = { exit: undefined };
  const say = (error: unknown): void => {
    const { message, hint } = asFault(error);
    process.stderr.write(`${name}: ${message}\n  → ${hint}\n`);
  };
  const fail = (error: NodeJS.ErrnoException): void => {
    if (error.code === "EPIPE" || error.code === "ERR_STREAM_DESTROYED") return;
    seen.exit = broken;
    process.exitCode = seen.exit;
    say(error);
  };
  process.stdout.on("error", fail);
  // Nobody is left to whom it could be said.
  process.stderr.on("error", () => {});
  process.on("uncaughtException", (error) => {
    say(error);
    process.exit(broken);
  });
  return seen;
}
