import { ID, type Item, isField, readItem } from "./item.ts";
import { type Line, quote, readLines } from "./lines.ts";
import { fault } from "./task.ts";

/** What a line is to a list: it starts a task, is part of the one above, looks like a task but is none, or none of these. */
type Role = Item | "part" | "stray" | "other";
/** A way to write tasks down. `above`: the task that is not over yet; `gap`: the line before is empty. */
type Form = (line: Line, above: Item | undefined, gap?: boolean, isFirst?: boolean) => Role;

const HEADING = /^\s{0,3}(#{1,6})\s+(\*\*|__|)(.*?)\2(?:\s#+)?$/;
const TASK = new RegExp(`^task\\s+#?(${ID})\\s*(?:[:.)–—-](?!\\d)\\s*(.*))?$`, "i");
const NUMBERED = new RegExp(`^\\s*(?:\\*\\*)?(${ID})[.)](?:\\*\\*)?(?:\\s+(.*))?$`);
/** What a person may have meant as a task: in a heading, and in a line that follows a numbered task. */
const LIKE_HEADED = /^(?:\*\*|__)?task(?:\s+#?\w*\d|\b[^:]{0,20}:\s*\S)/i;
const LIKE_NUMBERED = /^\s*(?:[-*+]\s|\(?\w{1,4}[:.)]\S*\s|#*\s*task\s+#?\w{1,5}\s*:)/i;
const FORMS = "write each task as «### Task 1: Title» or «1. Title (depends on: 2)»; indent what belongs to one";

/** `### Task N: Title [DONE]`, a heading of any level. A task goes on to the next task, or to a heading as high as its
 * own or higher. Numbered lines are steps here. */
const headed: Form = ({ number, text }, above) => {
  const [, marks = "", , heading = ""] = HEADING.exec(text) ?? [];
  const [found, id = "", head = ""] = TASK.exec(heading) ?? [];
  if (found !== undefined) return { id, head, line: number, depth: marks.length, lines: [] };
  if (LIKE_HEADED.test(heading)) return "stray";
  return above && (marks === "" || marks.length > above.depth) ? "part" : "other";
};

/** `1. Text (depends on: 1, 2)`, with `a.`, `b)` or `T001.` as well. What is indented by two columns or more belongs to
 * the task above it, and so does what follows without an empty line. */
const numbered: Form = (line, above, gap, isFirst) => {
  const { number, text, indent } = line;
  if (text === "" || (above && indent >= above.depth + 2)) return above ? "part" : "other";
  const [found, id = "", head = ""] = NUMBERED.exec(text) ?? [];
  // A number that starts a line of prose («it came out in\n2024. Then») is no task.
  if (found !== undefined && (above || gap || /^(?:[a-z]*0*1|a)$/i.test(id)))
    return { id, head, line: number, depth: indent, lines: [] };
  if (isField(line)) return above ? "part" : "other";
  if (above ? LIKE_NUMBERED.test(text) : found !== undefined && !isFirst) return "stray";
  return above && !gap && !/^\s*#/.test(text) ? "part" : "other";
};

/** Reads a task list as a person reads it: with headings where it has any, else numbered. What can be read in two ways
 * is an error with its line and never a guess. Whether dependencies make sense is `readGraph`'s to say. */
export function readList(text: string) {
  const { lines, findings } = readLines(text);
  const error = (...what: Parameters<typeof fault>) => findings.push(fault(...what));
  const stray = ({ number, text }: Line) => error("stray-item", number, `${quote(text)} is not read as a task`, FORMS);
  const isHeaded = lines.some((line) => headed(line, undefined) !== "other");
  const form = isHeaded ? headed : numbered;
  const items: Item[] = [];
  let above: Item | undefined;
  let gap = true;
  for (const line of lines) {
    const role = form(line, above, gap, items.length === 0);
    if (role === "stray") stray(line);
    else if (role === "part") above?.lines.push(line);
    else {
      above = role === "other" ? undefined : role;
      if (above) items.push(above);
      // Outside of each task it would be lost if nobody said so.
      else if (items.length > 0 && isField(line))
        error("stray-field", line.number, `${quote(line.text)} is in no task`, "move it into its task");
    }
    gap = line.raw.trim() === "";
  }
  const [first] = items;
  if (!first) error("empty-list", 1, "the list has no tasks", FORMS);
  const ids = new Map(items.map(({ id }) => [id.toLowerCase(), id]));
  // Numbered lines before the first heading: an overview of the same tasks, or tasks in another form?
  const before = lines.filter(({ number, text }) => isHeaded && first && number < first.line && NUMBERED.test(text));
  const isKnown = ({ text }: Line): boolean => ids.has(NUMBERED.exec(text)?.[1]?.toLowerCase() ?? "");
  if (before[0] && !before.some(isKnown)) stray(before[0]);
  const tasks = items.map((item) => {
    const task = readItem(item, findings);
    return { ...task, depends: task.depends.map((id) => ids.get(id.toLowerCase()) ?? id) };
  });
  return { tasks, findings };
}
