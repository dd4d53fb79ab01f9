import { isDeepStrictEqual } from "node:util";
import { stringify } from "yaml";
import { Fault } from "../program/fault.ts";
import { type ListedTask, NONE } from "./item.ts";
import { readList } from "./read-list.ts";
import type { Plan, PlannedTask, Task } from "./task.ts";

/** What of a plan stands in a list. */
type Listed = Pick<Plan, "goal" | "success" | "toolsSaid" | "tasks">;

/** A plan as a list in our form, which gives the same plan again.
 * @throws Fault `unwritable` where a task would read differently, whatever is tried */
export function writeList({ goal, success, toolsSaid, tasks }: Listed): string {
  return [...headerOf({ goal, success, tools: toolsSaid }), ...tasks.map(writeTask)].join("\n");
}

/** The list's frontmatter with those of the fields that say something; none where none does. */
function headerOf(fields: Readonly<Record<string, string | object>>): string[] {
  const said = Object.entries(fields).filter(([, value]) => Object.keys(value).length > 0);
  if (said.length === 0) return [];
  return [`---\n${stringify(Object.fromEntries(said), { lineWidth: 0 })}---\n`];
}

/** Four columns further in no line is a heading, and in bold no word is a mark: what may be needed
 * so that a task reads as it is. */
const WAYS = ["", "**"].flatMap((bold) => ["", "    "].map((margin) => ({ bold, margin })));

function writeTask(task: Task): string {
  const { id, title, description, line } = task;
  const end = `${task.done ? " [DONE]" : ""}${/\s#+$/.test(title) ? " #" : ""}`;
  const fields = fieldsOf(task).join("\n");
  for (const { bold, margin } of WAYS) {
    const heading = `### Task ${id}: ${bold}${title}${bold}${end}`;
    const body = description.replace(/^(?=.)/gm, margin);
    const text = `${[heading, body, fields].filter(Boolean).join("\n\n")}\n`;
    const { tasks, findings } = readList(text);
    if (findings.length === 0 && isDeepStrictEqual(tasks.map(bare), [bare(task)])) return text;
  }
  const what = `line ${line}: task ${id} would read differently in our form`;
  const hint = "reword what looks like a heading, a field or a mark in it";
  throw new Fault("unwritable", what, hint);
}

/** A task without what follows from where it stands, or from the list as a whole. */
function bare(task: Partial<ListedTask & PlannedTask>) {
  const { line, wave, workflowWhy, lead, words, dependsLine, said, ...own } = task;
  return own;
}

/** The lines of a task's fields that say something. */
function fieldsOf(task: Task): string[] {
  const files = task.files.map(({ path, guessed }) => quotedPath(path) + (guessed ? "?" : ""));
  const lists = {
    Depends: task.depends,
    Files: files,
    Forbid: task.forbid.map(quotedPath),
    Gates: task.gates.map(quotedPath),
    Agent: task.agent,
  };
  const texts = {
    Risk: task.risk,
    Model: task.model,
    Workflow: task.workflow,
    "Done when": task.doneWhen,
    Verify: verifyOf(task),
    Each: task.each ?? "",
    Measure: task.measure ?? "",
    Ask: task.ask,
  };
  const fields: string[] = [];
  for (const [name, words] of Object.entries(lists))
    if (words.length > 0) fields.push(`${name}: ${words.join(", ")}`);
  for (const [name, text] of Object.entries(texts))
    for (const line of text.split("\n"))
      if (line !== "") fields.push(`${name}: ${quotedComment(line)}`);
  return fields;
}

/** Commands as code, so that they are read as commands again. */
const verifyOf = ({ verify, checks }: Task): string =>
  verify
    .split("\n")
    .map((line) => (checks.includes(line) && !line.includes("`") ? `\`${line}\`` : line))
    .join("\n");

const quotedPath = (path: string): string =>
  /^[\w./@*?+[\]()#-]+$/.test(path) && !NONE.test(path) ? path : `\`${path}\``;

/** The beginning of a comment would hide what follows. */
const quotedComment = (line: string): string =>
  /^[^`]*<!--[^`]*$/.test(line) ? `\`${line}\`` : line;
