import { outside } from "./world.ts";

/** A command of ours as a person can type it where they stand: in a session, our folder is on the
 * PATH of `!` commands. */
export function typed(words: string): string {
  const { env, program } = outside();
  return env.CLAUDECODE ? `! minion ${words}` : `${program} ${words}`;
}

/** A word as a POSIX shell reads it back. */
export const word = (text: string): string =>
  /^[\w@%+:,./-][\w@%+=:,./-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** A branch by its whole name, as a word of a command: a tag may be called alike. */
export const branchRef = (branch: string): string => word(`refs/heads/${branch}`);
