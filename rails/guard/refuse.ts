import type { Blueprint } from "../blueprint/blueprint.ts";
import { commandsIn } from "./command.ts";

/** The run's own folder in `.git`. */
const JOURNAL = /\.git\/minion\b|\/minion\/r\d+\/(events|output|report)/;

/** The programs that may name it: they read, or only hand on what they are told. */
const READERS = "cat head tail less grep rg wc ls echo printf git minion".split(" ");
const SED_IN_PLACE = /^sed (.* )?(-i|--in)/;

function isReader(command: string): boolean {
  const [program = ""] = command.split(" ");
  if (program === "sed") return command !== "sed" && !SED_IN_PLACE.test(command);
  return READERS.includes(program);
}

/** Options of git itself, before its subcommand, with their values. */
const GIT_OPTIONS = /^git (-[cC] \S+ |--(git-dir|work-tree) \S+ |-\S+ )*/;

/** Why a worker may not run a shell text, with the way out, or null. It sees what such a text says
 * plainly, which is what workers in a hurry write; what hides from it does not reach the line for
 * that.
 * @param branch the attempt's own; empty before it began
 * @param rules what the blueprint refuses: its patterns see the attempt's own branch as HEAD, a
 *   word with spaces in it as «…», and git with and without options before its subcommand */
export function refusal(text: string, branch: string, rules: Blueprint["refuse"]): string | null {
  const own = (ref: string): string =>
    branch && ref.replace(/^refs\/heads\//, "") === branch ? "HEAD" : ref;
  for (const words of commandsIn(text)) {
    const [program, verb = ""] = words;
    if (program === "minion" && !["begin", "gate", "submit", "verdict"].includes(verb))
      return `minion ${verb} is not a worker's: a worker has begin, gate, submit and verdict`;
    const whole = words.join(" ");
    if (JOURNAL.test(whole) && !isReader(whole))
      return (
        "minion alone writes the run's journal: " +
        "read it by cat, head, tail, less, grep, rg, wc, ls or sed -n"
      );
    const seen = words
      .map((word) => (/\s/.test(word) ? "…" : word.split(":").map(own).join(":")))
      .join(" ");
    const readings = [seen, seen.replace(GIT_OPTIONS, "git ")];
    const isMet = (pattern: string): boolean =>
      readings.some((reading) => new RegExp(pattern).test(reading));
    const rule = rules.find(({ commands }) => commands.some(isMet));
    if (rule) return `${seen.slice(0, 80)}: ${rule.way}`;
  }
  return null;
}
