import { stripVTControlCharacters } from "node:util";
import type { Blueprint } from "../blueprint/blueprint.ts";
import type { Evidence } from "./events.ts";

type Output = Blueprint["output"];

/** Did a command fail? Also where its runner says that it tested nothing; not where all that failed
 * fails on the base as well, and a person went on over that. */
export const isRed = (run: Pick<Evidence, "code" | "untested" | "known"> | undefined): boolean =>
  run !== undefined && (run.code !== 0 || run.untested) && !run.known;

/** Not red, and the files are as they were: a command that changed them passed on others than it
 * leaves. */
export const isPass = (evidence: Evidence | undefined): boolean =>
  evidence !== undefined && !isRed(evidence) && evidence.changed.length === 0;

/** A gate of a phase: `red` where it has to fail, on tests that ran. */
type Aim = Readonly<{ red: boolean }>;

/** Did a gate come out as its phase wants it? */
export const isMet = ({ red }: Aim, evidence: Evidence | undefined): boolean =>
  red ? isRed(evidence) && evidence?.code !== null && !evidence?.untested : isPass(evidence);

/** Did it come out otherwise? Not where it changed files: then it says nothing. */
export const isMissed = (aim: Aim, evidence: Evidence | undefined): boolean =>
  aim.red
    ? evidence !== undefined && evidence.changed.length === 0 && !isMet(aim, evidence)
    : isRed(evidence);

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
