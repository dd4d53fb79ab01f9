import { stripVTControlCharacters } from "node:util";
import { word } from "../program/typed.ts";
import type { PlannedTask } from "./task.ts";

/** What stands for a line in the fields of a task with `Each:`. */
const LINE = "{}";

/** The command of a `Measure:`, without what is best. */
export const commandIn = (measure: string): string => measure.replace(/^(lowest|highest)\s+/i, "");

/** A number as programs print it, also `.5`; what stands before it is its sign only where no word
 * or number ends there. */
const NUMBER = /(?:(?<![\w.)\]])[-+])?(?:\d+(?:\.\d+)?|(?<!\d)\.\d+)(?:e[-+]?\d+)?/gi;

/** The last number of what a `Measure:` prints; null where there is none. */
export function numberIn(output: string): number | null {
  const last = stripVTControlCharacters(output).match(NUMBER)?.at(-1);
  return last === undefined ? null : Number(last);
}

/** So many tasks one command may list. */
export const MOST_LISTED = 1000;

/** So much of a line stands in a title that does not name it itself. */
const TITLE_CHARACTERS = 80;

/** The lines of a command's output that stand for a task each: none that is blank, none twice.
 * @returns them, and how many were left out */
export function linesIn(output: string): { lines: string[]; leftOut: number } {
  const all = output.replace(/\r?\n$/, "").split(/\r?\n/);
  const lines = [...new Set(all.filter((line) => line.trim() !== ""))];
  return { lines, leftOut: output === "" ? 0 : all.length - lines.length };
}

/** The tasks that lines stand for: `3/1` for the first line of task 3, and so on. In a command a
 * line is one word, whatever is in it; under `Files:` it is a path as it is; elsewhere text. */
export const listedTasks = (task: PlannedTask, lines: readonly string[]): PlannedTask[] =>
  lines.map((line, at) => {
    const inText = (text: string): string => text.replaceAll(LINE, () => line);
    const inCommand = (text: string): string => text.replaceAll(LINE, () => word(line));
    const { each, checks, ...rest } = task;
    const own = checks.filter((check) => check.includes(LINE));
    return {
      ...rest,
      id: `${task.id}/${at + 1}`,
      title: titleOf(task.title, line),
      description: inText(task.description),
      doneWhen: inText(task.doneWhen),
      verify: own.map(inCommand).join("\n"),
      checks: own.map(inCommand),
      ...(task.measure ? { measure: inCommand(task.measure) } : {}),
      files: task.files.map((file) =>
        file.path.includes(LINE)
          ? { ...file, path: inText(file.path), literal: true as const }
          : file,
      ),
      forbid: task.forbid.map(inText),
      ask: inText(task.ask),
    };
  });

const titleOf = (title: string, line: string): string =>
  title.includes(LINE)
    ? title.replaceAll(LINE, () => line)
    : `${title}: ${line.slice(0, TITLE_CHARACTERS)}`;
