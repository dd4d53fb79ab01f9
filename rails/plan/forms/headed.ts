import { fault, quote } from "../lines.ts";
import type { Finding } from "../task.ts";
import { type Form, ID, type Item, readField } from "./form.ts";
import { readNumbered, strayField } from "./numbered.ts";

const HEADING = /^\s{0,3}(#{1,6})\s+(.*?)(?:\s+#+)?\s*$/;
const TASK = new RegExp(
  `^(?:\\*\\*|__)?task\\s+#?(${ID})(?:\\*\\*|__)?\\s*(\\[done\\])?\\s*(?:[:.)–—-](?!\\d)\\s*(.*))?$`,
  "i",
);

/**
 * `### Task N: Title [DONE]`, a heading of any level. A task goes on to the next task, or to a heading as high as its own or
 * higher. Numbered lines are prose here: what comes before the first task, or steps in one.
 */
export const headed: Form = {
  example: "### Task 1: Title",
  read(lines) {
    const items: Item[] = [];
    const findings: Finding[] = [];
    const before: { id: string; line: number }[] = [];
    const named: { id: string; line: number }[] = [];
    let open: Item | undefined;
    let level = 0;
    const stray = (line: number, text: string) =>
      findings.push(
        fault("stray-item", line, `${quote(text)} is not read as a task`, "write it as «### Task 2: Title»"),
      );
    for (const line of lines) {
      const [, marks = "", text = ""] = (line.kind === "text" && HEADING.exec(line.text)) || [];
      const [found, id = "", done = "", title = ""] = TASK.exec(text) ?? [];
      if (found !== undefined) {
        level = marks.length;
        open = { id, head: `${title} ${done}`.trim(), line: line.number, indent: 0, lines: [] };
        items.push(open);
        continue;
      }
      if (marks !== "" && !readField(line)) {
        const numberedHeading = /^(?:\d{1,4}|[A-Z]{1,3}-?\d{1,4})\s*[.:)]/.test(text) && marks.length === level;
        if (/^\W*task(?:s?\b[^:]{0,12}:\s*\S|\s+#?\d)|\btask\s+#?\d\w*\s*:/i.test(text) || numberedHeading)
          stray(line.number, line.text);
        if (marks.length <= level) open = undefined;
      }
      const item = line.kind === "text" && line.indent < 2 ? readNumbered(line.text) : undefined;
      if (item && items.length === 0) before.push({ id: item.id, line: line.number });
      else if (item && /\(depends(?: on)?\s*:/i.test(item.head)) stray(line.number, line.text);
      if (!open && readField(line)) findings.push(strayField(line, items.length > 0));
      const name = line.kind === "text" && /^(?:\*\*|__)?task\s+(\w{1,10})\s*(?:\*\*|__)?:/i.exec(line.text)?.[1];
      if (name) named.push({ id: name, line: line.number });
      open?.lines.push(line);
    }
    const ids = new Set(items.map(({ id }) => id.toLowerCase()));
    for (const { id, line } of named) if (!ids.has(id.toLowerCase())) stray(line, `Task ${id}: …`);
    // Numbers of their own before the first heading: the same list in two forms. The same numbers: an overview.
    if (before[0] && !before.some(({ id }) => ids.has(id.toLowerCase()))) stray(before[0].line, `${before[0].id}. …`);
    return { items, findings };
  },
};
