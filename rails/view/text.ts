const WIDE = /[\p{Emoji_Presentation}\p{sc=Han}\p{sc=Hangul}\p{sc=Hira}\p{sc=Kana}\u3000-\u303E\uFF01-\uFF60]/u;

/** The columns that a text takes in a terminal; of emoji that are drawn as one, each counts. */
export function width(text: string): number {
  // Not by Intl.Segmenter: making one takes longer than all the rest of a call.
  const columns = (char: string): number =>
    WIDE.test(char) ? 2 : /[\p{M}\p{Cf}]/u.test(char) && char !== "\uFE0F" ? 0 : 1;
  return /^[ -~]*$/.test(text) ? text.length : Array.from(text, columns).reduce((sum, one) => sum + one, 0);
}

/** A text without anything that would move the cursor or colour the terminal. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").trim();
}

/** A text on one line, in exactly so many columns: cut with `…` or filled with spaces. */
export function cell(text: string, columns: number): string {
  const line = oneLine(text);
  const room = columns - width(line);
  if (room >= 0) return line + " ".repeat(room);
  let cut = "";
  let left = columns - 1;
  for (const char of line) {
    if (width(char) > left) break;
    left -= width(char);
    cut += char;
  }
  return `${cut}…${" ".repeat(left)}`;
}

/** A text as lines of at most so many columns, broken between words where there are any. */
export function wrap(text: string, columns: number): string[] {
  const line = oneLine(text);
  const most = WIDE.test(line) ? Math.floor(columns / 2) : columns;
  return line.match(new RegExp(`\\S.{0,${most - 1}}(?=\\s|$)|\\S{1,${most}}`, "gu")) ?? [];
}

/** Milliseconds as minutes: `1:05`. */
export const clock = (ms: number): string =>
  `${Math.floor(ms / 60_000)}:${String(Math.floor(ms / 1000) % 60).padStart(2, "0")}`;

/** Rows as lines. Columns are as wide as what is in them; where that is too much the widest give way. */
export function table(rows: readonly (readonly string[])[], most: number): string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => width(oneLine(row[at] ?? "")))));
  while (widths.reduce((sum, one) => sum + one + 2, -2) > most) {
    // What a row is about gives way last: it counts half as wide as it is.
    const shares = widths.map((columns, at) => (rows[0]?.[at] === "task" ? columns / 2 : columns));
    const widest = shares.indexOf(Math.max(...shares));
    widths[widest] = (widths[widest] ?? 1) - 1;
  }
  const cells = rows.map((row) => widths.map((columns, at) => cell(row[at] ?? "", columns)));
  return cells.map((row) => row.join("  ").trimEnd());
}
