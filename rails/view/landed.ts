import type { RunState, TaskState } from "../journal/state.ts";

/** How a task's work came on the line. */
export type Landing = Readonly<{
  at: number; // Milliseconds since 1970
  place: number; // Its number among all that landed, from 0: the order of landing
  commit: string; // Its own last commit, as git reads it: `0123456789~2`
  commits: number; // How many it handed in …
  skipped: number; // … and how many of these changed nothing there
}>;

/** How a task's work came on the line; null where it did not, or was there before the run. */
export function landingOf({ landings }: RunState, { result }: TaskState): Landing | null {
  if (!result) return null;
  let before = 0;
  for (const { attempts, landed, to, at } of landings) {
    const index = attempts.indexOf(result.id);
    if (index === -1) {
      before += attempts.length;
      continue;
    }
    const [own, ...later] = landed.slice(index);
    // What landed at once lies one on the other.
    const above = later.reduce((sum, each) => sum + each.commits.length - (each.skipped ?? 0), 0);
    return {
      at,
      place: before + index,
      commit: to.slice(0, 10) + (above > 0 ? `~${above}` : ""),
      commits: own?.commits.length ?? 0,
      skipped: own?.skipped ?? 0,
    };
  }
  return null;
}
