import type { AttemptState, RunState, TaskState } from "../journal/state.ts";
import { isSameRails, type Landing, moveLine, redOnTip } from "./landing.ts";
import type { Site } from "./site.ts";

/** Takes what has landed of tasks back from the line, the newest first, all of it or none, in one
 * landing that is proven like any other. */
export async function takeBack(landing: Landing, state: RunState): Promise<void> {
  const { journal, site } = landing;
  const { dropping: tasks, tip } = state;
  const note = await takenBack(landing, state);
  const { commit: to, tree } = await site.tip();
  const isDecided = await journal.decide((now, write) => {
    if (now.aborted || !isSameRails(now, state)) return false;
    if (note !== null) write({ event: "not-dropped", tasks, note });
    else write({ event: "proven", from: tip, to, tree, landed: [], dropped: tasks });
    return true;
  });
  if (!isDecided || note !== null) return;
  if (to === tip || (await moveLine(landing, tip, to))) await journal.add({ event: "landed", to });
}

/** Puts into the worktree what the line is without some tasks, and proves that.
 * @returns null, or in words why that cannot be */
async function takenBack(landing: Landing, state: RunState): Promise<string | null> {
  const { site } = landing;
  await site.reset(state.tip);
  // What was taken back before is not on the line any more.
  const isMeant = ({ over, task }: AttemptState): boolean =>
    !over && state.dropping.includes(task.id);
  for (const { task, commits } of await commitsOf(site, state, isMeant)) {
    if (commits.length === 0) continue;
    const which = commits.map((commit) => `This reverts commit ${commit}.`);
    const message = [`revert: take back task ${task.id}`, "", task.title, "", ...which].join("\n");
    const taken = await site.takeBack(commits, message);
    if ("clash" in taken) return `What came after task ${task.id} stands on it. ${taken.clash}`;
  }
  const proving = await site.tip();
  const red = (await site.fill()) ?? (await redOnTip(landing, [], proving));
  if (red === null && (await site.tip()).commit !== proving.commit) return "The gates moved HEAD.";
  return red;
}

/** What of a run's landings is of some attempts: what landed last first, and of each its newest
 * commits first.
 * @param isMeant is the attempt's work looked for, where it landed as this? */
export async function commitsOf(
  site: Pick<Site, "between">,
  { landings, attempts }: RunState,
  isMeant: (attempt: AttemptState, landing: RunState["landings"][number]) => boolean,
): Promise<{ task: TaskState; commits: string[] }[]> {
  const found: { task: TaskState; commits: string[] }[] = [];
  for (const landing of landings.toReversed()) {
    const { from, to, landed } = landing;
    const all = landed.map(({ attempt }) => attempts.get(attempt));
    if (!all.some((each) => each && isMeant(each, landing))) continue;
    const commits = await site.between(from, to);
    const parts = landed.map(({ commits: own, skipped = 0 }) =>
      commits.splice(0, own.length - skipped).reverse(),
    );
    for (const [at, attempt] of [...all.entries()].reverse())
      if (attempt && isMeant(attempt, landing))
        found.push({ task: attempt.task, commits: parts[at] ?? [] });
  }
  return found;
}
