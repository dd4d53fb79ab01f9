import { readHeaded, readNumbered, stray } from "./forms.ts";
import { readItem } from "./item.ts";
import { fault, readLines } from "./lines.ts";

const FORMS = "write each task as «### Task 1: Title» or «1. Title (depends on: 2)»";

/** Reads a task list as a person reads it: with headings where it has any, else numbered. What can be read in two ways
 * is an error with its line and never a guess. Whether dependencies make sense is `readGraph`'s to say. */
export function readList(text: string) {
  const { lines, findings } = readLines(text);
  const headed = readHeaded(lines);
  const numbered = readNumbered(lines);
  const { items, findings: found } = headed.items.length + headed.findings.length > 0 ? headed : numbered;
  const [first] = items;
  if (!first) findings.push(fault("empty-list", 1, "the list has no tasks", FORMS));
  findings.push(...found);
  const ids = new Map(items.map(({ id }) => [id.toLowerCase(), id]));
  // Numbered lines before the first heading: an overview of the same tasks, or tasks in another form?
  const before = numbered.items.filter(({ line }) => first && line < first.line);
  if (before[0] && !before.some(({ id }) => ids.has(id.toLowerCase())))
    findings.push(stray({ number: before[0].line }, before[0].head, FORMS));
  const tasks = items.map((item) => {
    const read = readItem(item);
    findings.push(...read.findings);
    return { ...read.task, depends: read.task.depends.map((id) => ids.get(id.toLowerCase()) ?? id) };
  });
  return { tasks, findings };
}
