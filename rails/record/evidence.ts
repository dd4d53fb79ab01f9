import { spawn } from "node:child_process";
import { mkdir, open, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Blueprint } from "../blueprint/blueprint.ts";
import type { Phase } from "../blueprint/workflow.ts";
import { EXIT } from "../fault.ts";
import { cleanEnv, git } from "../git/git.ts";
import { pathsBetween, treeOf, untrackedIn, type Worktop } from "../git/repository.ts";
import { END } from "./end.ts";
import type { Command, Evidence } from "./events.ts";
import type { Journal, Run } from "./journal.ts";
import { errorsIn, failuresIn, isMet, isRed, isSubset, isUntested } from "./judge.ts";
import { keep, secretsIn } from "./output.ts";
import { HELD, withSlot } from "./slots.ts";
import type { RunState } from "./state.ts";

/** Names a run's setup: evidence that was made after another one says nothing. */
const setupKey = ({ setup }: RunState): string => (setup ? `${setup.cwd}: ${setup.run}` : "");

/** The newest evidence of a gate that holds for a tree, or undefined. */
export function evidenceFor(
  state: RunState,
  { name, run, cwd }: Command,
  tree: string,
): Evidence | undefined {
  const setup = setupKey(state);
  const all = state.evidence.filter(
    (each) => each.gate === name && each.command === run && each.cwd === cwd,
  );
  return all.findLast((each) => each.tree === tree && each.setup === setup);
}

/** What commands made beside the files in an attempt's worktree, or in landing's where none is
 * given. */
export function madeIn({ evidence }: RunState, attempt?: string): string[] {
  const own = evidence.filter(({ by, attempts }) =>
    attempt ? by === "worker" && attempts[0] === attempt : by === "landing",
  );
  return [...new Set(own.flatMap(({ made }) => made))];
}

/** A gate as a phase wants it: `red` where it has to fail. */
export type PhaseGate = Command & Readonly<{ red: boolean }>;

/** The gates of a phase, in order. */
export const gatesOf = (
  { gates, tasks }: RunState,
  { gates: names, red, writes }: Phase,
): PhaseGate[] =>
  // Once there is something to mend at the end, nothing else is worked on.
  gates
    .filter(({ isLast }) => !isLast || tasks.has(END))
    .map((gate) => ({ ...gate, red: red.includes(gate.name) }))
    .filter((gate) => gate.red || (names ? names.includes(gate.name) : writes && red.length === 0));

/** The names of a phase's gates that have not come out on a tree as they should. */
export const unproven = (state: RunState, phase: Phase, tree: string): string[] =>
  gatesOf(state, phase)
    .filter((gate) => !isMet(gate, evidenceFor(state, gate, tree)))
    .map(({ name }) => name);

/** So many paths evidence names: a command that makes more leaves a folder that should be ignored.
 */
const PATHS_LIMIT = 100;

type Proof = Run & Pick<Evidence, "by" | "attempts"> & { readonly place: Worktop };

/** Runs a command on the files as they lie in a worktree, once one of the machine's slots is free,
 * and gives back what it leaves, which is to be written down. */
export const prove = (proof: Proof, command: Command): Promise<Evidence> =>
  withSlot(proof.state.blueprint.bounds.gate_slots, proof.by === "landing", () =>
    proveNow(proof, command),
  );

async function proveNow(
  { journal, state, place, by, attempts }: Proof,
  command: Command,
): Promise<Evidence> {
  const { name: gate, run, cwd, timeout } = command;
  const rules = state.blueprint.output;
  const label =
    attempts.length === 0 ? "base" : by === "landing" ? by : attempts[0]?.replace(/^.*\//, "");
  const output = join("output", `${label}-${gate}-${Date.now().toString(36)}.log`);
  const path = join(journal.folder, output);
  await mkdir(dirname(path), { recursive: true });
  const known = madeIn(state, by === "worker" ? attempts[0] : undefined);
  const tree = await treeOf(place, known);
  const untracked = await untrackedIn(place.top);
  const before = performance.now();
  const code = await execute(run, join(place.top, cwd), timeout, path, rules);
  const ms = Math.round(performance.now() - before);
  const made = (await untrackedIn(place.top))
    .filter((path) => !untracked.includes(path))
    .slice(0, PATHS_LIMIT);
  // A setup may touch a lockfile: that is undone, since nothing has been worked on yet.
  if (gate === state.setup?.name)
    await git(place.top, "checkout", "--quiet", "--force", "--", ":/");
  const after = await treeOf(place, [...known, ...made]);
  const changed = (await pathsBetween(tree, after, place.top)).slice(0, PATHS_LIMIT);
  const said = await readFile(path, "utf8");
  const untested = code === 0 && isUntested(said, rules);
  const errors = code === 0 ? [] : errorsIn(said, rules);
  const plain = {
    gate,
    by,
    attempts,
    tree,
    changed,
    made,
    command: run,
    cwd,
    setup: setupKey(state),
    code,
    untested,
  };
  const evidence = { ...plain, known: false, ms, output, ...(errors.length > 0 ? { errors } : {}) };
  const base = state.evidence.findLast((each) => each.gate === gate && each.attempts.length === 0);
  if (!state.baseAccepted || !base || !isRed(evidence)) return evidence;
  return { ...evidence, known: await isNoWorse(journal, state, evidence, base) };
}

/** Does a red run name no failure that an earlier one of the same gate does not name as well? */
export async function isNoWorse(
  { folder }: Journal,
  { blueprint }: RunState,
  now: Evidence,
  before: Evidence,
) {
  if (now.code !== before.code || now.untested !== before.untested) return false;
  const read = async ({ output }: Evidence) =>
    failuresIn(await readFile(join(folder, output), "utf8"), blueprint.output);
  return now.untested || isSubset(await read(now), await read(before));
}

/** The process group of the command that runs now: a job that is told to end takes it along. */
let group = 0;
process.once("SIGTERM", () => {
  endGroup();
  process.exit(EXIT.interrupted);
});

function endGroup(): void {
  try {
    if (group > 0) process.kill(-group, "SIGKILL");
  } catch {
    // Nobody is left in it.
  }
  group = 0;
}

/** How long output may still come from what a command left behind outside of its process group. */
const LAST_WORDS_MS = 2000;

/** Whatever way it ends, nothing of its process group is left running.
 * @returns its exit code, null where it ran out of time */
async function execute(
  run: string,
  cwd: string,
  timeout: number,
  path: string,
  rules: Blueprint["output"],
) {
  const file = await open(path, "wx");
  const env = cleanEnv({ [HELD]: "1" });
  // Both streams into one, so that lines stand in the order in which they were written.
  const whole = `exec 2>&1\n${run}`;
  const child = spawn(whole, {
    cwd,
    env,
    shell: true,
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
  });
  group = child.pid ?? 0;
  const secrets = secretsIn(process.env, rules.secret);
  const kept = keep(child.stdout, file, rules.megabytes * 2 ** 20, secrets).catch(() => {});
  const code = await new Promise<number | null>((resolve) => {
    setTimeout(resolve, timeout * 1000, null).unref();
    child.on("error", () => resolve(127)).on("exit", (code) => resolve(code ?? 128));
  });
  endGroup();
  setTimeout(() => child.stdout.destroy(), LAST_WORDS_MS).unref();
  await kept;
  await file.close();
  return code;
}
