/** What must not hide in a text that a person agrees to: what moves the cursor, turns the reading
 * direction, or shows nothing. */
const HIDING =
  /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/gu;

const NAMES: Readonly<Record<string, string>> = { "\n": "⏎", "\r": "\\r", "\t": "\\t" };

const escaped = (char: string): string =>
  NAMES[char] ?? `\\u{${(char.codePointAt(0) as number).toString(16)}}`;

/** So many blanks in a row push what follows out of sight. */
const BLANKS = / {9,}/g;

/** A text on one line, in which nothing hides: what would stands there as its number, and blanks
 * that would push the rest away as their count. */
export const visible = (text: string): string =>
  text.replace(HIDING, escaped).replace(BLANKS, (run) => ` [${run.length} blanks] `);

/** Lines are folded at so many characters. */
const WIDTH = 160;

/** A file's text, line by line as it is: nothing hides, and a long line is folded where everybody
 * sees it. */
export const visibleLines = (text: string): string[] =>
  text.split("\n").flatMap((line) => {
    const whole = line.replace(/^ +/, "");
    const indent = line.slice(0, Math.min(line.length - whole.length, WIDTH / 4));
    const far = line.length - whole.length - indent.length;
    const seen = `${indent}${far > 0 ? `[${far} blanks more] ` : ""}${visible(whole)}`;
    return (
      seen
        .match(new RegExp(`.{1,${WIDTH}}`, "gu"))
        ?.map((part, at) => (at ? `  ↪ ${part}` : part)) ?? [""]
    );
  });
