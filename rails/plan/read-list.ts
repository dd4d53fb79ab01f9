import { ID, type Item, isField, type ListedTask, readItem, WHOLE_ID } from "./item.ts";
import { type Line, quote, readLines } from "./lines.ts";
import { inPhases, PHASE, PHASED } from "./spec-kit.ts";
import { type Finding, finding } from "./task.ts";

/** What a line is to a list: it starts a task, is part of the one above, looks like a task but is
 * none, or none of these. */
type Role = Item | "part" | "stray" | "other";
/** A way to write tasks down. `above`: the task that is not over yet; `gap`: the line before is
 * empty; `count`: how many tasks came before. */
type Form = (line: Line, above: Item | undefined, gap: boolean, count: number) => Role;

const HEADING = /^\s{0,3}(#{1,6})\s+(\*\*|__|)(.*?)\2(?:\s#+)?$/;
const TASK = new RegExp(`^task\\s+#?(${WHOLE_ID})\\s*(?:[:.)–—-](?!\\d)\\s*(.*))?$`, "i");
const NUMBERED = new RegExp(`^\\s*(?:\\*\\*)?(${ID})[.)](?:\\*\\*)?(?:\\s+(.*))?$`);
const CHECK = /^\s*[-*+] (\[[ x]\])(?: (.*))?$/i;
/** What a person may have meant as a task: in a heading, as a checkbox, and in a line that follows
 * a task. */
const LIKE_HEADED = new RegExp(
  [
    /^(?:\*\*|__)?task/.source,
    /(?:\s+#?\w*\d|\b(?! (?:list|breakdown|plan|overview)\b)[^:]{0,20}:\s*\S)/.source,
  ].join(""),
  "i",
);
const LIKE_CHECK = /^\s*[-*+] \[[x\W]?\](?!\()/i;
const LIKE_ITEM = /^\s*(?:[-*+]\s|\(?\w{1,4}[:.)]\S*\s|#*\s*task\s+#?\w{1,5}\s*:)/i;
/** The ways in which a checkbox names an id. */
const NAMES = [
  /#(\d{1,9})(?=[\s:]|$)/.source, // `#12 Title`
  /\[?(T\d{1,9}[A-Z]?)\]?(?=[:.)\s])/.source, // `T001 Title`
  String.raw`task #?(${ID})\s*(?=[:.)–—-](?!\d))`, // `Task 1: Title`
  String.raw`(${ID})(?=[.)]\s)`, // `1. Title`
].join("|");
/** An id that a checkbox names, and then the rest. */
const NAMED = new RegExp(String.raw`^(?:${NAMES})[:.)–—-]?\s*(?:[–—-]\s+)?(.*)$`, "i");
const BESIDE = /(?:^| )\[P\](?= |$)/i;
const STRUCK = /^(?:\[.?\] )?~~[^~]+~~$/;
const FORMS =
  "write each task as «### Task 1: Title», «1. Title (depends on: 2)» or «- [ ] Title»; " +
  "indent what belongs to one";

/** `### Task N: Title [DONE]`, a heading of any level. A task goes on to the next task, or to a
 * heading as high as its own or higher. Numbered lines and checkboxes are steps here. */
const headed: Form = ({ number, text }, above) => {
  const [, marks = "", , heading = ""] = HEADING.exec(text) ?? [];
  const [found, id = "", head = ""] = TASK.exec(heading) ?? [];
  if (found !== undefined) return { id, head, line: number, depth: marks.length, lines: [] };
  if (LIKE_HEADED.test(heading)) return "stray";
  return above && (marks === "" || marks.length > above.depth) ? "part" : "other";
};

/** A list whose tasks are lines. What is indented by two columns or more belongs to the task above
 * it, and so does what follows without an empty line. @param start what a line that is not indented
 * is to it, if that can be told */
const lined =
  (start: (...what: Parameters<Form>) => Role | undefined): Form =>
  (line, above, gap, count) => {
    const { text, indent } = line;
    if (text === "" || (above && indent >= above.depth + 2)) return above ? "part" : "other";
    const role = start(line, above, gap, count);
    if (role !== undefined) return role;
    if (isField(line)) return above ? "part" : "other";
    if (above && LIKE_ITEM.test(text)) return "stray";
    return above && !gap && !/^\s*#/.test(text) ? "part" : "other";
  };

/** `1. Text (depends on: 1, 2)`, with `a.`, `b)` or `T001.` as well. */
const numbered = lined(({ number, text, indent }, above, gap, count) => {
  const [found, id = "", head = ""] = NUMBERED.exec(text) ?? [];
  if (found === undefined) return count > 0 && LIKE_CHECK.test(text) ? "stray" : undefined;
  // A number that starts a line of prose («it came out in\n2024. Then») is no task.
  if (above || gap || /^(?:[a-z]*0*1|a)$/i.test(id))
    return { id, head, line: number, depth: indent, lines: [] };
  return count > 0 ? "stray" : undefined;
});

/** `- [ ] Text`, done with an `x`. Its id is the one that it names, or its place in the list. */
const checks = lined((line, above, gap, count) => {
  const { number, text, indent } = line;
  const [found, box = "", words = ""] = CHECK.exec(text) ?? [];
  if (found !== undefined) {
    const [name, issue, ...more] = NAMED.exec(words.replace(/^(\*\*|__)(.+?)\1/, "$2")) ?? [];
    const rest = more.pop() || (issue && `#${issue}`) || "";
    const id = issue ?? more.find(Boolean) ?? String(count + 1);
    const head = name === undefined ? words : PHASED.test(text) ? rest.replace(BESIDE, "") : rest;
    return {
      id,
      head: `${box} ${head}`,
      line: number,
      depth: indent,
      lines: [],
      beside: BESIDE.test(rest),
    };
  }
  // Bullets without a box further out are groups.
  if (above && indent < above.depth && /^\s*[-*+] /.test(text)) return "other";
  return LIKE_CHECK.test(text) || (!above && typeof numbered(line, above, gap, 0) === "object")
    ? "stray"
    : undefined;
});

/** spec-kit's `- [ ] T001 [P] [US1] Text in src/x.ts`. Boxes without an id, and numbers, are other
 * lists. */
const specKit: Form = (line, above, gap, count) => {
  const role = checks(line, above, gap, count);
  if (typeof role === "object" && !PHASED.test(line.text)) return above ? "stray" : "other";
  return role === "stray" && !above && NUMBERED.test(line.text) ? "other" : role;
};

/** The form that a list is in: with headings where it has any, else what its first task is written
 * as. */
function formOf(lines: readonly Line[]): Form {
  if (lines.some((line) => headed(line, undefined, false, 0) !== "other")) return headed;
  const isKit = lines.some(({ text }) => PHASE.test(text) || / \[P\]( |$)/i.test(text));
  if (isKit && lines.some(({ text }) => PHASED.test(text))) return specKit;
  const isFirst = (line: Line, at: number): boolean =>
    CHECK.test(line.text) || typeof numbered(line, undefined, !lines[at - 1]?.text, 0) === "object";
  return CHECK.test(lines.find(isFirst)?.text ?? "") ? checks : numbered;
}

/** Reads a task list as a person reads it. What can be read in two ways is an error with its line
 * and never a guess. Whether dependencies make sense is `readGraph`'s to say. */
export function readList(text: string): { tasks: ListedTask[]; findings: Finding[] } {
  const { lines, findings } = readLines(text);
  const find = (...what: Parameters<typeof finding>) => findings.push(finding(...what));
  const stray = ({ number, text }: Line) =>
    find("stray-item", number, `${quote(text)} is not read as a task`, FORMS);
  const form = formOf(lines);
  const items: Item[] = [];
  const apart: Line[] = [];
  let above: Item | undefined;
  let gap = true;
  let isApart = false;
  for (const line of lines) {
    const role = form(line, above, gap, items.length);
    // After checkboxes, numbers under a heading of their own are another list.
    if (typeof role === "object") isApart = false;
    else if (/^\s{0,3}#/.test(line.text)) isApart = form === checks && items.length > 0;
    if (role === "stray" && !(isApart && NUMBERED.test(line.text))) stray(line);
    else if (role === "part") above?.lines.push(line);
    else {
      above = typeof role === "object" ? role : undefined;
      if (above) items.push(above);
      else if (role === "stray" || CHECK.test(line.text)) apart.push(line);
      // Outside of each task it would be lost if nobody said so.
      else if (items.length > 0 && isField(line))
        find(
          "stray-field",
          line.number,
          `${quote(line.text)} is in no task`,
          "move it into its task",
        );
    }
    gap = line.raw.trim() === "";
  }
  if (apart[0]) {
    const message = `read as no tasks: ${apart.length} lines of another list, from ${quote(apart[0].text)} on`;
    find("other-list", apart[0].number, message, FORMS, "warning");
  }
  if (items.length === 0) find("empty-list", 1, "the list has no tasks", FORMS);
  const ids = new Map(items.map(({ id }) => [id.toLowerCase(), id]));
  // Numbered lines before the first heading: an overview of the same tasks, or tasks in another
  // form?
  const end = form === headed ? (items[0]?.line ?? 0) : 0;
  const before = lines.filter(({ number, text }) => number < end && NUMBERED.test(text));
  const isKnown = ({ text }: Line): boolean =>
    ids.has(NUMBERED.exec(text)?.[1]?.toLowerCase() ?? "");
  if (before[0] && !before.some(isKnown)) stray(before[0]);
  const kept = items.filter(({ head }) => !STRUCK.test(head));
  const way = "take the marks off if it is";
  for (const { id, line } of items.filter((item) => !kept.includes(item)))
    find("struck-out", line, `${id} is struck through, so it is no task`, way, "warning");
  const tasks = kept.map((item) => {
    const task = readItem(item, findings);
    return { ...task, depends: task.depends.map((id) => ids.get(id.toLowerCase()) ?? id) };
  });
  return { tasks: form === specKit ? inPhases(tasks, kept, lines) : tasks, findings };
}
