import { isDeepStrictEqual } from "node:util";
import { stringify } from "yaml";
import { Fault } from "../fault.ts";
import { NONE, type Read } from "./item.ts";
import { readList } from "./read-list.ts";
import type { Plan, Task } from "./task.ts";

/** A plan as a list in our form, which gives the same plan again.
 * @throws Fault `unwritable` where a task would read differently, whatever is tried */
export function writeList({ goal, success, toolsSaid: tools, tasks }: Plan): string {
  const said = Object.entries({ goal, success, tools }).filter(([, value]) => Object.keys(value).length > 0);
  const header = said.length > 0 ? [`---\n${stringify(Object.fromEntries(said), { lineWidth: 0 })}---\n`] : [];
  return [...header, ...tasks.map(writeTask)].join("\n");
}

function writeTask(task: Task): string {
  const bare = ({ line, wave, lead, words, dependsLine, ...said }: Task & Partial<Read & { wave: number }>) => said;
  // Four columns further in no line is a heading, and in bold no word is a mark.
  for (const [margin, bold] of [
    ["", ""],
    ["    ", ""],
    ["", "**"],
    ["    ", "**"],
  ] as const) {
    const text = written(task, margin, bold);
    const { tasks, findings } = readList(text);
    if (findings.length === 0 && isDeepStrictEqual(tasks.map(bare), [bare(task)])) return text;
  }
  const hint = "reword what looks like a heading, a field or a mark in it";
  throw new Fault("unwritable", `line ${task.line}: task ${task.id} would read differently in our form`, hint);
}

function written({ id, title, done, ...task }: Task, margin: string, bold: string): string {
  const code = (line: string) => (/^[^`]*<!--[^`]*$/.test(line) ? `\`${line}\`` : line);
  const lines = (name: string, text: string) => text.split("\n").map((line) => line && `${name}: ${code(line)}`);
  const list = (name: string, all: readonly string[]) => (all.length > 0 ? `${name}: ${all.join(", ")}` : "");
  const files = task.files.map(({ path, guessed }) => quoted(path) + (guessed ? "?" : ""));
  const fields = [
    list("Depends", task.depends),
    list("Files", files),
    list("Forbid", task.forbid.map(quoted)),
    list("Gates", task.gates.map(quoted)),
    list("Agent", task.agent),
    ...lines("Risk", task.risk),
    ...lines("Model", task.model),
    ...lines("Workflow", task.workflow),
    ...lines("Done when", task.doneWhen),
    ...lines("Verify", task.verify),
  ].filter(Boolean);
  const body = task.description.replace(/^(?=.)/gm, margin);
  const head = `### Task ${id}: ${bold}${title}${bold}${done ? " [DONE]" : ""}${/\s#+$/.test(title) ? " #" : ""}`;
  return `${[head, body, fields.join("\n")].filter(Boolean).join("\n\n")}\n`;
}

const quoted = (path: string): string => (/^[\w./@*?+[\]()#-]+$/.test(path) && !NONE.test(path) ? path : `\`${path}\``);
