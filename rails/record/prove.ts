import { spawn } from "node:child_process";
import { mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import { EXIT } from "../fault.ts";
import { cleanEnv, git } from "../git/git.ts";
import { type Place, pathsBetween, treeOf, untrackedIn } from "../git/repository.ts";
import type { Command, Evidence } from "./events.ts";
import { madeIn, setupKey } from "./evidence.ts";
import type { Journal } from "./journal.ts";
import type { RunState } from "./state.ts";

/** Paths of one kind that evidence names: a command that makes more leaves a folder that should be ignored. */
const PATHS_LIMIT = 100;

interface Proof extends Pick<Evidence, "by" | "attempts"> {
  readonly journal: Journal;
  readonly state: RunState;
  readonly place: Pick<Place, "top" | "gitDir">;
}

/**
 * Runs a command on the files as they lie in a worktree, to its end or its limit, and gives back what it leaves;
 * the caller writes that down. The output goes straight to a file of the run's folder.
 */
export async function prove({ journal, state, place, by, attempts }: Proof, command: Command): Promise<Evidence> {
  const { name: gate, run, cwd, timeout } = command;
  await mkdir(join(journal.folder, "output"), { recursive: true });
  const label = by === "landing" ? by : attempts[0]?.replace(/^.*\//, "");
  const output = join("output", `${label}-${gate}-${Date.now().toString(36)}.log`);
  const known = madeIn(state);
  const tree = await treeOf(place, known);
  const untracked = await untrackedIn(place.top);
  const file = await open(join(journal.folder, output), "wx");
  const before = performance.now();
  const code = await execute(run, join(place.top, cwd), timeout, file.fd).finally(() => file.close());
  const ms = Math.round(performance.now() - before);
  const made = (await untrackedIn(place.top)).filter((path) => !untracked.includes(path));
  // A setup may touch a lockfile: that is undone, since nothing has been worked on yet.
  if (command === state.setup) await git(place.top, "checkout", "--quiet", "--force", "--", ":/");
  const after = await treeOf(place, [...known, ...made]);
  const changed = (await pathsBetween(tree, after, place.top)).slice(0, PATHS_LIMIT);
  const setup = setupKey(state);
  return {
    gate,
    by,
    attempts,
    tree,
    changed,
    made: made.slice(0, PATHS_LIMIT),
    command: run,
    cwd,
    setup,
    code,
    ms,
    output,
  };
}

/** Commands that run now, by process group: a job that is told to end takes them along. */
const groups = new Set<number>();
process.once("SIGTERM", () => {
  for (const pid of groups) endGroup(pid);
  process.exit(EXIT.interrupted);
});

/** Whatever way it ends, nothing of its process group is left running. */
function execute(run: string, cwd: string, timeout: number, output: number): Promise<number | null> {
  const child = spawn(run, { cwd, env: cleanEnv(), shell: true, detached: true, stdio: ["ignore", output, output] });
  const pid = child.pid ?? 0;
  groups.add(pid);
  return new Promise((resolve) => {
    const end = (code: number | null): void => {
      clearTimeout(timer);
      endGroup(pid);
      resolve(code);
    };
    const timer = setTimeout(end, timeout * 1000, null);
    child.on("error", () => end(127));
    child.on("exit", (code) => end(code ?? 128));
  });
}

function endGroup(pid: number): void {
  groups.delete(pid);
  try {
    if (pid > 0) process.kill(-pid, "SIGKILL");
  } catch {
    // Nobody is left in it.
  }
}
