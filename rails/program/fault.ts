/** Exit codes of both programs; the same number means the same in each. */
export const EXIT = {
  done: 0,
  refused: 1, // Findings, or refused: nothing was written
  usage: 2, // Wrong call, or the environment lacks something
  writing: 3, // Failed while writing; the message says what state things are in
  running: 75, // Still running: the same call again picks it up
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The one error that a person or a model gets to see: what is wrong and where (`message`), what to
 * do (`hint`). `code` is a stable kebab-case word for programs; `exit` is what the process ends
 * with. */
export class Fault extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly hint: string,
    readonly exit: ExitCode = EXIT.refused,
  ) {
    super(message);
    this.name = "Fault";
  }
}

/** Any thrown value as a Fault, so that no stack trace reaches a terminal. */
export function asFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  const { code = "", message } = Object(error) as NodeJS.ErrnoException;
  const what = message ?? String(error);
  if (["ENOENT", "EISDIR", "ENOTDIR"].includes(code))
    return new Fault("not-found", what, "check the path", EXIT.usage);
  if (["EACCES", "EPERM", "EROFS"].includes(code))
    return new Fault("not-allowed", what, "check who may read and write there", EXIT.usage);
  if (code === "ENOSPC")
    return new Fault("disk-full", what, "free some space and call again", EXIT.writing);
  if (code === "ELOOP")
    return new Fault("not-found", what, "a link there leads back to itself: mend it", EXIT.usage);
  if (code === "ERR_STRING_TOO_LONG")
    return new Fault("too-large", what, "is it the right file?", EXIT.usage);
  // What the machine says of a path, a stream or a process is told as it is.
  if ((error as NodeJS.ErrnoException).syscall !== undefined)
    return new Fault("system", what, "look at what is named there", EXIT.writing);
  const hint = "this is a bug: please report it with the command";
  return new Fault("internal", what.split("\n")[0] ?? what, hint, EXIT.writing);
}
