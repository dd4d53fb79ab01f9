import { realpathSync } from "node:fs";
import { delimiter, join } from "node:path";
import { shown } from "./shown.ts";
import { outside } from "./world.ts";

/** A word as a POSIX shell reads it back, on one line and with nothing in it that hides. */
export function word(text: string): string {
  if (/^[\w@%+:,./-][\w@%+=:,./-]*$/.test(text)) return text;
  const isPlain = !/[\n\t]/.test(text) && shown(text) === text;
  if (isPlain) return `'${text.replaceAll("'", "'\\''")}'`;
  return `"$(printf '${Array.from(Buffer.from(text), octal).join("")}')"`;
}

/** A byte within what `printf` is told: plain letters as they are. */
function octal(byte: number): string {
  const char = String.fromCharCode(byte);
  return /[\w./ -]/.test(char) ? char : `\\${byte.toString(8).padStart(3, "0")}`;
}

/** A command of ours as a person can type it where they stand: in a session, our folder is on the
 * PATH of `!` commands.
 * @param words as a shell is to read them */
export const typed = (words: string): string =>
  outside().env.CLAUDECODE ? `! minion ${words}` : `${calledAs("minion")} ${words}`;

/** A hint with the commands of one of our programs in it as they can be typed.
 * @param name the program's that gives the hint */
export function typedIn(hint: string, name: string): string {
  if (name === "minion" && outside().env.CLAUDECODE) return hint; // There it is on the PATH
  const call = new RegExp(String.raw`(?<![\w./-])${name} (?=[a-z-])`, "g");
  return hint.replace(call, () => `${calledAs(name)} `);
}

/** What this program is called by outside of a session: by its name where a shell finds it so, as
 * npx was asked for it, else by its path. */
function calledAs(name: string): string {
  const { env, program } = outside();
  // What npx puts on the PATH is there for this call only.
  if (env.npm_command === "exec")
    return name === "minion" ? "npx -p minion-toolkit minion" : `npx ${name}`;
  const own = realOf(program);
  const folders = (env.PATH ?? "").split(delimiter).filter(Boolean);
  const first = folders.map((folder) => realOf(join(folder, name))).find(Boolean);
  return first !== undefined && first === own ? name : word(program);
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/** A branch by its whole name, as a word of a command: a tag may be called alike. */
export const branchRef = (branch: string): string => word(`refs/heads/${branch}`);

/** Paths from the repository's top, as git takes them wherever one stands: the end of a command. */
export const pathspecs = (paths: readonly string[]): string =>
  paths.map((path) => word(/^[\w.]/.test(path) ? `:/${path}` : `:(top,literal)${path}`)).join(" ");
