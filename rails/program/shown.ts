/** What moves the cursor, turns the reading direction or shows nothing. */
const HIDDEN = String.raw`\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}`;
/** What makes an emoji of several, and its look. */
const OF_EMOJI = String.raw`(?<=\p{Extended_Pictographic}[\uFE0F\u{1F3FB}-\u{1F3FF}]{0,2})\u200D(?=\p{Extended_Pictographic})|[\uFE0E\uFE0F]`;
/** What must not reach a screen or a page from a name that others gave. */
const HIDING = new RegExp(`(?!${OF_EMOJI})[${HIDDEN}]`, "gu");
/** What must not stand in a text that a person agrees to: also what nobody knows by sight, and
 * blanks that are none to a shell. */
const UNCLEAR = new RegExp(`[${HIDDEN}\\p{Co}\\p{Cn}]|(?! )\\p{Zs}`, "gu");
const BREAKS = /[\t\n\v\f\r\u0085\u2028\u2029]+/g;
/** Colours: all that a terminal is told by us beside text and line ends. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: what colours are made of
const COLOUR = /(\u001b\[\d+(?:;\d+)*m)/;

const escaped = (char: string): string => {
  const hex = (char.codePointAt(0) as number).toString(16);
  if (hex.length <= 2) return `\\x${hex.padStart(2, "0")}`;
  return hex.length <= 4 ? `\\u${hex.padStart(4, "0")}` : `\\u{${hex}}`;
};

/** A text as what it is, on lines of its own: what would hide stands there as its number. */
export const shown = (text: string): string =>
  text
    .replace(/\r\n?/g, "\n")
    .replace(HIDING, (char) => (char === "\n" || char === "\t" ? char : escaped(char)));

/** A text as what it is, on one line of a terminal. */
export const oneLine = (text: string): string => shown(text.replace(BREAKS, " ")).trim();

const NAMES: Readonly<Record<string, string>> = { "\n": "⏎", "\r": "\\r", "\t": "\\t" };

/** So many blanks in a row push what follows out of sight. */
const BLANKS = / {9,}/g;

/** A text that a person agrees to, on one line as exactly what it is: what is unclear stands there
 * as its number, and blanks that would push the rest away as their count. */
export const exact = (text: string): string =>
  text
    .replace(UNCLEAR, (char) => NAMES[char] ?? escaped(char))
    .replace(BLANKS, (run) => ` [${run.length} blanks] `);

/** Lines are folded at so many characters. */
const WIDTH = 160;

/** A file's text that a person agrees to, line by line as exactly what it is: a long line is folded
 * where everybody sees it. */
export const exactLines = (text: string): string[] =>
  text.split("\n").flatMap((line) => {
    const whole = line.replace(/^ +/, "");
    const indent = line.slice(0, Math.min(line.length - whole.length, WIDTH / 4));
    const far = line.length - whole.length - indent.length;
    const seen = `${indent}${far > 0 ? `[${far} blanks more] ` : ""}${exact(whole)}`;
    return (
      seen
        .match(new RegExp(`.{1,${WIDTH}}`, "gu"))
        ?.map((part, at) => (at ? `  ↪ ${part}` : part)) ?? [""]
    );
  });

/** A text that has colours of ours, as what it is: whoever gave them saw to it that names of others
 * bring none. */
export const coloured = (text: string): string =>
  text
    .split(COLOUR)
    .map((part, index) => (index % 2 === 1 ? part : shown(part)))
    .join("");

/** A name or a sentence of others within a line of Markdown, which nothing in it marks, links or
 * breaks. */
export const inline = (text: string): string =>
  oneLine(text)
    .replace(/[\\`*<|~]|&(?=#|\w+;)|\](?=[([:])|!(?=\[)/g, "\\$&")
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, "\\_")
    .replace(/^(?:[#>+=-]|\d+(?=[.)]))/, (mark) => (/\d/.test(mark) ? mark : `\\${mark}`))
    .replace(/^(\d+)(?=[.)])/, "$1\\");

/** A text as code within a line of Markdown. */
export function code(text: string): string {
  const line = oneLine(text);
  const longest = Math.max(0, ...Array.from(line.matchAll(/`+/g), ([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  const gap = /^`|`$/.test(line) || line === "" ? " " : "";
  return `${fence}${gap}${line}${gap}${fence}`;
}

/** A path or a branch within a line of Markdown: as code where it is more than a plain word. */
export const named = (name: string): string =>
  /^(?!_)[\p{L}\p{N}._/@+-]*(?<!_)$/u.test(name) && !/\/_|_\//.test(name) ? name : code(name);

/** Names with commas between them. */
export const listed = (names: readonly string[]): string => names.map(named).join(", ");

/** What others wrote as Markdown, as lines of a paragraph or list of ours: its words keep their
 * marks, but it opens no heading, block or tag, and no line begins without `before`.
 * @param before what each line after the first begins with: two spaces below a bullet, `> ` in a
 *   quote */
export const prose = (text: string, before: string): string =>
  shown(text)
    .trim()
    .split("\n")
    .map(tamed)
    .join(`\n${before}`)
    .replace(/[ \t]+$/gm, "");

const tamed = (line: string): string =>
  line
    .replace(/<(?=[A-Za-z/!?])|!(?=\[)/g, "\\$&")
    .replace(/^\s+/, (indent) => indent.replaceAll("\t", "  ").slice(0, 3))
    .replace(
      /^(\s*(?:(?:[-*+]|\d+[.)]|>)\s+)*)(?=#|```|~~~|={1,}\s*$|(?:-\s*){2,}$|\[[^\]]*\]:)/,
      "$1\\",
    );

/** Text as a block of Markdown that nothing in it ends. */
export function fenced(text: string): string {
  const runs = Array.from(text.matchAll(/`+/g), ([run]) => run.length);
  const fence = "`".repeat(1 + Math.max(2, ...runs));
  return `${fence}\n${shown(text)}\n${fence}`;
}
