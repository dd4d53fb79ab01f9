import { isDeepStrictEqual } from "node:util";
import { stringify } from "yaml";
import { Fault } from "../program/fault.ts";
import { type ListedTask, NONE } from "./item.ts";
import { readList } from "./read-list.ts";
import type { Plan, PlannedTask, Task } from "./task.ts";

/** A plan as a list in our form, which gives the same plan again.
 * @throws Fault `unwritable` where a task would read differently, whatever is tried */
export function writeList({ goal, success, toolsSaid: tools, tasks }: Plan): string {
  const said = Object.entries({ goal, success, tools }).filter(
    ([, value]) => Object.keys(value).length > 0,
  );
  const header =
    said.length > 0 ? [`---\n${stringify(Object.fromEntries(said), { lineWidth: 0 })}---\n`] : [];
  return [...header, ...tasks.map(writeTask)].join("\n");
}

function writeTask(task: Task): string {
  const { id, title, done, description, forbid, gates, risk, model, workflow, verify } = task;
  const quoted = (path: string) =>
    /^[\w./@*?+[\]()#-]+$/.test(path) && !NONE.test(path) ? path : `\`${path}\``;
  const code = (line: string) => (/^[^`]*<!--[^`]*$/.test(line) ? `\`${line}\`` : line);
  const files = task.files.map(({ path, guessed }) => quoted(path) + (guessed ? "?" : ""));
  const lists = {
    Depends: task.depends,
    Files: files,
    Forbid: forbid.map(quoted),
    Gates: gates.map(quoted),
  };
  const texts = {
    Risk: risk,
    Model: model,
    Workflow: workflow,
    "Done when": task.doneWhen,
    Verify: verify,
  };
  const fields = [
    ...Object.entries({ ...lists, Agent: task.agent }).map(([name, all]) => [name, all.join(", ")]),
    ...Object.entries(texts).flatMap(([name, text]) =>
      text.split("\n").map((line) => [name, code(line)]),
    ),
  ].flatMap(([name, value]) => (value ? `${name}: ${value}` : []));
  const end = `${done ? " [DONE]" : ""}${/\s#+$/.test(title) ? " #" : ""}`;
  const bare = ({
    line,
    wave,
    workflowWhy,
    lead,
    words,
    dependsLine,
    ...said
  }: Partial<ListedTask & PlannedTask>) => said;
  // Four columns further in no line is a heading, and in bold no word is a mark.
  for (const bold of ["", "**"])
    for (const margin of ["", "    "]) {
      const body = description.replace(/^(?=.)/gm, margin);
      const parts = [`### Task ${id}: ${bold}${title}${bold}${end}`, body, fields.join("\n")];
      const text = `${parts.filter(Boolean).join("\n\n")}\n`;
      const { tasks, findings } = readList(text);
      if (findings.length === 0 && isDeepStrictEqual(tasks.map(bare), [bare(task)])) return text;
    }
  const hint = "reword what looks like a heading, a field or a mark in it";
  throw new Fault(
    "unwritable",
    `line ${task.line}: task ${id} would read differently in our form`,
    hint,
  );
}
