import { type Item, readField } from "../fields.ts";
import { fault, type Line, quote } from "../lines.ts";
import type { Finding } from "../task.ts";
import { ID } from "../values.ts";
import { strayField } from "./headed.ts";

const ITEM = new RegExp(`^\\s*((?:\\*\\*)?(${ID})[.)](?:\\*\\*)?)(?:\\s+(.*))?$`);

/** `1. Text (depends on: 1, 2)`, with `a.`, `b)` or `T001.` as well. What
 * is indented by two columns or more belongs to the item above it, and so does what follows without an empty line. */
export function readNumbered(lines: readonly Line[]): { items: Item[]; findings: Finding[] } {
  const items: Item[] = [];
  const findings: Finding[] = [];
  let open: Item | undefined;
  let column = 0;
  let gap = true;
  for (const line of lines) {
    const [found, marker = "", id = "", head = ""] = ITEM.exec(line.text) ?? [];
    const blank = line.raw.trim() === "";
    if (line.text.trim() === "" || (open && line.indent >= column + 2)) open?.lines.push(line);
    // A number that starts a line of prose («it came out in\n2024. Then») is no task.
    else if (found !== undefined && (open || gap || /^(?:[a-z]*0*1|a)$/i.test(id))) {
      column = line.indent;
      open = { id, head, line: line.number, indent: column + marker.length + 1, lines: [] };
      items.push(open);
    } else if (readField(line)) {
      if (open) open.lines.push(line);
      else if (items.length > 0) findings.push(strayField(line));
    } else if (items.length > 0 && (found !== undefined || (open && LIKE.test(line.text))))
      findings.push(fault("stray-item", line.number, `${quote(line.text)} is in no task`, HINT));
    else if (open && !gap && !/^\s*#/.test(line.text)) open.lines.push(line);
    else open = undefined;
    gap = blank;
  }
  return { items, findings };
}

/** What a person may have meant as the next task. */
const LIKE = /^\s*(?:[-*+]\s|\(?\w{1,4}[:.)]\S*\s|#*\s*task\s+#?\w{1,5}\s*:)/i;
const HINT = "write it as «2. Title», or indent it into the task above";
