import { mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { lookAtAll, pathsBetween, treeOf, untrackedIn, type Worktop } from "../git/repository.ts";
import type { Evidence } from "../journal/events.ts";
import { isSetup, madeIn, setupKey } from "../journal/evidence.ts";
import type { Journal, Run } from "../journal/journal.ts";
import { isFailed, isRed } from "../journal/passed.ts";
import type { Command } from "../journal/shapes.ts";
import type { RunState } from "../journal/state.ts";
import { outside } from "../program/world.ts";
import { compared, sharedBy } from "./beside.ts";
import { execute } from "./command.ts";
import { errorsIn, failingIn, failuresIn, isSubset, isUntested } from "./failures.ts";
import { slotEnv, withSlot } from "./slots.ts";
import { madeBySetup, undoSetup } from "./undo.ts";

/** So many paths evidence names: a command that makes more leaves a folder that should be ignored.
 */
const PATHS_LIMIT = 100;

/** Whom a command is run for, in which run, and where. */
type Proof = Run & Pick<Evidence, "by" | "attempts"> & { readonly place: Worktop };

/** A proof whose turn it is. */
type Slotted = Proof & Readonly<{ slot: number }>;

/** Runs a command on the files as they lie in a worktree, once one of the machine's slots is free,
 * and gives back what it leaves, which is to be written down. */
export const prove = (proof: Proof, command: Command): Promise<Evidence> =>
  withSlot(proof.state.blueprint.bounds.gate_slots, proof.by === "landing", (slot) =>
    proveNow({ ...proof, slot }, command),
  );

async function proveNow(proof: Slotted, command: Command): Promise<Evidence> {
  const { journal, state, by, attempts } = proof;
  const { name: gate, run, cwd } = command;
  const rules = state.blueprint.output;
  const output = join("output", `${labelOf(proof)}-${gate}-${outside().now().toString(36)}.log`);
  const seen = await observe(proof, command, output);
  const { code } = seen;
  const said = await readFile(join(journal.folder, output), "utf8");
  const untested = code === 0 && isUntested(said, rules);
  // A setup proves nothing: what it builds may well fail where nobody needs it.
  const isRead = code === 0 && !isSetup(state, command);
  const failing = isRead ? failingIn(said, rules) : undefined;
  const errors = code === 0 && failing === undefined ? [] : errorsIn(said, rules);
  const evidence: Evidence = {
    gate,
    by,
    attempts,
    ...seen,
    command: run,
    cwd,
    setup: setupKey(state),
    untested,
    ...(failing === undefined ? {} : { failing }),
    known: false,
    output,
    ...(errors.length > 0 ? { errors } : {}),
  };
  const known = !command.isCheck && (await isKnown(journal, state, evidence));
  return { ...evidence, known };
}

/** For whom it was run, as the name of its output says it: `base`, `landing`, or `T001.2`. */
function labelOf({ by, attempts: [attempt] }: Proof): string {
  if (attempt === undefined) return "base";
  return by === "landing" ? by : attempt.replace(/^r\d+\//, "").replaceAll("/", "-");
}

type Seen = Pick<Evidence, "tree" | "changed" | "made" | "code" | "ms" | "undone" | "beside">;

/** Runs a command and looks what it did to the files. `changed`: paths of the tree that are others
 * after it; `made`: untracked ones that were not there before; `ms`: how long it took; `undone`:
 * what of a setup's changes was taken back; `beside`: what moved outside of the worktree. */
async function observe(proof: Slotted, command: Command, output: string): Promise<Seen> {
  const { journal, state, place, by, attempts, slot } = proof;
  const path = join(journal.folder, output);
  await mkdir(dirname(path), { recursive: true });
  const known = madeIn(state, by === "worker" ? attempts[0] : undefined);
  const untracked = await untrackedIn(place.top);
  const tree = await treeOf(place, known, untracked);
  const shared = await sharedBy(place);
  const startedAt = outside().now();

  const begin = performance.now();
  const cwd = join(place.top, command.cwd);
  const rules = state.blueprint.output;
  const code = await execute(command.run, cwd, command.timeout, path, rules, slotEnv(slot));
  const ms = Math.round(performance.now() - begin);

  // Where nobody works, no file is left out of what a command changed.
  if (by === "landing") await lookAtAll({ cwd: place.top });
  const untrackedAfter = await untrackedIn(place.top);
  const added = untrackedAfter.filter((each) => !untracked.includes(each));
  const isSettingUp = isSetup(state, command);
  const made = (isSettingUp ? madeBySetup(proof, added) : added).slice(0, PATHS_LIMIT);
  // A setup may touch a lockfile: nobody wants that.
  const undone = isSettingUp ? await undoSetup(proof, tree, [...known, ...made]) : {};
  const after = await treeOf(place, [...known, ...made], untrackedAfter);
  const changed = (await pathsBetween(tree, after, place.top)).slice(0, PATHS_LIMIT);
  const at = { place, startedAt, isSetup: isSettingUp };
  const beside = await compared(shared, await journal.state(), at);
  return {
    tree,
    changed,
    made,
    code,
    ms,
    ...(Object.keys(undone).length > 0 ? { undone } : {}),
    ...(beside.length > 0 ? { beside } : {}),
  };
}

/** Is it red in nothing that is not red on the base as well, where a person has accepted that? */
async function isKnown(journal: Journal, state: RunState, now: Evidence): Promise<boolean> {
  if (!state.baseAccepted || !isRed(now)) return false;
  const onBase = ({ gate, command, attempts }: Evidence): boolean =>
    gate === now.gate && command === now.command && attempts.length === 0;
  const base = state.evidence.findLast(onBase);
  return base !== undefined && isNoWorse(journal, state, now, base);
}

/** Does a red run name no failure that an earlier one of the same gate does not name as well? */
export async function isNoWorse(
  { folder }: Journal,
  { blueprint }: RunState,
  now: Evidence,
  before: Evidence,
): Promise<boolean> {
  if (now.code !== before.code || now.untested !== before.untested) return false;
  if (!isFailed(before)) return false;
  if (now.untested) return true;
  const read = async ({ output }: Evidence): Promise<Set<string>> =>
    failuresIn(await readFile(join(folder, output), "utf8"), blueprint.output);
  return isSubset(await read(now), await read(before));
}
