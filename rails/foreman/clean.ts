import { basename } from "node:path";
import { git, gitText } from "../git/git.ts";
import { holderOf } from "../git/holder.ts";
import {
  commitOf,
  isCheckout,
  listWorktrees,
  type Place,
  type Worktree,
} from "../git/repository.ts";
import { asListed, cloneFor, removeWorktree, whyKept, withGitLock } from "../git/worktree.ts";
import { madeIn } from "../journal/evidence.ts";
import { isRedRound } from "../journal/rounds.ts";
import { type AttemptState, branchOf, isOpen, type RunState } from "../journal/state.ts";
import { Fault } from "../program/fault.ts";
import { isOfAgent } from "../worker/attempt.ts";

/** What a run left behind, by the names that its journal holds. */
type Leftovers = Readonly<{
  rooms: readonly string[]; // Paths of the rails' own worktrees
  trees: readonly Worktree[]; // All that the repository has
  made: readonly string[]; // What commands made beside the files
  heads: readonly string[]; // Tips that workers handed in and that are on the line, as picks
  branches: readonly string[]; // Of its attempts
  // By branch: of a task that landed with another variant, what this one is, in words
  notPicked: ReadonlyMap<string, string>;
  isAgents: (name: string) => boolean; // Made by the client, as `agent-ID`, for a worker
}>;

/** Takes down what is removed and what is kept; removes it, unless it is only looked. */
type Settle = (
  name: string,
  whyKept: string | null,
  remove: () => Promise<unknown>,
) => Promise<void>;

/** What is asked for: only to look, and whether variants that were not picked go as well. */
type Wanted = Readonly<{ isDryRun: boolean; isWithVariants: boolean }>;

/** Removes what a run and the client's agents left, by the names that its journal holds; keeps what
 * is dirty or did not land, and says why.
 * @param rooms paths of the rails' own worktrees
 * @returns the names of what is removed, and of what is kept with the reason
 * @throws Fault `still-open` while the run goes on */
export async function clean(
  state: RunState,
  place: Place,
  rooms: readonly string[],
  { isDryRun, isWithVariants }: Wanted,
) {
  if (isOpen(state)) {
    const hint = `let it end, or end it: minion abort --run ${state.run}`;
    throw new Fault("still-open", `run ${state.run} goes on`, hint);
  }
  const remove: string[] = [];
  const keep: { name: string; why: string }[] = [];
  const settle: Settle = async (name, why, act) => {
    if (why !== null) return void keep.push({ name, why });
    remove.push(name);
    if (!isDryRun) await act();
  };
  const left = leftoversOf(state, rooms, await listWorktrees(place.main));
  await cleanWorktrees(state, place, left, settle);
  const standing = left.trees.filter(({ path }) => !remove.includes(`worktree ${path}`));
  const wanted = isWithVariants ? [...left.notPicked.keys()] : [];
  await cleanBranches(state, place, left, standing, { settle, wanted });
  return { remove, keep };
}

function leftoversOf(
  state: RunState,
  rooms: readonly string[],
  trees: readonly Worktree[],
): Leftovers {
  const attempts = [...state.attempts.values()];
  const landed = attempts.filter(({ id }) =>
    state.landings.some((each) => each.attempts.includes(id)),
  );
  // What the client makes for an agent. A worker may also run in a worktree that a person made:
  // that is the person's.
  const launched = attempts.flatMap(({ launches }) => launches);
  const found = attempts.map(({ begun }) => begun?.foundBranch);
  return {
    rooms,
    trees,
    // By landing, where nobody works: what came up in a worker's worktree while a gate ran there
    // may be the worker's.
    made: madeIn(state),
    heads: [...landed, ...roundsBefore(landed)].flatMap(({ submitted }) => submitted?.head ?? []),
    // Also that of an attempt whose begin was killed before the journal knew.
    branches: attempts.map(branchOf),
    notPicked: new Map(
      attempts
        .filter(isNotPicked)
        .map((each) => [
          branchOf(each),
          `variant ${each.variant} of task ${each.task.id}, not picked: clean --variants removes it`,
        ]),
    ),
    isAgents: (name) =>
      launched.some(({ agent }) => isOfAgent(name, agent)) ||
      (/^agent-./.test(name) && found.includes(`worktree-${name}`)),
  };
}

/** The rounds on whose work that of the last one stands, of those that landed. */
const roundsBefore = (landed: readonly AttemptState[]): AttemptState[] =>
  landed.flatMap((last) =>
    last.task.attempts.filter(
      (each) => isRedRound(each) && !each.over && each.phase === last.phase && each !== last,
    ),
  );

/** Is it one of several of which another one landed? */
const isNotPicked = ({ id, variant, task }: AttemptState): boolean =>
  variant > 0 && task.state === "landed" && task.picked !== null && task.picked !== id;

/** Settles the rails' own worktrees and those of the client's agents. */
async function cleanWorktrees(
  state: RunState,
  place: Place,
  { rooms, trees, made, heads, isAgents }: Leftovers,
  settle: Settle,
): Promise<void> {
  const own = await Promise.all(rooms.map(asListed));
  const isWorkers = (path: string): boolean =>
    path.includes("/.claude/worktrees/") && isAgents(basename(path));
  const clones: Worktree[] = [];
  for (const room of rooms) {
    const path = await cloneFor(place, room);
    if (await isCheckout(path)) clones.push({ path, head: state.tip, branch: undefined });
  }
  const ours = trees.filter(({ path }) => own.includes(path) || isWorkers(path));
  for (const { path, head } of [...ours, ...clones]) {
    // What was tried in a room is on the attempts' branches, or can be made again.
    const tip = own.includes(path) ? state.tip : head;
    const others = ["--branches", "--tags", "--remotes", ...heads];
    const isOnlyHere = await hasMore(place.main, tip, ...others);
    const why =
      (await whyKept(place, path, made)) ?? (isOnlyHere ? "commits that are on no branch" : null);
    await settle(`worktree ${path}`, why, () => removeWorktree(place, path, made));
  }
}

/** Settles the branches of attempts, of the client's agents, and the line.
 * @param standing the worktrees that are still there
 * @param wanted branches that go though they did not land */
async function cleanBranches(
  state: RunState,
  place: Place,
  { branches, isAgents, heads, notPicked }: Leftovers,
  standing: readonly Worktree[],
  { settle, wanted }: Readonly<{ settle: Settle; wanted: readonly string[] }>,
): Promise<void> {
  const { main } = place;
  const like = ["--format=%(refname:lstrip=2)", "refs/heads/worktree-agent-*"];
  const made = (await gitText(main, "for-each-ref", ...like)).split("\n");
  const symbolic = await symbolicRefs(main);
  const agents = made.filter((name) => isAgents(name.slice("worktree-".length)));
  for (const name of new Set([...branches, ...agents, state.line])) {
    const ref = `refs/heads/${name}`;
    const commit = await commitOf(ref, main);
    if (commit === null) continue;
    const isLine = name === state.line;
    const landed = isLine ? [] : [state.tip, ...heads];
    const others = [
      "--exclude=refs/heads/minion/*",
      `--exclude=${ref}`,
      "--glob=refs/heads/*",
      "--tags",
      "--remotes",
      ...landed,
    ];
    const isOnlyHere = await hasMore(main, commit, ...others);
    const holder = await holderOf(place, name);
    const isHeld = standing.some(({ path }) => path === holder?.path);
    let why: string | null = null;
    if (holder && isHeld)
      why = `${holder.isBusy ? "being rebased" : "checked out"} in ${holder.path}`;
    else if (symbolic.has(ref)) why = `${symbolic.get(ref)} stands for it`;
    else if (isOnlyHere && !wanted.includes(name))
      why = isLine
        ? "the result: not merged yet"
        : (notPicked.get(name) ?? "work that did not land");
    // Given the commit, git leaves a branch alone that has moved meanwhile.
    await settle(`branch ${name}`, why, () =>
      withGitLock(place, () => git(main, "update-ref", "--no-deref", "-d", ref, commit)),
    );
  }
}

/** The refs that stand for another one, by that one: a person may have named a line so. */
async function symbolicRefs(main: string): Promise<ReadonlyMap<string, string>> {
  const said = await gitText(main, "for-each-ref", "--format=%(symref) %(refname)");
  const lines = said.split("\n").map((line) => line.split(" "));
  return new Map(
    lines.flatMap(([to = "", name = ""]): [string, string][] => (to === "" ? [] : [[to, name]])),
  );
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
