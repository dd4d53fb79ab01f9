/** What a verb of `minion` is: it only looks; it is the foreman's; it is a person's to decide. */
const KINDS: Readonly<Record<string, "look" | "foreman" | "person">> = {
  plan: "look",
  board: "look",
  report: "look",
  stats: "look",
  attention: "look",
  events: "look",
  blueprint: "look",
  overlays: "look",
  guide: "look",
  start: "foreman",
  next: "foreman",
  resume: "foreman",
  change: "foreman",
  stop: "foreman",
  drop: "foreman",
  land: "person",
  merge: "person",
  retry: "person",
  abort: "person",
  clean: "person",
};
const OTHERS = ["begin", "gate", "submit", "verdict", "hook", "job"];

/** Options that take the next word, whatever that looks like. */
const VALUED = /^(-m|--(run|wait|into|budget|workflow|expect|format|nothing|message))$/;

/** Options by which a verb becomes a person's to decide. */
const DECIDES = ["--take", "--new", "--red-base", "--agree", "--each"];

export const isVerb = (word: string): boolean =>
  Object.hasOwn(KINDS, word) || OTHERS.includes(word);

/** Does a call only print the help or the version? Further on, `--help` might be another option's
 * value. */
export const isLooking = ([first = "", second = ""]: readonly string[]): boolean =>
  first === "" ||
  /^(--help|-h|--version|-V)$/.test(first) ||
  (isVerb(first) && /^(--help|-h)$/.test(second));

/** A call of `minion` as a session of its own makes it. */
export interface MinionCall {
  readonly verb: string;
  readonly kind: "look" | "foreman" | "person" | "unclear" | null; // null: not for a session
  readonly run: string | undefined; // Which run, where it names one
  readonly file: string | undefined; // The word behind the verb
  readonly words: readonly string[]; // All of them
  readonly options: ReadonlySet<string>; // Those that it has, as `--run`
}

/** Reads a call's words as `minion` itself does. */
export function minionCall(args: readonly string[]): MinionCall {
  const { options, words } = takenApart(args);
  const [verb = "", ...more] = words;
  const run = options.get("--run");
  const kind = isWritten(verb, words, args) ? null : kindOf(verb, options, args);
  return { verb, kind, run, file: more[0], words: more, options: new Set(options.keys()) };
}

/** Does a call write a file whose place somebody names? */
const isWritten = (verb: string, words: readonly string[], args: readonly string[]): boolean =>
  verb === "report" && (words.length > 1 || args.some((word) => word.startsWith("--html=")));

function kindOf(
  verb: string,
  options: ReadonlyMap<string, string>,
  args: readonly string[],
): MinionCall["kind"] {
  if (isLooking(args)) return "look";
  if (args.some((word) => /[$`]/.test(word)) && !isSafe(verb)) return "unclear";
  const kind = Object.hasOwn(KINDS, verb) ? (KINDS[verb] ?? null) : null;
  if (verb === "clean" && options.has("--dry-run")) return "look";
  if (DECIDES.some((option) => options.has(option))) return "person";
  // Raising a bound is a person's, also before it is reached.
  return verb === "resume" && options.has("--budget") ? "person" : kind;
}

/** Where a word that only the shell will know can change nothing. */
const isSafe = (verb: string): boolean =>
  Object.hasOwn(KINDS, verb) && KINDS[verb] === "look" && verb !== "blueprint";

function takenApart(args: readonly string[]): {
  options: Map<string, string>;
  words: string[];
} {
  const options = new Map<string, string>();
  const words: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? "";
    if (word === "--") return { options, words: [...words, ...args.slice(at + 1)] };
    const [name = "", ...value] = word.split("=");
    if (VALUED.test(name))
      options.set(name, value.length > 0 ? value.join("=") : (args[++at] ?? ""));
    else if (word.startsWith("-") && word !== "-") options.set(name, "");
    else words.push(word);
  }
  return { options, words };
}
