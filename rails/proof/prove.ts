import { spawn } from "node:child_process";
import { mkdir, open, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Blueprint } from "../blueprint/blueprint.ts";
import { cleanEnv } from "../git/git.ts";
import { pathsBetween, treeOf, untrackedIn, type Worktop } from "../git/repository.ts";
import type { Evidence } from "../journal/events.ts";
import { isRed, isSetup, madeIn, setupKey } from "../journal/evidence.ts";
import type { Journal, Run } from "../journal/journal.ts";
import type { Command } from "../journal/shapes.ts";
import type { RunState } from "../journal/state.ts";
import { EXIT } from "../program/fault.ts";
import { outside } from "../program/world.ts";
import { compared, sharedBy } from "./beside.ts";
import { errorsIn, failuresIn, isSubset, isUntested } from "./failures.ts";
import { keep, secretsIn } from "./output.ts";
import { HELD, withSlot } from "./slots.ts";
import { madeBySetup, undoSetup } from "./undo.ts";

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

async function proveNow(proof: Proof, command: Command): Promise<Evidence> {
  const { journal, state, place, by, attempts } = proof;
  const { name: gate, run, cwd, timeout } = command;
  const rules = state.blueprint.output;
  const output = join("output", `${labelOf(proof)}-${gate}-${outside().now().toString(36)}.log`);
  const path = join(journal.folder, output);
  await mkdir(dirname(path), { recursive: true });
  const known = madeIn(state, by === "worker" ? attempts[0] : undefined);
  const tree = await treeOf(place, known);
  const untracked = await untrackedIn(place.top);
  const shared = await sharedBy(place.top);
  const startedAt = outside().now();
  const before = performance.now();
  const code = await execute(run, join(place.top, cwd), timeout, path, rules);
  const ms = Math.round(performance.now() - before);
  const fresh = (await untrackedIn(place.top)).filter((path) => !untracked.includes(path));
  const isSettingUp = isSetup(state, command);
  const made = (isSettingUp ? madeBySetup(proof, fresh) : fresh).slice(0, PATHS_LIMIT);
  // A setup may touch a lockfile: nobody wants that.
  const undone = isSettingUp ? await undoSetup(proof, tree, [...known, ...made]) : {};
  const after = await treeOf(place, [...known, ...made]);
  const changed = (await pathsBetween(tree, after, place.top)).slice(0, PATHS_LIMIT);
  const at = { top: place.top, startedAt, isSetup: isSettingUp };
  const beside = await compared(shared, await journal.state(), at);
  const said = await readFile(path, "utf8");
  const untested = code === 0 && isUntested(said, rules);
  const errors = code === 0 ? [] : errorsIn(said, rules);
  const evidence: Evidence = {
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
    known: false,
    ms,
    output,
    ...(errors.length > 0 ? { errors } : {}),
    ...(Object.keys(undone).length > 0 ? { undone } : {}),
    ...(beside.length > 0 ? { beside } : {}),
  };
  const base = state.evidence.findLast(
    (each) => each.gate === gate && each.command === run && each.attempts.length === 0,
  );
  if (!state.baseAccepted || !base || !isRed(evidence)) return evidence;
  return { ...evidence, known: await isNoWorse(journal, state, evidence, base) };
}

/** What the raw output is named after: the base, landing, or a worker's attempt. */
function labelOf({ by, attempts }: Proof): string {
  if (attempts.length === 0) return "base";
  return by === "landing" ? by : (attempts[0]?.replace(/^.*\//, "") ?? "");
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

/** The process groups of the commands that run now: a job that is told to end takes them along. */
const groups = new Set<number>();
process.once("SIGTERM", () => {
  for (const group of groups) endGroup(group);
  process.exit(EXIT.interrupted);
});

function endGroup(group: number): void {
  groups.delete(group);
  try {
    process.kill(-group, "SIGKILL");
  } catch {
    // Nobody is left in it.
  }
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
  if (child.pid) groups.add(child.pid);
  const secrets = secretsIn(env, rules.secret);
  const kept = keep(child.stdout, file, rules.megabytes * 2 ** 20, secrets).catch(() => {});
  const code = await new Promise<number | null>((resolve) => {
    setTimeout(resolve, timeout * 1000, null).unref();
    child.on("error", () => resolve(127)).on("exit", (code) => resolve(code ?? 128));
  });
  if (child.pid) endGroup(child.pid);
  setTimeout(() => child.stdout.destroy(), LAST_WORDS_MS).unref();
  await kept;
  await file.close();
  return code;
}
