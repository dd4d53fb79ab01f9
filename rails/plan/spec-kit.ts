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
  let [front, group]: [string[], string[]] = [[], []];
  return tasks.map((task, index) => {
    const last = items[index - 1];
    const item = items[index];
    const isBeside = item?.beside && last?.beside && phaseOf(item) === phaseOf(last);
    if (!isBeside && group.length > 0) [front, group] = [group, []];
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

/** The paths in a task's first sentence. */
function filesIn(text: string): TaskFile[] {
  const words =
    text.match(/`[^`]*`|(?:\{[^{}\s]*\}|(?<=\/)\([^()\s]*\)(?=\/)|[^\s`'"(),;{}])+/g) ?? [];
  const paths = words
    .filter(({ length }) => length < 300)
    .map((word) => word.replace(/^`|`$/g, "").replace(/(?::\d+(?:-\d+)?)?[.:?!]*$/, ""));
  const found = paths.filter((path) => IS_PATH.test(path) && !readPattern(path).problem);
  return [...new Set(found)].map((path) => ({ path, guessed: false }));
}

/** A folder, or a file with an ending; without a folder only with an ending that no product has
 * (Node.js, U.S.A). */
const IS_PATH =
  /^(?!\w+:)(?:[^\s=:]*\/(?:|[^\s/=:]*(?:\.[a-z]\w{0,11}|[*}])|\.[a-z][\w.-]*)|[\w.-]*\.(?:[cm]?tsx?|[cm]jsx?|json|ya?ml|toml|md|py|go|rs|rb|java|kt|cs|php|swift|sql|s?css|html|sh|tf|xml|vue|svelte|ini|cfg|lock|txt)|[a-z][\w.-]*\.js|\.(?:gitignore|env[\w.]*)|Dockerfile|Makefile)$/;
