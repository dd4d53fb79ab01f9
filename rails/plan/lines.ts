import type { Finding } from "./task.ts";

/** A line of a list. Only `text` lines may hold tasks and fields; code and comments are text for whoever does the task. */
export interface Line {
  /** From 1. */
  readonly number: number;
  /** As written. */
  readonly raw: string;
  /** As a person reads it in the rendered page: without HTML comments. */
  readonly text: string;
  /** Columns of leading white space, a tab going on to the next multiple of four. */
  readonly indent: number;
  readonly kind: "text" | "blank" | "fence" | "code" | "comment";
}

/** An error finding. */
export function fault(code: string, line: number, message: string, hint: string): Finding {
  return { level: "error", code, line, message, hint };
}

/** The text with each code span blanked out, every other character where it was. */
export function withoutCode(text: string): string {
  return text.replace(/(?<!`)(`+)(?!`)(.*?[^`])\1(?!`)/g, (span) => "\0".repeat(span.length));
}

/** What stands quoted in a message: on one line, and short. */
export function quote(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return `«${line.length > 60 ? `${line.slice(0, 59)}…` : line}»`;
}

/**
 * A text as lines, fences and comments told apart (CommonMark's rules for both). What opens and does not close,
 * or opens twice, may hide tasks from us that a person sees: an error, never a guess.
 */
export function readLines(text: string): { lines: Line[]; findings: Finding[] } {
  const raws = text.replace(/^\uFEFF/, "").split(/\r\n|\n|\r/);
  const findings: Finding[] = [];
  const lines: Line[] = [];
  const nextBlank = nextOf(raws, (raw) => raw.trim() === "");
  const nextClose = nextOf(raws, (raw) => raw.includes("-->"));
  let fence: { mark: string; line: number } | undefined;
  let comment = 0;
  const twice = (what: string, line: number, since: number) =>
    findings.push(fault("unclosed", line, `${what} opens inside the one of line ${since}`, `close the first`));

  for (const [index, raw] of raws.entries()) {
    const number = index + 1;
    const push = (kind: Line["kind"], seen = raw) =>
      lines.push({ number, raw, text: seen, indent: indentOf(raw), kind });
    const [, before = "", mark, info = ""] =
      /^(\s*(?:(?:[-*+]|\w{1,9}[.)])\s+)*)(`{3,}(?=[^`]*$)|~{3,})(.*)$/.exec(raw) ?? [];
    if (fence) {
      const same = mark?.startsWith(fence.mark) && before.trim() === "";
      if (same && info.trim() !== "") twice("a code fence", number, fence.line);
      push(same && info.trim() === "" ? "fence" : "code");
      if (same && info.trim() === "") fence = undefined;
      continue;
    }
    if (mark && !comment) {
      fence = { mark, line: number };
      push(before.trim() === "" ? "fence" : "text");
      continue;
    }
    let seen = "";
    let rest = raw;
    for (let cut = comment > 0; ; cut = true) {
      if (comment) {
        if (rest.includes("<!--") && comment !== number) twice("a comment", number, comment);
        const end = rest.indexOf("-->");
        if (end < 0) break;
        rest = rest.slice(end + 3);
        comment = 0;
      }
      const start = withoutCode(rest).indexOf("<!--");
      const inside = rest.indexOf("-->", start + 4) >= 0;
      const block = seen.trim() === "" && rest.slice(0, start).trim() === "";
      const closes = inside || (nextClose[index] ?? 0) < (block ? raws.length : (nextBlank[index] ?? 0));
      if (start >= 0 && !closes && block)
        findings.push(fault("unclosed", number, "a comment is never closed", "close it with -->"));
      if (start < 0 || !closes) {
        seen += rest;
        if (seen.trim() === "") push(cut ? "comment" : "blank");
        else push("text", seen);
        break;
      }
      seen += rest.slice(0, start);
      rest = rest.slice(start + 4);
      comment = number;
    }
    if (comment) push(seen.trim() === "" ? "comment" : "text", seen);
  }
  if (fence) findings.push(fault("unclosed", fence.line, "a code fence is never closed", "close it"));
  return { lines, findings };
}

/** For each line the next one, after it, of which something is true. */
function nextOf(raws: readonly string[], is: (raw: string) => boolean): number[] {
  const next = new Array<number>(raws.length);
  for (let index = raws.length - 1, found = raws.length; index >= 0; index--) {
    next[index] = found;
    if (is(raws[index] ?? "")) found = index;
  }
  return next;
}

function indentOf(raw: string): number {
  let column = 0;
  for (const char of raw) {
    if (char === "\t") column += 4 - (column % 4);
    else if (/\s/.test(char)) column++;
    else break;
  }
  return column;
}
