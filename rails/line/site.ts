import { join } from "node:path";
import { Fault } from "../fault.ts";
import { git, gitText, NO_HOOKS } from "../git/git.ts";
import { changedPaths, commitOf, gitDirOf, isAncestor, listWorktrees, type Place } from "../git/repository.ts";
import { fillSubmodules } from "../git/submodule.ts";
import { bringBack, freshWorktree } from "../git/worktree.ts";
import type { Command, Evidence } from "../record/events.ts";
import { prove } from "../record/evidence.ts";
import type { Run } from "../record/journal.ts";
import { type Objection, objectionTo } from "../record/objections.ts";
import type { AttemptState, RunState } from "../record/state.ts";

/** Where landing tries things out, and what it does to the line: all that it does outside of the journal. What is done
 * when is `landAll`'s to decide, by what comes back from here. */
export interface Site {
  lineAt(): Promise<string | null>; // The line's commit; null where its branch is gone
  isBelow(earlier: string, later: string): Promise<boolean>; // Or the same
  isElsewhere(commit: string): Promise<boolean>; // On another branch than the run's line as well?
  objection(state: RunState, attempt: AttemptState): Promise<Objection | null>; // What only a person lets through
  reset(commit: string): Promise<void>; // Puts the rails' own worktree there, with nothing left over in it
  /** Puts commits on top, in order. @returns null, or what clashed: then the worktree is as before */
  pick(commits: readonly string[]): Promise<string | null>;
  /** Puts beside the files what belongs to them (submodules). @returns null, or what is not to be had */
  fill(): Promise<string | null>;
  tip(): Promise<{ commit: string; tree: string }>; // What lies in the worktree
  prove(run: Run, attempts: readonly string[], command: Command): Promise<Evidence>; // On what lies there
  /** Moves the line. @returns false where it does not stand on `from` any more @throws Fault `line-in-use` */
  move(from: string, to: string): Promise<boolean>;
}

/** The rails' own worktree: beside the workers' and not inside `.git`, where some test runners look for no tests. */
export const landingPath = (place: Place, run: string): string =>
  join(place.main, ".claude/worktrees", `minion-${run}-landing`);

/** The site of a run in a repository. */
export function siteOf(place: Place, run: string, line: string): Site {
  const { main } = place;
  let path = landingPath(place, run);
  return {
    lineAt: () => commitOf(`refs/heads/${line}`, main),
    isBelow: (earlier, later) => isAncestor(earlier, later, main),
    async isElsewhere(commit) {
      const refs = await gitText(main, "for-each-ref", "--contains", commit, "--format=%(refname)", "refs/heads");
      return refs.split("\n").some((ref) => ref !== "" && ref !== `refs/heads/${line}`);
    },
    async objection(state, { task, begun, submitted }) {
      if (!begun || !submitted || submitted.byHand) return null;
      return objectionTo(state, task, { base: begun.base, head: submitted.head, cwd: main });
    },
    async reset(commit) {
      path = await freshWorktree(place, landingPath(place, run), commit);
    },
    pick: (commits) => pickAll(path, commits),
    async fill() {
      const fault = await fillSubmodules(path, main).catch((error: Error) => error);
      return fault?.message ?? null;
    },
    async tip() {
      const [commit = "", tree = ""] = (await gitText(path, "rev-parse", "HEAD", "HEAD^{tree}")).split("\n");
      return { commit, tree };
    },
    async prove(at, attempts, command) {
      const gitDir = (await gitDirOf(path)) as string;
      return prove({ ...at, place: { top: path, gitDir }, by: "landing", attempts }, command);
    },
    async move(from, to) {
      const holder = (await listWorktrees(main)).find(({ branch }) => branch === line)?.path;
      if (holder)
        throw new Fault("line-in-use", `${line} is checked out in ${holder}`, "switch to another branch there");
      if ((await commitOf(to, main)) === null) await bringBack(place, path, to);
      const where = { cwd: main, accept: [1, 128] };
      return (await git(where, "update-ref", "-m", "minion: land", `refs/heads/${line}`, to, from)).code === 0;
    },
  };
}

async function pickAll(path: string, commits: readonly string[]): Promise<string | null> {
  const before = await gitText(path, "rev-parse", "HEAD");
  // The worker's own committer, since the machine may have none for us; unsigned, since signing may ask somebody.
  const format = ["log", "-1", "--format=%cn%n%ce"];
  const [name, email] = (await gitText(path, ...format, commits.at(-1) ?? "HEAD")).split("\n");
  const where = { cwd: path, env: { GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email }, accept: [1, 128] };
  const how = ["cherry-pick", "--ff", "--allow-empty", "--keep-redundant-commits"];
  if ((await git(where, ...NO_HOOKS, "-c", "commit.gpgSign=false", ...how, ...commits)).code === 0) return null;
  const clash = (await changedPaths(path)).slice(0, 5).join(", ");
  await git(path, "cherry-pick", "--quit");
  await git(path, "reset", "--quiet", "--hard", before);
  return `It clashes with the line in ${clash}.`;
}
