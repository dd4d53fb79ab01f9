import { commandsIn } from "./command.ts";

/** The run's own folder in `.git`, and the programs that may name it: they read, or only hand on what they are told. */
const JOURNAL = /\.git\/minion(\/|$)|\/minion\/r\d+\/(events|output|report)/m;
const READER =
  /^((cat|head|tail|less|grep|rg|wc|ls|echo|printf|git|minion)(\n|$)|sed\n(?=(.*\n)*-n(\n|$))(?!(.*\n)*(-i|--in)))/;

const REFS = "that ref is not yours to move or delete: undo commits of your own by git reset";
const OWN = "put your commits on the branch that minion begin made, and on no other";
const CONFIG = "that is the person's configuration: do without it, or end and say what is needed";
const PUSH = "push nothing, or your own branch alone and without force: landing takes your commits from there";

/** What a worker's git may not do, by subcommand: its arguments, each on a line, and the way out. `=`: its own branch. */
const RULES: Readonly<Record<string, readonly [RegExp, string]>> = {
  stash: [/^(?!(list|show)(\n|$))/, "all worktrees share one stash: commit what you have, or undo it by git restore"],
  worktree: [/^(?!list|$)/, "worktrees are made and removed for you: stay in this one"],
  push: [/^(-[^-o\n]*[fd]|--(force|delete|mirror|all|branches|tags|follow-tags|prune))/m, PUSH],
  branch: [/^(-[^-\n]*[dDfmMcCu]|--(delete|force|move|copy|set-up|unset-up|edit-desc))/m, REFS],
  "update-ref": [/^/, REFS],
  "symbolic-ref": [/^[^-].*\n[^-]|^(-d|--delete)$/m, OWN],
  tag: [/^(-[^-muF\n]*[df]|--(delete|force))/m, REFS],
  checkout: [/^(-[^-\n]*[bBdt]|--(orphan|detach|track))/m, OWN],
  switch: [/^(?!=$)/, OWN],
  reflog: [/^(delete|expire|drop)/, "what git remembers of old commits stays: it is how work is found again"],
  remote: [/^(?!$|show|get-url|-v|--verbose)/, CONFIG],
  config: [/^(?!(get|list)$)[^-].*\n[^-]|^(--(unset|add|re|edit)|-e$|edit$)/m, CONFIG],
};

/** Options of git itself, each on a line, with their values, and of a commit those that are followed by a text. */
const GLOBALS = /^(?:(?:-[Cc]|--(?:git-dir|work-tree|namespace|config-env))\n.*\n|-.*\n)*/;
const TEXTS = /^(-[^-\n]*[mFCct]|--(message|file|author|date|trailer|template|fixup|squash|reuse-message))\n.*/gm;

/** Why a worker may not run a shell text, with the way out, or null. It sees what such a text says plainly, which
 * is what workers in a hurry write; what hides from it does not reach the line for that.
 * @param branch the attempt's own; empty before it began */
export function refusal(text: string, branch: string): string | null {
  for (const command of commandsIn(text)) {
    const [program, ...args] = command.map((word) => word.replaceAll("\n", " "));
    const words = args.join("\n");
    if (program === "minion" && !/^(begin|gate|submit)(\n|$)/.test(words))
      return `minion ${args[0] ?? ""} is not a worker's: a worker has begin, gate and submit`;
    if (program === "gh" && /^pr\nmerge$/m.test(words)) return "gh pr merge is a person's: hand in by minion submit";
    const git = program === "git" ? gitRefusal(words, branch) : null;
    if (git) return git;
    if (JOURNAL.test(words) && !READER.test(`${program}\n${words}`))
      return "minion alone writes the run's journal: read it by cat, head, tail, less, grep, rg, wc, ls or sed -n";
  }
  return null;
}

function gitRefusal(words: string, branch: string): string | null {
  const [globals = ""] = GLOBALS.exec(words) ?? [];
  if (/(^|=)(core\.hookspath|alias\.)/im.test(globals)) return `git -c: ${CONFIG}`;
  const [verb = "", ...rest] = words.slice(globals.length).split("\n");
  const own = (ref: string): string => (branch && ref.replace(/^refs\/heads\//, "") === branch ? "=" : ref);
  const args = rest.map((arg) => arg.split(":").map(own).join(":")).join("\n");
  const plain = verb === "commit" ? args.replace(TEXTS, "$1") : args;
  if (/^--no-veri?f?y?$/m.test(plain) || (verb === "commit" && /^-[^-mFCctSu\n]*n/m.test(plain)))
    return "the project's hooks stay on: mend what they find, or commit what you can and end saying what is in the way";
  // After the remote's name, each is what is pushed where to.
  const refs =
    verb === "push"
      ? args
          .replace(/^(-o|--push-option)\n.*\n?|^-.*\n?/gm, "")
          .split("\n")
          .slice(1)
      : [];
  if (refs.some((ref) => ref !== "" && !/^(HEAD|(HEAD:|=:)?=)$/.test(ref))) return `git push: ${PUSH}`;
  const [pattern, way] = RULES[verb] ?? [];
  return pattern?.test(plain) ? `git ${verb}: ${way}` : null;
}
