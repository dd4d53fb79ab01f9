/** A call of git, taken apart: its own options before the subcommand, that, and what follows. */
export interface GitCall {
  readonly options: readonly string[];
  readonly verb: string;
  readonly rest: readonly string[];
}

/** Options of git itself with a value in the next word. */
const VALUED =
  /^(-[cC]|--(git-dir|work-tree|namespace|super-prefix|config-env|attr-source|exec-path))$/;

/** Takes a call's words apart. */
export function gitCall(args: readonly string[]): GitCall {
  let at = 0;
  while (at < args.length && args[at]?.startsWith("-")) at += VALUED.test(args[at] ?? "") ? 2 : 1;
  return { options: args.slice(0, at), verb: args[at] ?? "", rest: args.slice(at + 1) };
}

/** Subcommands whose `-m` and `--message` are a text. */
const TOLD = /^(commit|tag|merge|notes|stash)$/;

/** A call in one form, whatever the form that it was written in: keys of `-c` in small letters,
 * texts of messages out of the way, and what stands behind `--` never as an option.
 * @param word how a word is shown */
export function plainly(
  { options, verb, rest }: GitCall,
  word: (text: string) => string,
): { before: string[]; after: string[] } {
  const before = options.map((each, at) =>
    options[at - 1] === "-c" || each.startsWith("--config-env=") ? settingOf(each) : word(each),
  );
  const dashes = rest.indexOf("--");
  const after = rest.map((each, at) => {
    if (dashes >= 0 && at > dashes && each.startsWith("-")) return `./${word(each)}`;
    return TOLD.test(verb) && /^(-\w*m|--message)$/.test(rest[at - 1] ?? "") ? "…" : word(each);
  });
  return { before, after: [verb, ...after] };
}

/** `Key=value`: the key's case makes no difference, and a value with spaces is one word. */
function settingOf(setting: string): string {
  const [key = "", ...value] = setting.split("=");
  return [key.toLowerCase(), ...value].join("=").replace(/\s+/g, "…");
}

/** Subcommands that only read, wherever they are called. */
const READS = new Set(
  (
    "status diff log show blame annotate grep ls-files ls-tree ls-remote rev-parse rev-list " +
    "cat-file describe shortlog merge-base for-each-ref show-ref name-rev whatchanged diff-tree " +
    "diff-index diff-files cherry range-diff count-objects check-ignore check-attr var version " +
    "help fsck verify-commit verify-tag"
  ).split(" "),
);

/** Does a call only read? */
export const onlyReads = ({ verb, rest }: GitCall): boolean =>
  verb === "" ||
  READS.has(verb) ||
  (/^(worktree|stash|reflog)$/.test(verb) && /^(list|show)$/.test(rest[0] ?? "")) ||
  (verb === "branch" && rest.every((word) => /^(-[arvv]+|--(list|all|show-current))$/.test(word)));
