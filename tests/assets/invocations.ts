import { run } from "../../rails/cli.ts";
import { ownWorld } from "../../rails/program/world.ts";

/** What `minion` prints of itself, or of one of its verbs. */
async function help(...command: string[]): Promise<string> {
  let printed = "";
  const stdout = { write: (text: string) => (printed += text) };
  await run([...command, "--help"], { ...ownWorld, stdout });
  return printed;
}

/** The commands that `minion --help` lists. */
const COMMANDS = [...(await help()).matchAll(/^ {2}([a-z]+)(?= )/gm)].map(([, name = ""]) => name);

/** What a command's own help says that it takes: how many words, and each option, with whether it
 * wants a value. */
interface Usage {
  readonly least: number;
  readonly most: number;
  readonly options: ReadonlyMap<string, boolean>;
}
async function usageOf(command: string): Promise<Usage> {
  const text = await help(command);
  const words = /^Usage: minion \S+ \[options\](.*)$/m.exec(text)?.[1] ?? "";
  const options = [...text.matchAll(/^ {2}(?:(-\w), )?(--[a-z-]+)( <)?/gm)];
  return {
    least: words.match(/</g)?.length ?? 0,
    most: words.includes("...") ? Infinity : (words.match(/[<[]/g)?.length ?? 0),
    options: new Map(
      options.flatMap(([, short = "", long = "", value]) =>
        [short, long].map((name) => [name, value !== undefined] as const),
      ),
    ),
  };
}

const USAGES = new Map<string, Usage>();
for (const command of COMMANDS) USAGES.set(command, await usageOf(command));

/** The calls of `minion` that a text shows, in backticks or on a line of a code block. */
export function invocationsIn(text: string): string[] {
  const blocks = [...text.matchAll(/^```\w*\n([\s\S]*?)^```$/gm)]
    .map(([, block = ""]) => block)
    .join("");
  const rest = text.replaceAll(/^```\w*\n[\s\S]*?^```$/gm, "");
  const shown = [
    ...rest.matchAll(/`(?:! ?)?(minion [^`]+)`/g),
    ...blocks.matchAll(/^(?:! )?(minion [^#\n]+)/gm),
  ];
  return shown.map(([, call = ""]) => call.trim());
}

/** Why a call cannot be made as it stands there; null where it can. Options may be named without
 * the words before them. */
export function faultOf(call: string): string | null {
  const [, command = "", ...words] = call.replace(/ <<.*$/, "").match(/"[^"]*"|\S+/g) ?? [];
  // `minion …` is any of them; `minion gate` alone names the command and calls nothing.
  if (command === "…") return null;
  const usage = USAGES.get(command);
  if (!usage) return `there is no command ${command}`;
  if (words.length === 0) return null;
  const { least, most, options } = usage;
  let given = 0;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    if (!word.startsWith("-") || word === "-") given++;
    else if (!options.has(word)) return `${command} has no ${word}`;
    else if (options.get(word) && (words[++at] ?? "--").startsWith("--"))
      return `${word} wants a value`;
  }
  return given > most || (given > 0 && given < least)
    ? `${command} takes ${least} to ${most} words`
    : null;
}
