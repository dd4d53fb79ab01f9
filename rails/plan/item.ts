import { readPattern } from "./glob.ts";
import { type Line, quote, withoutCode } from "./lines.ts";
import { type Finding, fault, type Task } from "./task.ts";

/** One task as a form found it: what stands after its id, and the lines beneath. Depth: its columns, or its heading's. */
export type Item = Readonly<{ id: string; head: string; line: number; depth: number; lines: Line[] }>;

/** An id: `1`, `a`, `T001`. Nothing that git or a file system could take for more than a name. */
export const ID = "[A-Za-z]{0,8}\\d{1,9}[A-Za-z]?|[A-Za-z]";

const RISK = /^(?:low|medium|high)\b(?![/-])/i;
/** The fields of a task: how a value is read (what it says, or in words what is wrong), and how to write it instead. */
const FIELDS = {
  depends: { read: wordsLike(new RegExp(`^(?:${ID})$`)), hint: "write «Depends: 1, 2» or «Depends: none»" },
  files: { read: readPaths, hint: "write «src/a.ts, docs/**, package.json?»; names with spaces in `backticks`" },
  forbid: { read: readPaths, hint: "write «src/generated/, *.lock»; names with spaces in `backticks`" },
  gates: { read: readPaths, hint: "write «tests/old.test.ts, package.json#scripts»; names with spaces in `backticks`" },
  agent: { read: wordsLike(/^[\w.:-]+$/), hint: "write «Agent: backend, tester»" },
  risk: { read: (text: string) => RISK.exec(text) ?? "is none", hint: "write «Risk: low», medium or high" },
  "done when": { read: (text: string) => [text], hint: "" },
  verify: { read: (text: string) => [text.replace(/^`([^`]+)`$/, "$1")], hint: "" },
};
type FieldName = keyof typeof FIELDS;
/** One line of what a field says; empty where the field stands alone on its own. */
type Value = Readonly<{ name: FieldName; text: string; line: number }>;

const FIELD =
  /^\s*([-*+]\s+)?(\*\*|__|)(files|depends(?: on)?|dependencies|agent|forbid|gates|done when|verify|risk)(?::\2|\2\s*:)\s*(.*)$/i;
/** The ways of saying that a field has nothing to say; a remark in parentheses may say why. */
const NONE = /^(?:none|nothing|no|n\/a|[-–—])\.?(?:\s*\([^()]*\))?\.?$/i;
const BULLET = /^\s*[-*+]\s+(\S.*)$/;
const STEP = /^\s*(?:[-*+]|\w{1,4}[.)])\s/;
/** `(depends on: 1, 2)` in a text. */
const INLINE = /\s?\((?:depends|dependencies)(?:\s+on)?(?::|(?=\s+(?:task|#|\d)))((?:[^()]|\([^()]*\))*)\)/i;
/** A dependency in a text that is in no field. */
const SAID =
  /\bdepends(?:\s+on)?(?::\s*(?:tasks?\s+)?#?\w{1,4}|\s+(?:tasks?\s+#?\w{0,8}\d\w?|#?\d+))\b(?!\s+(?!and\b)\w)/i;

/** Does a field start on this line? */
export const isField = ({ text }: Line): boolean => FIELD.test(text);

/** Reads an item. To a field belongs what a person sees as belonging to it: what follows its colon, bullets beneath, and
 * the rest of a sentence that goes on further in. A value that cannot be read is an error and counts as not said.
 * @param findings gets what is wrong with it */
export function readItem({ id, head, line: start, lines }: Item, findings: Finding[]): Task & { dependsLine: number } {
  const values: Value[] = [];
  /** Takes a `(depends on: …)` out of a text. What is said in passing would be lost if nobody said so. */
  const takeInline = (text: string, line: number): string => {
    const found = STEP.test(text) ? null : INLINE.exec(withoutCode(text));
    if (found) values.push({ name: "depends", text: found[1]?.trim() || found[0], line });
    const rest = found ? text.slice(0, found.index) + text.slice(found.index + found[0].length) : text;
    if (SAID.test(withoutCode(rest)))
      findings.push(fault("depends", line, `${quote(rest)} is no field`, "write «Depends: 1» on a line of its own"));
    return rest;
  };
  const title = takeInline(head, start).trim();
  const name = title.replace(/\s*\[done\]$/i, "").replace(/^(?:\*\*)?([^*]+)\*\*$/, "$1");
  if (name === "") findings.push(fault("no-title", start, `task ${id} has no title`, "say what it does"));

  const body: string[] = [];
  /** The field that goes on; `beneath`: may bullets as far in as its own line be its values? */
  let open: { name: FieldName; indent: number; beneath: boolean } | undefined;
  let gap = false;
  for (const { number: line, raw, text, indent } of lines) {
    const [field, mark, , word = "", rest = ""] = FIELD.exec(text) ?? [];
    const bullet = BULLET.exec(text)?.[1];
    const isDeeper = open !== undefined && indent > open.indent;
    // After an empty line, boxes are the steps of the work and no longer the field.
    const isBeneath = bullet !== undefined && (isDeeper || open?.beneath) && !(gap && /^\[.\]/.test(bullet));
    const goesOn = bullet === undefined && text !== "" && isDeeper && !gap;
    if (field !== undefined) {
      const name = (/^depend/i.test(word) ? "depends" : word.toLowerCase()) as FieldName;
      open = { name, indent, beneath: rest === "" && mark === undefined };
      values.push({ name, text: rest, line });
    } else if (open && (isBeneath || goesOn)) values.push({ name: open.name, text: bullet ?? text.trim(), line });
    else {
      if (raw.trim() !== "") open = undefined;
      const left = takeInline(text, line);
      body.push(left === text ? raw : left);
    }
    gap = raw.trim() === "";
  }
  const [margin = 0] = body.flatMap((line) => line.match(/^\s*(?=\S)/)?.[0].length ?? []).sort((a, b) => a - b);
  const description = body.map((line) => line.slice(margin)).join("\n");

  const said = (name: FieldName): string[] => {
    const own = values.filter((value) => value.name === name);
    const full = own.filter(({ text }) => text !== "");
    const empty = ["empty-field", own[0]?.line ?? 0, `${name} says nothing`, "fill it in, or take it out"] as const;
    if (own.length > 0 && full.length === 0) findings.push({ ...fault(...empty), level: "warning" });
    return full.flatMap(({ text, line }) => {
      const words = NONE.test(text) ? [] : FIELDS[name].read(text);
      if (typeof words !== "string") return words;
      findings.push(fault(name, line, `${name}: ${quote(text)} ${words}`, FIELDS[name].hint));
      return [];
    });
  };
  return {
    id,
    title: name,
    description: description.replace(/^\s*\n/, "").trimEnd(),
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
    dependsLine: values.findLast(({ name }) => name === "depends")?.line ?? start,
  };
}

/** Reads words between commas or «and», each like `one`, and nothing else. */
function wordsLike(one: RegExp): (text: string) => string[] | string {
  return (text) => {
    const list = text.replace(/[`*@]|\btasks?\s+|#(?=\w)|[.,]$/gi, "").split(/\s*[,;&]\s*(?:and\s+)?|\s+and\s+/);
    const words = list.map((word) => word.trim());
    return words.every((word) => one.test(word)) ? words : "is more than that";
  };
}

/** Paths between commas, those in backticks with a word before or a remark behind: `Create: …`, `… — the schema`. */
function readPaths(text: string): string[] | string {
  const paths: string[] = [];
  // Commas in backticks or braces part nothing.
  for (const part of text.match(/(?:`[^`]*`|\{(?:[^{}]|\{[^{}]*\})*\}|[^,])+/g) ?? []) {
    const spans = part.match(/`[^`]+`\??/g);
    const bare = part.trim().replace(/^(?:create|modify|tests?|delete):\s*|\s+\([^()]*\)$/gi, "");
    if (!spans && /[\s`]/.test(bare)) return "is not read as a path";
    for (const span of spans ?? [bare]) {
      const path = span.replaceAll("`", "").replace(/:\d+(?:-\d+)?(?=\??$)/, "");
      const { problem } = readPattern(path.replace(/\?$/, ""));
      if (problem) return problem;
      paths.push(path);
    }
  }
  return paths;
}
