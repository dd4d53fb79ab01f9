import matter from "gray-matter";
import { type Document, isMap, isScalar, LineCounter, parseDocument } from "yaml";
import { Fault } from "../program/fault.ts";

/** A Markdown file taken apart. Line numbers count from 1 in the whole file. */
export interface Markdown {
  readonly data: Record<string, unknown>; // The frontmatter's fields; empty where the file has none
  readonly body: string; // The text after the frontmatter, with `\n` line ends
  readonly bodyLine: number; // The line on which the body starts
  /** The line of a field (`["gates", 0, "run"]`), or of the nearest one above it that exists; else
   * 1. */
  lineOf(path: readonly (string | number)[]): number;
}

/** The frontmatter of a text without BOM and with `\n` line ends, its two rules included; empty
 * where there is none, or where nothing closes it. */
export const frontmatterIn = (text: string): string =>
  /^---[ \t]*\n(?:[\s\S]*?\n)?---[ \t]*(?:\n|$)/.exec(text)?.[0] ?? "";

/** The one reader of frontmatter. A BOM and CRLF line ends make no difference. Only YAML is read:
 * gray-matter runs a `---js` block as code, so every opener but a bare `---` is refused before it
 * sees it.
 * @param text the file's text
 * @param where what to call the file in a message
 * @throws Fault `frontmatter` with file and line where it cannot be read */
export function readMarkdown(text: string, where: string): Markdown {
  const clean = text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  const opener = clean.split("\n", 1)[0] ?? "";
  if (!opener.startsWith("---")) return { data: {}, body: clean, bodyLine: 1, lineOf: () => 1 };
  if (opener.trimEnd() !== "---")
    throw broken(
      where,
      1,
      `frontmatter opens with «${opener}»`,
      "open it with --- alone: only YAML is read",
    );
  if (frontmatterIn(clean) === "")
    throw broken(where, 1, "frontmatter is not closed", "close it with a line --- of its own");

  const lines = new LineCounter();
  let document: Document.Parsed | undefined;
  const parse = (yaml: string): object => {
    document = parseDocument(yaml, { lineCounter: lines, uniqueKeys: true, stringKeys: true });
    const [error] = document.errors;
    const line = error ? lines.linePos(error.pos[0]).line : 2;
    if (error)
      throw broken(
        where,
        line,
        error.message.split("\n")[0] ?? "",
        "quote a value that YAML reads as more",
      );
    const data = document.toJS() ?? {};
    if (typeof data === "object" && !Array.isArray(data)) return data;
    throw broken(
      where,
      line,
      "frontmatter is not a list of fields",
      "write it as «name: value» lines",
    );
  };
  let file: { readonly data: Record<string, unknown>; readonly content: string };
  try {
    // An options object keeps gray-matter from its cache, which answers a second read of a broken
    // file with {}.
    file = matter(clean, { engines: { yaml: parse } });
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw broken(
      where,
      2,
      (error as Error).message,
      "write values out: *aliases need their &anchor",
    );
  }
  const bodyLine = clean.slice(0, clean.length - file.content.length).split("\n").length;
  return {
    data: file.data,
    body: file.content,
    bodyLine,
    lineOf: (path) => lineOf(document, lines, path),
  };
}

/** What people put before the first rule, or instead of it, as a person would call it. */
const BEFORE: readonly Readonly<{ is: RegExp; name: string }>[] = [
  { is: /^\s*$/, name: "a blank line" },
  { is: /^\s/, name: "a space" },
  { is: /^(`{3}|~{3})/, name: "a code fence" },
  { is: /^<!--/, name: "a comment" },
  { is: /^#/, name: "a heading or a comment" },
];

/** A page of ours: its fields are what holds, so that they stand at the very beginning or the page
 * is no page. Read as if it had none, it would be less than it says.
 * @param isProse it may do without fields: then it is an error only where some stand further down
 * @throws Fault `frontmatter` with file and line where it does not begin with its fields, where
 *   there is a second set of them, and where they cannot be read */
export function readPage(text: string, where: string, isProse = false): Markdown {
  const page = readMarkdown(text, where);
  const isMeant = !isProse || /^\W*---\s*\n\s*\w+:/m.test(page.body);
  if (page.bodyLine === 1 && page.body.trim() !== "" && isMeant) throw notFirst(page.body, where);
  const again = /^\s*---[ \t]*\n/.exec(page.body);
  if (again && frontmatterIn(page.body.slice(again[0].search(/-/))) !== "")
    throw broken(
      where,
      page.bodyLine + again[0].split("\n").length - 2,
      "a second set of fields is not read",
      "put all fields between the first two rules ---",
    );
  return page;
}

function notFirst(text: string, where: string): Fault {
  const lines = text.split("\n");
  const rule = lines.findIndex((line) => /^\W*---\s*$/.test(line)) + 1;
  const first = lines[0] ?? "";
  const found = BEFORE.find(({ is }) => is.test(first))?.name ?? "other text";
  const hint = "the first line of a page is --- alone, then its fields, then --- again";
  return rule > 1
    ? broken(where, rule, `the fields open here, below ${found}: nothing may stand above`, hint)
    : broken(where, 1, `the page begins with ${found}, and not with its fields`, hint);
}

/** A page of ours that is a table: it has no fields, and each row begins its line.
 * @throws Fault `frontmatter` with file and line of what would not be read */
export function readTables(text: string, where: string): Markdown {
  const page = readMarkdown(text, where);
  const hint = "write rows of the table, each from the beginning of its line: | … | … |";
  const [field] = Object.keys(page.data);
  if (field) throw broken(where, page.lineOf([field]), "this page has no fields", hint);
  const lines = page.body.split("\n");
  const at = lines.findIndex((line) => /^[\s>*-]+\||^\w[^|`]*\|[^|]*\|/.test(line));
  if (at >= 0) throw broken(where, page.bodyLine + at, "this row is not read", hint);
  return page;
}

type Path = readonly (string | number)[];
function lineOf(document: Document.Parsed | undefined, lines: LineCounter, path: Path): number {
  for (let length = path.length; length > 0; length--) {
    const parent = document?.getIn(path.slice(0, length - 1), true);
    const isKey = ({ key }: { key: unknown }) => isScalar(key) && key.value === path[length - 1];
    const key = isMap(parent) ? parent.items.find(isKey)?.key : undefined;
    const node = (key ?? document?.getIn(path.slice(0, length), true)) as
      | { range?: [number] }
      | undefined;
    if (node?.range) return lines.linePos(node.range[0]).line;
  }
  return 1;
}

function broken(where: string, line: number, what: string, hint: string): Fault {
  return new Fault("frontmatter", `${where}:${line}: ${what}`, hint);
}
