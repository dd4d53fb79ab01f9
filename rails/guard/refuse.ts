import { commandsIn } from "./command.ts";

/** What of `minion` is a worker's own; all else is the foreman's or a person's. */
const WORKER_COMMANDS = ["begin", "gate", "submit"];

/** The run's own folder in `.git`, and the programs that may name it: they read, or only hand on what they are told. */
const JOURNAL = /\.git\/minion(\/|$)|\/minion\/r\d+(\/|$)/;
const READERS = /^(cat|head|tail|less|grep|rg|wc|ls|echo|printf|git|minion)$/;

type Rule = readonly [is: (args: readonly string[], branch: string) => boolean, way: string];
const some = (pattern: RegExp) => (args: readonly string[]) => args.some((arg) => pattern.test(arg));
const named = (args: readonly string[]): readonly string[] => args.filter((arg) => !arg.startsWith("-"));

const REFS = "that ref is not yours to move or delete: to undo commits of your own, git reset on your own branch";
const OWN = "work on the branch that minion begin made, and on no other: put your commits there";
const CONFIG = "that is the person's configuration: do without it, or end and say what is needed";

/** What a worker's git may not do, by subcommand, and the way out. */
const RULES: Readonly<Record<string, Rule>> = {
  stash: [
    ([sub = ""]) => !/^(list|show)$/.test(sub),
    "all worktrees share one stash: commit what you have, or undo it with git restore",
  ],
  worktree: [([sub = "list"]) => sub !== "list", "worktrees are made and removed for you: stay in this one"],
  push: [
    isForeignPush,
    "push nothing, or your own branch alone and without force: landing takes your commits from there",
  ],
  branch: [some(/^-[^-]*[dDfmMcCu]|^--(delete|force|move|copy|set-up|unset-up|edit-desc)/), REFS],
  "update-ref": [() => true, REFS],
  "symbolic-ref": [(args) => named(args).length > 1 || some(/^(-d|--delete)$/)(args), OWN],
  tag: [some(/^-[^-muF]*[df]|^--(delete|force)/), REFS],
  checkout: [some(/^-[^-]*[bBdt]|^--(orphan|detach|track)/), OWN],
  switch: [(args, branch) => args.length !== 1 || args[0] !== branch, OWN],
  reflog: [some(/^(delete|expire|drop)$/), "what git remembers of old commits stays: it is how work is found again"],
  remote: [([sub = "show"]) => !/^(show|get-url|-v|--verbose)$/.test(sub), CONFIG],
  config: [
    (args) =>
      !some(/^(--get.*|--list|-l|get|list)$/)(args) && (named(args).length > 1 || some(/^(-(-[uare]|e)|edit$)/)(args)),
    CONFIG,
  ],
};

/** Options of git itself, and of a commit, that are followed by a value. */
const GIT_VALUE = /^(-[Cc]|--(git-dir|work-tree|namespace|config-env|super-prefix|attr-source))$/;
const COMMIT_VALUE = /^(-[^-]*[mFCct]|--(message|file|author|date|trailer|template|fixup|squash|reuse-message))$/;

/** Why a worker may not run a shell text, with the way out, or null. It sees what such a text says plainly, which
 * is what workers in a hurry write; what hides from it does not reach the line for that.
 * @param branch the attempt's own; empty before it began */
export function refusal(text: string, branch: string): string | null {
  for (const [program = "", ...args] of commandsIn(text)) {
    if (program === "minion" && !WORKER_COMMANDS.includes(args[0] ?? ""))
      return `minion ${args[0] ?? ""} is not a worker's: a worker has begin, gate and submit`;
    const git = program === "git" ? gitRefusal(args, branch) : null;
    if (git) return git;
    if (program === "gh" && args.some((arg, index) => arg === "pr" && args[index + 1] === "merge"))
      return "gh pr merge is a person's: hand in with minion submit";
    const reads = READERS.test(program) || (program === "sed" && args.includes("-n") && !some(/^(-i|--in)/)(args));
    if (!reads && some(JOURNAL)(args))
      return "the run's journal is written by minion alone: read it with cat, head, tail, less, grep, rg, wc, ls or sed -n";
  }
  return null;
}

function gitRefusal(all: readonly string[], branch: string): string | null {
  let at = 0;
  const settings: string[] = [];
  for (; all[at]?.startsWith("-"); at++)
    if (GIT_VALUE.test(all[at] ?? "")) settings.push(all[++at] ?? "");
    else if (all[at]?.startsWith("--config-env=")) settings.push(all[at]?.slice(13) ?? "");
  const [verb = "", ...rest] = all.slice(at);
  const args = verb === "commit" ? rest.filter((_, index) => !COMMIT_VALUE.test(rest[index - 1] ?? "")) : rest;
  if (some(/^(core\.hookspath|alias\.)/i)(settings)) return `git -c: ${CONFIG}`;
  if (some(/^--no-veri?f?y?$/)(args) || (verb === "commit" && some(/^-[^-mFCctSu]*n/)(args)))
    return "the project's hooks stay on: mend what they find, or commit what you can and end saying what is in the way";
  const [isRefused, way] = RULES[verb] ?? [];
  return isRefused?.(args, branch) ? `git ${verb}: ${way}` : null;
}

/** Does a push force, delete, or reach further than the attempt's own branch? */
function isForeignPush(args: readonly string[], branch: string): boolean {
  if (some(/^-[^-o]*[fd]|^--(force|delete|mirror|all|branches|tags|follow-tags|prune)/)(args)) return true;
  const names = named(
    args.filter((_, index) => !/^(-o|--push-option|--receive-pack|--exec)$/.test(args[index - 1] ?? "")),
  );
  const own = ["", "HEAD:", `${branch}:`, `refs/heads/${branch}:`].flatMap((from) =>
    [branch, `refs/heads/${branch}`].map((to) => from + to),
  );
  return names.slice(1).some((ref) => ref !== "HEAD" && !own.includes(ref));
}
