/** Characters with which a shell does more than start one program with these words. */
const BARE = /^[^\s'"\\$`;&|<>()!#\n]+/;
const SINGLE = /^'([^'\n]*)'/;
const DOUBLE = /^"([^"\\$`!\n]*)"/;

const nextPart = (text: string): RegExpExecArray | null => SINGLE.exec(text) ?? DOUBLE.exec(text) ?? BARE.exec(text);

/** The words of a single plain command, or null where the shell would do anything beyond starting it: operators,
 * redirections, substitutions, escapes, several lines. Null is «cannot be judged», not «harmful». */
export function wordsOf(command: string): string[] | null {
  const words: string[] = [];
  let rest = command.trim();
  while (rest !== "") {
    let word = "";
    for (let part = nextPart(rest); part; part = nextPart(rest)) {
      word += part[1] ?? part[0];
      rest = rest.slice(part[0].length);
    }
    if (rest !== "" && !/^[ \t]/.test(rest)) return null;
    words.push(word);
    rest = rest.trimStart();
  }
  return words.length > 0 && !words[0]?.includes("=") ? words : null;
}

/** The words of a command that is fed by one quoted here-document and nothing else: the shell changes nothing in such a
 * text. Null where it is not of that form. */
export function wordsOfFed(command: string): string[] | null {
  const [, head, mark, body] = /^([^\n<]+?)\s*<<\s*'(\w+)'[ \t]*\n([\s\S]*)$/.exec(command.trim()) ?? [];
  if (head === undefined || mark === undefined || body === undefined) return null;
  const lines = body.split("\n");
  return lines.indexOf(mark) === lines.length - 1 ? wordsOf(head) : null;
}

/** Does a list of allowed commands hold this one? An entry stands for itself with any further words. */
export function isListed(words: readonly string[], allowed: readonly string[]): boolean {
  return allowed.some((entry) => entry.split(/\s+/).every((word, index) => words[index] === word));
}

/** Options with which a listed git command writes elsewhere, starts another program, or skips the project's hooks. */
const RISKY =
  /^(-n|-O.*|--no-verify|--output(=.*)?|--open-files-in-pager.*|--ext-diff|--exec.*|--pathspec-from-file.*)$/;

export const hasRiskyOption = (words: readonly string[]): boolean => words.some((word) => RISKY.test(word));
