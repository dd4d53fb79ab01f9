import type { RunState, TaskState } from "../journal/state.ts";
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
  for (const { task, commits } of await commitsOf(site, state)) {
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

/** What stands on the line of the tasks that are to be taken back: the tasks that landed last
 * first, and of each its newest commits first. */
async function commitsOf(site: Site, state: RunState) {
  const found: { task: TaskState; commits: string[] }[] = [];
  for (const { from, to, landed } of state.landings.toReversed()) {
    const isMeant = landed.some(({ attempt }) => isDropping(state, attempt));
    if (!isMeant) continue;
    const commits = await site.between(from, to);
    for (const { attempt, commits: own, skipped = 0 } of landed) {
      const part = commits.splice(0, own.length - skipped);
      const task = state.attempts.get(attempt)?.task;
      if (task && isDropping(state, attempt)) found.push({ task, commits: part.reverse() });
    }
  }
  return found;
}

/** Is an attempt's work to be taken back? What was taken back before is not on the line any more. */
function isDropping(state: RunState, id: string): boolean {
  const attempt = state.attempts.get(id);
  return attempt !== undefined && !attempt.over && state.dropping.includes(attempt.task.id);
}
