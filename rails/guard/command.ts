import { basename, resolve } from "node:path";
import {
  type Command,
  type CommandArgument,
  forEachChild,
  type ParsedScript,
  parse,
  type SyntaxNode,
} from "unbash";
import { isBlank, isHidden, isOutput, UNSEEN } from "./hidden.ts";
import { knownIn, parametersOf } from "./known.ts";
import {
  codeOf,
  foundStarts,
  handedOn,
  isDisguised,
  isInterpreter,
  isQuiet,
  isRun,
  isShell,
  readFrom,
  recipesFrom,
  recipesIn,
  scriptOf,
  startsPrograms,
  unwrapped,
} from "./programs.ts";
import {
  behind,
  fileOf,
  fromFile,
  inputOf,
  type Known,
  meaningOf,
  NOTHING,
  type Printed,
  printedBy,
  readingsOf,
} from "./words.ts";

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
  /** Which program it is only the shell will know, and it might be git or minion. */
  readonly isHidden: boolean;
}

/** What a call is, where it cannot be seen which program it starts: with the same words git, and
 * minion. */
export const supposed = (call: Call): Call[] =>
  call.isHidden
    ? ["git", "minion"].map((program) => ({ ...call, program, isGuess: true, isHidden: false }))
    : [];

/** Does a call say neither which program it starts nor what that is to do? */
export const isUnsaid = ({ isHidden, args: [verb] }: Call): boolean =>
  isHidden && (verb === undefined || isBlank(verb));

/** What stands around a command: what the text settles, what it reads, how deep it lies within
 * others, and those. */
type Around = Readonly<{
  known: Known;
  input: Printed;
  folder: string;
  depth: number;
  within: readonly string[];
  left: { texts: number };
}>;

/** Texts within texts are read so deep; below that nothing is seen. */
const DEEPEST = 24;
/** So deep what a text substitutes may lie within itself, and what it groups: what is read of the
 * first doubles with each, and of the second nobody who writes a line by hand has as much. */
const SUBSTITUTED = 8;
const GROUPED = 100;

/** So many texts of one line are read, and so often one within itself, by a variable that names it. */
const MOST = 400;
const REPEATS = 1;

/** Every program that a shell text would start, as far as that can be seen: also within
 * `a && b`, `$(…)`, functions and loops, `sh -c "…"`, `timeout 5 …` and `xargs …`, by a variable
 * that the text itself sets, and from a text that it writes or that is piped into a shell. */
export const callsIn = (text: string): Call[] =>
  readText(text, {
    known: NOTHING,
    input: undefined,
    folder: "",
    depth: 0,
    within: [],
    left: { texts: MOST },
  });

/** Does a text lie deeper within itself than is read? */
function isTooDeep(text: string): boolean {
  const open: string[] = [];
  let substituted = 0;
  for (const [mark] of text.matchAll(/[$<>]\(|[({)}]/g)) {
    if (mark === ")" || mark === "}") {
      if ((open.pop() ?? "").length > 1) substituted--;
      continue;
    }
    open.push(mark);
    if (mark.length > 1) substituted++;
    if (substituted > SUBSTITUTED || open.length > GROUPED) return true;
  }
  return false;
}

function readText(text: string, outer: Around): Call[] {
  if (outer.depth > DEEPEST || isTooDeep(text) || outer.left.texts-- <= 0)
    return [calledBy([UNSEEN], { folder: outer.folder, isGuess: false })];
  if (outer.within.filter((each) => each === text).length > REPEATS) return [];
  const script = parse(text);
  const found: Call[] = [];
  const known = knownIn(script, outer.known, outer.input);
  const inner = { ...outer, known, depth: outer.depth + 1, within: [...outer.within, text] };
  let { folder } = outer;
  const add = (words: readonly string[], input: Printed, env: readonly string[] = []): void => {
    const calls = started(words, env, { ...inner, input, folder });
    found.push(...calls);
    const to = calls.find(({ program }) => program === "cd" || program === "pushd")?.args.at(-1);
    if (to !== undefined) folder = folder === "" || /^[/~$`]/.test(to) ? to : `${folder}/${to}`;
  };
  const visit = (node: SyntaxNode, piped: Printed): void => {
    if (node.type === "Pipeline") {
      let said = piped;
      for (const [at, each] of node.commands.entries()) {
        visit(each, said === undefined ? namedFor(each, node.commands[at - 1], known) : said);
        said = printedBy(each, known, said);
      }
      return;
    }
    const isReader = node.type === "Command" || node.type === "Redirected";
    const input = isReader ? inputOf(node.redirects, known, piped) : piped;
    forEachChild(node, (child) => visit(child, input));
    if (node.type === "Redirect" && node.operator.includes(">") && node.target)
      add([">", meaningOf(node.target, known)], undefined);
    if (node.type === "Assignment" && isRun(node.name) && node.value.type === "Word")
      add(["sh", "-c", meaningOf(node.value, known).replace(/^\|/, "")], undefined);
    if (node.type === "Assignment" && /^(BASH_)?ENV$/.test(node.name) && node.value.type === "Word")
      for (const words of asScript("sh", fromFile(node.value, known))) add(words, undefined);
    if (node.type !== "Command" || !node.name) return;
    const env = node.prefix.flatMap((each) => (each.type === "Assignment" ? assigned(each) : []));
    for (const words of readingsOf(node, known)) add(words, input, env);
    const source = substitutedIn(node, known);
    if (source !== undefined) for (const words of asScript("sh", source)) add(words, undefined);
  };
  const assigned = (each: { text: string; name: string; value: unknown }): string[] => [
    `${each.name}=${known.values.get(each.name)?.at(-1) ?? each.text.slice(each.name.length + 1)}`,
  ];
  visit(script, outer.input);
  return found;
}

/** What xargs is given by a program that we do not read: mostly what that was told to look at. */
function namedFor(node: SyntaxNode, before: SyntaxNode | undefined, known: Known): Printed {
  if (node.type !== "Command" || before?.type !== "Command") return undefined;
  const isXargs = readingsOf(node, known)[0]?.some((word) => nameOf(word) === "xargs");
  const [, ...args] = readingsOf(before, known)[0] ?? [];
  return isXargs ? args.filter((word) => !word.startsWith("-")).join(" ") : undefined;
}

/** What a shell reads from `<(…)`. */
function substitutedIn(command: Command, known: Known): Printed {
  const [program = "", ...args] = behind(readingsOf(command, known)[0] ?? []);
  const from = readFrom(nameOf(program), args);
  const word = from?.startsWith("<(") && command.args.find(({ text }) => text === from);
  return word ? fromFile(word, known) : undefined;
}

/** What runs a text, which nobody sees where it is null. */
const asScript = (program: string, text: Printed): string[][] =>
  text === undefined ? [] : [text === null ? [UNSEEN] : [program, "-c", text]];

const calledBy = (
  [program = "", ...args]: readonly string[],
  { env = [], ...more }: Pick<Call, "folder" | "isGuess"> & { env?: readonly string[] },
): Call => {
  const isUnknown = isHidden(program) && (args.length > 0 || !isOutput(program));
  return { program: nameOf(program), args, env, isHidden: isUnknown, ...more };
};

/** A program by its bare name, whatever stands before and after it. */
function nameOf(word: string): string {
  const name = basename(word).replace(/\.(exe|cmd)$/i, "");
  const [, own] = /^(git|minion)(@[\w.-]+)?$/i.exec(name) ?? [];
  return own ? own.toLowerCase() : name;
}

const isOurs = (word: string): boolean => /^(git|minion)$/.test(nameOf(word));

/** What a command with these words starts: itself, and what it hands on to. */
function started(
  words: readonly string[],
  env: readonly string[],
  outer: Around,
  isGuess = false,
): Call[] {
  const { known, input, folder, depth } = outer;
  if (words.length === 0) return [];
  if (depth > DEEPEST) return [calledBy([UNSEEN], { folder, isGuess })];
  const call = calledBy(words, { env, folder, isGuess });
  const [{ program }, args] = [call, words.slice(1)];
  const around = { ...outer, depth: depth + 1 };
  const also = (more: readonly string[], isMore = isGuess): Call[] =>
    started(more, env, around, isMore);
  const within = unwrapped(program, args);
  if (within) {
    const fed = program === "xargs" && typeof input === "string" ? handedOn(words, input) : words;
    const read = unwrapped(program, fed.slice(1)) ?? within;
    const inner = { ...around, input: program === "xargs" ? undefined : input };
    return [
      call,
      ...[within, ...(fed === words ? [] : [read])].flatMap((each) =>
        started(each.words, [...env, ...each.env], inner, isGuess),
      ),
    ];
  }
  const scripts = scriptOf(call.isHidden ? "sh" : program, args);
  const language = call.isHidden ? "python" : program;
  const code = codeOf(language, args);
  return [
    call,
    ...ranBy(call, words, around),
    ...scripts.flatMap((script) => {
      const inner = isShell(program) ? given(known, args.slice(args.indexOf(script) + 2)) : known;
      return readText(script, { ...around, known: inner }).map((each) => ({
        ...each,
        isGuess: isGuess || call.isHidden || each.isGuess,
      }));
    }),
    ...(program === "find" ? foundStarts(args).flatMap((each) => also(each)) : []),
    ...(program === "parallel" && typeof input === "string" && !args.some((word) => word === ":::")
      ? scriptOf(program, handedOn(words, input).slice(1)).flatMap((each) => readText(each, around))
      : []),
    ...code.flatMap((each) => inCode(each, language).flatMap((tail) => also(tail, true))),
    ...(isQuiet(program) ? [] : also(tailOf(args), true)),
  ];
}

/** What a program runs of what the text itself writes, feeds to it, or calls by another name. */
function ranBy({ program, isGuess }: Call, words: readonly string[], around: Around): Call[] {
  const { known, input } = around;
  const [word = "", ...args] = words;
  const alias = known.aliases.get(word) ?? known.aliases.get(fileOf(word));
  const from = readFrom(program, args);
  const isFile = from !== null && from !== "";
  const isOpen = /^\/(dev|proc\/self)\/fd\//.test(from ?? "");
  const written = isOpen ? null : known.files.get(fileOf(from ?? ""));
  const text = isFile ? written : from === "" ? input : undefined;
  const own = known.files.get(fileOf(word));
  const recipes = recipesFrom(program, args);
  const recipe = recipes === "" ? input : known.files.get(fileOf(recipes ?? ""));
  const reader = isInterpreter(program) ? program : "sh";
  const renamed = alias === undefined ? [] : [[...alias.split(/\s+/).filter(Boolean), ...args]];
  const inner = {
    ...around,
    known: {
      ...given(known, isFile ? args.slice(args.indexOf(from) + 1) : behindOptions(args)),
      aliases: without(known.aliases, word),
    },
    input: undefined,
  };
  const said = recipes === null || typeof recipe !== "string" ? undefined : recipesIn(recipe);
  const scripts = [
    ...asScript(reader, text),
    ...asScript("sh", own),
    ...asScript("sh", said || undefined),
  ];
  return [...renamed, ...scripts].flatMap((each) => started(each, [], inner, isGuess));
}

/** The words behind options. */
function behindOptions(args: readonly string[]): readonly string[] {
  const at = args.findIndex((word) => !/^[-+]/.test(word));
  return at < 0 ? [] : args.slice(at);
}

/** Without a name, so that nothing is called by itself for ever. */
const without = (aliases: Known["aliases"], name: string): Known["aliases"] =>
  new Map([...aliases].filter(([each]) => each !== name && each !== fileOf(name)));

/** What is known within a script that is given these words. */
const given = (known: Known, words: readonly string[]): Known =>
  words.length === 0
    ? known
    : {
        ...known,
        values: new Map([
          ...known.values,
          ...parametersOf(words).map(([name, value]) => [name, [value]] as const),
        ]),
      };

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
 * `run(["git", "stash"])`; and where it starts what cannot be read in it. */
function inCode(code: string, program: string): string[][] {
  if (!startsPrograms(code, program)) return [];
  const named = code
    .replace(/(["'])\s*[+.]\s*\1/g, "")
    .replace(/([,([{])\s*\n\s*/g, "$1 ")
    .split(/[;\n]/)
    .flatMap((line) => {
      const words = line.split(/[\s"'`,()[\]{}]+/).filter((word) => word && !/:$/.test(word));
      return words.flatMap((word, at) => (isOurs(word) ? [words.slice(at)] : []));
    });
  return isDisguised(code) ? [...named, [UNSEEN]] : named;
}

/** What `minion` is given to read by a line's here-document: where that is the only thing in it
 * that anything reads, with nothing left for the shell to fill in; else null. */
export function hereDocIn(text: string): string | null {
  const inputs: SyntaxNode[] = [];
  const readers: Command[] = [];
  const visit = (node: SyntaxNode): void => {
    if (isInput(node)) inputs.push(node);
    if (node.type === "Command" && isReader(node)) readers.push(node);
    forEachChild(node, visit);
  };
  visit(parse(text));
  const [input, more] = inputs;
  const [only, other] = readers;
  if (input?.type !== "HereDoc" || input.body.parts || more || other) return null;
  const isRead = input.descriptor === undefined && only?.redirects.includes(input);
  return isRead ? input.body.text : null;
}

const isInput = (node: SyntaxNode): boolean =>
  node.type === "HereDoc" ||
  node.type === "HereString" ||
  (node.type === "Redirect" && node.operator.startsWith("<"));

/** Does a command start `minion`, also by another program, to read its standard input? */
const isReader = ({ name, args }: Command): boolean =>
  args.some((word) => textOf(word) === "-") &&
  [name, ...args].some((word) => word && nameOf(textOf(word)) === "minion");

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
