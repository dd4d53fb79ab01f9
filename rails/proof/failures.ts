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
export function isUntested(output: string, { untested, tested }: Output): boolean {
  const lines = linesOf(output);
  return lines.some(matcher(untested)) && !lines.some(matcher(tested));
}

/** The line of raw output by which a runner sums up failures, whatever it ended with; undefined
 * where there is none. */
export function failingIn(output: string, { failing = [] }: Output): string | undefined {
  // A run that an older version began knows no such patterns.
  const line = linesOf(output).find(matcher(failing));
  return line?.trim().slice(0, ERROR_CHARACTERS);
}

/** The lines of raw output that name a failure, or all lines where none does, as they are alike in
 * every run. */
export function failuresIn(output: string, { failure }: Output): Set<string> {
  const lines = linesOf(output);
  const named = lines.filter(matcher(failure));
  const telling = named.length > 0 ? named : lines;
  return new Set(telling.map(stable).filter((line) => line !== ""));
}

/** So many lines, of so many characters, tell one cause from another. */
const ERROR_LINES = 5;
const ERROR_CHARACTERS = 200;

/** The first lines that name a failure, without what is other in every worktree; the last line
 * where none does. */
export function errorsIn(output: string, { failure }: Output): string[] {
  const lines = linesOf(output)
    .map(stable)
    .filter((line) => line !== "");
  const named = lines.filter(matcher(failure));
  const telling = named.length > 0 ? named : lines.slice(-1);
  const plain = telling.map((line) => line.replace(/\S*\/worktrees\/[^\s/]+\//g, ""));
  const first = [...new Set(plain)].slice(0, ERROR_LINES);
  return first.map((line) => line.slice(0, ERROR_CHARACTERS));
}

/** A line without what differs from run to run: durations, positions in a file, numbers of tests.
 */
const stable = (line: string): string =>
  line.replace(DURATION, "").replace(POSITION, "").replace(NUMBER_AT_BEGIN, "$1$2").trim();

const DURATION = /\d+(?:\.\d+)?\s?(?:ms|s)\b/g; // `12 ms`, `0.3s`
const POSITION = /:\d+(?::\d+)?\b/g; // `a.ts:3:14`
const NUMBER_AT_BEGIN = /^(\s*)(?:\d+:\d+\b|(not )?ok \d+)/; // `  3:14 error`, `not ok 7`

/** Does a red output name no failure that is not in an earlier one as well? */
export const isSubset = (now: ReadonlySet<string>, before: ReadonlySet<string>): boolean =>
  now.size > 0 && [...now].every((line) => before.has(line));
