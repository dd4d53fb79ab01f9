import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { git, gitText } from "../git/git.ts";
import {
  commitOf,
  isCheckout,
  listWorktrees,
  type Place,
  type Worktree,
} from "../git/repository.ts";
import { workIn } from "../git/submodule.ts";
import { asListed, cloneFor, removeWorktree, withGitLock } from "../git/worktree.ts";
import { madeIn } from "../journal/evidence.ts";
import type { Journal } from "../journal/journal.ts";
import { branchOf, isOpen, type RunState } from "../journal/state.ts";
import { Fault } from "../program/fault.ts";
import { isAlive } from "../program/process.ts";

/** Ends a run where it stands: what landed stays, what runs is stopped, no branch is removed. */
export async function abort(journal: Journal): Promise<void> {
  const state = await journal.state();
  if (!isOpen(state))
    throw new Fault("not-open", `run ${state.run} is over already`, "see minion report");
  await journal.add({ event: "aborted", note: "by hand" });
  for (const { process: job } of state.jobs.values())
    if (await isAlive(job)) process.kill(job.pid, "SIGTERM");
}

/** Removes what a run and the client's agents left, by the names that its journal holds; keeps what
 * is dirty or did not land, and says why.
 * @param rooms paths of the rails' own worktrees
 * @param isDryRun only looks
 * @throws Fault `still-open` while the run goes on */
export async function clean(
  state: RunState,
  place: Place,
  rooms: readonly string[],
  isDryRun: boolean,
) {
  if (isOpen(state))
    throw new Fault(
      "still-open",
      `run ${state.run} goes on`,
      "let it end, or end it: minion abort",
    );
  const { main } = place;
  const attempts = [...state.attempts.values()];
  const begun = attempts.flatMap((each) => each.begun ?? []);
  const made = ["", ...state.attempts.keys()].flatMap((attempt) => madeIn(state, attempt));
  // The tips that workers handed in and that are on the line, as picks of the same changes.
  const landed = attempts.filter(({ id }) =>
    state.landings.some((each) => each.attempts.includes(id)),
  );
  const heads = landed.flatMap(({ submitted }) => submitted?.head ?? []);
  const remove: string[] = [];
  const keep: { name: string; why: string }[] = [];
  const settle = async (
    name: string,
    why: string | null,
    act: () => Promise<unknown>,
  ): Promise<void> => {
    if (why !== null) return void keep.push({ name, why });
    remove.push(name);
    if (!isDryRun) await act();
  };

  // What the client makes for an agent. A worker may also run in a worktree that a person made:
  // that is the person's.
  const names = attempts.flatMap(({ launched }) =>
    launched ? `worktree-agent-${launched.agent}` : [],
  );
  const agents = [...names, ...begun.map((each) => each.foundBranch)].filter((name) =>
    /^worktree-agent-./.test(name),
  );
  const own = await Promise.all(rooms.map(asListed));
  const isOurs = ({ path }: Worktree): boolean =>
    own.includes(path) ||
    (path.includes("/.claude/worktrees/") && agents.includes(`worktree-${basename(path)}`));
  const trees = await listWorktrees(main);
  const clones: Worktree[] = [];
  for (const room of rooms) {
    const path = await cloneFor(place, room);
    if (await isCheckout(path)) clones.push({ path, head: state.tip, branch: undefined });
  }
  for (const { path, head } of [...trees.filter(isOurs), ...clones]) {
    // What was tried there is on the attempts' branches, or can be made again.
    const tip = own.includes(path) ? state.tip : head;
    const isOwn = await hasMore(main, tip, "--branches", "--tags", "--remotes", ...heads);
    const why =
      (await unsaved(main, path, made)) ?? (isOwn ? "commits that are on no branch" : null);
    await settle(`worktree ${path}`, why, () => removeWorktree(place, path, made));
  }

  // Also that of an attempt whose begin was killed before the journal knew.
  const branches = attempts.map(branchOf);
  for (const name of new Set([...branches, ...agents, state.line])) {
    const ref = `refs/heads/${name}`;
    const commit = await commitOf(ref, main);
    if (commit === null) continue;
    const holder = trees.find(
      ({ path, branch }) => branch === name && !remove.includes(`worktree ${path}`),
    );
    const others = [
      "--exclude=refs/heads/minion/*",
      `--exclude=${ref}`,
      "--glob=refs/heads/*",
      "--tags",
      "--remotes",
    ];
    const [known, reason] =
      name === state.line
        ? [[], "the result: not merged yet"]
        : [[state.tip, ...heads], "work that did not land"];
    const isOwn = await hasMore(main, commit, ...others, ...known);
    const why = holder ? `checked out in ${holder.path}` : isOwn ? reason : null;
    // Given the commit, git leaves a branch alone that has moved meanwhile.
    await settle(`branch ${name}`, why, () =>
      withGitLock(place, () => git(main, "update-ref", "-d", ref, commit)),
    );
  }
  return { remove, keep };
}

/** What lies in a worktree and nowhere else. A folder that somebody removed by hand holds nothing
 * any more. */
async function unsaved(
  main: string,
  path: string,
  made: readonly string[],
): Promise<string | null> {
  if (!(await stat(path).catch(() => null))) return null;
  return (await isCheckout(path)) ? workIn(path, main, made) : "it lost its .git";
}

/** Has a commit anything below it that none of the others has? Of these some may be gone from the
 * repository. */
const hasMore = async (cwd: string, commit: string, ...than: readonly string[]): Promise<boolean> =>
  (await gitText(
    cwd,
    "rev-list",
    "--ignore-missing",
    "--max-count=1",
    commit,
    "--not",
    ...than,
  )) !== "";
