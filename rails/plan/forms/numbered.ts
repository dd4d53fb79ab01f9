import { fault, type Line, quote } from "../lines.ts";
import type { Finding } from "../task.ts";
import { BULLET, type Form, ID, type Item, readField, TASKLIKE } from "./form.ts";

const ITEM = new RegExp(`^(\\s*(?:\\*\\*|__)?(${ID})(?:\\*\\*|__)?[.)](?:\\*\\*|__)?)(?:\\s+(.*))?$`);
const TASKS = /^\s{0,3}(?:#{1,6}\s+)?(?:\*\*|__)?tasks?(?:\s+list)?(?:\*\*|__)?\s*:?(?:\*\*|__)?\s*#*\s*$/i;

/** Is this line an item of the form? Its id, what follows, and the width of its marker. */
export function readNumbered(text: string): { id: string; head: string; width: number } | undefined {
  const [, marker = "", id, head = ""] = ITEM.exec(text) ?? [];
  return id === undefined ? undefined : { id, head: head.trim(), width: marker.trimStart().length + 1 };
}

/**
 * `1. Text (depends on: 1, 2)`, with `a.`, `b)` or `T001.` as well. What is indented by two columns or more belongs to the
 * item above it, and so does what follows without an empty line. A heading or a new paragraph ends the list until its next item.
 */
export const numbered: Form = {
  example: "1. Title (depends on: 2)",
  read(lines) {
    const items: Item[] = [];
    const findings: Finding[] = [];
    const heading = lines.findIndex(({ kind, text }) => kind === "text" && TASKS.test(text) && /[#:]/.test(text));
    let open: Item | undefined;
    let openIndent = 0;
    let inList = false;
    let last: Line | undefined;
    for (const [index, line] of lines.entries()) {
      const gap = last === undefined || last.kind === "blank";
      const above = last?.text ?? "";
      last = line;
      if (line.kind !== "text") {
        open?.lines.push(line);
        continue;
      }
      const item = readNumbered(line.text);
      const isHeading = /^\s{0,3}#{1,6}\s/.test(line.text);
      if (index === heading) {
        open = undefined;
        inList = true;
      } else if (open && line.indent >= openIndent + 2) {
        // The next number, one step in: a task or a step? Steps have a first one of their own.
        if (item && Number(item.id) === Number(open.id) + 1 && !open.lines.some(isFirst)) findings.push(stray(line));
        open.lines.push(line);
      } else if (index < heading) {
        if (item && !findings.some(({ code }) => code === "before-list")) findings.push(beforeList(line));
      } else if (item && (inList || startsList(item.id, gap, above))) {
        inList = true;
        openIndent = line.indent;
        if (items[0] && kindOf(items[0].id) !== kindOf(item.id)) findings.push(stray(line));
        open = { id: item.id, head: item.head, line: line.number, indent: line.indent + item.width, lines: [] };
        items.push(open);
      } else if (isHeading) {
        if (/^\W*task\b.*:/i.test(line.text)) findings.push(stray(line));
        open = undefined;
        inList = false;
      } else if (open && !gap && readField(line)) open.lines.push(line);
      else if (readField(line)) findings.push(strayField(line, items.length > 0));
      else if (/^\W*task\s+\w+\W*:|^\s*[-*+]\s+\[.\]|^tasks?:\s*\w{1,4}[.)]/i.test(line.text))
        findings.push(stray(line));
      else if (inList && TASKLIKE.test(line.text) && (open || BULLET.test(line.text))) findings.push(stray(line));
      else if (item && items.length > 0) findings.push(stray(line));
      else if (open && !gap) open.lines.push(line);
      else if (gap && items.length > 0) {
        open = undefined;
        inList = false;
      }
    }
    for (const { head, id, line } of items) {
      const next = /\s(\d+)[.)]\s+\S/.exec(head)?.[1];
      if (next !== undefined && Number(next) === Number(id) + 1)
        findings.push(fault("one-line", line, `tasks ${id} and ${next} stand on one line`, "give each its own line"));
    }
    return { items, findings };
  },
};

/** A number in the middle of prose («in\n2024. Then») is no list: only a first id may follow a line of text. */
function startsList(id: string, gap: boolean, above: string): boolean {
  return gap || /:\W*$/.test(above) || /^\s*#/.test(above) || /^(?:[a-z]*0*1|a)$/i.test(id);
}

const isFirst = ({ kind, text }: Line) => kind === "text" && /^(?:0*1|a)$/i.test(readNumbered(text)?.id ?? "");

function kindOf(id: string): string {
  return id.replace(/\d+/, "0").replace(/^[a-z]$/i, "a");
}

function stray(line: Line): Finding {
  const what = `${quote(line.text)} is neither a task nor part of the one above`;
  return fault("stray-item", line.number, what, "write it as «2. Title», or indent it into a task");
}

/** Numbered lines before the list itself: prose, most likely. */
export function beforeList({ number, text }: Line): Finding {
  const message = `${quote(text)} stands before the list: read as prose`;
  return { level: "warning", code: "before-list", line: number, message, hint: "move it down if it is a task" };
}

/** A field outside every task: lost if nobody says so; before the first task it may well be prose. */
export function strayField(line: Line, after: boolean): Finding {
  return {
    level: after ? "error" : "warning",
    code: "stray-field",
    line: line.number,
    message: `${quote(line.text)} belongs to no task`,
    hint: "indent it beneath the task that it is for",
  };
}
