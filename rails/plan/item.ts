import { readPattern } from "./glob.ts";
import { type Line, quote, withoutCode } from "./lines.ts";
import { type Finding, finding, type Task } from "./task.ts";

/** One task as a form found it. */
export type Item = Readonly<{
  id: string;
  head: string; // What stands after its id
  line: number;
  depth: number; // Its columns, or its heading's
  lines: Line[]; // Those beneath
  beside?: boolean; // Marked `[P]`
}>;
/** A task with what only the list is asked for: where its dependencies stand, its first sentence,
 * all its words, and which fields it names. */
export type ListedTask = Task &
  Readonly<{
    dependsLine: number;
    lead: string;
    words: Pick<Line, "number" | "text">[];
    said: ReadonlySet<FieldName>;
  }>;

/** An id: `1`, `a`, `T001`. Nothing that git or a file system could take for more than a name. */
export const ID = "[A-Za-z]{0,8}\\d{1,9}[A-Za-z]?|[A-Za-z]";
/** The same, or that of a task which is part of another one: `A/1`. */
export const WHOLE_ID = `(?:${ID})(?:/(?:${ID}))*`;

const IDS = {
  read: wordsLike(new RegExp(`^(?:${WHOLE_ID})$`)),
  hint: "write «Depends: 1, 2» or «Depends: none»",
};
const NAMES = { read: wordsLike(/^[\w.:-]+$/), hint: "write «Agent: backend, tester»" };
const PATHS = {
  read: readPaths,
  hint: "write «src/a.ts, docs/**, package.json?»; names with spaces in `backticks`",
};
const LEVEL = {
  read: oneLike(/^(?:low|medium|high)$/i),
  hint: "write «Risk: low», medium or high",
};
const NAME = { read: oneLike(/^[\w.:[\]-]+$/), hint: "write one name, «Model: opus»" };
/** All of a value as code. */
const CODE = /^`(\s*[^`\s][^`]*)`$/;
const TEXT = { read: (text: string) => [text.replace(CODE, "$1")], hint: "" };
/** A text without the marks that make all of it code. */
const plainOf = (text: string): string => text.trim().replace(CODE, "$1").trim();
const MEASURE = {
  read: (text: string) => {
    const [, aim = "", command = ""] = /^(lowest|highest)\s+(.*)$/i.exec(plainOf(text)) ?? [];
    const plain = plainOf(command);
    return plain === ""
      ? "says neither what is best nor how it is known"
      : [`${aim.toLowerCase()} ${plain}`];
  },
  hint: "write «Measure: lowest npm run -s size»: the last number that the command prints",
};
/** The fields of a task: how a value is read (what it says, or in words what is wrong), and how to
 * write it instead. */
const FIELDS = {
  depends: IDS,
  agent: NAMES,
  files: PATHS,
  forbid: PATHS,
  gates: PATHS,
  risk: LEVEL,
  model: NAME,
  workflow: NAME,
  "done when": TEXT,
  verify: TEXT,
  each: TEXT,
  measure: MEASURE,
  ask: TEXT,
};
export type FieldName = keyof typeof FIELDS;

const FIELD_NAMES =
  "files|depends(?: on)?|dependencies|agent|forbid|gates|done when|verify|each|measure|ask|risk|model|workflow";
const FIELD = new RegExp(
  String.raw`^\s*([-*+] )?(\*\*|__|)(${FIELD_NAMES})(?::\2|\2 ?:) ?(.*)$`,
  "i",
);
/** The ways of saying that a field has nothing to say; a remark in parentheses may say why. */
export const NONE = /^(?:none|nothing|no|n\/a|[-–—])\.?(?: ?\([^()]*\))?\.?$/i;

/** An id's number, and what comes behind it in a list of ids. */
const NUMBER = /\d+[a-z]?(?:[,)&]| and )/.source;
const DEPENDS = `(?:depends|dependencies)(?: on)?(?:: ?| (?=(?:tasks? )?#?t?${NUMBER}))`;
const OTHER_WORDS = `(?:after|requires|needs|blocked by):? (?=(?:tasks? |#|t)${NUMBER})`;
const INSIDE = /((?:[^()]|\([^()]*\))*)/.source;
/** `(depends on: 1, 2)`; without the colon, and in other words, where nothing but ids can be meant.
 */
const INLINE = new RegExp(String.raw` ?\((?:${DEPENDS}|${OTHER_WORDS})${INSIDE}\)(?:\.$)?`, "i");

/** A dependency in a text that is in no field. */
const IN_PASSING = new RegExp(
  [
    /(?:\bdepends|\(dependencies|\bblocked)(?: on| by)?/.source,
    /(?:: ?(?:tasks? )?#?\w{1,4}| (?:tasks? #?\w{0,8}\d\w?|#?t?\d+))\b/.source,
    /(?! (?!and\b)\w)/.source, // No sentence about something else goes on
  ].join(""),
  "i",
);
/** A line that looks like such a field, with nothing but ids. */
const LIKE_FIELD = new RegExp(
  [
    /^\s*(?:[-*+] )?(?:\*\*)?/.source,
    /(?:after|requires|needs|follows|prerequisites?|waits (?:for|on))/.source,
    /(?:\*\*)?:(?:\*\*)?/.source,
    /(?:(?:,| and)? *(?:tasks? )?#?t?\d+[a-z]?\b)+\.?$/.source,
  ].join(""),
  "i",
);
/** Does a text speak of a dependency? */
const saysDependency = (text: string): boolean => IN_PASSING.test(text) || LIKE_FIELD.test(text);
const AS_FIELD = "write «Depends: ID» on a line of its own, or put it in `backticks`";
/** A bullet or a number at the start of a line, and a checkbox. */
const STEP = /^\s*(?:[-*+]|\w{1,9}[.)]) /;
const BOX = /^\[([ x])\](?: |$)/i;

/** Does a field start on this line? */
export const isField = ({ text }: Line): boolean => FIELD.test(text);

/** Reads an item. To a field belong bullets further in, where nothing follows its colon also those
 * beneath, and the rest of a sentence that goes on further in. A value that cannot be read is an
 * error and counts as not said.
 * @param findings gets what is wrong with it */
export function readItem({ id, head, line: start, lines }: Item, findings: Finding[]): ListedTask {
  const error = (...what: Parameters<typeof finding>) => findings.push(finding(...what));
  const values = new Map<FieldName, string[]>();
  const named = new Set<FieldName>();
  const checks: string[] = [];
  const said = (name: FieldName): string[] => values.get(name) ?? [];
  let dependsLine = start;
  const words: ListedTask["words"] = [];
  const take = (name: FieldName, text: string, number: number): void => {
    named.add(name);
    if (name === "depends") dependsLine = number;
    if (name === "done when") words.push({ number, text });
    if (name === "verify") checks.push(...(CODE.exec(text)?.slice(1) ?? []));
    const found = NONE.test(text) ? [] : FIELDS[name].read(text);
    if (typeof found === "string")
      error(name, number, `${name}: ${quote(text)} ${found}`, FIELDS[name].hint);
    else values.set(name, [...said(name), ...found]);
  };
  /** Takes dependencies out of a text. What else it says of them in passing would be lost if nobody
   * said so. */
  const readText = (text: string, number: number, isLead: boolean): string => {
    const { 0: { length } = "", index = 0 } = (isLead && INLINE.exec(withoutCode(text))) || {};
    const inline = text.slice(index, index + length);
    if (inline) take("depends", INLINE.exec(inline)?.[1] || inline, number);
    const rest = text.slice(0, index) + text.slice(index + length);
    words.push({ number, text: rest });
    if (saysDependency(withoutCode(rest)))
      error("depends", number, `${quote(text)} is no field`, AS_FIELD);
    return rest;
  };

  const [box = "", mark = ""] = BOX.exec(head) ?? [];
  const whole = readText(head.slice(box.length), start, true).trim();
  const title = whole.replace(/ ?\[done\]$/i, "").replace(/^\*\*([^*]+)\*\*$/, "$1");
  if (title === "") error("no-title", start, `task ${id} has no title`, "say what it does");

  const body: string[] = [];
  /** The field that goes on; `isEmpty`: nothing was said in it yet; `beneath`: bullets as far in as
   * itself are its own. */
  let open:
    | { name: FieldName; line: number; indent: number; isEmpty: boolean; beneath: boolean }
    | undefined;
  const close = (): void => {
    if (open?.isEmpty)
      error("empty-field", open.line, `${open.name} says nothing`, "fill it in, or take it out");
    open = undefined;
  };
  let gap = false;
  let lead = title;
  let isLead = true;
  for (const { number: line, raw, text, indent } of lines) {
    const [field, mark, , word = "", rest = ""] = FIELD.exec(text) ?? [];
    const [, bullet] = /^\s*[-*+] (\S.*)$/.exec(text) ?? [];
    const isDeeper = open !== undefined && indent > open.indent;
    // Checkboxes are conditions or steps, never what other fields hold.
    const isOwn =
      bullet !== undefined && (!BOX.test(bullet) || (open && FIELDS[open.name] === TEXT));
    const goesOn = bullet === undefined ? isDeeper && !gap : isOwn && (isDeeper || open?.beneath);
    if (field !== undefined) {
      close();
      const name = (/^depend/i.test(word) ? "depends" : word.toLowerCase()) as FieldName;
      open = {
        name,
        line,
        indent,
        isEmpty: rest === "",
        beneath: rest === "" && mark === undefined,
      };
      if (rest !== "") take(name, rest, line);
    } else if (open && text !== "" && goesOn) {
      open.isEmpty = false;
      take(open.name, (bullet ?? text.trim()).replace(BOX, ""), line);
    } else {
      if (raw.trim() !== "") close();
      isLead &&= text !== "" && !STEP.test(text);
      const rest = readText(text, line, isLead);
      if (isLead) lead += ` ${rest.trim()}`;
      if (rest === text || rest.trim() !== "") body.push(rest === text ? raw : rest);
    }
    isLead &&= field === undefined;
    gap = raw.trim() === "";
  }
  close();
  const margin = Math.min(...body.flatMap((line) => (line.trim() === "" ? [] : line.search(/\S/))));
  const description = body.map((line) => line.slice(margin)).join("\n");
  return {
    id,
    title,
    line: start,
    dependsLine,
    lead,
    words,
    done: /\[done\]$/i.test(whole) || /x/i.test(mark),
    description: description.replace(/^\s*\n/, "").trimEnd(),
    files: said("files").map((path) => ({
      path: path.replace(/\?$/, ""),
      guessed: path.endsWith("?"),
    })),
    depends: said("depends"),
    forbid: said("forbid"),
    gates: said("gates"),
    agent: said("agent"),
    doneWhen: said("done when").join("\n"),
    verify: said("verify").join("\n"),
    checks,
    ...(named.has("each") ? { each: said("each").join("\n") } : {}),
    ...(named.has("measure") ? { measure: said("measure").at(-1) ?? "" } : {}),
    ask: said("ask").join("\n"),
    said: named,
    model: said("model").at(-1) ?? "",
    workflow: said("workflow").at(-1) ?? "",
    risk: (said("risk").at(-1)?.toLowerCase() ?? "") as Task["risk"],
  };
}

/** `src/a.ts?`, `Create: src/a.ts`, `` `src/a.ts:10-20` (the schema)``. */
const PATH = new RegExp(
  [
    /^ ?(?:[a-z]{3,}(?::| (?=`)) ?)?/.source, // What is to be done with it
    /(?:`([^`:]+)(?::\d[\d, –-]*)?`|([^\s`:]+?)(?::\d+(?:-\d+)?)?)/.source, // The path, and lines
    /(\??)/.source, // Guessed
    /(?: \([^()]*\)| [–—-] .*)?$/.source, // A remark
  ].join(""),
  "i",
);
/** Files that are only looked at. */
const READ = /^(?:read|reference|check|inspect|keep|see|verify):/i;
/** The ways of saying that no files change. */
const UNCHANGED = /^no(?:ne)? [^`/]{0,60}\b(?:changes?|changed|edits?|modified)\b[^`/]*$/i;
/** A path with what stands around it: commas in backticks, braces or parentheses part nothing. */
const PART = /(?:`[^`]*`|\{(?:[^{}]|\{[^{}]*\})*\}|\([^()]*\)|[^,;])+/g;

/** Reads one word like `one`, and nothing else. */
function oneLike(one: RegExp): (text: string) => string[] | string {
  return (text) => (one.test(text) ? [text] : "is none");
}

/** Reads words between commas or «and», each like `one`, and nothing else. */
function wordsLike(one: RegExp): (text: string) => string[] | string {
  return (text) => {
    const list = text
      .replace(/[`*@]|\btasks? |#(?=\w)|[.,]$/gi, "")
      .split(/ ?[,;&] ?(?:and )?| and /);
    const words = list.map((word) => word.trim());
    return words.every((word) => one.test(word)) ? words : "is more than that";
  };
}

/** Reads paths between commas, as they are or in backticks, and nothing else but what plans add to
 * a path: what is to be done with it, lines in it, and a remark about it. */
function readPaths(text: string): string[] | string {
  if (READ.test(text) || UNCHANGED.test(text)) return [];
  const paths: string[] = [];
  for (const part of text.match(PART) ?? []) {
    const [, quoted, path = quoted, guess = ""] = PATH.exec(part) ?? [];
    if (path === undefined) return "is not read as a path";
    const { problem } = readPattern(path.replace(/\?$/, ""));
    if (problem) return problem;
    paths.push(path + guess);
  }
  return paths;
}
