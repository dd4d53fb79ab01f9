import { basename } from "node:path";
import {
  type CommandArgument,
  forEachChild,
  type ParsedScript,
  parse,
  type SyntaxNode,
} from "unbash";

/** The words of a single plain command, or null where the shell would do anything beyond starting
 * it with these words: operators, redirections, substitutions, several lines. A here-document may
 * feed it. Null is «cannot be judged», not «harmful». */
export const wordsOf = (text: string): string[] | null => wordsIn(parse(text.trim()));

function wordsIn({ commands, errors }: ParsedScript): string[] | null {
  const [statement, more] = commands;
  const one = statement?.command;
  if (errors || more || statement?.background || one?.type !== "Command" || !one.name) return null;
  return isPlain(one) ? [one.name, ...one.args].map(textOf) : null;
}

const textOf = (word: CommandArgument): string => (word.type === "Word" ? word.value : word.text);

const PLAIN = /^(Command|Word|Literal|SingleQuoted|DoubleQuoted|Glob|HereDoc(Delimiter|Body)?)$/;

function isPlain(node: SyntaxNode): boolean {
  let isAll = PLAIN.test(node.type);
  forEachChild(node, (child) => {
    isAll &&= isPlain(child) || (node.type === "DoubleQuoted" && isMessage(child));
  });
  return isAll;
}

/** "$(cat <<'EOF' …)", as models like to write a message of several lines. */
const isMessage = (node: SyntaxNode): boolean =>
  node.type === "CommandExpansion" &&
  node.script !== undefined &&
  wordsIn(node.script)?.join(" ") === "cat";

/** Every command that a shell text would start, as far as that can be seen: also within `a && b`,
 * `$(…)` and `sh -c "…"`. The first word is the program's bare name; a redirection into a file
 * stands for itself, as the word `>`. */
export function commandsIn(text: string): string[][] {
  const found: string[][] = [];
  const visit = (node: SyntaxNode): void => {
    forEachChild(node, visit);
    if (node.type === "Redirect" && node.operator.includes(">"))
      found.push([">", node.target?.value ?? ""]);
    if (node.type !== "Command" || !node.name) return;
    const [program, ...words] = [basename(textOf(node.name)), ...node.args.map(textOf)];
    found.push([program, ...words]);
    const script = words[words.findIndex((word) => /^-\w*c$/.test(word)) + 1];
    if (script && /^(ba|z|da|k)?sh$/.test(program)) found.push(...commandsIn(script));
  };
  visit(parse(text));
  return found;
}

/** Options, also cut short and in a text of several lines, with which git writes elsewhere or
 * starts another program. */
const RISKY = /^(-O|--o[pu]|--ex|--pathspec-f)/m;

/** Does a list of allowed commands hold this one? An entry stands for itself with any further words
 * but risky options. */
export const isListed = (words: readonly string[], allowed: readonly string[]): boolean =>
  !words.some((word) => RISKY.test(word)) &&
  allowed.some((entry) => entry.split(/\s+/).every((word, index) => words[index] === word));
