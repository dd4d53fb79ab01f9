import { type Finding, finding } from "./task.ts";

/** A line of a list. */
export interface Line {
  readonly number: number;
  readonly raw: string;
  /** What may hold tasks and fields: the line without fenced code, HTML comments and doubled
   * spaces. */
  readonly text: string;
  readonly indent: number; // Columns of leading white space, a tab counted as four
}

/** A code span, between as many backticks on both sides. */
const SPAN = /(?<!`)(?<tick>`+)(?!`)(?:.*?[^`])\k<tick>(?!`)/;
/** Fenced code, also beside a bullet or a number, up to a fence like the first or the end. */
const FENCE = new RegExp(
  [
    /^(?<before>[ \t]*(?:(?:[-*+]|\w{1,9}[.)])[ \t]+)?)/.source,
    /(?<fence>`{3,}(?=[^`\n]*$)|~{3,})[\s\S]*?/.source,
    "(?<fenceEnd>^[ \\t]*\\k<fence>[`~]*[ \\t]*$|(?![\\s\\S]))",
  ].join(""),
);
/** An HTML comment, up to its end or the text's. */
const COMMENT = /<!--[\s\S]*?(?<commentEnd>-->|(?![\s\S]))/;
const HIDDEN = new RegExp(`${SPAN.source}|${FENCE.source}|${COMMENT.source}`, "gm");

/** What stands quoted in a message: on one line, and short. */
export const quote = (text: string): string => `«${text.replace(/\s+/g, " ").trim().slice(0, 60)}»`;

/** The text with each code span blanked out, as long as before. */
export const withoutCode = (text: string): string =>
  text.replace(new RegExp(SPAN, "g"), ({ length }) => "\0".repeat(length));

/** A text as lines, fences and comments told apart. What never closes may hide tasks that a person
 * sees: an error. */
export function readLines(text: string): { lines: Line[]; findings: Finding[] } {
  const raw = text.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n");
  const findings: Finding[] = [];
  const seen = raw.replace(HIDDEN, (all: string, ...rest) => {
    const { tick, before = "", fence, fenceEnd, commentEnd } = rest.at(-1);
    // A code span stays, and keeps what looks like a comment in it from being one.
    if (tick) return all;
    const line = raw.slice(0, rest.at(-3)).split("\n").length;
    if (!fenceEnd && !commentEnd)
      findings.push(finding("unclosed", line, `${fence ?? "<!--"} never closes`, "close it"));
    return before + all.replace(/[^\n]+/g, "");
  });
  const texts = seen.split("\n");
  const lines = raw.split("\n").map((line, index) => {
    const shown = (texts[index] ?? "").trimEnd().replace(/(?<=\S)\s+/g, " ");
    return {
      number: index + 1,
      raw: line,
      text: shown,
      indent: line.replaceAll("\t", "    ").search(/\S|$/),
    };
  });
  return { lines, findings };
}
