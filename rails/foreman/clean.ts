import { join } from "node:path";
import { Fault } from "../fault.ts";
import { gitText } from "../git/git.ts";
import { commitOf, listWorktrees, type Place } from "../git/repository.ts";
import { removeBranch, removeWorktree, worthKeeping } from "../git/worktree.ts";
import type { Journal } from "../record/journal.ts";
import { isAlive } from "../record/process.ts";
import { isOpen, type RunState } from "../record/state.ts";

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
export async function abort(journal: Journal): Promise<void> {
  const state = await journal.state();
  if (!isOpen(state))
    throw new Fault("not-open", `run ${state.run} is over already`, "minion report shows what came of it");
  await journal.add({ event: "aborted", note: "by hand" });
  for (const { process: job } of state.jobs.values()) if (await isAlive(job)) process.kill(job.pid, "SIGTERM");
}

/**
 * Finds what a run and the client's agents left: only what this run made, by the names that its journal holds.
 * @param landing path of the worktree in which it landed
 * @throws Fault `still-open` while the run goes on
 */
export async function leftovers(state: RunState, place: Place, landing: string): Promise<Leftover[]> {
  if (isOpen(state)) throw new Fault("still-open", `run ${state.run} goes on`, "let it end, or end it: minion abort");
  const attempts = [...state.attempts.values()];
  const begun = attempts.flatMap((each) => each.begun ?? []);
  const agents = attempts.flatMap(({ agent }) => (agent ? [`agent-${agent}`] : []));
  const folders = [
    landing,
    ...begun.map(({ worktree }) => worktree),
    ...agents.map((name) => join(place.main, ".claude/worktrees", name)),
  ];
  const trees = (await listWorktrees(place.main)).filter(({ path }) => folders.includes(path));
  const found: Leftover[] = [];
  for (const tree of trees)
    found.push({
      kind: "worktree",
      name: tree.path,
      commit: tree.head,
      keep: await worthKeeping(tree, landedHeads(state)),
    });
  const stays = new Set(found.filter(({ keep }) => keep).map(({ name }) => name));
  const names = [
    ...begun.flatMap(({ branch, foundBranch }) => [branch, foundBranch ?? []].flat()),
    ...agents.map((name) => `worktree-${name}`),
    state.line,
  ];
  for (const name of new Set(names)) {
    const commit = await commitOf(`refs/heads/${name}`, place.main);
    if (commit === null) continue;
    const holder = trees.find(({ path, branch }) => branch === name && stays.has(path));
    const keep = holder ? `checked out in ${holder.path}` : await whyKeep(state, place, name, commit);
    found.push({ kind: "branch", name, commit, keep });
  }
  return found;
}

/** Removes what is to go. */
export async function clean(found: readonly Leftover[], place: Place): Promise<void> {
  const gone = found.filter(({ keep }) => keep === null);
  for (const { kind, name } of gone) if (kind === "worktree") await removeWorktree(place, name);
  for (const { kind, name, commit } of gone) if (kind === "branch") await removeBranch(place, name, commit);
}

/** The tips that workers handed in and that are on the line, as picks of the same changes. */
function landedHeads({ landings, attempts }: RunState): string[] {
  const landed = new Set(landings.flatMap((each) => each.attempts));
  return [...attempts.values()].flatMap(({ id, submitted }) => (submitted && landed.has(id) ? [submitted.head] : []));
}

/** A branch goes where its commits are on the line, or on somebody else's branch, tag or remote. */
async function whyKeep(state: RunState, place: Place, name: string, commit: string): Promise<string | null> {
  const isLine = name === state.line;
  if (!isLine && landedHeads(state).includes(commit)) return null;
  const elsewhere = [
    "--exclude=refs/heads/minion/*",
    `--exclude=refs/heads/${name}`,
    "--glob=refs/heads/*",
    "--tags",
    "--remotes",
  ];
  const own = ["rev-list", "--max-count=1", commit, "--not", ...elsewhere, ...(isLine ? [] : [state.tip])];
  if ((await gitText(own, { cwd: place.main })) === "") return null;
  return isLine ? "the result: not merged yet" : "work that did not land";
}
