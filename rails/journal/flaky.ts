import type { Evidence } from "./events.ts";
import { isPass, isRed } from "./passed.ts";
import { type RunState, tasksOf } from "./state.ts";

/** A gate that was red, and then passed on the very same files. `tasks`: for which it was red;
 * `errors`: the lines that named what failed; `red`, `green`: raw output, relative to the run's
 * folder. */
export type Flaky = Readonly<{
  gate: string;
  tree: string;
  tasks: readonly string[];
  errors: readonly string[];
  red: string;
  green: string;
}>;

/** What evidence speaks of: the same command on the same files, set up the same way. */
const keyOf = ({ gate, command, cwd, tree, setup }: Evidence): string =>
  JSON.stringify([gate, command, cwd, tree, setup]);

/** Does a run say that something fails? One that ran out of time does not: that has an alarm and a
 * way out of its own, and to wait for as long once more would hold up all that is to land. */
const saysRed = (evidence: Evidence): boolean => isRed(evidence) && evidence.code !== null;

/** What was flaky in a run: of each gate and tree the newest. */
export function flakyIn(state: RunState): Flaky[] {
  const reds = new Map<string, Evidence>();
  const found = new Map<string, Flaky>();
  for (const each of state.evidence) {
    const key = keyOf(each);
    if (saysRed(each)) reds.set(key, each);
    const red = reds.get(key);
    if (!red || !isPass(each) || isAccepted(red, each)) continue;
    const { gate, tree, errors = [], output } = red;
    const tasks = [...new Set(tasksOf(state, red.attempts))];
    found.set(key, { gate, tree, tasks, errors, red: output, green: each.output });
  }
  return [...found.values()];
}

/** Was a red on the base only accepted, and nothing came out otherwise? */
const isAccepted = (red: Evidence, later: Evidence): boolean =>
  red.attempts.length === 0 && later.known;

/** Is a run of landing's that has just been written down red where the same passed before, for
 * whomever? Then another run tells a true red from a flaky one; that is asked once: not where
 * landing saw it red before and it has not passed since. */
export function isDoubtful({ evidence }: RunState, now: Evidence): boolean {
  if (!saysRed(now)) return false;
  const key = keyOf(now);
  const same = evidence.filter((each) => keyOf(each) === key);
  const passed = same.findLastIndex(isPass);
  const reds = same.slice(passed + 1).filter((each) => each.by === "landing" && saysRed(each));
  return passed >= 0 && reds.length === 1;
}
