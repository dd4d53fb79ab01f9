import { git, gitList } from "../git/git.ts";
import { commitOf, listWorktrees, type Place } from "../git/repository.ts";
import type { Event } from "../journal/events.ts";
import type { Journal } from "../journal/journal.ts";
import type { RunState } from "../journal/state.ts";
import { Fault } from "../program/fault.ts";
import { branchRef, word } from "../program/typed.ts";
import { attach } from "../proof/jobs.ts";
import { redOnTip } from "./land.ts";
import type { Site } from "./site.ts";

/** What the job `merge` does: puts the line on a branch as it stands now, in the rails' own
 * worktree, and runs every gate on that. */
export async function buildMerge(
  journal: Journal,
  site: Site,
  branch: string,
  from: string,
): Promise<void> {
  const { run, line, tip, landings } = await journal.state();
  await site.reset(from);
  const clash = await site.merge(tip, `Merge ${line} (run ${run})`);
  const attempts = landings.flatMap((landing) => landing.attempts);
  const red =
    clash ??
    (await site.fill()) ??
    (await redOnTip({ journal, site, seen: new Set() }, attempts, true));
  const { commit: to } = await site.tip();
  await site.keep(to);
  await journal.add({ event: "merge-built", branch, from, tip, to, red });
}

/** Merges a run's line into a branch, by a person's word: built and proven on what the branch is
 * now, then moved forward.
 * @param branch undefined for the one that is checked out here
 * @returns the commit on which the branch stands now, or null where the gates still run when the
 *   time is up
 * @throws Fault where the merge clashes or is red, and where the branch cannot be moved, with the
 *   command that does it */
export async function mergeRun(
  { journal, place, state }: Readonly<{ journal: Journal; place: Place; state: RunState }>,
  branch: string | undefined,
  until: number,
): Promise<{ into: string; to: string } | null> {
  const { run, line, tip, landings } = state;
  const trees = await listWorktrees(place.main);
  const into = branch ?? trees.find(({ path }) => path === place.top)?.branch;
  if (landings.length === 0)
    throw new Fault("nothing-landed", `nothing is on ${line} yet`, "see minion board");
  if (!into)
    throw new Fault(
      "no-branch",
      "no branch is checked out here",
      "name one: minion merge --into main",
    );
  const from = await commitOf(`refs/heads/${into}`, place.main);
  if (!from) throw new Fault("no-branch", `there is no branch ${into}`, "name one that there is");
  const isThis = (built: Event<"merge-built"> | null) =>
    built?.branch === into && built.from === from && built.tip === tip ? built : undefined;
  const job = { journal, cwd: place.main, job: `merge ${run} ${into} ${from}`, until };
  const built = await attach(job, (now) => isThis(now.built));
  if (!built) return null;
  const { red, to } = built;
  if (red)
    throw new Fault(
      "merge-red",
      `${line} on ${into}: ${red}`,
      `look at it: git merge --no-ff ${branchRef(line)}`,
    );

  const holder = trees.find((each) => each.branch === into);
  const there = holder?.path === place.top ? "" : `-C ${word(holder?.path ?? "")} `;
  const way = `it is proven as ${to.slice(0, 10)}; when you are ready: git ${there}merge --ff-only ${to}`;
  if (there && holder)
    throw new Fault("checked-out", `${into} is checked out in ${holder.path}`, way);
  const changed = holder ? await gitList(place.top, "diff", "--name-only", "-z", "HEAD") : [];
  if (changed.length > 0)
    throw new Fault("dirty", `not committed here: ${changed.slice(0, 5).join(", ")}`, way);
  const move = holder
    ? ["merge", "--quiet", "--ff-only", to]
    : ["update-ref", "-m", "minion: merge", `refs/heads/${into}`, to, from];
  const { code } = await git({ cwd: place.top, accept: [1, 128] }, ...move);
  const isStill = (await commitOf(`refs/heads/${into}`, place.main)) === from;
  if (code !== 0 && !isStill)
    throw new Fault("moved", `${into} has moved meanwhile`, "call the same again");
  if (code !== 0) throw new Fault("not-moved", `git does not move ${into}`, way);
  await journal.add({ event: "merged", branch: into, to });
  return { into, to };
}
