import type { Blueprint } from "../blueprint/blueprint.ts";
import { anywhere, matches } from "./conflicts.ts";
import { quote } from "./lines.ts";
import type { Task } from "./task.ts";

type Risk = Task["risk"];
const ORDER: readonly Risk[] = ["", "low", "medium", "high"];

/** Is a risk as great as another one, or greater? */
export const isAtLeast = (risk: Risk, least: Risk): boolean => ORDER.indexOf(risk) >= ORDER.indexOf(least);

/** What a text says first that one of some patterns matches, or undefined. */
export const wordIn = (said: string, patterns: readonly string[]): string | undefined =>
  patterns.map((one) => new RegExp(one, "i").exec(said)?.[0]).find((one) => one !== undefined);

/** The greatest risk that the blueprint sees in words and paths, and in words why; nobody can say less of a task.
 * @param prefix the folder that the paths are written for; empty where they are git's */
export function riskOf(
  rules: Blueprint["risks"],
  said: string,
  paths: readonly string[],
  prefix: string,
): [Risk, string] {
  let found: [Risk, string] = ["", ""];
  for (const { risk, words, paths: patterns } of rules) {
    const word = wordIn(said, words);
    const path = paths.find((path) => patterns.some((one) => matches(anywhere(one), path, prefix)));
    if ((word ?? path) !== undefined && !isAtLeast(found[0], risk))
      found = [risk, word ? quote(word) : (path as string)];
  }
  return found;
}
