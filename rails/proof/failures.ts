import { stripVTControlCharacters } from "node:util";
import type { Blueprint } from "../blueprint/blueprint.ts";

type Output = Blueprint["output"];

const linesOf = (output: string): string[] =>
  stripVTControlCharacters(output)
    .split("\n")
    .map((line) => line.trimEnd());

/** Tells lines that one of some patterns matches. */
export function matcher(patterns: readonly string[], flags = ""): (line: string) => boolean {
  const all = patterns.map((pattern) => new RegExp(pattern, flags));
  return (line) => all.some((pattern) => pattern.test(line));
}

/** Does raw output say that nothing was tested? */
export const isUntested = (output: string, { untested, tested }: Output): boolean =>
  linesOf(output).some(matcher(untested)) && !linesOf(output).some(matcher(tested));

/** The lines of raw output that name a failure, or all lines where none does, as they are alike in
 * every run. */
export function failuresIn(output: string, { failure }: Output): Set<string> {
  const named = linesOf(output).filter(matcher(failure));
  return new Set((named.length > 0 ? named : linesOf(output)).map(stable).filter(Boolean));
}

/** So many lines, of so many characters, tell one cause from another. */
const ERRORS = [5, 200] as const;

/** The first lines that name a failure, without what is other in every worktree; the last line
 * where none does. */
export function errorsIn(output: string, { failure }: Output): string[] {
  const lines = linesOf(output).map(stable).filter(Boolean);
  const named = lines.filter(matcher(failure));
  const plain = (named.length > 0 ? named : lines.slice(-1)).map((line) =>
    line.replace(/\S*\/worktrees\/[^\s/]+\//g, ""),
  );
  return [...new Set(plain)].slice(0, ERRORS[0]).map((line) => line.slice(0, ERRORS[1]));
}

/** A line without what differs from run to run: durations, positions in a file, numbers of tests.
 */
const stable = (line: string): string =>
  line
    .replace(/\d+(?:\.\d+)?\s?(?:ms|s)\b/g, "")
    .replace(/:\d+(?::\d+)?\b/g, "")
    .replace(/^(\s*)(?:\d+:\d+\b|(not )?ok \d+)/, "$1$2")
    .trim();

/** Does a red output name no failure that is not in an earlier one as well? */
export const isSubset = (now: ReadonlySet<string>, before: ReadonlySet<string>): boolean =>
  now.size > 0 && [...now].every((line) => before.has(line));
