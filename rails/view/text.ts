import width from "fast-string-width";
import type { State } from "../journal/shapes.ts";
import { oneLine } from "../program/shown.ts";
import type { World } from "../program/world.ts";

/** How each state looks on a terminal and in a picture: beside the word, never instead of it. */
export const LOOKS: Partial<
  Record<State, Readonly<{ colour: "cyan" | "green" | "yellow" | "red"; fill: string }>>
> = {
  landed: { colour: "green", fill: "#d3f9d8" },
  mergeable: { colour: "green", fill: "#d3f9d8" },
  running: { colour: "cyan", fill: "#d0ebff" },
  "verify-failed": { colour: "yellow", fill: "#fff3bf" },
  "needs-human": { colour: "red", fill: "#ffe3e3" },
  blocked: { colour: "red", fill: "#ffe3e3" },
};

/** A text on one line; the blanks that it begins with stay, where they put it under another one. */
const lineOf = (text: string): string => (/^ */.exec(text)?.[0] ?? "") + oneLine(text);

/** A text on one line, in exactly so many columns: cut with `…` or filled with spaces. */
export function cell(text: string, columns: number): string {
  let line = lineOf(text);
  if (width(line) > columns) {
    const chars = Array.from(line).slice(0, columns);
    while (width(chars.join("")) >= columns) chars.pop();
    line = `${chars.join("")}…`;
  }
  return line + " ".repeat(columns - width(line));
}

/** Milliseconds as minutes: `1:05`. */
export const clock = (ms: number): string =>
  `${Math.floor(ms / 60_000)}:${String(Math.floor(ms / 1000) % 60).padStart(2, "0")}`;

/** Milliseconds as whole minutes: `about 12 min`. */
export const about = (ms: number): string => `about ${Math.max(1, Math.round(ms / 60_000))} min`;

/** The least width of a cell: what is short and has a number is not cut, since it would be another
 * one. */
const leastOf = (text: string): number => (/\d/.test(text) && width(text) <= 12 ? width(text) : 1);

/** Rows as lines. Columns are as wide as what is in them; where that is too much the widest give
 * way. Of a row with fewer cells than others the last one has the rest of the line.
 * @param paint colours a cell that has its width already */
export function table(
  rows: readonly (readonly string[])[],
  most: number,
  paint = (text: string, _row: number, _column: number): string => text,
): string[] {
  const count = Math.max(0, ...rows.map(({ length }) => length));
  const isRest = (row: readonly string[], at: number): boolean =>
    row.length < count && at === row.length - 1;
  const textsAt = (at: number): string[] =>
    rows.flatMap((row) => (isRest(row, at) ? [] : [row[at] ?? ""]));
  const all = Array.from({ length: count }, (_, at) => textsAt(at));
  const widths = all.map((texts) => Math.max(0, ...texts.map((text) => width(lineOf(text)))));
  const least = all.map((texts) => Math.max(1, ...texts.map(leastOf)));
  while (widths.reduce((sum, one) => sum + one + 2, -2) > most) {
    // Numbers give way last: one that is cut is another number.
    const spare = widths.map((own, at) => (own > (least[at] ?? 1) ? own : 0));
    const givers = spare.some(Boolean) ? spare : widths;
    const widest = givers.indexOf(Math.max(...givers));
    widths[widest] = (widths[widest] ?? 1) - 1;
  }
  return rows.map((row, index) => {
    const last = row.findLastIndex((text) => text !== "");
    const cells = widths.slice(0, last + 1).map((own, at) => {
      const before = widths.slice(0, at).reduce((sum, one) => sum + one + 2, 0);
      const text = cell(row[at] ?? "", isRest(row, at) ? most - before : own);
      return paint(at === last ? text.trimEnd() : text, index, at);
    });
    return cells.join("  ");
  });
}

/** How wide a screen is, as far as that is known; it may change while a board is watched. */
export const columnsOf = ({ stdout }: World): number => Math.max(40, stdout.columns ?? 100);
