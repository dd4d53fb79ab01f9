import { isDeepStrictEqual } from "node:util";
import { checksOfAll } from "../journal/checks.ts";
import type { Evidence } from "../journal/events.ts";
import { isDoubtful } from "../journal/flaky.ts";
import type { Journal } from "../journal/journal.ts";
import { howIn, isPass } from "../journal/passed.ts";
import type { Candidate, Command } from "../journal/shapes.ts";
import type { RunState } from "../journal/state.ts";
import { Fault } from "../program/fault.ts";
import type { Site, Tip } from "./site.ts";

/** What landing works with. */
export interface Landing {
  readonly journal: Journal;
  readonly site: Site;
  /** What this process saw pass, a tree and a command each. Evidence that stands in the journal may
   * be anybody's: that moves no line. */
  readonly seen: Set<string>;
  /** How often in a row the line stood elsewhere when it was to be moved. */
  misses: number;
}

export const landingAt = (journal: Journal, site: Site): Landing => ({
  journal,
  site,
  seen: new Set(),
  misses: 0,
});

/** So often in a row the line may be moved by somebody while landing proves. */
const MISSES = 5;

/** Moves the line. @returns false where it stands elsewhere meanwhile @throws Fault `line-moving`
 * where that is so again and again */
export async function moveLine(landing: Landing, from: string, to: string): Promise<boolean> {
  const isMoved = await landing.site.move(from, to);
  landing.misses = isMoved ? 0 : landing.misses + 1;
  if (landing.misses <= MISSES) return isMoved;
  const { line } = await landing.journal.state();
  throw new Fault(
    "line-moving",
    `${line} was moved by somebody ${landing.misses} times while it was proven`,
    "find who moves it, then call again",
  );
}

export const idsOf = (all: readonly Candidate[]): string[] => all.map(({ attempt }) => attempt);

/** What sets a fresh worktree up, then the gates, in order: those for each task, or also those for
 * the end. */
export const commandsOf = ({ setup, gates }: RunState, isEnd: boolean): Command[] => [
  ...(setup ? [setup] : []),
  ...gates.filter(({ isLast }) => isEnd || !isLast),
];

/** Are the commands that prove the line those of before? A person may take others at any time. */
export const isSameRails = (one: RunState, other: RunState): boolean =>
  isDeepStrictEqual([one.gates, one.setup], [other.gates, other.setup]);

/** The checks of tasks whose attempts these are, each command once. */
const checksIn = (state: RunState, attempts: readonly string[]) => {
  const tasks = attempts.flatMap((id) => state.attempts.get(id)?.task ?? []);
  return checksOfAll(state, [...new Set(tasks)]);
};

/** Runs the checks of what lies there, after the setup.
 * @returns the attempts whose task is not done by its own measure, each with what is red, in words */
export async function unmetOnTip(
  landing: Landing,
  attempts: readonly string[],
  tip: Tip,
): Promise<{ attempt: string; red: string }[]> {
  const state = await landing.journal.state();
  const checks = checksIn(state, attempts);
  // Where nothing can be set up, the gates say so.
  const isReady = async ({ setup }: RunState): Promise<boolean> =>
    setup === null || (await redNow(landing, attempts, tip, setup)) === null;
  if (checks.length === 0 || !(await isReady(state))) return [];
  const unmet = new Map<string, string>();
  for (const { command, tasks } of checks) {
    const own = attempts.filter((id) => tasks.includes(state.attempts.get(id)?.task.id ?? ""));
    const red = await redNow(landing, own, tip, command);
    if (red !== null) for (const attempt of own) unmet.set(attempt, red);
  }
  return [...unmet].map(([attempt, red]) => ({ attempt, red }));
}

/** Runs setup and gates on what lies there, as far as this process has not seen them pass on these
 * very files.
 * @param tip the commit and its tree that are being proven
 * @returns what was red, in words */
export async function redOnTip(
  landing: Landing,
  attempts: readonly string[],
  tip: Tip,
  isEnd = false,
): Promise<string | null> {
  for (const command of commandsOf(await landing.journal.state(), isEnd)) {
    const red = await redNow(landing, attempts, tip, command);
    if (red !== null) return red;
  }
  return null;
}

/** Runs a command on what lies there, where this process has not seen it pass on these very files.
 * @returns what was red, in words */
export async function redNow(
  landing: Landing,
  attempts: readonly string[],
  tip: Tip,
  command: Command,
): Promise<string | null> {
  // Of checks the command counts, whatever each task calls it.
  const key = [tip.tree, command.isCheck ? "" : command.name, command.cwd, command.run].join("\0");
  if (landing.seen.has(key)) return null;
  const red = await redBy(landing, attempts, tip, command);
  if (red === null) landing.seen.add(key);
  return red;
}

/** Runs a command on what lies there, and once more where it is red on files on which it passed
 * before: what is flaky costs nobody an attempt.
 * @returns what was red, in words */
async function redBy(
  landing: Landing,
  attempts: readonly string[],
  tip: Tip,
  command: Command,
): Promise<string | null> {
  for (let runs = 1; ; runs++) {
    const evidence = await proveHere(landing, attempts, command);
    const { gate, output, changed } = evidence;
    if (await putBack(landing, tip))
      return `${gate} moved HEAD in the worktree in which it was run: ${output}.`;
    if (isPass(evidence)) return null;
    if (runs > 1 || !isDoubtful(await landing.journal.state(), evidence)) {
      const again = runs > 1 ? ", also when run once more" : "";
      return `${gate} ${howIn(evidence)} on the line with it${again}: ${output}.`;
    }
    if (changed.length > 0) await landing.site.reset(tip.commit);
  }
}

/** Puts the worktree back on what is being proven, where a command took it elsewhere.
 * @returns whether it did */
export async function putBack({ site }: Landing, { commit }: Tip): Promise<boolean> {
  if (await site.isOn(commit)) return false;
  await site.reset(commit);
  return true;
}

export async function proveHere(
  { journal, site }: Landing,
  attempts: readonly string[],
  command: Command,
): Promise<Evidence> {
  const evidence = await site.prove({ journal, state: await journal.state() }, attempts, command);
  await journal.add({ event: "evidence", ...evidence });
  return evidence;
}
