import { commitOf, isAncestor, type Place } from "../git/repository.ts";
import { withParts } from "../journal/family.ts";
import type { Journal } from "../journal/journal.ts";
import {
  type AttemptState,
  dependentsLeft,
  isActive,
  type RunState,
  type TaskState,
  tasksOf,
} from "../journal/state.ts";
import { parentOf } from "../plan/task.ts";
import { Fault } from "../program/fault.ts";
import { landed } from "./land.ts";
import { siteOf } from "./site.ts";
import { commitsOf } from "./take-back.ts";

type At = Readonly<{ journal: Journal; place: Place; state: RunState }>;

/** Drops tasks, and all that is made of them: nobody works at them any more, and what has landed of
 * them is taken back from the line, in one landing that is proven.
 * @param until how long that may take, in milliseconds since 1970
 * @returns false where it still runs then
 * @throws Fault `no-task`, `needed`, `merged`, `not-dropped`: of what has landed, nothing changed */
export async function drop(
  { journal, place, state: { run, line } }: At,
  ids: readonly string[],
  until: number,
): Promise<boolean> {
  const site = siteOf(place, run, line);
  const asked = await journal.decide(async (state, write) => {
    const tasks = tasksToDrop(state, ids);
    // What was just proven may be on the line by now.
    const proven = tasksOf(
      state,
      (state.proven?.landed ?? []).map(({ attempt }) => attempt),
    );
    const ofLine = tasks
      .filter((task) => task.state === "landed" || proven.includes(task.id))
      .map(({ id }) => id);
    if (ofLine.length > 0) await refuseMerged(state, ofLine, place, site);
    const open = tasks.filter((task) => !ofLine.includes(task.id) && !task.isDropped);
    if (open.length > 0) write({ event: "dropped", tasks: open.map(({ id }) => id) });
    if (ofLine.length > 0) write({ event: "dropping", tasks: ofLine });
    return ofLine;
  });
  if (asked.length === 0) return true;
  if (!(await landed(journal, place, await journal.state(), until))) return false;
  const { notDropped, tasks } = await journal.state();
  if (asked.every((id) => tasks.get(id)?.isDropped)) return true;
  const way = "drop what stands on it as well, or take it back by hand on a branch of your own";
  throw new Fault("not-dropped", notDropped || "something else landed meanwhile", way);
}

/** Takes tasks out of an area, by its planner: its own ones at which nobody was, nor at anything
 * that is made of them.
 * @throws Fault `no-task`, `needed`, `not-yours` */
export async function leaveOut(
  { journal }: At,
  { id: planner, task: area }: AttemptState,
  ids: readonly string[],
): Promise<void> {
  await journal.decide((state, write) => {
    const own = state.attempts.get(planner);
    if (!own || !isActive(own)) throw new Fault("over", `${planner} is over`, "stop and say so");
    const inside = ids.map((id) => (state.tasks.has(`${area.id}/${id}`) ? `${area.id}/${id}` : id));
    const tasks = tasksToDrop(state, inside);
    for (const { id, added, attempts } of tasks) {
      const isNamed = inside.includes(id);
      const isOwn = !isNamed || (added === "planner" && parentOf(id) === area.id);
      if (isOwn && attempts.every(({ begun }) => !begun)) continue;
      const what = isOwn ? `somebody was at task ${id} already` : `task ${id} is not of your area`;
      throw new Fault("not-yours", what, "say in the handoff why it should go: a person drops it");
    }
    const open = tasks.filter(({ isDropped }) => !isDropped);
    if (open.length > 0) write({ event: "dropped", tasks: open.map(({ id }) => id), by: planner });
  });
}

/** The tasks that are named, and all that is made of them. @throws Fault where there is none such,
 * or where others need them */
function tasksToDrop(state: RunState, ids: readonly string[]): TaskState[] {
  const { tasks, run, aborted } = state;
  if (aborted) throw new Fault("aborted", `run ${run} was aborted`, "start a new one");
  for (const id of ids) {
    if (tasks.has(id)) continue;
    const known = [...tasks.keys()].join(", ");
    throw new Fault("no-task", `run ${run} has no task ${id}`, `it has ${known}`);
  }
  const named = ids.flatMap((id) => tasks.get(id) ?? []);
  const before = named.find(({ planned, attempts }) => planned.done && attempts.length === 0);
  if (before) {
    const what = `task ${before.id} was done before the run: there is nothing of it to take back`;
    throw new Fault("done-before", what, "take it back on a branch of your own");
  }
  const all = withParts(state, ids);
  const needing = dependentsLeft(state, all);
  if (needing.length > 0) {
    const way = `drop them as well: minion drop ${[...needing, ...ids].join(" ")} --run ${run}`;
    const those = ids.length > 1 ? `one of ${ids.join(", ")}` : `task ${ids[0]}`;
    throw new Fault("needed", `${needing.join(", ")} stand on ${those}`, way);
  }
  return all.flatMap((id) => tasks.get(id) ?? []);
}

/** What was merged is a person's: it is taken back there, and not by us.
 * @throws Fault `merged` with the commands that do it */
async function refuseMerged(
  state: RunState,
  ids: readonly string[],
  { main }: Place,
  site: ReturnType<typeof siteOf>,
): Promise<void> {
  const { merged, landings } = state;
  if (!merged || !(await commitOf(merged.to, main))) return;
  const isThere = await Promise.all(landings.map(({ to }) => isAncestor(to, merged.to, main)));
  const found = await commitsOf(
    site,
    state,
    ({ over, task }, landing) =>
      !over && ids.includes(task.id) && isThere[landings.indexOf(landing)] === true,
  );
  const commits = found.flatMap((each) => each.commits);
  if (commits.length === 0) return;
  const short = commits.map((commit) => commit.slice(0, 10)).join(" ");
  throw new Fault(
    "merged",
    `${ids.join(", ")} was merged into ${merged.branch} already`,
    `take it back there: git revert --no-edit ${short}`,
  );
}
