import { Option } from "commander";
import { EXIT, type ExitCode, Fault } from "./fault.ts";
import type { World } from "./world.ts";

/** What a verb has to say: the result for people (null: the data as YAML), the same as data, and
 * what the program ends with. */
export interface Said {
  readonly text: string | null;
  readonly data: object;
  readonly exit?: ExitCode;
  readonly isColoured?: boolean; // The text has colours of ours
  readonly isFile?: boolean; // The text is what a file is to hold: written to one as it is
  readonly printed?: () => Promise<unknown>; // What is to be done once all of it was said
}

/** What a verb is called with: its words, and its options by their names in camel case. */
interface Call<O> {
  readonly words: readonly string[];
  readonly options: Readonly<O>;
}

/** One verb of `minion`, in a file of its own; the table of them is in cli.ts. */
export interface Verb<O = object> {
  readonly usage: string; // As in the help: `land <task>`
  readonly about: string; // What it does, in a line
  readonly options?: readonly Option[];
  readonly isHidden?: boolean; // Nobody types it
  run(call: Call<O>, world: World): Promise<Said>;
}

const wrong = (flag: string, example: string, what = "wants a number"): Fault =>
  new Fault("usage", `--${flag} ${what}`, `say --${flag} ${example}`, EXIT.usage);

/** An option whose value is a number that is not below zero. */
export const numberOption = (flags: string, about: string, example: string): Option => {
  const option = new Option(flags, about);
  return option.argParser((value) => {
    const number = Number(value);
    if (!(number >= 0)) throw wrong(option.name(), example);
    return number;
  });
};

/** `--run`: the run that a verb is about. */
export const RUN = new Option("--run <id>", "which run, if not the newest");
export type OfRun = { run?: string };

/** `--wait`: verbs that wait for work which goes on without them. */
export const WAIT = numberOption(
  "--wait <seconds>",
  "how long to wait; called again it waits on",
  "90",
).default(90);
export type Waiting = { wait: number };

/** Until when a verb waits, in milliseconds since 1970. */
export const untilOf = ({ wait }: Waiting, world: World): number => world.now() + wait * 1000;

/** What a verb says whose work goes on when the time to wait is over. */
export const stillRuns = (what: string): Said => ({
  text: `${what} still runs: call the same again.`,
  data: { running: true },
  exit: EXIT.running,
});

/** `--budget`: dollars. */
export const budgetOption = (about: string): Option =>
  new Option("--budget <dollars>", about).argParser((value) => {
    const dollars = Number(value);
    if (dollars > 0 && dollars < Infinity) return dollars;
    throw wrong("budget", "5", "is no positive number of dollars");
  });
