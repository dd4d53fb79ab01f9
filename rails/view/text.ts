import stringWidth from "string-width";

const letters = new Intl.Segmenter("en", { granularity: "grapheme" });

/** A text without anything that would move the cursor or colour the terminal. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").trim();
}

/** A text on one line, in exactly so many columns: cut with `…` or filled with spaces. */
export function cell(text: string, columns: number): string {
  const line = oneLine(text);
  const room = columns - stringWidth(line);
  if (room >= 0) return line + " ".repeat(room);
  let cut = "";
  let left = columns - 1;
  for (const { segment } of letters.segment(line)) {
    const width = stringWidth(segment);
    if (width > left) break;
    left -= width;
    cut += segment;
  }
  return `${cut}…${" ".repeat(left)}`;
}

/** A text as lines of at most so many columns, broken between words; a word that is longer is cut. */
export function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const word of oneLine(text).split(/ +/)) {
    const last = lines.at(-1);
    if (last !== undefined && stringWidth(`${last} ${word}`) <= columns) lines.splice(-1, 1, `${last} ${word}`);
    else lines.push(cell(word, columns).trimEnd());
  }
  return lines;
}

/** Rows as lines, the first of them the head. Columns are as wide as what is in them; where that is too much the widest give way. */
export function table(rows: readonly (readonly string[])[], most: number): string[] {
  const columns = rows[0]?.keys() ?? [];
  const widths = [...columns].map((column) => Math.max(...rows.map((row) => stringWidth(oneLine(row[column] ?? "")))));
  while (widths.reduce((sum, one) => sum + one + 2, -2) > most) {
    const widest = Math.max(...widths);
    widths[widths.indexOf(widest)] = widest - 1;
  }
  return rows.map((row) =>
    row
      .map((text, column) => cell(text, widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
