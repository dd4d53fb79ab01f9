import { basename } from "node:path";
import { UNSEEN } from "./hidden.ts";

/** A program that starts another: its options with a value of their own, how many words stand before
 * what it starts, and the option with which it does something else. */
type Wrapper = Readonly<{ valued?: RegExp; words?: number; not?: RegExp }>;

/** A shell text in one word, the same or the next. */
const SPLIT = /^(?:-[vi0]*S|--split-string(?:=|$))(.*)$/s;

const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  command: { not: /^-[vV]$/ }, // Only asks where a program is
  builtin: {},
  exec: { valued: /^-a$/ },
  nohup: {},
  setsid: {},
  time: { valued: /^-[fo]$/ },
  timeout: { valued: /^(-[ks]|--(kill-after|signal))$/, words: 1 },
  gtimeout: { valued: /^(-[ks]|--(kill-after|signal))$/, words: 1 },
  nice: { valued: /^(-n|--adjustment)$/ },
  ionice: { valued: /^(-[cn]|--class(data)?)$/ },
  chrt: { words: 1 },
  taskset: { words: 1 },
  stdbuf: { valued: /^(-[ioe]|--(input|output|error))$/ },
  env: { valued: /^(-[uC]|--(unset|chdir))$/, not: SPLIT },
  sudo: { valued: /^-[ugphCTRDrt]$/ },
  doas: { valued: /^-[uC]$/ },
  xargs: { valued: /^(-[aEILnPsd]|--(arg-file|max-(args|procs|lines|chars)|delimiter|replace))$/ },
  caffeinate: { valued: /^-[tw]$/ },
  chronic: {},
  unbuffer: {},
  busybox: {},
  toybox: {},
  strace: { valued: /^-[eopsPu]$/ },
  flock: { valued: /^(-[wE]|--(wait|timeout))$/, words: 1, not: /^(-c|--command)$/ },
};

/** What a program that starts another one starts, with what it sets for that alone; null where it
 * starts none. */
export function unwrapped(
  program: string,
  args: readonly string[],
): Readonly<{ words: string[]; env: string[] }> | null {
  const wrapper = Object.hasOwn(WRAPPERS, program) ? WRAPPERS[program] : undefined;
  if (!wrapper || (wrapper.not && args.some((word) => wrapper.not?.test(word)))) return null;
  let before = wrapper.words ?? 0;
  const env: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? "";
    if (wrapper.valued?.test(word)) at++;
    else if (/^\w+=/.test(word) && before === 0) env.push(word);
    else if (word.startsWith("-") || before-- > 0) continue;
    else if (/^(sudo|doas)$/.test(program) && /\s/.test(word))
      return { words: ["sh", "-c", word], env };
    else return { words: [...args.slice(at), ...(program === "xargs" ? [UNSEEN] : [])], env };
  }
  return null;
}

export const isShell = (program: string): boolean =>
  /^((ba|z|da|k|mk|a|fi|c|tc|rba|power)?sh|pwsh|nu|elvish|xonsh)$/.test(program);

/** Options of a shell with a value of their own. */
const OF_SHELL = /^([-+][oO]|--(rcfile|init-file))$/;

/** The file from which a shell, `source` or an interpreter takes what it runs; empty where it reads
 * that, null where it is given otherwise, or runs nothing of the kind. */
export function readFrom(program: string, args: readonly string[]): string | null {
  if (/^(at|batch|su|sudo|doas|newgrp)$/.test(program)) return "";
  if (!isShell(program) && !/^(source|\.)$/.test(program) && !isInterpreter(program)) return null;
  const valued = isShell(program) ? OF_SHELL : /^-[WXrI]$/;
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? "";
    if (valued.test(word)) at++;
    else if (/^(-|\/dev\/(stdin|fd\/0)|\/proc\/self\/fd\/0)$/.test(word)) return "";
    else if (!/^[-+]/.test(word)) return word;
    else if (
      isShell(program)
        ? /^(-\w*c|--command=)/i.test(word)
        : /^(-\w*[cepEm]|--(eval|print)(=.*)?|-\w*?[ceprE].*\W.*)$/s.test(word)
    )
      return null;
    else if (/^-\w*s/.test(word) && isShell(program)) return "";
  }
  return "";
}

/** The text that a shell is given to run: behind `-c` and all options that follow it, or in one word
 * with that. */
function shellTexts(args: readonly string[]): string[] {
  let isGiven = false;
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? "";
    const [, attached] = /^(?:-c(?=.*\s)|--command=)(.+)$/s.exec(word) ?? [];
    if (attached) return [attached];
    if (OF_SHELL.test(word) || /^-\w*o$/.test(word)) at++;
    else if (!/^[-+]/.test(word)) return isGiven ? [word] : [];
    isGiven ||= /^-(\w*c\w*|-command|command)$/i.test(word) && !/^-C$/.test(word);
  }
  return [];
}

/** What `parallel` runs, once for each word that it is given. */
function parallelScripts(args: readonly string[]): string[] {
  const at = args.findIndex((word) => word.startsWith(":::"));
  const own = at < 0 ? args : args.slice(0, at);
  const start = own.findIndex(
    (word, index) =>
      !word.startsWith("-") && !/^-[jIaNnLSd]$|^--(jobs|arg-file)$/.test(own[index - 1] ?? ""),
  );
  const command = start < 0 ? "" : own.slice(start).join(" ");
  if (at < 0) return [command && `${command} ${UNSEEN}`];
  return args
    .slice(at + 1)
    .map((word) =>
      command.includes("{}") ? command.replaceAll("{}", word) : `${command} ${word}`,
    );
}

/** What `xargs` or `parallel` starts with words that it reads. */
export function handedOn(words: readonly string[], read: string): string[] {
  const [program = "", ...args] = words;
  if (program === "parallel") return [...words, ":::", ...read.split("\n").filter(Boolean)];
  const at = args.findIndex((word) => /^(-[Ii]|--replace)/.test(word));
  if (at < 0) return [...words, ...read.split(/\s+/).filter((word) => word && !/^-/.test(word))];
  const [, attached = ""] = /^(?:-[Ii]|--replace=?)(.*)$/s.exec(args[at] ?? "") ?? [];
  const isNext = args[at] === "-I";
  const mark = attached || (isNext ? args[at + 1] : "") || "{}";
  const rest = args.slice(at + (isNext ? 2 : 1));
  return [program, ...args.slice(0, at), ...rest.map((word) => word.replaceAll(mark, read.trim()))];
}

/** What `find` starts for what it finds. */
export function foundStarts(args: readonly string[]): string[][] {
  return args.flatMap((word, at) => {
    if (!/^-(exec|ok)(dir)?$/.test(word)) return [];
    const rest = args.slice(at + 1);
    const end = rest.findIndex((each) => each === ";" || each === "+");
    const [program = "", ...more] = end < 0 ? rest : rest.slice(0, end);
    return [[program === "{}" ? UNSEEN : program, ...more]];
  });
}

/** Variables whose value another program runs. */
export const isRun = (variable: string): boolean =>
  /^(\w*(EDITOR|PAGER|ASKPASS|SSH_COMMAND|PROXY_COMMAND|EXTERNAL_DIFF)|VISUAL|BROWSER|SHELL|LESSOPEN|PROMPT_COMMAND|PS[0-4])$/.test(
    variable,
  );

/** Programs that take whole shell texts among their words. */
const IN_ONE_WORD = /^(ssh|tmux|screen|hyperfine|concurrently|nodemon|nix-shell|entr|watchexec)$/;

/** What editors, sed, tar and their like hand to a shell. */
const FOR_A_SHELL =
  /^(?:[+:]*(?:silent!? )?!|[\d,$]*\s*e\s+|--(?:checkpoint-action=exec|to-command|(?:use-)?compress-program|rsh|pager|pre)=)(.+)$/s;

/** Where a text begins with a call of git or minion, also as the commands of editors, debuggers and
 * databases, or a recipe, that start a program. */
const BEGINS =
  /^(?:(?:[\d*/,-]+\s+){5}|@\w+\s+|[\w.-]+=|[^\s:;]+:[^;\n]*;)?[@+\s-]*(?:[\w ]*[.:+]*!|\.?(?:shell|system|spawn|exec)\s)?\s*((?:[~.]{0,2}\/[^\s!]*\/)?(?:git|minion)\s.*)$/;

/** The first line of a text that calls git or minion. */
function callIn(text: string): string[] {
  const found = text.split("\n").flatMap((line) => BEGINS.exec(line)?.[1] ?? []);
  return found.slice(0, 1);
}

/** Options whose value is prose, a pattern or data, and programs that are given such. */
const PROSE =
  /^(-[mtbkgdnHFfl]|--(message|body|title|note|desc|reason|subject|comment|label|name|grep|data|header|text|prompt|search|query|summary|field|raw|match|test|spec|expr)[\w-]*)$/i;
const TESTS = /^(vitest|jest|mocha|ava|pytest|tap|playwright|cypress|rspec|phpunit|test)(@.*)?$/;

/** The shell texts among the words of a program that is not known to run any: a word that is a whole
 * call of git or minion is hardly anything else, but where it stands for prose or the name of a
 * test. */
function givenTo(args: readonly string[]): string[] {
  if (args.some((word) => TESTS.test(basename(word)))) return [];
  return args.flatMap((word, at) => {
    const [, option, value = word] = /^(--[\w-]+|-\w(?==?\S*\s))=?(.+)$/s.exec(word) ?? [];
    const name = option ?? args[at - 1] ?? "";
    return PROSE.test(name) || !/\s/.test(value) ? [] : callIn(value);
  });
}

/** Programs that are no shells and yet run commands out of a text that they read: the file that one
 * is named, empty for what it reads, null for any other program. */
export function recipesFrom(program: string, args: readonly string[]): string | null {
  if (/^(ed|ex|gdb|sqlite3|crontab)$/.test(program)) return "";
  if (!/^g?make$/.test(program)) return null;
  const at = args.findIndex((word) => /^(-f|--file|--makefile)$/.test(word));
  const file = at < 0 ? undefined : args[at + 1];
  return file === "-" || file === "/dev/stdin" ? "" : (file ?? "Makefile");
}

/** The calls of git and minion in such a text, as a shell text. */
export const recipesIn = (text: string): string =>
  text
    .split("\n")
    .flatMap((line) => BEGINS.exec(line)?.[1] ?? [])
    .join("\n");

/** What sed's own script hands to a shell, further on in it or as what it puts in. */
const executedIn = (script: string): string[] => [
  ...[...script.matchAll(/[;{\d$/]\s*e\s+([^\n}]+)/g)].map(([, text = ""]) => text),
  ...[...script.matchAll(/s([/|,#]).*?\1(.*?)\1[gpiI\d]*e/g)].map(([, , text = ""]) => text),
];

/** The shell texts that a program is given to run. */
export function scriptOf(program: string, args: readonly string[]): string[] {
  const after = (option: RegExp): string[] => {
    const at = args.findIndex((word) => option.test(word));
    return at < 0 ? [] : args.slice(at + 1, at + 2);
  };
  if (isShell(program)) return shellTexts(args);
  if (program === "eval") return [args.join(" ")];
  if (program === "alias") return args.map((word) => word.replace(/^[\w-]+=/, ""));
  if (program === "trap") return args.filter((word) => !word.startsWith("-")).slice(0, 1);
  if (program === "watch") return [args.filter((word) => !word.startsWith("-")).join(" ")];
  if (program === "env") return splitBy(args);
  if (program === "parallel") return parallelScripts(args);
  if (IN_ONE_WORD.test(program))
    return [...args.filter((word) => /\s/.test(word)), ...givenTo(args)];
  if (/^(g?sed|g?tar|rsync|vim?|nvim|ex|man|less|rg|sort)$/.test(program))
    return [
      ...args.flatMap((word) => FOR_A_SHELL.exec(word)?.[1] ?? []),
      ...(/sed$/.test(program) ? args.flatMap(executedIn) : []),
      ...(/^(g?tar|man)$/.test(program) ? after(/^(-I|-P|--use-compress-program|--pager)$/) : []),
      ...(program === "rsync" ? after(/^(-\w*e|--rsh)$/) : []),
      ...(/^(rg|sort)$/.test(program) ? after(/^--(pre|compress-program)$/) : []),
    ];
  if (/^(su|script|flock|runuser)$/.test(program))
    return [...after(/^(-\w*c|--command)$/), ...givenTo(args)];
  if (program !== "git") return isQuiet(program) ? [] : givenTo(args);
  if (args.includes("bisect")) return [args.slice(args.indexOf("run") + 1).join(" ")];
  if (args.includes("foreach")) return [args.slice(args.indexOf("foreach") + 1).join(" ")];
  const aliased = args.flatMap(
    (word, at) =>
      /^(?:[\w.-]+=)?!(.+)$/s.exec(word)?.[1] ??
      /^(?:-O|--[a-z-]+-pager=|--(?:upload|receive)-pack=|--exec=|ext::)(.+)$/s.exec(word)?.[1] ??
      (/^(-c|-u|--(upload|receive)-pack)$/.test(args[at - 1] ?? "") ? callIn(word) : []),
  );
  if (!args.includes("rebase") && !args.includes("difftool")) return aliased;
  const attached = args.flatMap(
    (word) => /^(?:--ext?(?:ec|cmd)=|-x(?=.))(.*)$/s.exec(word)?.[1] ?? [],
  );
  return [...aliased, ...after(/^(-\w*x|--exec|--extcmd)$/), ...attached];
}

/** What `env -S` runs, with the words behind it. */
function splitBy(args: readonly string[]): string[] {
  const at = args.findIndex((word) => SPLIT.test(word));
  if (at < 0) return [];
  const [, attached = ""] = SPLIT.exec(args[at] ?? "") ?? [];
  const rest = args.slice(at + 1);
  return [[attached, ...rest].filter(Boolean).join(" ")];
}

const INTERPRETER =
  /^(python[\d.]*|node|nodejs|deno|bun|tsx|perl|ruby|php|lua|osascript|tclsh|R|Rscript|julia|elixir|groovy|raku|expect)$/;

const AWK = /^[gmn]?awk$/;

export const isInterpreter = (program: string): boolean => INTERPRETER.test(program);

/** The code of another language that a program is given on its own line. */
export function codeOf(program: string, args: readonly string[]): string[] {
  if (/^(vim?|nvim|ex)$/.test(program))
    return args.filter((word, at) => word.startsWith("+") || args[at - 1] === "-c");
  if (AWK.test(program)) return args.filter((word) => /[{}]/.test(word));
  if (!INTERPRETER.test(program)) return [];
  return args.flatMap((word, at) => {
    if (/^(-\w*[cepEr]|--(eval|print)|eval)$/.test(args[at - 1] ?? "")) return word;
    return /^(?:-\w*?[ceprE](?=.*\W)|--(?:eval|print)=)(.+)$/s.exec(word)?.[1] ?? [];
  });
}

/** Whatever the language, mostly: what starts programs. */
const STARTS =
  /system|popen|spawn|exec|subprocess|check_(call|output)|child_process|\bCommand\b|capture\d|open\d|passthru|do (shell )?script|\|\s*(getline|["'])|\bqx\b|%x|`/i;

/** In JavaScript, where backticks hold texts, patterns are tried by `exec`, and nothing starts
 * without a module, which may be named by what only the code itself puts together. */
const STARTS_IN_JS =
  /child_process|spawn|exec(sync|file)|\bCommand\b|\$`|\b(require|import|binding|dlopen|getBuiltinModule)\s*\(\s*(?!["'][^"'$\\]*["']\s*[,)])|\beval\b|\bFunction\s*\(/i;

/** Does code of another language start programs? @param program what it is given to */
export const startsPrograms = (code: string, program: string): boolean =>
  (/^(node|nodejs|deno|bun|tsx)$/.test(program) ? STARTS_IN_JS : STARTS).test(code);

/** Does code of another language put together texts so that they cannot be read in it? */
export const isDisguised = (code: string): boolean =>
  /base64|b64|\batob\b|fromhex|unhexlify|fromcharcode|rot_?13|\bchr\(|\bpack\(|\\x[\da-f]{2}|\\u[\da-f]{4}|\breversed?\b|\[::-1\]/i.test(
    code,
  );

/** Does code of another language change files? */
export const writesFiles = (code: string): boolean =>
  /write|append|\brm|remove|unlink|rename|truncate|mkdir|copy|move|chmod|link|shutil|print.*>/i.test(
    code,
  ) || /,\s*["'](?=[^"']*[wax+])[rwabtx+]{1,3}["']/.test(code);

/** Those that start no other program with the words that they are given, or whose words were looked
 * at already. */
const QUIET = new Set(
  (
    "> git minion echo printf cat head tail less more grep egrep fgrep rg ag ls wc sort uniq diff " +
    "cmp comm cut tr jq yq sed awk gawk mawk nawk which whereis type man test [ cd pushd cp mv rm " +
    "mkdir rmdir touch chmod chown ln tar tee stat file du df basename dirname realpath readlink " +
    "true false date sleep pwd export declare local unset set read gh code vim vi nano open : " +
    "command hash help alias apt apt-get brew trap eval watch"
  ).split(" "),
);
export const isQuiet = (program: string): boolean => QUIET.has(program);

/** Does a program with these words change a file that they name? A redirection is one, too. */
export function changesFiles(program: string, args: readonly string[]): boolean {
  if (WRITERS.test(program)) return true;
  if (/^g?sed$/.test(program)) return args.some((word) => /^(-[nrEsz]*i|--in-place)/.test(word));
  if (program === "find")
    return args.some((word) => word === "-delete" || /^-(fprint|fls)/.test(word)) || execs(args);
  if (program === "tar") return /^-?\w*x/.test(args[0] ?? "");
  if (program === "sort") return args.some((word) => /^(-\w*o|--output)/.test(word));
  return /^(perl|ruby|gawk)$/.test(program) && args.some((word) => /^-\w*i|^inplace$/.test(word));
}
const WRITERS =
  /^(>|rm|mv|tee|touch|truncate|dd|chmod|chown|unlink|rmdir|mkdir|shred|sponge|patch|ed|ex|vi|vim|nano|split|csplit|mkfifo|install)$/;

/** Does `find` hand what it finds to a program that changes files? */
function execs(args: readonly string[]): boolean {
  const at = args.findIndex((word) => /^-(exec|ok)(dir)?$/.test(word));
  const [program = "", ...rest] = at < 0 ? [] : args.slice(at + 1);
  return changesFiles(program, rest) || isShell(program);
}

/** Of programs that copy or link: the place that they write to. */
export function copiedTo(program: string, args: readonly string[]): string | undefined {
  if (!/^(cp|rsync|scp|ln)$/.test(program)) return undefined;
  const at = args.findIndex((word) => /^(-\w*t|--target-directory)$/.test(word));
  return at < 0 ? args.filter((word) => !word.startsWith("-")).at(-1) : args[at + 1];
}
