import { outside } from "./world.ts";

/** A command of ours as a person can type it where they stand: in a session, our folder is on the
 * PATH of `!` commands. */
export function typed(words: string): string {
  const { env, program } = outside();
  return env.CLAUDECODE ? `! minion ${words}` : `${program} ${words}`;
}
