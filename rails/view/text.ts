import { styleText } from "node:util";

const WIDE =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uA960-\uA97C\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{20000}-\u{3FFFD}])|\uFE0F/u;
const letters = new Intl.Segmenter("en", { granularity: "grapheme" });

/** How a text is coloured, where it is at all: never what alone says something. */
export type Paint = (style: Parameters<typeof styleText>[0], text: string) => string;
export const paint =
  (colour: boolean): Paint =>
  (style, text) =>
    // Whether the stream can show colour is the caller's to say, once.
    colour ? styleText(style, text, { validateStream: false }) : text;

function widthOf(letter: string): number {
  if (letter >= " " && letter <= "~") return 1;
  return WIDE.test(letter) ? 2 : /^[\p{M}\p{Cf}]+$/u.test(letter) ? 0 : 1;
}

/** The columns that a text takes in a terminal. */
export function width(text: string): number {
  let columns = 0;
  for (const { segment } of letters.segment(text)) columns += widthOf(segment);
  return columns;
}

/** A text on one line, in exactly so many columns: cut with `…` or filled with spaces. Control characters become spaces. */
export function cell(text: string, columns: number): string {
  const line = oneLine(text);
  const full = width(line);
  if (full <= columns) return line + " ".repeat(columns - full);
  let cut = "";
  let used = 0;
  for (const { segment } of letters.segment(line)) {
    if (used + widthOf(segment) > columns - 1) break;
    cut += segment;
    used += widthOf(segment);
  }
  return columns < 1 ? "" : `${cut}…${" ".repeat(columns - 1 - used)}`;
}

/** A text without anything that would move the cursor or colour the terminal. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").trim();
}

/** A text as lines of at most so many columns, broken between words where there are any. */
export function wrap(text: string, columns: number): string[] {
  const lines = [""];
  for (const word of oneLine(text).split(/ +/)) {
    const last = lines.at(-1) as string;
    if (last !== "" && width(last) + 1 + width(word) <= columns) lines[lines.length - 1] = `${last} ${word}`;
    else if (last === "") lines[lines.length - 1] = word;
    else lines.push(word);
    for (let tail = lines.at(-1) as string; width(tail) > columns; tail = lines.at(-1) as string) {
      const head = cell(tail, columns).trimEnd().slice(0, -1);
      if (head === "") break;
      lines.splice(-1, 1, head, tail.slice(head.length));
    }
  }
  return lines;
}
