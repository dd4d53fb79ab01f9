import { type Command, forEachChild, type SyntaxNode } from "unbash";
import { UNSEEN } from "./hidden.ts";
import { formatted } from "./text-tools.ts";
import {
  behind,
  fileOf,
  inputOf,
  type Known,
  listOf,
  meaningOf,
  meaningsOf,
  type Printed,
  printedBy,
  readingsOf,
} from "./words.ts";

/** So many values of a variable are looked at. */
const MOST = 100;

/** What a shell text settles, with all that its variables come to one after another.
 * @param outer what is settled around it
 * @param input what it reads */
export function knownIn(script: SyntaxNode, outer: Known, input: Printed): Known {
  const values = new Map(outer.values);
  const files = new Map(outer.files);
  const aliases = new Map(outer.aliases);
  const functions = new Map(outer.functions);
  const known: Known = { values, files, aliases, functions };
  let isShifted = false;
  const add = (name: string, ...more: readonly string[]): void => {
    const all = new Set([...(values.get(name) ?? []), ...more]);
    values.set(name, all.size > MOST ? [...[...all].slice(0, MOST), UNSEEN] : [...all]);
  };
  const given = (words: readonly string[]): void => {
    const starts = isShifted ? words.map((_, at) => words.slice(at)) : [words];
    for (const each of starts) for (const [name, value] of parametersOf(each)) add(name, value);
  };
  const visitFirst = (node: SyntaxNode): void => {
    if (node.type === "Function") functions.set(node.name.value, node.body);
    if (node.type === "Command" && node.name?.value === "shift") isShifted = true;
    forEachChild(node, visitFirst);
  };
  const visit = (node: SyntaxNode, piped: Printed): void => {
    if (node.type === "Pipeline") {
      let said = piped;
      for (const each of node.commands) {
        visit(each, said);
        said = printedBy(each, known, said);
      }
      return;
    }
    const read = node.type === "Redirected" ? inputOf(node.redirects, known, piped) : piped;
    forEachChild(node, (child) => visit(child, read));
    if (node.type === "Assignment") {
      const { name, value, append } = node;
      const added =
        value.type === "ArrayValue"
          ? [listOf(value.elements.map((word) => meaningOf(word, known)))]
          : meaningsOf(value, known);
      const before = append ? (values.get(name) ?? []) : [];
      const join = value.type === "ArrayValue" ? listOf : (all: readonly string[]) => all.join("");
      add(name, ...added, ...before.flatMap((each) => added.map((more) => join([each, more]))));
    }
    if (node.type === "ParameterExpansion" && node.operation?.type === "Default")
      if (/=/.test(node.operation.operator))
        add(node.parameter, ...meaningsOf(node.operation.operand, known));
    if ((node.type === "For" || node.type === "Select") && node.wordlist)
      add(node.name.value, ...node.wordlist.flatMap((word) => meaningsOf(word, known)));
    if (node.type === "Redirected" || node.type === "Command") {
      for (const each of node.redirects)
        if (each.type === "Redirect" && each.operator.includes(">") && each.target)
          write(meaningOf(each.target, known), printedBy(node, known, piped));
    }
    if (node.type === "Command" && node.name) settle(node, inputOf(node.redirects, known, piped));
  };
  const write = (path: string, said: Printed): void => {
    const before = files.get(fileOf(path));
    if (typeof said === "string" && before?.includes(said)) return;
    const isMore = typeof before === "string" && typeof said === "string";
    files.set(fileOf(path), isMore ? `${before}\n${said}` : said);
  };
  const settle = (command: Command, read: Printed): void => {
    for (const words of readingsOf(command, known)) {
      const [program = "", ...args] = behind(words);
      if (functions.has(program)) given(args);
      if (Object.hasOwn(settlers, program)) settlers[program]?.(args, read);
    }
  };
  const settlers: Record<string, (args: readonly string[], read: Printed) => void> = {
    set: (args) => {
      if (args.includes("--")) given(args.slice(args.indexOf("--") + 1));
    },
    printf: (args) => {
      if (args[0] !== "-v" || !args[1]) return;
      add(args[1], printedWords(args.slice(2)));
    },
    read: (args, read) => {
      const names = args.filter((word) => /^[A-Za-z_]\w*$/.test(word));
      const lines = typeof read === "string" ? read.split("\n").filter(Boolean) : [UNSEEN];
      for (const line of lines)
        for (const [at, name] of names.entries()) add(name, fieldOf(line, at, names.length));
    },
    mapfile: (args, read) =>
      add(args.at(-1) ?? "", typeof read === "string" ? listOf(read.trim().split("\n")) : UNSEEN),
    alias: (args) => {
      for (const word of args) {
        const [, name, meaning] = /^([^=]+)=(.*)$/s.exec(word) ?? [];
        if (name && meaning) aliases.set(name, meaning);
      }
    },
    ...Object.fromEntries(
      ["declare", "local", "typeset"].map((name) => [
        name,
        // Another name for a variable, of which nobody follows the value.
        (args: readonly string[]) => {
          if (args.some((word) => /^-\w*n/.test(word)))
            for (const word of args) add(word.split("=")[0] ?? "", UNSEEN);
        },
      ]),
    ),
    hash: (args) => {
      if (args[0] === "-p" && args[1] && args[2]) aliases.set(args[2], args[1]);
    },
    tee: (args, read) => {
      for (const path of args.filter((word) => !word.startsWith("-"))) write(path, read);
    },
    ...Object.fromEntries(
      ["ln", "cp", "mv", "install"].map((name) => [
        name,
        (args: readonly string[]) => {
          const [from, to] = args.filter((word) => !word.startsWith("-"));
          if (from && to) aliases.set(fileOf(to), from);
        },
      ]),
    ),
  };
  settlers.readarray = settlers.mapfile as (typeof settlers)[string];
  const printedWords = (args: readonly string[]): string => formatted(args) ?? UNSEEN;
  visitFirst(script);
  visit(script, input);
  return known;
}

/** A line's word for the `at`th of so many names, the last of which takes the rest. */
function fieldOf(line: string, at: number, many: number): string {
  const words = line.trim().split(/\s+/);
  return at === many - 1 ? words.slice(at).join(" ") : (words[at] ?? "");
}

/** What a script or function is given, as the names by which it takes that. */
export const parametersOf = (words: readonly string[]): [string, string][] => [
  ["@", listOf(words)],
  ["*", listOf(words)],
  ...words.map((word, at): [string, string] => [`${at + 1}`, word]),
];
