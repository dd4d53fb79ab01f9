import { readPattern } from "./glob.ts";
import { fault, type Line, quote, withoutCode } from "./lines.ts";
import type { Finding, Task } from "./task.ts";

/** One task as a form found it: what stands after its id, and the lines beneath, indented by so many columns. */
export type Item = Readonly<{ id: string; head: string; line: number; indent: number; lines: Line[] }>;

/** An id: `1`, `a`, `T001`. Nothing that git or a file system could take for more than a name. */
export const ID = "[A-Za-z]{0,8}\\d{1,9}[A-Za-z]?|[A-Za-z]";

/** The fields of a task: how a value is read (what it says, or in words what is wrong), and how to write it instead. */
const FIELDS = {
  depends: { read: wordsLike(new RegExp(`^(?:${ID})$`)), hint: "write «Depends: 1, 2» or «Depends: none»" },
  files: { read: readPaths, hint: "write «src/a.ts, docs/**, package.json?»; names with spaces in `backticks`" },
  forbid: { read: readPaths, hint: "write «src/generated/, *.lock»; names with spaces in `backticks`" },
  gates: { read: readPaths, hint: "write «test/old.test.js, package.json#scripts»" },
  agent: { read: wordsLike(/^[\w.:-]+$/), hint: "write «Agent: backend, tester»" },
  risk: {
    read: (text: string) => /^(?:low|medium|high)\b(?![/-])/i.exec(text) ?? "is none",
    hint: "low, medium or high",
  },
  "done when": { read: (text: string) => [text], hint: "" },
  verify: { read: (text: string) => [text.replace(/^`([^`]+)`$/, "$1")], hint: "" },
};
type FieldName = keyof typeof FIELDS;

type Value = Readonly<{ text: string; line: number }>;
/** A field as it stands in an item; `beneath`: may bullets as far in as its own line be its values? */
type Field = Readonly<{ name: FieldName; line: Line; beneath: boolean; values: Value[] }>;

const FIELD =
  /^\s*([-*+]\s+)?(\*\*|__|)(files|depends(?: on)?|dependencies|agent|forbid|gates|done when|verify|risk)(?::\2|\2\s*:)(.*)$/i;
/** The ways of saying that a field has nothing to say; a remark in parentheses may say why. */
const NONE = /^(?:none|nothing|no|n\/a|[-–—])\.?(?:\s*\([^()]*\))?\.?$/i;
const BULLET = /^\s*[-*+]\s+(\S.*)$/;
const STEP = /^\s*(?:[-*+]|\w{1,4}[.)])\s/;
/** `(depends on: 1, 2)` in a text. */
const INLINE = /\s?\((?:depends|dependencies)(?:\s+on)?(?::|(?=\s+(?:task|#|\d)))((?:[^()]|\([^()]*\))*)\)/i;
/** A dependency in a text that is in no field. */
const SAID =
  /\bdepends(?:\s+on)?(?::\s*(?:tasks?\s+)?#?\w{1,4}|\s+(?:tasks?\s+#?\w{0,8}\d\w?|#?\d+))\b(?!\s+(?!and\b)\w)/i;

/** The field that starts on this line, if one does. */
export function readField(line: Line): Field | undefined {
  const [, bullet, , word, rest = ""] = FIELD.exec(line.text) ?? [];
  if (word === undefined) return undefined;
  const name = (/^depend/i.test(word) ? "depends" : word.toLowerCase()) as FieldName;
  const text = rest.trim();
  const values = text === "" ? [] : [{ text, line: line.number }];
  return { name, line, beneath: text === "" && bullet === undefined, values };
}

/** Reads an item. To a field belongs what a person sees as belonging to it: what follows its colon, bullets beneath, and
 * the rest of a sentence that goes on further in. A value that cannot be read is an error and counts as not said. */
export function readItem({ id, head, line: start, indent, lines }: Item) {
  const findings: Finding[] = [];
  const depends: Value[] = [];
  /** Takes a `(depends on: …)` out of a text. What is said in passing would be lost if nobody said so. */
  const takeInline = (text: string, line: number): string => {
    const found = STEP.test(text) ? null : INLINE.exec(withoutCode(text));
    if (found) depends.push({ text: found[1]?.trim() ?? "", line });
    const rest = found ? text.slice(0, found.index) + text.slice(found.index + found[0].length) : text;
    if (SAID.test(withoutCode(rest)))
      findings.push(fault("depends", line, `${quote(rest)} is no field`, "write «Depends: 1» on a line of its own"));
    return rest;
  };
  const title = takeInline(head, start).trim();
  const name = title.replace(/\s*\[done\]$/i, "").replace(/^(?:\*\*)?([^*]+)\*\*$/, "$1");
  if (name === "") findings.push(fault("no-title", start, `task ${id} has no title`, "say what it does"));

  const margin = new RegExp(`^(?: {0,${indent}}|\t)`);
  const fields: Field[] = [];
  const body: string[] = [];
  let open: Field | undefined;
  let gap = false;
  for (const line of lines) {
    const field = readField(line);
    const bullet = BULLET.exec(line.text)?.[1];
    const isBlank = line.raw.trim() === "";
    const deeper = open !== undefined && line.indent > open.line.indent;
    if (field) fields.push(field);
    if (field) open = field;
    // After an empty line, boxes are the steps of the work and no longer the field.
    else if (open && bullet && (deeper || open.beneath) && !(gap && /^\[.\]/.test(bullet)))
      open.values.push({ text: bullet, line: line.number });
    else if (open && deeper && !gap && line.text !== "" && !bullet) {
      const last = open.values.pop() ?? { text: "", line: line.number };
      open.values.push({ ...last, text: `${last.text} ${line.text.trim()}`.trim() });
    } else {
      if (!isBlank) open = undefined;
      const rest = takeInline(line.text, line.number);
      body.push((rest === line.text ? line.raw : rest).replace(margin, ""));
    }
    gap = isBlank;
  }
  for (const { line, values } of fields) {
    const [message, hint] = [`${quote(line.text)} says nothing`, "fill it in, write none, or take it out"];
    if (values.length === 0) findings.push({ level: "warning", code: "empty-field", line: line.number, message, hint });
  }
  const valuesOf = (name: FieldName) => [
    ...(name === "depends" ? depends : []),
    ...fields.filter((field) => field.name === name).flatMap(({ values }) => values),
  ];
  const said = (name: FieldName): string[] =>
    valuesOf(name).flatMap(({ text, line }) => {
      const { read, hint } = FIELDS[name];
      const words = NONE.test(text) ? [] : read(text);
      if (typeof words !== "string") return words;
      findings.push(fault(name, line, `${name}: ${quote(text)} ${words}`, hint));
      return [];
    });
  const text = body.join("\n").trimEnd();
  const task: Task & { dependsLine: number } = {
    id,
    title: name,
    description: text.replace(/^\s*\n/, ""),
    depends: said("depends"),
    files: said("files").map((path) => ({ path: path.replace(/\?$/, ""), guessed: path.endsWith("?") })),
    forbid: said("forbid"),
    gates: said("gates"),
    agent: said("agent"),
    doneWhen: said("done when").join("\n"),
    verify: said("verify").join("\n"),
    risk: (said("risk").at(-1)?.toLowerCase() ?? "") as Task["risk"],
    done: /\[done\]$/i.test(title),
    line: start,
    dependsLine: valuesOf("depends").at(-1)?.line ?? start,
  };
  return { task, findings };
}

/** Reads words between commas or «and», each like `one`, and nothing else. */
function wordsLike(one: RegExp): (text: string) => string[] | string {
  return (text) => {
    const list = text.replace(/[`*@]|\btasks?\s+|#(?=\w)|\.$/gi, "").split(/\s*[,;&]\s*(?:and\s+)?|\s+and\s+/);
    const words = list.map((word) => word.trim());
    return words.every((word) => one.test(word)) ? words : "is more than that";
  };
}

/** Paths between commas, those in backticks with a word before or a remark behind: `Create: …`, `… — the schema`. */
function readPaths(text: string): string[] | string {
  const paths: string[] = [];
  // Commas in backticks or braces part nothing.
  for (const part of text.match(/(?:`[^`]*`|\{(?:[^{}]|\{[^{}]*\})*\}|[^,])+/g) ?? []) {
    const spans = [...part.matchAll(/`([^`]+)`(\??)/g)].map(([, span, mark]) => `${span}${mark}`);
    const bare = part.trim().replace(/^(?:create|modify|tests?|delete):\s*|\s+\([^()]*\)$/gi, "");
    if (spans.length === 0 && /\s/.test(bare)) return "is not read as a path";
    for (const span of spans.length === 0 && bare !== "" ? [bare] : spans) {
      const path = span.replace(/:\d+(?:-\d+)?(?=\??$)/, "");
      const { problem } = readPattern(path.replace(/\?$/, ""));
      if (problem) return problem;
      paths.push(path);
    }
  }
  return paths;
}
