import { spawn } from "node:child_process";
import { mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import { EXIT } from "../fault.ts";
import { cleanEnv, git } from "../git/git.ts";
import { pathsBetween, treeOf, untrackedIn, type Worktop } from "../git/repository.ts";
import type { Command, Evidence } from "./events.ts";
import type { Run } from "./journal.ts";
import type { RunState } from "./state.ts";

/** Names a run's setup: evidence that was made after another one says nothing. */
const setupKey = ({ setup }: RunState): string => (setup ? `${setup.cwd}: ${setup.run}` : "");

/** The newest evidence of a gate that holds for a tree, or undefined; `by`: only such. */
export function evidenceFor(state: RunState, command: Command, tree: string, by?: "landing"): Evidence | undefined {
  const setup = setupKey(state);
  return state.evidence
    .filter((each) => each.gate === command.name && each.command === command.run && each.cwd === command.cwd)
    .findLast((each) => each.tree === tree && each.setup === setup && (by === undefined || each.by === by));
}

/** Exit code 0, and the files are as they were: a command that changed them passed on others than it leaves. */
export const isPass = (evidence: Evidence | undefined): boolean =>
  evidence?.code === 0 && evidence.changed.length === 0;

/** What the run's commands made beside the files. */
export const madeIn = ({ evidence }: RunState): string[] => [...new Set(evidence.flatMap(({ made }) => made))];

/** The names of the gates, in order, that have not passed on a tree. */
export const unproven = (state: RunState, tree: string): string[] =>
  state.gates.filter((gate) => !isPass(evidenceFor(state, gate, tree))).map(({ name }) => name);

/** Paths of one kind that evidence names: a command that makes more leaves a folder that should be ignored. */
const PATHS_LIMIT = 100;

/** For whom and where something is to be proven. */
export type Proof = Run & Pick<Evidence, "by" | "attempts"> & { readonly place: Worktop };

/** Runs a command on the files as they lie in a worktree, to its end or its limit, and gives back what it leaves;
 * the caller writes that down. The output goes straight to a file of the run's folder. */
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
  const made = (await untrackedIn(place.top)).filter((path) => !untracked.includes(path)).slice(0, PATHS_LIMIT);
  // A setup may touch a lockfile: that is undone, since nothing has been worked on yet.
  if (command === state.setup) await git(place.top, "checkout", "--quiet", "--force", "--", ":/");
  const after = await treeOf(place, [...known, ...made]);
  const changed = (await pathsBetween(tree, after, place.top)).slice(0, PATHS_LIMIT);
  return { gate, by, attempts, tree, changed, made, command: run, cwd, setup: setupKey(state), code, ms, output };
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
