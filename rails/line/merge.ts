import { git, gitList } from "../git/git.ts";
import { commitOf, jobFolder, listWorktrees, type Place } from "../git/repository.ts";
import type { Event } from "../journal/events.ts";
import type { Journal } from "../journal/journal.ts";
import type { RunState } from "../journal/state.ts";
import { Fault } from "../program/fault.ts";
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
    (await redOnTip({ journal, site, seen: new Set() }, attempts, "all"));
  const { commit: to } = await site.tip();
  await site.keep(to);
  await journal.add({ event: "merge-built", branch, from, tip, to, red });
}

/** A run, and where the person stands who merges it. */
type At = Readonly<{ journal: Journal; place: Place; state: RunState }>;

/** Merges a run's line into a branch, by a person's word: built and proven on what the branch is
 * now, then moved forward.
 * @param branch undefined for the one that is checked out here
 * @returns the commit on which the branch stands now, or null where the gates still run when the
 *   time is up
 * @throws Fault where the merge clashes or is red, and where the branch cannot be moved, with the
 *   command that does it */
export async function mergeRun(
  at: At,
  branch: string | undefined,
  until: number,
): Promise<{ into: string; to: string } | null> {
  const { journal, place, state } = at;
  const trees = await listWorktrees(place.main);
  if (state.landings.length === 0)
    throw new Fault("nothing-landed", `nothing is on ${state.line} yet`, "see minion board");
  const into = branch ?? trees.find(({ path }) => path === place.top)?.branch;
  const from = await tipOf(into, place);
  const built = await builtOn(at, from, until);
  if (!built) return null;
  const { red, to } = built;
  if (red) {
    const way = `look at it: git merge --no-ff ${state.line}`;
    throw new Fault("merge-red", `${state.line} on ${from.branch}: ${red}`, way);
  }
  const holder = trees.find((each) => each.branch === from.branch)?.path;
  await moveForward(place, from, to, holder);
  await journal.add({ event: "merged", branch: from.branch, to });
  return { into: from.branch, to };
}

/** A branch, and the commit that it stands on. */
type Tip = Readonly<{ branch: string; commit: string }>;

/** @throws Fault `no-branch` where there is none */
async function tipOf(branch: string | undefined, place: Place): Promise<Tip> {
  const way = "name one: minion merge --into main";
  if (!branch) throw new Fault("no-branch", "no branch is checked out here", way);
  const commit = await commitOf(`refs/heads/${branch}`, place.main);
  if (!commit)
    throw new Fault("no-branch", `there is no branch ${branch}`, "name one that there is");
  return { branch, commit };
}

/** Waits for the merge of the line as it is now into a branch as it is now.
 * @returns it, or undefined where it is still at work at `until` */
function builtOn(
  { journal, place, state: { run, tip } }: At,
  { branch, commit }: Tip,
  until: number,
): Promise<Event<"merge-built"> | undefined> {
  const job = { journal, cwd: jobFolder(place), job: `merge ${run} ${branch} ${commit}`, until };
  return attach(job, ({ built }) => {
    const isThis = built?.branch === branch && built.from === commit && built.tip === tip;
    return isThis ? built : undefined;
  });
}

/** Moves a branch forward to a commit on top of it, with the files where it is checked out here.
 * @param holder the worktree where it is checked out, if it is
 * @throws Fault `checked-out`, `dirty`, `not-moved` with the command that does it; `moved` where it
 *   stands somewhere else by now */
async function moveForward(
  place: Place,
  { branch, commit: from }: Tip,
  to: string,
  holder: string | undefined,
): Promise<void> {
  const isHere = holder === place.top;
  const there = isHere ? "" : `-C ${holder} `;
  const way = `it is proven as ${to.slice(0, 10)}; when you are ready: git ${there}merge --ff-only ${to}`;
  if (holder !== undefined && !isHere)
    throw new Fault("checked-out", `${branch} is checked out in ${holder}`, way);
  const changed = isHere ? await gitList(place.top, "diff", "--name-only", "-z", "HEAD") : [];
  if (changed.length > 0)
    throw new Fault("dirty", `not committed here: ${changed.slice(0, 5).join(", ")}`, way);
  const move = isHere
    ? ["merge", "--quiet", "--ff-only", to]
    : ["update-ref", "-m", "minion: merge", `refs/heads/${branch}`, to, from];
  const { code } = await git({ cwd: place.top, accept: [1, 128] }, ...move);
  if (code === 0) return;
  const isStill = (await commitOf(`refs/heads/${branch}`, place.main)) === from;
  if (!isStill) throw new Fault("moved", `${branch} has moved meanwhile`, "call the same again");
  throw new Fault("not-moved", `git does not move ${branch}`, way);
}
