import { join } from "node:path";
import { Fault } from "../fault.ts";
import { gitText } from "../git/git.ts";
import { commitOf, type Place } from "../git/repository.ts";
import { listWorktrees, removeBranch, removeWorktree, type Worktree, worthKeeping } from "../git/worktree.ts";
import type { Journal } from "../record/journal.ts";
import { isAlive } from "../record/process.ts";
import type { RunState } from "../record/state.ts";

/** What `clean` would do with one worktree or branch of a run. */
export interface Leftover {
  readonly kind: "worktree" | "branch";
  /** Path or branch name. */
  readonly name: string;
  /** The commit that it stands on; a branch that has moved since is left alone. */
  readonly commit: string;
  /** Why it stays; null where it goes. */
  readonly keep: string | null;
}

/** Ends a run where it stands: what landed stays, what runs is stopped, no branch is removed. */
export async function abort(journal: Journal, note: string): Promise<void> {
  const state = await journal.state();
  if (!state.open)
    throw new Fault("not-open", `run ${state.run} is over already`, "minion report shows what came of it");
  await journal.add({ event: "aborted", note });
  for (const { process: job } of state.jobs.values()) if (await isAlive(job)) process.kill(job.pid, "SIGTERM");
}

/**
 * Finds what a run and the client's agents left: only what this run made, by the names that its journal holds.
 * @throws Fault `still-open` while the run goes on
 */
export async function leftovers(state: RunState, place: Place, landing: string): Promise<Leftover[]> {
  if (state.open) throw new Fault("still-open", `run ${state.run} goes on`, "let it end, or end it: minion abort");
  const attempts = [...state.attempts.values()];
  const agents = attempts.flatMap(({ agent }) => (agent ? [`agent-${agent}`] : []));
  const folders = new Set([
    landing,
    ...attempts.flatMap(({ begun }) => (begun ? [begun.worktree] : [])),
    ...agents.map((name) => join(place.main, ".claude", "worktrees", name)),
  ]);
  const trees = (await listWorktrees(place.main)).filter(({ path }) => folders.has(path));
  const found: Leftover[] = [];
  for (const tree of trees)
    found.push({
      kind: "worktree",
      name: tree.path,
      commit: tree.head,
      keep: await worthKeeping(tree, landedHeads(state)),
    });
  const stay = found.filter(({ keep }) => keep).map(({ name }) => name);
  const held = new Map(
    trees.filter(({ path }) => stay.includes(path)).map((tree: Worktree) => [tree.branch, tree.path]),
  );
  const names = new Set([
    ...attempts.flatMap(({ begun }) =>
      begun ? [begun.branch, ...(begun.foundBranch ? [begun.foundBranch] : [])] : [],
    ),
    ...agents.map((name) => `worktree-${name}`),
    state.line,
  ]);
  for (const name of names) {
    const commit = await commitOf(`refs/heads/${name}`, place.main);
    if (commit === null) continue;
    const holder = held.get(name);
    found.push({
      kind: "branch",
      name,
      commit,
      keep: holder ? `checked out in ${holder}` : await unlanded(state, place, name, commit),
    });
  }
  return found;
}

/** Removes what is to go. */
export async function clean(found: readonly Leftover[], place: Place): Promise<void> {
  for (const { kind, name, keep } of found) if (kind === "worktree" && !keep) await removeWorktree(place, name);
  for (const { kind, name, commit, keep } of found)
    if (kind === "branch" && !keep) await removeBranch(place, name, commit);
}

/** The tips that workers handed in and that are on the line, as picks of the same changes. */
function landedHeads(state: RunState): string[] {
  const landed = new Set(state.landings.flatMap(({ attempts }) => attempts));
  return [...state.attempts.values()].flatMap(({ id, submitted }) =>
    submitted && landed.has(id) ? [submitted.head] : [],
  );
}

async function unlanded(state: RunState, place: Place, name: string, commit: string): Promise<string | null> {
  const isLine = name === state.line;
  if (!isLine && landedHeads(state).includes(commit)) return null;
  const elsewhere = [
    `--exclude=refs/heads/${name}`,
    "--exclude=refs/heads/minion/*",
    "--glob=refs/heads/*",
    "--tags",
    "--remotes",
  ];
  const own = ["rev-list", "--max-count=1", commit, "--not", ...elsewhere, ...(isLine ? [] : [state.tip])];
  if ((await gitText(own, { cwd: place.main })) === "") return null;
  return isLine ? "the result: not merged yet" : "work that did not land";
}
