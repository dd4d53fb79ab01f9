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
