import { type Finding, fault } from "./task.ts";

/** A line of a list. */
export interface Line {
  readonly number: number;
  readonly raw: string;
  /** What may hold tasks and fields: the line without fenced code, HTML comments and doubled spaces. */
  readonly text: string;
  readonly indent: number; // Columns of leading white space, a tab counted as four
}

const SPAN = /(?<!`)(?<tick>`+)(?!`)(?:.*?[^`])\k<tick>(?!`)/;
const FENCE =
  /^([ \t]*(?:(?:[-*+]|\w{1,9}[.)])[ \t]+)?)(?<fence>`{3,}(?=[^`\n]*$)|~{3,})[\s\S]*?(^[ \t]*\k<fence>[`~]*[ \t]*$|(?![\s\S]))/;
const COMMENT = /<!--[\s\S]*?(-->|(?![\s\S]))/;
const HIDDEN = new RegExp(`${SPAN.source}|${FENCE.source}|${COMMENT.source}`, "gm");

/** What stands quoted in a message: on one line, and short. */
export const quote = (text: string): string => `«${text.replace(/\s+/g, " ").trim().slice(0, 60)}»`;

/** The text with each code span blanked out, every other character where it was. */
export function withoutCode(text: string): string {
  return text.replace(new RegExp(SPAN, "g"), (span) => "\0".repeat(span.length));
}

/** A text as lines, fences and comments told apart. What never closes may hide tasks that a person sees: an error. */
export function readLines(text: string): { lines: Line[]; findings: Finding[] } {
  const raw = text.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n");
  const findings: Finding[] = [];
  // A code span stays, and keeps what looks like a comment in it from being one.
  type Groups = [span?: string, before?: string, fence?: string, fenceEnd?: string, commentEnd?: string, at?: number];
  const seen = raw.replace(HIDDEN, (all: string, ...[span, before = "", fence, fenceEnd, commentEnd, at]: Groups) => {
    if (span) return all;
    const line = raw.slice(0, at).split("\n").length;
    if (!fenceEnd && !commentEnd) findings.push(fault("unclosed", line, `${fence ?? "<!--"} never closes`, "close it"));
    return before + all.replace(/[^\n]+/g, "");
  });
  const texts = seen.split("\n").map((line) => line.trimEnd().replace(/(?<=\S)\s+/g, " "));
  const lines = raw.split("\n").map((line, index) => {
    const indent = line.replaceAll("\t", "    ").search(/\S|$/);
    return { number: index + 1, raw: line, text: texts[index] ?? "", indent };
  });
  return { lines, findings };
}
