import { readPattern } from "./glob.ts";
import { type Line, quote, withoutCode } from "./lines.ts";
import { type Finding, fault, type Task } from "./task.ts";

/** One task as a form found it: what stands after its id, and the lines beneath. Depth: its columns, or its heading's. */
export type Item = Readonly<{ id: string; head: string; line: number; depth: number; lines: Line[] }>;

/** An id: `1`, `a`, `T001`. Nothing that git or a file system could take for more than a name. */
export const ID = "[A-Za-z]{0,8}\\d{1,9}[A-Za-z]?|[A-Za-z]";

const IDS = { read: wordsLike(new RegExp(`^(?:${ID})$`)), hint: "write «Depends: 1, 2» or «Depends: none»" };
const NAMES = { read: wordsLike(/^[\w.:-]+$/), hint: "write «Agent: backend, tester»" };
const PATHS = { read: readPaths, hint: "write «src/a.ts, docs/**, package.json?»; names with spaces in `backticks`" };
const isLevel = (text: string): boolean => /^(?:low|medium|high)$/i.test(text);
const LEVEL = {
  read: (text: string) => (isLevel(text) ? [text] : "is none"),
  hint: "write «Risk: low», medium or high",
};
const isName = (text: string): boolean => /^[\w.:[\]-]+$/.test(text);
const NAME = { read: (text: string) => (isName(text) ? [text] : "is no name"), hint: "write one name, «Model: opus»" };
const TEXT = { read: (text: string) => [text.replace(/^`([^`]+)`$/, "$1")], hint: "" };
/** The fields of a task: how a value is read (what it says, or in words what is wrong), and how to write it instead. */
const FIELDS = {
  depends: IDS,
  files: PATHS,
  forbid: PATHS,
  gates: PATHS,
  agent: NAMES,
  risk: LEVEL,
  model: NAME,
  workflow: NAME,
  "done when": TEXT,
  verify: TEXT,
};
type FieldName = keyof typeof FIELDS;

const FIELD =
  /^\s*([-*+] )?(\*\*|__|)(files|depends(?: on)?|dependencies|agent|forbid|gates|done when|verify|risk|model|workflow)(?::\2|\2 ?:) ?(.*)$/i;
/** The ways of saying that a field has nothing to say; a remark in parentheses may say why. */
const NONE = /^(?:none|nothing|no|n\/a|[-–—])\.?(?: ?\([^()]*\))?\.?$/i;
/** `(depends on: 1, 2)` at the end of a title. */
const INLINE = / ?\((?:depends|dependencies)(?: on)?: ?((?:[^()]|\([^()]*\))*)\)$/i;
/** A dependency in a text that is in no field. */
const SAID =
  /(?:\bdepends|\(dependencies)(?: on)?(?:: ?(?:tasks? )?#?\w{1,4}| (?:tasks? #?\w{0,8}\d\w?|#?\d+))\b(?! (?!and\b)\w)/i;

/** Does a field start on this line? */
export const isField = ({ text }: Line): boolean => FIELD.test(text);

/** Reads an item. To a field belong bullets further in, where nothing follows its colon also those beneath, and the
 * rest of a sentence that goes on further in. A value that cannot be read is an error and counts as not said.
 * @param findings gets what is wrong with it */
export function readItem({ id, head, line: start, lines }: Item, findings: Finding[]): Task & { dependsLine: number } {
  const error = (...what: Parameters<typeof fault>) => findings.push(fault(...what));
  const values = new Map<FieldName, string[]>();
  const said = (name: FieldName): string[] => values.get(name) ?? [];
  let dependsLine = start;
  const take = (name: FieldName, text: string, line: number): void => {
    if (name === "depends") dependsLine = line;
    const words = NONE.test(text) ? [] : FIELDS[name].read(text);
    if (typeof words === "string") error(name, line, `${name}: ${quote(text)} ${words}`, FIELDS[name].hint);
    else values.set(name, [...said(name), ...words]);
  };
  /** What is said in passing would be lost if nobody said so. */
  const checkText = (text: string, line: number): void => {
    if (SAID.test(withoutCode(text)))
      error("depends", line, `${quote(text)} is no field`, "write «Depends: 1» on a line of its own");
  };

  const [inline = "", needs] = INLINE.exec(head) ?? [];
  if (inline) take("depends", needs || inline, start);
  const whole = head.slice(0, head.length - inline.length).trim();
  checkText(whole, start);
  const title = whole.replace(/ ?\[done\]$/i, "").replace(/^\*\*([^*]+)\*\*$/, "$1");
  if (title === "") error("no-title", start, `task ${id} has no title`, "say what it does");

  const body: string[] = [];
  /** The field that goes on; `isEmpty`: nothing was said in it yet; `beneath`: bullets as far in as itself are its own. */
  let open: { name: FieldName; line: number; indent: number; isEmpty: boolean; beneath: boolean } | undefined;
  const close = (): void => {
    if (open?.isEmpty) error("empty-field", open.line, `${open.name} says nothing`, "fill it in, or take it out");
    open = undefined;
  };
  let gap = false;
  for (const { number: line, raw, text, indent } of lines) {
    const [field, mark, , word = "", rest = ""] = FIELD.exec(text) ?? [];
    const [, bullet] = /^\s*[-*+] (\S.*)$/.exec(text) ?? [];
    const isDeeper = open !== undefined && indent > open.indent;
    const goesOn = bullet === undefined ? isDeeper && !gap : isDeeper || open?.beneath;
    if (field !== undefined) {
      close();
      const name = (/^depend/i.test(word) ? "depends" : word.toLowerCase()) as FieldName;
      open = { name, line, indent, isEmpty: rest === "", beneath: rest === "" && mark === undefined };
      if (rest !== "") take(name, rest, line);
    } else if (open && text !== "" && goesOn) {
      open.isEmpty = false;
      take(open.name, bullet ?? text.trim(), line);
    } else {
      if (raw.trim() !== "") close();
      checkText(text, line);
      body.push(raw);
    }
    gap = raw.trim() === "";
  }
  close();
  const margin = Math.min(...body.flatMap((line) => (line.trim() === "" ? [] : line.search(/\S/))));
  const description = body.map((line) => line.slice(margin)).join("\n");
  return {
    ...{ id, title, line: start, dependsLine, done: /\[done\]$/i.test(whole) },
    description: description.replace(/^\s*\n/, "").trimEnd(),
    files: said("files").map((path) => ({ path: path.replace(/\?$/, ""), guessed: path.endsWith("?") })),
    ...{ depends: said("depends"), forbid: said("forbid"), gates: said("gates"), agent: said("agent") },
    doneWhen: said("done when").join("\n"),
    verify: said("verify").join("\n"),
    ...{ model: said("model").at(-1) ?? "", workflow: said("workflow").at(-1) ?? "" },
    risk: (said("risk").at(-1)?.toLowerCase() ?? "") as Task["risk"],
  };
}

/** Reads words between commas or «and», each like `one`, and nothing else. */
function wordsLike(one: RegExp): (text: string) => string[] | string {
  return (text) => {
    const list = text.replace(/[`*@]|\btasks? |#(?=\w)|[.,]$/gi, "").split(/ ?[,;&] ?(?:and )?| and /);
    const words = list.map((word) => word.trim());
    return words.every((word) => one.test(word)) ? words : "is more than that";
  };
}

/** Reads paths between commas, as they are or in backticks, and nothing else. */
function readPaths(text: string): string[] | string {
  const paths: string[] = [];
  // Commas in backticks or braces part nothing.
  for (const part of text.match(/(?:`[^`]*`|\{(?:[^{}]|\{[^{}]*\})*\}|[^,])+/g) ?? []) {
    const [, quoted, path = quoted, guess = ""] = /^ ?(?:`([^`:]+)`|([^\s`:]+?))(\??)$/.exec(part) ?? [];
    if (path === undefined) return "is not read as a path";
    const { problem } = readPattern(path.replace(/\?$/, ""));
    if (problem) return problem;
    paths.push(path + guess);
  }
  return paths;
}
