import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { delimiter, join, posix } from "node:path";
import type { Blueprint } from "../blueprint/blueprint.ts";
import { cleanEnv } from "../git/git.ts";
import type { Finding } from "../plan/task.ts";
import { matcher } from "../proof/failures.ts";
import { type Check, isFolder, of } from "./flight.ts";
import { plainWords, type Words, wordsBehind } from "./flight-scripts.ts";

/** Can each command be run where it is to run, does it end, and does it say how? */
export const commands: Check = async (flight) => {
  const { place, base, gates, setup, blueprint } = flight;
  const findings: Finding[] = [];
  for (const command of [...gates, ...(setup ? [setup] : [])]) {
    const { name, cwd, run } = command;
    const what = `${name} (${run})`;
    const inside = posix.normalize(cwd || ".");
    if (inside.startsWith("..") || inside.startsWith("/") || !(await isFolder(place, base, inside)))
      findings.push(
        of(`${what} is to run in ${cwd}, which is no folder at HEAD`, "commit it, or mend cwd:"),
      );
    const program = programOf(run);
    if (program && !(await isOnPath(program)))
      findings.push(
        of(
          `${what}: there is no ${program} on PATH`,
          `install ${program}, or name another command`,
        ),
      );
    const whole = [plainWords(run), ...wordsBehind(run, join(place.top, cwd))];
    findings.push(...endless(what, whole, blueprint), ...hidden(what, whole, blueprint));
  }
  return findings;
};

/** Does a command, or one that it runs, watch or serve?
 * @param what the command, as it is called in what is said
 * @param whole the command first, then what it runs */
function endless(what: string, whole: readonly Words[], rules: Blueprint): Finding[] {
  for (const { commands, way, ends } of rules.endless) {
    const isLike = matcher(commands);
    const found = whole.find(({ text }) => isLike(text));
    if (!found) continue;
    const fate = ends ? "watches unless CI is set, as it is here" : "does not end by itself";
    return [of(`${what} ${fate}${whyOf(whole, found, found.text)}`, way, ends ? "note" : "error")];
  }
  return [];
}

/** Does a command, or one that it runs, end with 0 also where something failed? */
function hidden(what: string, whole: readonly Words[], rules: Blueprint): Finding[] {
  for (const { commands, unless = [], way } of rules.hidden) {
    const isLike = matcher(commands);
    const isMended = matcher(unless);
    const found = whole.find(({ raw, file }) => isLike(raw) && !isMended(file));
    if (!found) continue;
    const said = `${what} ends with 0 also where something fails${whyOf(whole, found, found.raw)}`;
    return [of(said, way, "warning")];
  }
  return [];
}

/** Where something was found, if not in the command itself. @param said that, as it is to be said */
const whyOf = ([own]: readonly Words[], found: Words, said: string): string =>
  found === own ? "" : `: it runs «${said}»`;

/** Words that a shell knows itself, or that open something of which the program is not told here. */
const BUILT_IN =
  /^([:[{(]|\[\[|alias|break|case|cd|command|continue|echo|eval|exec|exit|export|false|for|function|if|printf|pwd|read|return|set|shift|source|test|time|trap|true|type|ulimit|umask|unset|until|wait|while|\.)$/;

/** The program that a command starts first; empty where that is not plain, or is a path. */
function programOf(run: string): string {
  const words = run
    .trim()
    .replace(/^(!\s+)?(\w+=[^\s"'$`]*\s+)*/, "")
    .split(/[\s;&|()<>]+/);
  const [first = ""] = words;
  return /^[\w][\w.+-]*$/.test(first) && !BUILT_IN.test(first) ? first : "";
}

export async function isOnPath(program: string): Promise<boolean> {
  const folders = (cleanEnv().PATH ?? "").split(delimiter).filter(Boolean);
  for (const folder of folders) {
    const file = join(folder, program);
    if (
      await access(file, constants.X_OK).then(
        () => stat(file).then((it) => it.isFile()),
        () => false,
      )
    )
      return true;
  }
  return false;
}
