import { readPattern } from "./glob.ts";
import type { Item, ListedTask } from "./item.ts";
import type { Line } from "./lines.ts";
import type { TaskFile } from "./task.ts";

/** A task of spec-kit's tasks.md, and a heading that says phase. */
export const PHASED = /^\s*[-*+] \[[ x]\] (?:\*\*|__)?\[?T\d{1,9}[A-Z]?\]?(?=[:.)\s*_])/i;
export const PHASE = /^\s{0,3}#{1,6} .*\bphase \w/i;

/** Puts tasks in the order that their phases say: each after all of the phase before, and within a
 * phase one that is not marked `[P]` after all before it. Paths in their text become their files,
 * where they name none.
 * @param items the tasks as they stand in the list
 * @param lines the list, whose headings begin the phases */
export function inPhases(
  tasks: readonly ListedTask[],
  items: readonly Item[],
  lines: readonly Line[],
): ListedTask[] {
  const starts = phaseStarts(lines, items[0]?.line ?? 0);
  const phaseOf = (item?: Item): number =>
    starts.filter((number) => number < (item?.line ?? 0)).length;
  /** What the next task comes after, and since then the tasks beside each other; of those that are
   * done nothing waits. */
  let front: string[] = [];
  let group: string[] = [];
  return tasks.map((task, index) => {
    const last = items[index - 1];
    const item = items[index];
    const isBeside = item?.beside && last?.beside && phaseOf(item) === phaseOf(last);
    if (!isBeside && group.length > 0) {
      front = group;
      group = [];
    }
    const depends = [...new Set([...task.depends, ...(task.done ? [] : front)])];
    if (!task.done) group.push(task.id);
    return { ...task, depends, files: task.files.length > 0 ? task.files : filesIn(task.lead) };
  });
}

/** The lines on which phases begin: headings that say so, and those like the one above the first
 * task. */
function phaseStarts(lines: readonly Line[], first: number): number[] {
  const headings = lines.filter(({ text }) => /^\s{0,3}#{1,6} /.test(text));
  const level = ({ text }: Line): number => text.trim().indexOf(" ");
  const above = headings.filter(({ number }) => number < first);
  const top = above.findLast(({ text }) => PHASE.test(text)) ?? above.at(-1);
  const most = top ? level(top) : 6;
  return headings
    .filter((line) => PHASE.test(line.text) || level(line) <= most)
    .map(({ number }) => number);
}

/** In backticks, or what nothing parts: `{a,b}` and `/(group)/` are of a path. */
const WORD = /`[^`]*`|(?:\{[^{}\s]*\}|(?<=\/)\([^()\s]*\)(?=\/)|[^\s`'"(),;{}])+/g;

/** The paths in a task's first sentence. */
function filesIn(text: string): TaskFile[] {
  const paths = (text.match(WORD) ?? [])
    .filter(({ length }) => length < 300)
    .map((word) => word.replace(/^`|`$/g, "").replace(/(?::\d+(?:-\d+)?)?[.:?!]*$/, ""));
  const found = paths.filter((path) => IS_PATH.test(path) && !readPattern(path).problem);
  return [...new Set(found)].map((path) => ({ path, guessed: false }));
}

/** Endings that no product has (Node.js, U.S.A). */
const ENDINGS = [
  "[cm]?tsx?|[cm]jsx?|json|ya?ml|toml|md|py|go|rs|rb|java|kt|cs|php|swift|sql|s?css|html|sh|tf|xml",
  "vue|svelte|ini|cfg|lock|txt",
].join("|");
/** What stands behind a path's last slash: nothing, a file with an ending or a wildcard, or a
 * hidden one. */
const LAST = /(?:|[^\s/=:]*(?:\.[a-z]\w{0,11}|[*}])|\.[a-z][\w.-]*)/.source;
const PATHS = [
  String.raw`[^\s=:]*\/${LAST}`,
  String.raw`[\w.-]*\.(?:${ENDINGS})`,
  /[a-z][\w.-]*\.js/.source,
  /\.(?:gitignore|env[\w.]*)/.source,
  "Dockerfile",
  "Makefile",
].join("|");
/** A folder, or a file with an ending; without a folder only with an ending that no product has. */
const IS_PATH = new RegExp(String.raw`^(?!\w+:)(?:${PATHS})$`);
