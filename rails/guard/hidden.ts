import { basename } from "node:path";

/** Words of which nothing can be seen, as those that xargs reads. */
export const UNSEEN = "$…";

const OUTPUT = "\ue000";
const ANYTHING = "\ue001";

/** What only the shell will know of a word, with marks in its place: what a program prints, and all
 * else. */
function marked(word: string): string {
  let text = word;
  for (let before = ""; before !== text; ) {
    before = text;
    text = text
      .replace(/\$\([^()]*\)|<\([^()]*\)|`[^`]*`/g, OUTPUT)
      .replace(/\$\{[^{}]*\}|[?*+@!]\([^()]*\)/g, ANYTHING);
  }
  return text
    .replace(/\$\(.*$/s, OUTPUT)
    .replace(/\$(…|[\w@*#?!-]+)?/g, ANYTHING)
    .replace(/\{[^{}\s]*(,|\.\.)[^{}\s]*\}/g, ANYTHING);
}

const STARTERS = ["git", "minion", "sh", "bash", "eval"];

/** Might a program whose name only the shell will know be git, minion, or a shell? */
export function isHidden(word: string): boolean {
  const name = basename(marked(word));
  if (!/[\ue000\ue001*?[]/.test(name)) return false;
  const pattern = name
    .replace(/[.+^(){}|\\]/g, "\\$&")
    .replace(/\$/g, "\\$")
    .replace(/[\ue000\ue001*]+/g, ".*")
    .replace(/\?/g, ".")
    .replace(/\[[^\]]+\]/g, ".")
    .replace(/[[\]]/g, "\\$&");
  const isLike = new RegExp(`^${pattern}$`, "i");
  return STARTERS.some((starter) => isLike.test(starter));
}

/** Is nothing said of a word, or nothing but that a program prints it? */
export const isBlank = (word: string): boolean =>
  [...marked(word)].every((sign) => sign === OUTPUT || sign === ANYTHING);

/** Does a program print the whole word? Which one stands in the line. */
export const isOutput = (word: string): boolean => /^\ue000+$/.test(basename(marked(word)));
