import {
  type Command,
  type CommandArgument,
  type ParsedScript,
  parse,
  type Redirection,
  type SyntaxNode,
  type WordPart,
} from "unbash";
import { UNSEEN } from "./hidden.ts";
import { codeOf, isInterpreter, isShell, readFrom, scriptOf, unwrapped } from "./programs.ts";
import { formatted, isTextTool, throughTool, unescaped } from "./text-tools.ts";

/** What a shell text itself settles. */
export interface Known {
  /** Variables, with all that they are set to; `@` and `1` are what a script or function is given. */
  readonly values: ReadonlyMap<string, readonly string[]>;
  /** Files that it writes, with what is written there. */
  readonly files: ReadonlyMap<string, Printed>;
  /** Other names for programs. */
  readonly aliases: ReadonlyMap<string, string>;
  /** Functions, null where they are called within one. */
  readonly functions: ReadonlyMap<string, SyntaxNode | null>;
}

export const NOTHING: Known = {
  values: new Map(),
  files: new Map(),
  aliases: new Map(),
  functions: new Map(),
};

/** What a command prints: null where that is put together so that it cannot be seen, undefined where
 * it is another program's, or in a file. */
export type Printed = string | null | undefined;

/** So many readings of a command are looked at where its variables have several values. */
const READINGS = 100;
/** Nothing that is read gets longer. */
const LONGEST = 100_000;

/** Stands between the words of a variable that holds several. */
const BETWEEN = "\ue002";

/** Stands for a blank that parts no words. */
const HELD = "\ue003";

/** Several words as the value of one variable. */
export const listOf = (words: readonly string[]): string => words.join(BETWEEN);

/** Of each variable, which of its values is meant; the first where it does not say. */
type Pick = ReadonlyMap<string, number>;

/** Every choice of values for the variables in some words; after so many one more, in which nothing
 * is seen. */
function picksFor(words: readonly CommandArgument[], { values }: Known): Pick[] {
  const used = [...values].filter(
    ([key, all]) =>
      all.length > 1 &&
      words.some(({ text }) => text.includes(`$${key}`) || text.includes(`\${${key}`)),
  );
  let picks: Pick[] = [new Map()];
  for (const [key, all] of used) {
    picks = picks.flatMap((pick) => all.map((_, at) => new Map([...pick, [key, at]])));
    if (picks.length > READINGS)
      return [...picks.slice(0, READINGS), new Map(used.map(([name]) => [name, -1]))];
  }
  return picks;
}

/** A command's words, once for each choice of values for its variables. */
export function readingsOf({ name, args }: Command, known: Known): string[][] {
  const words = name ? [name, ...args] : args;
  const blanks = blanksOf(known);
  return picksFor(words, known).map((pick) =>
    words.flatMap((word) => splitOf(word, readOf(word, known, pick), blanks)),
  );
}

/** All that a word may come to. */
export const meaningsOf = (word: CommandArgument, known: Known): string[] =>
  picksFor([word], known).map((pick) => readOf(word, known, pick).replaceAll(BETWEEN, " "));

/** The words that one becomes: `{a,b}` is two, and so is a variable with a space that nothing
 * quotes. */
function splitOf(word: CommandArgument, value: string, blanks: RegExp): string[] {
  const parts = word.type === "Word" ? (word.parts ?? []) : [];
  const [, before = "", inner, after = ""] = parts.some(({ type }) => type === "BraceExpansion")
    ? (/^([^{]*)\{([^{}]*,[^{}]*)\}(.*)$/s.exec(value) ?? [])
    : [];
  if (inner !== undefined) return inner.split(",").map((each) => before + each + after);
  if (/^"\$(\{\w+\[@\](:\d+)*\}|@|\{@(:\d+)*\})"$/.test(word.text)) return value.split(BETWEEN);
  const isBare =
    /^\$(\{\w+\[[@*]\](:\d+)*\}|@|\*|\{[@*](:\d+)*\})$/.test(word.text) ||
    (parts.length === 1 && /^(Simple|Parameter|Command)Expansion$/.test(parts[0]?.type ?? ""));
  const plain = value.replaceAll(BETWEEN, " ");
  if (!isBare || value === word.text) return [plain];
  // What only the shell will fill in has no blanks of its own.
  const held = plain.replace(/\$\([^()]*\)/g, (unseen) => unseen.replaceAll(" ", HELD));
  const words = held.split(blanks).filter(Boolean);
  return words.map((each) => each.replaceAll(HELD, " "));
}

/** Where the shell splits words. */
function blanksOf({ values }: Known): RegExp {
  const own = (values.get("IFS") ?? []).join("").replace(/[\s\\\]^-]/g, "");
  return new RegExp(`[\\s${own}]+`);
}

/** What a word is to the program, with the first values of its variables. */
export const meaningOf = (word: CommandArgument, known: Known, pick: Pick = new Map()): string =>
  readOf(word, known, pick).replaceAll(BETWEEN, " ");

/** The same, with several words in it apart. */
function readOf(word: CommandArgument, known: Known, pick: Pick): string {
  if (word.type !== "Word") {
    const { name, value } = word;
    return value.type === "Word" ? `${name}=${meaningOf(value, known, pick)}` : word.text;
  }
  if (!word.parts) return word.value;
  const lookedUp = (name: string): string | undefined => {
    const at = pick.get(name) ?? 0;
    return at < 0 ? UNSEEN : known.values.get(name)?.[at];
  };
  const partOf = (part: WordPart): string => {
    switch (part.type) {
      case "DoubleQuoted":
      case "LocaleString":
        return part.parts.map(partOf).join("");
      case "SimpleExpansion":
        return lookedUp(part.text.slice(1)) ?? part.text;
      case "ParameterExpansion":
        return expanded(part) ?? part.text;
      case "CommandExpansion":
        return substituted(part.script, known) ?? part.text;
      default:
        return "value" in part ? part.value : part.text;
    }
  };
  const expanded = ({
    parameter,
    prefix,
    operation,
    index: at,
  }: Extract<WordPart, { type: "ParameterExpansion" }>): string | undefined => {
    const value = lookedUp(parameter);
    if (prefix !== undefined) return undefined;
    if (operation === undefined)
      return /^\d+$/.test(at?.value ?? "") ? value?.split(BETWEEN)[Number(at?.value)] : value;
    if (operation.type === "Slice" && value !== undefined)
      return sliceOf(value, operation, partsOf(parameter, at?.value));
    if (operation.type !== "Default") return undefined;
    return value ?? meaningOf(operation.operand, known, pick);
  };
  return word.parts.map(partOf).join("").slice(0, LONGEST);
}

/** What a slice counts: characters, the words of an array, or those of what a function is given,
 * before which stands its own name. */
type Parts = "characters" | "words" | "given";

function partsOf(parameter: string, index: string | undefined): Parts {
  if (parameter === "@" || parameter === "*") return "given";
  return index === "@" || index === "*" ? "words" : "characters";
}

/** `${x:2:3}`, `${list[@]:1}`, and of what a function is given, the words from the second on. */
function sliceOf(
  value: string,
  {
    offset,
    length,
  }: Readonly<{ offset: { value: string }; length: { value: string } | undefined }>,
  parts: Parts,
): string | undefined {
  const [from, many] = [offset.value.trim(), length?.value.trim() ?? "9".repeat(6)];
  if (!/^\d+$/.test(from) || !/^\d+$/.test(many)) return undefined;
  const start = parts === "given" ? Math.max(0, Number(from) - 1) : Number(from);
  const end = start + Number(many);
  if (parts === "characters") return value.slice(start, end);
  return listOf(value.split(BETWEEN).slice(start, end));
}

/** What `$(…)` comes to; undefined where only the program in there knows. */
function substituted(script: ParsedScript | undefined, known: Known): string | undefined {
  const said = script && printedBy(script, known);
  const isVaried = script?.commands.some(
    ({ command }) => command.type === "Command" && readingsOf(command, known).length > 1,
  );
  return said === null || (isVaried && said !== undefined)
    ? UNSEEN
    : said?.replace(/\n+$/, "") || undefined;
}

/** What a command or script prints.
 * @param input what it reads */
export function printedBy(node: SyntaxNode, known: Known, input?: Printed): Printed {
  switch (node.type) {
    case "Script":
    case "CompoundList":
      return joined(node.commands.map(({ command }) => printedBy(command, known, input)));
    case "Subshell":
    case "BraceGroup":
      return printedBy(node.body, known, input);
    case "Redirected":
      return printedBy(node.command, known, inputOf(node.redirects, known, input));
    case "Pipeline":
      return node.commands.reduce<Printed>((said, each) => printedBy(each, known, said), input);
    case "AndOr": {
      const folder = folderOf(node.commands, known);
      if (folder !== undefined) return folder;
      const said = node.commands.map((each) => printedBy(each, known, input));
      const isEither = node.operators.every((operator) => operator === "||");
      return (isEither && said.find((each) => typeof each === "string")) || joined(said);
    }
    case "Command":
      return printedByCommand(node, known, input);
    case "Function":
    case "TestCommand":
    case "ArithmeticCommand":
      return "";
    default:
      return null;
  }
}

/** The folder that `cd … && pwd` prints. */
function folderOf(commands: readonly SyntaxNode[], known: Known): string | undefined {
  const [[first, ...to] = [], [last] = [], more] = commands.map((each) =>
    each.type === "Command" ? readingsOf(each, known)[0] : undefined,
  );
  return first === "cd" && last === "pwd" && more === undefined ? to.at(-1) : undefined;
}

/** What several print one after another, as far as that can be seen. */
function joined(all: readonly Printed[]): Printed {
  if (all.includes(null)) return null;
  const said = all.join("").slice(0, LONGEST);
  return said.trim() === "" && all.includes(undefined) ? undefined : said;
}

function printedByCommand(command: Command, known: Known, piped: Printed): Printed {
  if (!command.name) return "";
  const input = inputOf(command.redirects, known, piped);
  return joined(readingsOf(command, known).map((words) => printedWith(words, known, input)));
}

/** What a command with these words prints. */
function printedWith(own: readonly string[], known: Known, input: Printed): Printed {
  const [program = "", ...args] = behind(own);
  const name = nameOnly(program);
  const body = known.functions.get(program);
  if (body !== undefined) return body && printedBy(body, withinFunction(known), input);
  if (/^(cd|pushd|popd|true|:|set|export|declare|local|unset|mkdir|sleep|read)$/.test(name))
    return "";
  if (name === "echo") {
    const words = args.slice(args.findIndex((word) => !/^-[neE]+$/.test(word)));
    return `${unescaped(words.join(" "))}\n`;
  }
  if (name === "printf") return args[0] === "-v" ? "" : formatted(args);
  if (name === "yes") return args.join(" ");
  if (/^(which|command|type|realpath|readlink|basename)$/.test(name))
    return args.filter((word) => !word.startsWith("-")).join(" ") || undefined;
  if (name === "dirname") return args.length > 0 ? `${args.at(-1)}/..` : undefined;
  if (name === "cat" || isTextTool(name)) {
    const text = name === "cat" ? contentOf(args, known, input) : input;
    return name === "cat" ? text : throughTool(name, args, text ?? "") || null;
  }
  if (isShell(name) || name === "eval") {
    const scripts = scriptOf(name, args);
    return scripts.length === 0
      ? undefined
      : joined(scripts.map((each) => printedBy(parse(each), known, input)));
  }
  if (isInterpreter(name))
    return codeOf(name, args).length > 0 || readFrom(name, args) === "" ? null : undefined;
  return undefined;
}

/** What `cat` prints of these files, or else of what it reads. */
function contentOf(args: readonly string[], { files }: Known, input: Printed): Printed {
  const paths = args.filter((word) => !word.startsWith("-"));
  return paths.length === 0 ? input : joined(paths.map((path) => files.get(fileOf(path))));
}

const withinFunction = (known: Known): Known => ({
  ...known,
  functions: new Map([...known.functions.keys()].map((name) => [name, null])),
});

/** A path as files that a text writes are known by. */
export const fileOf = (path: string): string => path.replace(/^(\.\/)+/, "");

const nameOnly = (word: string): string => word.replace(/^.*\//s, "");

/** Starters within starters are followed so far. */
const DEEPEST = 6;

/** A command's words behind all that only starts it. */
export function behind(words: readonly string[]): readonly string[] {
  let found = words;
  for (let depth = 0; depth < DEEPEST; depth++) {
    const [program = "", ...args] = found;
    const within = nameOnly(program) === "xargs" ? null : unwrapped(nameOnly(program), args);
    if (!within) return found;
    found = within.words;
  }
  return found;
}

/** What a command reads: by its redirections, else by a pipe. */
export function inputOf(
  redirects: readonly Redirection[],
  known: Known,
  piped: Printed = undefined,
): Printed {
  let input = piped;
  for (const each of redirects) {
    if (each.type === "HereDoc") input = each.body.text;
    else if (!each.target) continue;
    else if (each.type === "HereString") input = meaningOf(each.target, known);
    else if (each.operator === "<") input = fromFile(each.target, known);
    else if (each.operator === "<&" && each.target.value !== "-") input = null;
  }
  return input;
}

/** What stands in a file, or is printed by `<(…)`. */
export function fromFile(word: CommandArgument, known: Known): Printed {
  const parts = word.type === "Word" ? (word.parts ?? []) : [];
  const [part] = parts;
  if (part?.type === "ProcessSubstitution") return part.script && printedBy(part.script, known);
  return known.files.get(fileOf(meaningOf(word, known)));
}
