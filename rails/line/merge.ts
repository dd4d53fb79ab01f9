import { lstat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { git, gitList, gitText, PLAIN_MERGE } from "../git/git.ts";
import { holderOf } from "../git/holder.ts";
import { commitOf, isAncestor, jobFolder, type Place } from "../git/repository.ts";
import type { Event } from "../journal/events.ts";
import type { Journal } from "../journal/journal.ts";
import type { RunState } from "../journal/state.ts";
import { Fault } from "../program/fault.ts";
import { withLock } from "../program/lock.ts";
import { branchRef, word } from "../program/typed.ts";
import { outside } from "../program/world.ts";
import { attach } from "../proof/jobs.ts";
import { landingAt, redOnTip } from "./landing.ts";
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
  const merged = await site.merge(tip, `Merge ${line} (run ${run})`);
  const clash = "clash" in merged ? merged.clash : null;
  const attempts = landings.flatMap((landing) => landing.attempts);
  // What is fixed before the gates run is what is merged, whatever they do there.
  const proving = await site.tip();
  const { commit: to } = proving;
  const red =
    clash ??
    (await site.fill()) ??
    (await redOnTip(landingAt(journal, site), attempts, proving, true));
  await site.keep(to);
  await journal.add({ event: "merge-built", branch, from, tip, to, red });
}

/** A merge that is asked for: of a run's line, as it stands, into a branch, as it stands. */
type Wanted = Readonly<{ branch: string; from: string; tip: string }>;

/** One that is built and proven: `to`. */
type Built = Wanted & Readonly<{ to: string }>;

type At = Readonly<{ journal: Journal; place: Place; state: RunState }>;

/** Merges a run's line into a branch, by a person's word: built and proven on what the branch is
 * now, then moved forward, unless it is another by then.
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
  const wanted = await wantedOf(place, state, branch);
  const built = await builtOf(at, wanted, until);
  if (!built) return null;
  // One at a time: whoever comes second finds it done.
  const to = await withLock(join(place.common, "minion"), "merge", () => move(place, built));
  await journal.add({ event: "merged", branch: built.branch, to });
  return { into: built.branch, to };
}

/** @throws Fault `nothing-landed`, `no-branch` where there is nothing to merge, or nothing to merge
 *   it into */
async function wantedOf(
  { main, top }: Place,
  { run, landings, line, tip }: RunState,
  named: string | undefined,
): Promise<Wanted> {
  if (landings.length === 0)
    throw new Fault("nothing-landed", `nothing is on ${line} yet`, `see minion board --run ${run}`);
  const ref = named === undefined ? "HEAD" : `refs/heads/${named}`;
  // A branch may itself stand for another one.
  const target = await gitText({ cwd: top, accept: [1, 128] }, "symbolic-ref", "--quiet", ref);
  const branch = target.replace(/^refs\/heads\//, "") || named;
  if (!branch)
    throw new Fault(
      "no-branch",
      "no branch is checked out here",
      `name one: minion merge --run ${run} --into ${word(await anyBranch(main))}`,
    );
  const from = await commitOf(`refs/heads/${branch}`, main);
  if (!from) throw new Fault("no-branch", `there is no branch ${branch}`, "name one that there is");
  return { branch, from, tip };
}

/** A branch of the person's, as an example: the one that was written to last. */
async function anyBranch(main: string): Promise<string> {
  const ask = ["--sort=-committerdate", "--format=%(refname:lstrip=2)", "refs/heads"];
  const names = (await gitText(main, "for-each-ref", ...ask)).split("\n");
  return names.find((name) => name !== "" && !/^(minion\/|worktree-agent-)/.test(name)) ?? "main";
}

/** Has the merge built and proven, where nobody has.
 * @returns null where that still runs when the time is up
 * @throws Fault `merge-red` */
async function builtOf(
  { journal, place, state: { run, line } }: At,
  wanted: Wanted,
  until: number,
): Promise<Built | null> {
  const { branch, from, tip } = wanted;
  const isThis = (built: Event<"merge-built"> | null) =>
    built?.branch === branch && built.from === from && built.tip === tip ? built : undefined;
  const job = { journal, cwd: jobFolder(place), job: `merge ${run} ${branch} ${from}`, until };
  const built = await attach(job, (now) => isThis(now.built));
  if (!built) return null;
  if (built.red) {
    // Beside the person's files: a merge that is no step forward overwrites what is ignored.
    const beside = word(join(dirname(place.main), `${basename(place.main)}-${run}-merge`));
    const make = `git worktree add --detach ${beside} ${branchRef(branch)}`;
    const way = `look at it: ${make} && git -C ${beside} merge --no-ff ${branchRef(line)}`;
    throw new Fault("merge-red", `${line} on ${branch}: ${built.red}`, way);
  }
  const isWhole =
    (await isAncestor(from, built.to, place.main)) && (await isAncestor(tip, built.to, place.main));
  if (!isWhole)
    throw new Fault("not-whole", `${built.to} does not hold ${line}`, `merge it by hand: ${line}`);
  return { ...wanted, to: built.to };
}

/** Moves the branch forward to what is built, where nothing of a person's is in the way. Who has it
 * checked out is asked here and not before: proving takes its time.
 * @returns the commit on which the branch was seen to stand then
 * @throws Fault `moved`, `checked-out`, `dirty`, `in-the-way`, `not-moved` */
async function move(place: Place, built: Built): Promise<string> {
  const { branch, from, tip, to } = built;
  const ref = `refs/heads/${branch}`;
  const now = await commitOf(ref, place.main);
  if (now !== null && (await isAncestor(to, now, place.main))) return now;
  if (now !== from) throw movedFault(branch);
  const holder = await holderOf(place, branch);
  const isHere = holder !== null && holder.path === place.top && !holder.isBusy;
  const there = holder === null || isHere ? "" : `-C ${word(holder.path)} `;
  const way =
    `it is proven as ${to.slice(0, 10)}; when you are ready: ` +
    `git ${there}merge --ff-only --no-squash --no-overwrite-ignore ${to}`;
  if (holder && !isHere) {
    const how = holder.isBusy ? "in the middle of a rebase or bisection" : "checked out";
    throw new Fault("checked-out", `${branch} is ${how} in ${holder.path}`, way);
  }
  if (isHere) await refuseDirty(place.top, way);
  const code = isHere ? await forward(place.top, branch, to) : await setRef(place.top, ref, built);
  const after = await commitOf(ref, place.main);
  const isThere = after !== null && (await isAncestor(to, after, place.main));
  if (isThere && (await isAncestor(tip, after, place.main))) return after;
  if (after !== from) throw movedFault(branch);
  const others = code === 0 ? [] : await inTheWay(place.top, from, to);
  if (others.length > 0) {
    const what = `not tracked here, and in the way: ${others.slice(0, 5).join(", ")}`;
    throw new Fault("in-the-way", what, `move that elsewhere; ${way}`);
  }
  throw new Fault("not-moved", `git does not move ${branch}`, way);
}

const movedFault = (branch: string): Fault =>
  new Fault("moved", `${branch} has moved meanwhile`, "call the same again");

/** @throws Fault `dirty` where something here is not committed */
async function refuseDirty(top: string, way: string): Promise<void> {
  const changed = await gitList(top, "diff", "--name-only", "-z", "HEAD");
  if (changed.length === 0) return;
  throw new Fault("dirty", `not committed here: ${changed.slice(0, 5).join(", ")}`, way);
}

/** Takes what is checked out forward, as git does it: files and branch together, or neither. */
async function forward(top: string, branch: string, to: string): Promise<number> {
  // What a person wrote there for merges of their own comes before all options of a call.
  const { GIT_CONFIG_COUNT: count = "0" } = outside().env;
  const env = {
    GIT_CONFIG_COUNT: String(Number(count) + 1),
    [`GIT_CONFIG_KEY_${count}`]: `branch.${branch}.mergeOptions`,
    [`GIT_CONFIG_VALUE_${count}`]: "",
  };
  const how = ["--quiet", "--ff-only", ...PLAIN_MERGE];
  return (await git({ cwd: top, env, accept: [1, 128] }, "merge", ...how, to)).code;
}

/** Moves a branch that nobody has checked out, where it still stands as it stood. */
async function setRef(top: string, ref: string, { from, to }: Built): Promise<number> {
  const how = ["update-ref", "-m", "minion: merge", ref, to, from];
  return (await git({ cwd: top, accept: [1, 128] }, ...how)).code;
}

/** What comes in with a step forward and lies in a checkout already, of which git knows nothing. */
async function inTheWay(top: string, from: string, to: string): Promise<string[]> {
  const how = ["--name-only", "-z", "--no-renames", "--diff-filter=A", from, to];
  const isThere = (path: string) => lstat(join(top, path)).catch(() => null);
  const found: string[] = [];
  for (const path of await gitList(top, "diff", ...how)) {
    const above = path.split("/").slice(0, -1);
    for (let deep = 1; deep <= above.length; deep++) {
      const folder = above.slice(0, deep).join("/");
      const state = await isThere(folder);
      if (state && !state.isDirectory()) found.push(folder);
    }
    if (await isThere(path)) found.push(path);
  }
  return [...new Set(found)];
}
