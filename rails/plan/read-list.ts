import { readItem } from "./fields.ts";
import { type Form, TASKLIKE } from "./forms/form.ts";
import { headed } from "./forms/headed.ts";
import { numbered } from "./forms/numbered.ts";
import { fault, quote, readLines } from "./lines.ts";
import type { Finding, Task } from "./task.ts";

/** The first that finds items is the form of the list. */
const FORMS: readonly Form[] = [headed, numbered];

/**
 * Reads a task list as a person reads it. What can be read in two ways, and what looks like a task but is in no form, is an error
 * with its line and never a guess.
 * @param text the list, Markdown; BOM and line ends make no difference
 * @returns the tasks as written, dependencies spelled as the ids they name; whether those make sense is `readGraph`'s to say.
 * `dependsLine` is the line on which a task says what it depends on.
 */
export function readList(text: string): { tasks: Task[]; findings: Finding[]; dependsLine: Map<Task, number> } {
  const { lines, findings } = readLines(text);
  const found = FORMS.map((form) => form.read(lines)).find(({ items }) => items.length > 0);
  if (!found) {
    const like = lines.filter((line) => line.kind === "text" && TASKLIKE.test(line.text));
    const forms = `write each task as ${FORMS.map((form) => `«${form.example}»`).join(" or ")}`;
    const [first] = like;
    if (!first) findings.push(fault("empty-list", 1, "the list has no tasks", forms));
    else {
      const more = like.length > 1 ? ` and ${like.length - 1} more like it` : "";
      findings.push(
        fault("unknown-form", first.number, `${quote(first.text)}${more}: not in a form that is read`, forms),
      );
    }
    return { tasks: [], findings, dependsLine: new Map() };
  }
  findings.push(...found.findings);
  const ids = new Map(found.items.map(({ id }) => [id.toLowerCase(), id]));
  const dependsLine = new Map<Task, number>();
  const tasks = found.items.map((item) => {
    const read = readItem(item);
    findings.push(...read.findings);
    const task = { ...read.task, depends: read.task.depends.map((id) => ids.get(id.toLowerCase()) ?? id) };
    dependsLine.set(task, read.dependsLine);
    return task;
  });
  return { tasks, findings, dependsLine };
}
