import { type Item, readField } from "../fields.ts";
import { fault, type Line, quote } from "../lines.ts";
import type { Finding } from "../task.ts";
import { ID } from "../values.ts";

const HEADING = /^\s{0,3}(#{1,6})\s+(.*)$/;
const TASK = new RegExp(`^task\\s+#?(${ID})\\s*(?:[:.)–—-](?!\\d)\\s*(.*))?$`, "i");
const HINT = "write it as «### Task 2: Title»";

/** `### Task N: Title [DONE]`, a heading of any level. A task goes on to the next task, or to a heading as high as its
 * own or higher. Numbered lines are steps here. */
export function readHeaded(lines: readonly Line[]): { items: Item[]; findings: Finding[] } {
  const items: Item[] = [];
  const findings: Finding[] = [];
  let open: Item | undefined;
  let level = 0;
  for (const line of lines) {
    const [, marks = "", text = ""] = HEADING.exec(line.text) ?? [];
    const heading = text.replace(/\s#+$/, "").replace(/^(\*\*|__)(.*)\1$/, "$2");
    const [found, id = "", head = ""] = TASK.exec(heading) ?? [];
    if (found !== undefined) {
      level = marks.length;
      open = { id, head, line: line.number, indent: 0, lines: [] };
      items.push(open);
      continue;
    }
    if (/^task(?:\s+#?\w*\d|\b[^:]{0,20}:\s*\S)/i.test(heading))
      findings.push(fault("stray-item", line.number, `${quote(text)} is not read as a task`, HINT));
    if (marks !== "" && marks.length <= level) open = undefined;
    if (open) open.lines.push(line);
    else if (items.length > 0 && readField(line)) findings.push(strayField(line));
  }
  return { items, findings };
}

/** A field behind the tasks, outside each of them: lost if nobody says so. */
export function strayField({ number, text }: Line): Finding {
  return fault("stray-field", number, `${quote(text)} belongs to no task`, "move it to the task that it is for");
}
