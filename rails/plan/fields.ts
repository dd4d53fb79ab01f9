import { fault, type Line, quote, withoutCode } from "./lines.ts";
import type { Finding, Task } from "./task.ts";
import { type FieldName, readValue } from "./values.ts";

/** One task as a form found it: what stands after its id, and the lines beneath, indented by so many columns. */
export interface Item {
  readonly id: string;
  readonly head: string;
  readonly line: number;
  readonly indent: number;
  readonly lines: Line[];
}

type Field = NonNullable<ReturnType<typeof readField>>;

const FIELD =
  /^\s*([-*+]\s+)?(\*\*|__|)(files|depends(?: on)?|dependencies|agent|forbid|done when|verify|risk)(?::\2|\2\s*:)(.*)$/i;
const BULLET = /^\s*[-*+]\s+(\S.*)$/;
const STEP = /^\s*(?:[-*+]|\w{1,4}[.)])\s/;
/** `(depends on: 1, 2)` in a text. */
const INLINE = /\s?\((?:depends|dependencies)(?:\s+on)?(?::|(?=\s+(?:task|#|\d)))((?:[^()]|\([^()]*\))*)\)/i;
/** A dependency in a text that is in no field. */
const SAID =
  /\bdepends(?:\s+on)?(?::\s*(?:tasks?\s+)?#?\w{1,4}|\s+(?:tasks?\s+#?\w{0,8}\d\w?|#?\d+))\b(?!\s+(?!and\b)\w)/i;

/** The field that starts on this line, if one does; `beneath`: may bullets as far in as its own line be its values? */
export function readField(line: Line) {
  const [, bullet, , word, rest = ""] = FIELD.exec(line.text) ?? [];
  if (word === undefined) return undefined;
  const name = (/^depend/i.test(word) ? "depends" : word.toLowerCase()) as FieldName;
  const text = rest.trim();
  const values = text === "" ? [] : [{ text, line: line.number }];
  return { name, line, beneath: text === "" && bullet === undefined, values };
}

/** Tells the fields of an item from its text. To a field belongs what a person sees as belonging to it: what follows
 * its colon, bullets beneath, and the rest of a sentence that goes on further in. */
function split(item: Item): { fields: Field[]; text: Line[] } {
  const fields: Field[] = [];
  const text: Line[] = [];
  let open: Field | undefined;
  let gap = false;
  for (const line of item.lines) {
    const field = readField(line);
    const bullet = BULLET.exec(line.text)?.[1];
    const deeper = open !== undefined && line.indent > open.line.indent;
    if (field) {
      open = field;
      fields.push(field);
    } else if (line.raw.trim() === "") text.push(line);
    // After an empty line, boxes are the steps of the work and no longer the field.
    else if (open && bullet && (deeper || open.beneath) && !(gap && /^\[.\]/.test(bullet)))
      open.values.push({ text: bullet, line: line.number });
    else if (open && deeper && !gap && line.text !== "" && !bullet) {
      const last = open.values.pop() ?? { text: "", line: line.number };
      open.values.push({ ...last, text: `${last.text} ${line.text.trim()}`.trim() });
    } else {
      open = undefined;
      text.push(line);
    }
    gap = line.raw.trim() === "";
  }
  return { fields, text };
}

/** Reads an item. A value that cannot be read to the end is an error with its line and counts as not said. */
export function readItem(item: Item) {
  const findings: Finding[] = [];
  const all: Partial<Record<FieldName, string[]>> = {};
  let dependsLine = item.line;
  const take = (name: FieldName, text: string, line: number) => {
    if (name === "depends") dependsLine = line;
    const read = readValue(name, text);
    if ("said" in read) all[name] = [...(all[name] ?? []), ...read.said];
    else findings.push(fault(name, line, `${name}: ${quote(text)} ${read.wrong}`, read.hint));
  };
  /** Reads a `(depends on: …)` out of a text. What is said in passing would be lost if nobody said so. */
  const takeInline = (text: string, line: number): string => {
    const found = STEP.test(text) ? null : INLINE.exec(withoutCode(text));
    if (found) take("depends", found[1]?.trim() ?? "", line);
    const rest = found ? text.slice(0, found.index) + text.slice(found.index + found[0].length) : text;
    if (SAID.test(withoutCode(rest)))
      findings.push(fault("depends", line, `${quote(rest)} is no field`, "write «Depends: 1» on a line of its own"));
    return rest;
  };

  const head = takeInline(item.head, item.line).trim();
  const done = /\[done\]$/i.test(head);
  const title = head.replace(/\s*\[done\]$/i, "").replace(/^(?:\*\*)?([^*]+)\*\*$/, "$1");
  if (title === "") findings.push(fault("no-title", item.line, `task ${item.id} has no title`, "say what it does"));
  const { fields, text } = split(item);
  for (const { name, line, values } of fields) {
    for (const value of values) take(name, value.text, value.line);
    const [message, hint] = [`${quote(line.text)} says nothing`, "fill it in, write none, or take it out"];
    if (values.length === 0) findings.push({ level: "warning", code: "empty-field", line: line.number, message, hint });
  }
  const margin = new RegExp(`^(?: {0,${item.indent}}|\t)`);
  const body = text.map((line) => {
    const rest = takeInline(line.text, line.number);
    return (rest === line.text ? line.raw : rest).replace(margin, "");
  });
  const task: Task & { dependsLine: number } = {
    id: item.id,
    title,
    description: body
      .join("\n")
      .trimEnd()
      .replace(/^\s*\n/, ""),
    depends: all.depends ?? [],
    files: (all.files ?? []).map((path) => ({ path: path.replace(/\?$/, ""), guessed: path.endsWith("?") })),
    forbid: all.forbid ?? [],
    agent: all.agent ?? [],
    doneWhen: (all["done when"] ?? []).join("\n"),
    verify: (all.verify ?? []).join("\n"),
    risk: (all.risk?.at(-1)?.toLowerCase() ?? "") as Task["risk"],
    done,
    line: item.line,
    dependsLine,
  };
  return { task, findings };
}
