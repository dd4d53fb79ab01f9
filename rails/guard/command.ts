import { basename } from "node:path";
import { type CommandArgument, forEachChild, parse, type Redirection, type SyntaxNode, type WordPart } from "unbash";

/** The words of a single plain command, or null where the shell would do anything beyond starting it with these words:
 * operators, redirections, substitutions, several lines. A quoted here-document may feed it: the shell changes nothing
 * in such a text. Null is «cannot be judged», not «harmful». */
export const wordsOf = (text: string): string[] | null => plainIn(parse(text.trim()));

function plainIn({ commands, errors }: ReturnType<typeof parse>): string[] | null {
  const [statement, more] = commands;
  const one = statement?.command;
  if (errors || more || statement?.background || one?.type !== "Command" || !one.name || one.prefix.length > 0)
    return null;
  return [one.name, ...one.suffix].every(isPlain) ? [one.name, ...one.args].map(textOf) : null;
}

function isPlain(node: CommandArgument | Redirection): boolean {
  if (node.type === "HereDoc") return node.delimiter?.quoted === true && node.closing !== undefined;
  return node.type === "Word" && (node.parts ?? []).every(isPlainPart);
}

function isPlainPart(part: WordPart): boolean {
  if (part.type === "DoubleQuoted") return part.parts.every((each) => isPlainPart(each) || messageOf(each) !== null);
  if (part.type === "Glob") return (part.parts ?? []).every(isPlainPart);
  return part.type === "Literal" || part.type === "SingleQuoted";
}

/** What "$(cat <<'EOF' …)" stands for, as models like to write a message of several lines; null for anything else. */
function messageOf(part: WordPart): string | null {
  const script = part.type === "CommandExpansion" ? part.script : undefined;
  const one = script?.commands[0]?.command;
  if (!script || one?.type !== "Command" || plainIn(script)?.join(" ") !== "cat") return null;
  return one.redirects.map((each) => (each.type === "HereDoc" ? each.body.text : "")).join("");
}

function textOf(node: CommandArgument | WordPart): string {
  if ((node.type === "Word" || node.type === "DoubleQuoted") && node.parts) return node.parts.map(textOf).join("");
  return (
    messageOf(node as WordPart)?.trimEnd() ??
    ("value" in node && typeof node.value === "string" ? node.value : node.text)
  );
}

/** What only starts another program with the words that follow. */
const STARTER = /^(env|command|builtin|exec|nohup|nice|sudo|xargs|timeout|[A-Za-z_]\w*=.*)$/s;
const SHELL = /^(ba|z|da|k)?sh$/;

/** Every command that a shell text would start, as far as that can be seen: also within `a && b`, `$(…)`, `env X=1 …`,
 * `sh -c "…"`, `eval` and what is fed to a shell. The first word is the program's bare name; a redirection into a file
 * stands for itself, as the word `>`. */
export function commandsIn(text: string, depth = 0): string[][] {
  const found: string[][] = [];
  const visit = (node: SyntaxNode): void => {
    forEachChild(node, visit);
    if (node.type === "Redirect" && node.operator.includes(">")) found.push([">", node.target?.value ?? ""]);
    if (node.type !== "Command" || !node.name) return;
    const words = [node.name, ...node.args].map(textOf);
    const at = words.findIndex((word, index) => !STARTER.test(word) && (index === 0 || !/^(-.*|\d+)$/.test(word)));
    const [name = "", ...rest] = at < 0 ? [] : [basename(words[at] ?? ""), ...words.slice(at + 1)];
    // A program of ours can also be started by its path with Node.
    found.push(
      name === "node" && basename(rest[0] ?? "") === "minion" ? ["minion", ...rest.slice(1)] : [name, ...rest],
    );
    if (depth > 4 || (name !== "eval" && !SHELL.test(name))) return;
    const script = rest[rest.findIndex((word) => /^-\w*c$/.test(word)) + 1] ?? "";
    const fed = node.redirects.map((each) => (each.type === "HereDoc" ? each.body.text : (each.target?.value ?? "")));
    for (const inner of name === "eval" ? [rest.join(" ")] : [script, ...fed])
      found.push(...commandsIn(inner, depth + 1));
  };
  visit(parse(text));
  return found;
}

/** Does a list of allowed commands hold this one? An entry stands for itself with any further words. */
export function isListed(words: readonly string[], allowed: readonly string[]): boolean {
  return allowed.some((entry) => entry.split(/\s+/).every((word, index) => words[index] === word));
}

/** Options, also cut short, with which a listed git command writes elsewhere or starts another program. */
const RISKY = /^(-O|--o[pu]|--ex|--pathspec-f)/;

export const hasRiskyOption = (words: readonly string[]): boolean => words.some((word) => RISKY.test(word));
