import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { Fault } from "../fault.ts";
import { git, gitText } from "../git/git.ts";
import { changedPaths, commitOf, isCheckout, listWorktrees, type Place, type Worktree } from "../git/repository.ts";
import { workInSubmodules } from "../git/submodule.ts";
import { asListed, cloneFor, removeWorktree, withGitLock } from "../git/worktree.ts";
import { madeIn } from "../record/evidence.ts";
import { isAlive } from "../record/job.ts";
import type { Journal } from "../record/journal.ts";
import { isOpen, type RunState } from "../record/state.ts";

/** What `clean` did, or would do, with one worktree or branch of a run; `keep`: why it stays, null where it goes. */
export type Leftover = Readonly<{ kind: "worktree" | "branch"; name: string; keep: string | null }>;

/** Ends a run where it stands: what landed stays, what runs is stopped, no branch is removed. */
export async function abort(journal: Journal): Promise<void> {
  const state = await journal.state();
  if (!isOpen(state)) throw new Fault("not-open", `run ${state.run} is over already`, "see minion report");
  await journal.add({ event: "aborted", note: "by hand" });
  for (const { process: job } of state.jobs.values()) if (await isAlive(job)) process.kill(job.pid, "SIGTERM");
}

/** Removes what a run and the client's agents left, by the names that its journal holds; nothing dirty or unlanded.
 * @param landing path of the worktree in which it landed
 * @param isDryRun only looks
 * @throws Fault `still-open` while the run goes on */
export async function clean(state: RunState, place: Place, landing: string, isDryRun: boolean): Promise<Leftover[]> {
  if (isOpen(state)) throw new Fault("still-open", `run ${state.run} goes on`, "let it end, or end it: minion abort");
  const { main } = place;
  const attempts = [...state.attempts.values()];
  const begun = attempts.flatMap((each) => each.begun ?? []);
  // What the client makes for an agent. A worker may also run in a worktree that a person made: that is the person's.
  const names = attempts.flatMap(({ launched }) => (launched ? `worktree-agent-${launched.agent}` : []));
  const agents = [...names, ...begun.map((each) => each.foundBranch)].filter((name) => /^worktree-agent-./.test(name));
  const own = await asListed(landing);
  const isOurs = ({ path }: Worktree): boolean =>
    path === own || (path.includes("/.claude/worktrees/") && agents.includes(`worktree-${basename(path)}`));
  const trees = await listWorktrees(main);
  const clone = { path: await cloneFor(place, landing), head: state.tip, branch: undefined };
  const found: Leftover[] = [];
  for (const { path, head } of [...trees.filter(isOurs), ...((await isCheckout(clone.path)) ? [clone] : [])]) {
    // What landing tried to put on the line is on the attempts' branches.
    const keep = await worthKeeping(state, main, path, path === own ? state.tip : head);
    found.push({ kind: "worktree", name: path, keep });
    if (keep === null && !isDryRun) await removeWorktree(place, path, madeIn(state));
  }
  const gone = found.flatMap(({ name, keep }) => (keep === null ? name : []));
  for (const name of new Set([...begun.map(({ branch }) => branch), ...agents, state.line])) {
    const ref = `refs/heads/${name}`;
    const commit = await commitOf(ref, main);
    if (commit === null) continue;
    const holder = trees.find(({ path, branch }) => branch === name && !gone.includes(path));
    const keep = holder ? `checked out in ${holder.path}` : await whyKeep(state, main, name, commit);
    found.push({ kind: "branch", name, keep });
    // Given the commit, git leaves a branch alone that has moved meanwhile.
    if (keep === null && !isDryRun) await withGitLock(place, () => git(main, "update-ref", "-d", ref, commit));
  }
  return found;
}

/** The tips that workers handed in and that are on the line, as picks of the same changes. */
function landedHeads({ landings, attempts }: RunState): string[] {
  const landed = landings.flatMap((each) => each.attempts);
  return landed.flatMap((id) => attempts.get(id)?.submitted?.head ?? []);
}

/** Why a worktree may not be removed: there is work in it that is nowhere else, nor in commits that landed. */
async function worthKeeping(state: RunState, main: string, path: string, head: string): Promise<string | null> {
  // A folder that somebody removed by hand holds nothing any more; its commits are still to be looked for.
  if (await stat(path).catch(() => null)) {
    if (!(await isCheckout(path))) return "it lost its .git";
    const changed = await changedPaths(path, madeIn(state));
    if (changed.length > 0) return `not committed: ${changed.slice(0, 3).join(", ")}`;
    const work = await workInSubmodules(path, main);
    if (work) return work;
  }
  const isOwn = await hasMore(main, head, "--branches", "--tags", "--remotes", ...landedHeads(state));
  return isOwn ? "commits that are on no branch" : null;
}

/** Why a branch may not: its commits are neither on the line, nor on somebody else's branch, tag or remote. */
async function whyKeep(state: RunState, main: string, name: string, commit: string): Promise<string | null> {
  const isLine = name === state.line;
  if (!isLine && landedHeads(state).includes(commit)) return null;
  const others = ["--exclude=refs/heads/minion/*", `--exclude=refs/heads/${name}`, "--glob=refs/heads/*"];
  const isOwn = await hasMore(main, commit, ...others, "--tags", "--remotes", ...(isLine ? [] : [state.tip]));
  return isOwn ? (isLine ? "the result: not merged yet" : "work that did not land") : null;
}

const hasMore = async (cwd: string, commit: string, ...than: readonly string[]): Promise<boolean> =>
  (await gitText(cwd, "rev-list", "--max-count=1", commit, "--not", ...than)) !== "";
