import { ID, type Item, readField } from "./item.ts";
import { fault, type Line, quote } from "./lines.ts";
import type { Finding } from "./task.ts";

type Read = Readonly<{ items: Item[]; findings: Finding[] }>;

const HEADING = /^\s{0,3}(#{1,6})\s+(.*)$/;
const TASK = new RegExp(`^task\\s+#?(${ID})\\s*(?:[:.)–—-](?!\\d)\\s*(.*))?$`, "i");
const ITEM = new RegExp(`^\\s*((?:\\*\\*)?(${ID})[.)](?:\\*\\*)?)(?:\\s+(.*))?$`);
/** What a person may have meant as the next task. */
const LIKE = /^\s*(?:[-*+]\s|\(?\w{1,4}[:.)]\S*\s|#*\s*task\s+#?\w{1,5}\s*:)/i;
const HEADED = "write it as «### Task 2: Title»";
const NUMBERED = "write it as «2. Title», or indent it into the task above";

/** `### Task N: Title [DONE]`, a heading of any level. A task goes on to the next task, or to a heading as high as its
 * own or higher. Numbered lines are steps here. */
export function readHeaded(lines: readonly Line[]): Read {
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
    if (/^task(?:\s+#?\w*\d|\b[^:]{0,20}:\s*\S)/i.test(heading)) findings.push(stray(line, text, HEADED));
    if (marks !== "" && marks.length <= level) open = undefined;
    if (open) open.lines.push(line);
    else if (items.length > 0 && readField(line)) findings.push(strayField(line));
  }
  return { items, findings };
}

/** `1. Text (depends on: 1, 2)`, with `a.`, `b)` or `T001.` as well. What is indented by two columns or more belongs to
 * the item above it, and so does what follows without an empty line. */
export function readNumbered(lines: readonly Line[]): Read {
  const items: Item[] = [];
  const findings: Finding[] = [];
  let open: Item | undefined;
  let column = 0;
  let gap = true;
  for (const line of lines) {
    const [found, marker = "", id = "", head = ""] = ITEM.exec(line.text) ?? [];
    if (line.text.trim() === "" || (open && line.indent >= column + 2)) open?.lines.push(line);
    // A number that starts a line of prose («it came out in\n2024. Then») is no task.
    else if (found !== undefined && (open || gap || /^(?:[a-z]*0*1|a)$/i.test(id))) {
      column = line.indent;
      open = { id, head, line: line.number, indent: column + marker.length + 1, lines: [] };
      items.push(open);
    } else if (open && readField(line)) open.lines.push(line);
    else if (items.length > 0 && readField(line)) findings.push(strayField(line));
    else if (items.length > 0 && (found !== undefined || (open && LIKE.test(line.text))))
      findings.push(stray(line, line.text, NUMBERED));
    else if (open && !gap && !/^\s*#/.test(line.text)) open.lines.push(line);
    else open = undefined;
    gap = line.raw.trim() === "";
  }
  return { items, findings };
}

export const stray = ({ number }: { readonly number: number }, text: string, hint: string): Finding =>
  fault("stray-item", number, `${quote(text)} is not read as a task`, hint);

/** A field behind the tasks, outside each of them: lost if nobody says so. */
const strayField = ({ number, text }: Line): Finding =>
  fault("stray-field", number, `${quote(text)} belongs to no task`, "move it to the task that it is for");
