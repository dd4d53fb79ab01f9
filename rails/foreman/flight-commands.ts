import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { delimiter, join, posix } from "node:path";
import { cleanEnv } from "../git/git.ts";
import type { Finding } from "../plan/task.ts";
import { type Check, isFolder, of } from "./flight.ts";
import { wordsBehind } from "./flight-scripts.ts";

/** Can each command be run where it is to run, and does it end? */
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
    const whole = [run, ...wordsBehind(run, join(place.top, cwd))];
    for (const { commands: patterns, way, ends } of blueprint.endless) {
      const like = patterns.map((pattern) => new RegExp(pattern));
      const found = whole.find((one) => like.some((pattern) => pattern.test(one)));
      if (!found) continue;
      const why = found === run ? "" : `: it runs «${found}»`;
      const fate = ends ? "watches unless CI is set, as it is here" : "does not end by itself";
      findings.push(of(`${what} ${fate}${why}`, way, ends ? "note" : "error"));
      break;
    }
  }
  return findings;
};

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

async function isOnPath(program: string): Promise<boolean> {
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
