import { spawn } from "node:child_process";
import { mkdir, open, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Blueprint } from "../blueprint/blueprint.ts";
import { EXIT } from "../fault.ts";
import { cleanEnv, git } from "../git/git.ts";
import { pathsBetween, treeOf, untrackedIn, type Worktop } from "../git/repository.ts";
import type { Command, Evidence } from "./events.ts";
import type { Journal, Run } from "./journal.ts";
import { failuresIn, isPass, isRed, isSubset, isUntested } from "./judge.ts";
import { keep, secretsIn } from "./output.ts";
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

/** What commands made beside the files in one worktree: an attempt's, or landing's where none is given. */
export function madeIn({ evidence }: RunState, attempt?: string): string[] {
  const own = evidence.filter(({ by, attempts }) =>
    attempt ? by === "worker" && attempts[0] === attempt : by === "landing",
  );
  return [...new Set(own.flatMap(({ made }) => made))];
}

/** The names of the gates, in order, that have not passed on a tree. */
export const unproven = (state: RunState, tree: string): string[] =>
  state.gates.filter((gate) => !isPass(evidenceFor(state, gate, tree))).map(({ name }) => name);

/** Paths of one kind that evidence names: a command that makes more leaves a folder that should be ignored. */
const PATHS_LIMIT = 100;

/** For whom and where something is to be proven. */
export type Proof = Run & Pick<Evidence, "by" | "attempts"> & { readonly place: Worktop };

/** Runs a command on the files as they lie in a worktree, to its end or its limit, and gives back what it leaves;
 * the caller writes that down. */
export async function prove({ journal, state, place, by, attempts }: Proof, command: Command): Promise<Evidence> {
  const { name: gate, run, cwd, timeout } = command;
  const { output: rules } = state.blueprint;
  await mkdir(join(journal.folder, "output"), { recursive: true });
  const label = attempts.length === 0 ? "base" : by === "landing" ? by : attempts[0]?.replace(/^.*\//, "");
  const output = join("output", `${label}-${gate}-${Date.now().toString(36)}.log`);
  const known = madeIn(state, by === "worker" ? attempts[0] : undefined);
  const tree = await treeOf(place, known);
  const untracked = await untrackedIn(place.top);
  const before = performance.now();
  const code = await execute(run, join(place.top, cwd), timeout, join(journal.folder, output), rules);
  const ms = Math.round(performance.now() - before);
  const made = (await untrackedIn(place.top)).filter((path) => !untracked.includes(path)).slice(0, PATHS_LIMIT);
  // A setup may touch a lockfile: that is undone, since nothing has been worked on yet.
  if (command === state.setup) await git(place.top, "checkout", "--quiet", "--force", "--", ":/");
  const after = await treeOf(place, [...known, ...made]);
  const changed = (await pathsBetween(tree, after, place.top)).slice(0, PATHS_LIMIT);
  const untested = code === 0 && isUntested(await readFile(join(journal.folder, output), "utf8"), rules);
  const plain = { gate, by, attempts, tree, changed, made, command: run, cwd, setup: setupKey(state), code, untested };
  const evidence = { ...plain, known: false, ms, output };
  const base = state.evidence.findLast((each) => each.gate === gate && each.attempts.length === 0);
  const isKnown = state.baseAccepted && isRed(evidence) && base && (await isNoWorse(journal, state, evidence, base));
  return { ...evidence, known: isKnown === true };
}

/** Does a red run name no failure that an earlier one of the same gate does not name as well? */
export async function isNoWorse(journal: Journal, { blueprint }: RunState, now: Evidence, before: Evidence) {
  if (now.code !== before.code || now.untested !== before.untested) return false;
  if (now.untested) return true;
  const read = async ({ output }: Evidence): Promise<Set<string>> =>
    failuresIn(await readFile(join(journal.folder, output), "utf8"), blueprint.output);
  return isSubset(await read(now), await read(before));
}

/** Commands that run now, by process group: a job that is told to end takes them along. */
const groups = new Set<number>();
process.once("SIGTERM", () => {
  for (const pid of groups) endGroup(pid);
  process.exit(EXIT.interrupted);
});

/** How long output may still come from what a command left behind outside of its process group. */
const LAST_WORDS_MS = 2000;

/** Whatever way it ends, nothing of its process group is left running.
 * @returns its exit code, null where it ran out of time */
async function execute(run: string, cwd: string, timeout: number, path: string, rules: Blueprint["output"]) {
  const file = await open(path, "wx");
  // Both streams into one, so that lines stand in the order in which they were written.
  const whole = `exec 2>&1\n${run}`;
  const child = spawn(whole, {
    cwd,
    env: cleanEnv(),
    shell: true,
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const pid = child.pid ?? 0;
  groups.add(pid);
  const kept = keep(child.stdout, file, rules.megabytes * 2 ** 20, secretsIn(process.env, rules.secret)).catch(
    () => {},
  );
  let timer: NodeJS.Timeout | undefined;
  const code = await new Promise<number | null>((resolve) => {
    timer = setTimeout(resolve, timeout * 1000, null);
    child.on("error", () => resolve(127)).on("exit", (code) => resolve(code ?? 128));
  });
  clearTimeout(timer);
  endGroup(pid);
  timer = setTimeout(() => child.stdout.destroy(), LAST_WORDS_MS);
  await kept;
  clearTimeout(timer);
  await file.close();
  return code;
}

function endGroup(pid: number): void {
  groups.delete(pid);
  try {
    if (pid > 0) process.kill(-pid, "SIGKILL");
  } catch {
    // Nobody is left in it.
  }
}
