import { basename, join, resolve } from "node:path";
import {
  type Command,
  type CommandArgument,
  forEachChild,
  type ParsedScript,
  type Pipeline,
  parse,
  type SyntaxNode,
  type WordPart,
} from "unbash";
import {
  codeOf,
  isInterpreter,
  isQuiet,
  isShell,
  scriptOf,
  startsPrograms,
  unwrapped,
} from "./programs.ts";

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

/** One program that a shell text would start. */
export interface Call {
  readonly program: string; // Its bare name; `>` for a redirection into a file
  readonly args: readonly string[]; // Without quotes; what only the shell will know stays `$…`
  readonly env: readonly string[]; // What is set for it alone, as `NAME=value`
  readonly folder: string; // Where the text has gone to by then, as it says it
  /** Found among the words of a program that is not known to start others, or in another
   * language's code: it may be a mere word. */
  readonly isGuess: boolean;
}

/** What stands around a command: variables with all that the text sets them to, and how deep a
 * text lies within others. */
type Around = Readonly<{ values: ReadonlyMap<string, string[]>; folder: string; depth: number }>;

/** Texts within texts are read so deep. */
const DEEPEST = 6;
/** So many readings of a command are looked at where its variables have several values. */
const READINGS = 20;

/** Every program that a shell text would start, as far as that can be seen: also within
 * `a && b`, `$(…)`, functions and loops, `sh -c "…"`, `timeout 5 …` and `xargs …`, by a variable
 * that the text itself sets, and from a text that is piped into a shell. */
export const callsIn = (text: string): Call[] =>
  readText(text, { values: new Map(), folder: "", depth: 0 });

function readText(text: string, outer: Around): Call[] {
  if (outer.depth > DEEPEST) return [];
  const script = parse(text);
  const found: Call[] = [];
  const values = valuesIn(script, outer.values);
  let folder = outer.folder;
  const add = (words: readonly string[], env: readonly string[] = []): void => {
    const calls = started(words, env, { values, folder, depth: outer.depth + 1 });
    found.push(...calls);
    const to = calls.find(({ program }) => program === "cd" || program === "pushd")?.args.at(-1);
    if (to !== undefined) folder = /^[/~$]/.test(to) ? to : join(folder, to);
  };
  const visit = (node: SyntaxNode): void => {
    forEachChild(node, visit);
    if (node.type === "Redirect" && node.operator.includes(">") && node.target)
      found.push(...calledBy([">", meaningOf(node.target, values, 0)], { folder, isGuess: false }));
    if (node.type === "Pipeline") for (const words of fedTo(node, values)) add(words);
    if (node.type !== "Command" || !node.name) return;
    const env = node.prefix.flatMap((each) => (each.type === "Assignment" ? assigned(each) : []));
    for (const words of readingsOf(node, values)) add(words, env);
    for (const input of inputOf(node, values))
      for (const words of asScript(node, input, values)) add(words);
  };
  const assigned = (each: { text: string; name: string; value: unknown }): string[] => [
    `${each.name}=${values.get(each.name)?.at(-1) ?? each.text.slice(each.name.length + 1)}`,
  ];
  visit(script);
  return found;
}

const calledBy = (
  [program = "", ...args]: readonly string[],
  { env = [], ...more }: Pick<Call, "folder" | "isGuess"> & { env?: readonly string[] },
): Call[] => [{ program: nameOf(program), args, env, ...more }];

/** A program by its bare name, whatever stands before and after it. */
export function nameOf(word: string): string {
  const name = basename(word).replace(/\.(exe|cmd)$/i, "");
  const [, own] = /^(git|minion)(@[\w.-]+)?$/i.exec(name) ?? [];
  return own ? own.toLowerCase() : name;
}

const isOurs = (word: string): boolean => /^(git|minion)$/.test(nameOf(word));

/** What a command with these words starts: itself, and what it hands on to. */
function started(
  words: readonly string[],
  env: readonly string[],
  { values, folder, depth }: Around,
  isGuess = false,
): Call[] {
  if (words.length === 0 || depth > DEEPEST) return [];
  const own = calledBy(words, { env, folder, isGuess });
  const [program, args] = [own[0]?.program ?? "", words.slice(1)];
  const around = { values, folder, depth: depth + 1 };
  const within = unwrapped(program, args);
  if (within) return [...own, ...started(within.words, [...env, ...within.env], around, isGuess)];
  const scripts = scriptOf(program, args);
  const code = codeOf(program, args);
  return [
    ...own,
    ...scripts.flatMap((script) =>
      readText(script, around).map((call) => ({ ...call, isGuess: isGuess || call.isGuess })),
    ),
    ...code.flatMap((each) => inCode(each).flatMap((tail) => started(tail, env, around, true))),
    ...(isQuiet(program) ? [] : started(tailOf(args), env, around, true)),
  ];
}

/** The words of a program that we do not know, from where they name git, minion or a shell: it may
 * start that. */
function tailOf(args: readonly string[]): readonly string[] {
  const at = args.findIndex(
    (word, index) =>
      isOurs(word) || (isShell(nameOf(word)) && /^-\w*c/.test(args[index + 1] ?? "")),
  );
  if (at < 0) return [];
  const rest = args.slice(at);
  const end = rest.findIndex((word) => word === ";" || word === "+");
  return end < 0 ? rest : rest.slice(0, end);
}

/** Where code of another language names git or minion, with the words that follow, as in
 * `run(["git", "stash"])`. */
const inCode = (code: string): string[][] =>
  (startsPrograms(code) ? code : "").split(/[;\n]/).flatMap((line) => {
    const words = line.split(/[\s"'`,()[\]{}]+/).filter(Boolean);
    const at = words.findIndex(isOurs);
    return at < 0 ? [] : [words.slice(at)];
  });

/** What a text sets its variables to, also one after another in a loop. */
function valuesIn(script: SyntaxNode, outer: Around["values"]): Map<string, string[]> {
  const values = new Map(outer);
  const visit = (node: SyntaxNode): void => {
    if (node.type === "Assignment") {
      const all = node.value?.type === "ArrayValue" ? node.value.elements : [node.value];
      const words = all.flatMap((word) =>
        word?.type === "Word" ? [meaningOf(word, values, 0)] : [],
      );
      values.set(node.name, [...(values.get(node.name) ?? []), words.join(" ")]);
    }
    if (node.type === "For" && node.wordlist)
      values.set(
        node.name.value,
        node.wordlist.map((word) => meaningOf(word, values, 0)),
      );
    forEachChild(node, visit);
  };
  visit(script);
  return values;
}

/** A command's words, once for each value of its variables. */
function readingsOf({ name, args }: Command, values: Around["values"]): string[][] {
  const words = name ? [name, ...args] : args;
  const used = [...values].filter(([key]) =>
    words.some(({ text }) => text.includes(`$${key}`) || text.includes(`\${${key}`)),
  );
  const most = Math.min(READINGS, Math.max(1, ...used.map(([, all]) => all.length)));
  return Array.from({ length: most }, (_, index) =>
    words.flatMap((word) => splitOf(word, meaningOf(word, values, index))),
  );
}

/** The words that one becomes: `{a,b}` is two, and so is a variable with a space that nothing
 * quotes. */
function splitOf(word: CommandArgument, value: string): string[] {
  const parts = word.type === "Word" ? (word.parts ?? []) : [];
  const [, before = "", inner, after = ""] = parts.some(({ type }) => type === "BraceExpansion")
    ? (/^([^{]*)\{([^{}]*,[^{}]*)\}(.*)$/s.exec(value) ?? [])
    : [];
  if (inner !== undefined) return inner.split(",").map((each) => before + each + after);
  const isBare =
    /^"?\$\{\w+\[[@*]\]\}"?$/.test(word.text) ||
    (parts.length === 1 && /^(Simple|Parameter|Command)Expansion$/.test(parts[0]?.type ?? ""));
  return isBare && value !== word.text ? value.split(/\s+/).filter(Boolean) : [value];
}

/** What a word is to the program, with the `index`th value of its variables. */
function meaningOf(word: CommandArgument, values: Around["values"], index: number): string {
  if (word.type !== "Word") {
    const { name, value } = word;
    return value.type === "Word" ? `${name}=${meaningOf(value, values, index)}` : word.text;
  }
  if (!word.parts) return word.value;
  const known = (name: string): string | undefined => {
    const all = values.get(name);
    return all?.[Math.min(index, all.length - 1)];
  };
  const partOf = (part: WordPart): string => {
    switch (part.type) {
      case "DoubleQuoted":
      case "LocaleString":
        return part.parts.map(partOf).join("");
      case "SimpleExpansion":
        return known(part.text.slice(1)) ?? part.text;
      case "ParameterExpansion":
        return expanded(part) ?? part.text;
      case "CommandExpansion":
        return named(part.script) ?? part.text;
      default:
        return "value" in part ? part.value : part.text;
    }
  };
  const expanded = ({
    parameter,
    operation,
  }: Extract<WordPart, { type: "ParameterExpansion" }>) => {
    if (operation === undefined) return known(parameter);
    if (operation.type !== "Default") return undefined;
    return known(parameter) ?? meaningOf(operation.operand, values, index);
  };
  return word.parts.map(partOf).join("");
}

/** What `$(which minion)` and its like come to. */
function named(script: ParsedScript | undefined): string | undefined {
  const words = script && wordsIn(script);
  const [program = "", ...args] = words ?? [];
  return /^(which|command|type|echo|printf|realpath|readlink)$/.test(program)
    ? args.filter((word) => !/^(-|%s$)/.test(word)).join(" ") || undefined
    : undefined;
}

/** What programs among piped commands start of what the one before them prints: a shell runs it,
 * and xargs adds its words to a command. */
function fedTo({ commands }: Pipeline, values: Around["values"]): string[][] {
  return commands.flatMap((command, index) => {
    const before = commands[index - 1];
    if (command.type !== "Command" || before?.type !== "Command") return [];
    const [program = "", ...args] = readingsOf(before, values)[0] ?? [];
    const [own = [""]] = readingsOf(command, values);
    if (nameOf(own[0] ?? "") === "xargs")
      return [[...own, ...args.filter((word) => !word.startsWith("-"))]];
    const said = /^(echo|printf)$/.test(program)
      ? [args.join(" ").replace(/\\n/g, "\n")]
      : inputOf(before, values);
    return said.flatMap((each) => asScript(command, each, values));
  });
}

/** A command that runs what it reads, with that as an argument; none where it only reads. */
function asScript(command: Command, input: string, values: Around["values"]): string[][] {
  const program = readerIn(command, values);
  if (isShell(program) || /^(source|\.)$/.test(program)) return [["sh", "-c", input]];
  return isInterpreter(program) ? [[program, "-c", input]] : [];
}

const inputOf = ({ redirects }: Command, values: Around["values"]): string[] =>
  redirects.flatMap((each) => {
    if (each.type === "HereDoc") return [each.body.text];
    return each.type === "HereString" && each.target ? [meaningOf(each.target, values, 0)] : [];
  });

/** What a line's only here-document says, if it is one with nothing left for the shell to fill in;
 * else null. */
export function hereDocIn(text: string): string | null {
  const found: string[] = [];
  const visit = (node: SyntaxNode): void => {
    if (node.type === "HereDoc" && !node.body.parts) found.push(node.body.text);
    forEachChild(node, visit);
  };
  visit(parse(text));
  const [only, more] = found;
  return only !== undefined && more === undefined ? only : null;
}

/** The program of a command behind all that only starts it. */
function readerIn(command: Command, values: Around["values"]): string {
  let words: readonly string[] = readingsOf(command, values)[0] ?? [];
  for (let depth = 0; depth < DEEPEST; depth++) {
    const [program = "", ...args] = words;
    const within = unwrapped(nameOf(program), args);
    if (!within) return nameOf(program);
    words = within.words;
  }
  return "";
}

/** Options, also cut short and in a text of several lines, with which git writes elsewhere, reads
 * what is not the project's, or starts another program. */
const RISKY = /^(-O|--o[pu]|--ex|--pathspec-f|--no-i|--cont|--tem|--no-g|--no-v)/m;

/** Does a word name what lies outside of a folder? */
function isOutside(word: string, top: string): boolean {
  const path = word.replace(/^(--?[\w-]+=|-[A-Za-z](?=[/~.]))/, "");
  if (/^~/.test(path)) return true;
  if (!path.startsWith("/")) return /(^|\/)\.\.(\/|$)/.test(path);
  return top === "" || !(resolve(path) === top || resolve(path).startsWith(`${top}/`));
}

/** Does a list of allowed commands hold this one? An entry stands for itself with any further words
 * but risky options and paths outside of the worktree.
 * @param top the worktree; empty where it is not known */
export const isListed = (words: readonly string[], allowed: readonly string[], top = ""): boolean =>
  !words.some((word) => RISKY.test(word) || isOutside(word, top)) &&
  allowed.some((entry) => entry.split(/\s+/).every((word, index) => words[index] === word));
