import { resolve, sep } from "node:path";
import type { Blueprint } from "../blueprint/blueprint.ts";
import { type Call, callsIn, isUnsaid, supposed } from "./command.ts";
import { gitCall, onlyReads, plainly } from "./git-call.ts";
import { isLooking, isVerb } from "./minion-call.ts";
import { changesFiles, codeOf, copiedTo, writesFiles } from "./programs.ts";

/** The run's own folder in `.git`. */
const JOURNAL = /\.git\/minion(?![\w.-])|\)["']?\/minion\/r\d+/;

/** Where a worker is: its folder, its worktree, and the checkout of the person and git's folder,
 * which are not its own; and words of its line that are links out of there: see `leadingOut`. */
export type Where = Readonly<{
  cwd: string;
  top: string;
  main: string;
  common: string;
  links?: ReadonlyMap<string, string>;
}>;

const WORKERS = ["begin", "gate", "submit", "verdict"];
/** Those of a worker that plans, beside these. */
export const PLANNERS = ["change", "drop"];

/** Why a worker may not run a shell text, with the way out, or null. It sees what such a text says,
 * and refuses one that hides which program it starts where that might be git or minion; a script
 * that it only names is not seen through, and does not reach the line for that.
 * @param branch the attempt's own; empty before it began
 * @param rules what the blueprint refuses: see `readingsOf`
 * @param where null where that is not known
 * @param more verbs of `minion` that it has beside a worker's */
export function refusal(
  text: string,
  branch: string,
  rules: Blueprint["refuse"],
  where: Where | null = null,
  more: readonly string[] = [],
): string | null {
  const judged = (call: Call): string | null =>
    ofMinion(call, [...WORKERS, ...more]) ??
    ofJournal(call, where) ??
    ofElsewhere(call, where) ??
    ofRules(call, branch, rules, where);
  for (const call of callsIn(text)) {
    const refused = judged(call);
    if (refused) return refused;
    if (isUnsaid(call) || supposed(call).some(judged)) return unsaid(call);
  }
  return null;
}

/** What a worker is told where a line hides what it starts. */
function unsaid({ program, args }: Call): string {
  const shown = [program, ...args].join(" ").slice(0, 80);
  return `${shown}: it cannot be seen what this starts: say it plainly, each program by its name`;
}

function ofMinion({ program, args, isGuess }: Call, own: readonly string[]): string | null {
  if (program !== "minion" || isLooking(args)) return null;
  const verb = args.find((word) => !word.startsWith("-")) ?? "";
  if (own.includes(verb) || (isGuess && !isVerb(verb))) return null;
  const all = `${own.slice(0, -1).join(", ")} and ${own.at(-1)}`;
  return `minion ${verb} is not a worker's: a worker has ${all}`;
}

/** Reading what a run printed is everybody's; what changes a file there, or in git's own folder, is
 * refused. */
function ofJournal({ program, args, folder }: Call, where: Where | null): string | null {
  if (program === "git" || program === "minion") return null;
  const isOfGit = (word: string): boolean => {
    if (JOURNAL.test(word)) return true;
    if (!where) return false;
    const path = pathOf(where, folder, followed(word, where).replace(/^of=/, ""));
    return [where.common, resolve(where.top, ".git")].some((home) => isWithin(path, home));
  };
  const to = copiedTo(program, args);
  const isChanged =
    to === undefined
      ? changesFiles(program, args) && args.some((word) => !word.startsWith("-") && isOfGit(word))
      : isOfGit(to);
  const byCode = codeOf(program, args).some((code) => JOURNAL.test(code) && writesFiles(code));
  const isInside = changesFiles(program, args) && JOURNAL.test(folder);
  if (!isChanged && !byCode && !isInside) return null;
  return (
    "what is in .git is git's and the rails' own, the run's journal too: " +
    "read it by cat, grep, find, jq and their like, copy from it, or leave it"
  );
}

/** A word as what it comes to, where it is a link out of the worktree. */
const followed = (word: string, where: Where | null): string => where?.links?.get(word) ?? word;

/** `$(git rev-parse …)` with one of these options. */
const asking = (options: string): RegExp => {
  const call = String.raw`\s*git\b[^()\x60]*\srev-parse\b[^()\x60]*\s--(?:${options})\b[^()\x60]*`;
  return new RegExp(String.raw`\$\(${call}\)|\x60${call}\x60`, "g");
};
const GIT_FOLDER = asking("git-dir|git-common-dir|absolute-git-dir|git-path");
const TOP = asking("show-toplevel");
const HERE = /\$\(\s*pwd[^()]*\)|\$PWD\b|\$\{PWD\}/g;

/** A path as what it comes to where only the shell will fill in what git, or the shell itself, says
 * of where it stands.
 * @param parts each counts from those before it */
function pathOf(where: Where, ...parts: readonly string[]): string {
  return parts.reduce((at, part) => {
    const isHere = isWithin(at, where.top);
    const filled = part
      .replace(GIT_FOLDER, () => (isHere || isWithin(at, where.main) ? where.common : `${at}/.git`))
      .replace(TOP, () => (isHere ? where.top : at))
      .replace(HERE, () => at);
    return resolve(at, filled);
  }, where.cwd);
}

const isWithin = (path: string, home: string): boolean =>
  path === home || path.startsWith(home + sep);

/** git in the person's own checkout, or in another worker's worktree. */
function ofElsewhere({ program, args, folder, env }: Call, where: Where | null): string | null {
  if (program !== "git" || !where) return null;
  const call = gitCall(args);
  if (onlyReads(call)) return null;
  const given = call.options.flatMap((option, at) =>
    /^(-C|--git-dir|--work-tree)$/.test(option)
      ? [call.options[at + 1] ?? ""]
      : (/^--(?:git-dir|work-tree)=(.*)$/s.exec(option)?.[1] ?? []),
  );
  const said = env.flatMap((each) => /^GIT_(?:DIR|WORK_TREE)=(.*)$/s.exec(each)?.[1] ?? []);
  const start = pathOf(where, folder);
  const isTheirs = (path: string): boolean =>
    !isWithin(path, where.top) && [where.main, where.common].some((home) => isWithin(path, home));
  if (
    ![
      start,
      ...[...given, ...said].map((path) => pathOf(where, start, followed(path, where))),
    ].some(isTheirs)
  )
    return null;
  return `git ${call.verb} outside of your worktree: what is there is not yours, only read it`;
}

function ofRules(
  call: Call,
  branch: string,
  rules: Blueprint["refuse"],
  where: Where | null,
): string | null {
  if (call.program === "git" && asksForHelp(call.args)) return null;
  const [seen = "", ...more] = readingsOf(call, branch, where);
  if (call.program === "git" && /[$`*?]/.test(gitCall(call.args).verb) && !call.isGuess)
    return `${seen.slice(0, 80)}: it cannot be seen what this does: name the subcommand plainly`;
  const isMet = (pattern: string): boolean =>
    [seen, ...more].some((reading) => new RegExp(pattern).test(reading));
  const rule = rules.find(({ commands }) => commands.some(isMet));
  return rule ? `${seen.slice(0, 80)}: ${rule.way}` : null;
}

const asksForHelp = ([verb = "-", help = ""]: readonly string[]): boolean =>
  verb === "help" || (!verb.startsWith("-") && /^(--help|-h)$/.test(help));

/** How patterns see a call: its words joined by one space, with the attempt's own branch as HEAD
 * and a word with spaces in it as «…»; git also without its own options, and with the variables
 * that are set for it. */
function readingsOf({ program, args, env }: Call, branch: string, where: Where | null): string[] {
  const top = where?.top ?? "";
  const own = (ref: string): string =>
    branch && ref.replace(/^refs\/heads\//, "") === branch ? "HEAD" : ref;
  const plain = (word: string): string => (top ? word.replace(`${top}/`, "") : word);
  const shown = (word: string): string =>
    /\s/.test(word) ? "…" : plain(followed(word, where)).split(":").map(own).join(":");
  if (program !== "git") return [[program, ...args.map(shown)].join(" ")];
  const { before, after } = plainly(gitCall(args), shown);
  const short = ["git", ...after].join(" ");
  return [["git", ...before, ...after].join(" "), short, [...env, short].join(" ")];
}
