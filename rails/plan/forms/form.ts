import type { Line } from "../lines.ts";
import type { Finding } from "../task.ts";

/** One task as a form found it, its fields not yet read. */
export interface Item {
  readonly id: string;
  /** What stands after the id on the item's first line. */
  readonly head: string;
  readonly line: number;
  /** Column at which what belongs to the item starts. */
  readonly indent: number;
  /** The lines beneath that belong to it. */
  readonly lines: Line[];
}

/** One way of writing a list. A new way is one more file here and one more entry in `read-list.ts`. */
export interface Form {
  /** How an item looks, for hints. */
  readonly example: string;
  /** Takes a text apart; no items where the text is in another form. Findings only count where there are items. */
  read(lines: readonly Line[]): { items: Item[]; findings: Finding[] };
}

/** An id: `1`, `a`, `T001`. Nothing that git or a file system could take for more than a name. */
export const ID = "[A-Za-z]{0,8}\\d{1,9}[A-Za-z]?|[A-Za-z]";

/** A bullet, with what follows it. */
export const BULLET = /^\s*[-*+•]\s+(\S.*)$/;

/** Named fields of a task; one line in any of the spellings that people use, bold or not. */
const FIELD = new RegExp(
  "^\\s*([-*+]\\s+|#{1,6}\\s+)?(\\*{1,3}|_{1,3})?" +
    "(files?|depends(?:\\s+on)?|dependenc(?:y|ies)|agents?|forbid(?:den)?|done\\s+when|verify|risk)" +
    "(?:\\2\\s*[:：]|\\s*[:：]\\2)(.*)$",
  "i",
);
const NAMES = ["files", "depends", "agent", "forbid", "done when", "verify", "risk"] as const;
export type FieldName = (typeof NAMES)[number];

/** A field that starts on this line, and what stands after its colon. */
export function readField(line: Line): { name: FieldName; value: string; bullet: boolean } | undefined {
  if (line.kind !== "text") return undefined;
  const [, lead = "", mark = "", word = "", rest = ""] =
    FIELD.exec(line.text.replace(/^(\s*(?:[-*+]\s+)?depends on) +(?=tasks? +#?\w|#?[a-z]{0,3}\d)/i, "$1: ")) ?? [];
  if (word === "") return undefined;
  const spelled = word.toLowerCase().replace(/\s+/g, " ");
  const name = NAMES.find((one) => spelled.slice(0, 5) === one.slice(0, 5)) ?? "depends";
  const value = rest.trim();
  // Bold from the name to the end of the line.
  const all = mark !== "" && value.endsWith(mark) && !value.slice(0, -mark.length).includes(mark);
  return { name, value: all ? value.slice(0, -mark.length) : value, bullet: /^[-*+]/.test(lead) };
}

/** A line that a person could take for a task, though it is in none of our forms. */
export const TASKLIKE = new RegExp(
  [
    "^[\\s>]*(?:#{1,6}\\s+)?(?:\\*\\*|__)?(?:",
    "[-*+•]\\s+\\[.?\\]|", // - [ ] Text
    "[-*+•]\\s+\\S|", // - Text
    "\\(\\w{1,5}\\)\\s|", // (1) Text
    "\\d+(?:\\.\\d+)+[.):]?\\s|", // 1.2 Text
    "\\d{1,4}[.)](?=[^\\s\\d])|", // 1.Text
    "#?(?:[A-Z]{0,3}-?\\d{1,4}|[a-z])\\s*[:.)]\\s|", // 1: Text, T-1. Text
    "#?[A-Z]{0,3}-?\\d{1,4}\\s+[-–—]\\s|", // 1 - Text
    "task\\s+#?\\d|(?:tasks?|step|todo|item)\\b[^:]{0,12}:\\s*\\S)", // Task 1 Text, Task one: Text
  ].join(""),
  "i",
);
