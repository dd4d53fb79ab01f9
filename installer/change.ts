import { rmdirSync } from "node:fs";
import { dirname } from "node:path";
import { Fault } from "../rails/program/fault.ts";
import { withLock } from "../rails/program/lock.ts";
import { type ApplyOptions, applyPlan, recover } from "./apply.ts";
import { refuseOldNode } from "./claude.ts";
import { readPackage } from "./package.ts";
import { findRoot, type Root, type RootFlags, type Surroundings } from "./paths.ts";
import { type Plan, planChange, type Verb } from "./plan.ts";
import { type Disk, LOCK, orNothing, scanDisk } from "./scan.ts";

export interface ChangeFlags extends RootFlags {
  readonly dryRun?: boolean;
  readonly force?: boolean;
}

/** What a change needs from outside; all but the first two are for people and tests. */
export interface World extends ApplyOptions {
  readonly assets: string;
  readonly at: Surroundings;
  /** The version of Node that runs this. */
  readonly node?: string;
  /** Asked before something of a person's is replaced, or an installation removed. */
  readonly confirm?: (question: string) => Promise<boolean>;
}

/** The plan, and whether it was carried out. */
export type Change = { readonly plan: Plan; readonly applied: boolean };

/** Without the lock another one may be at work: where what was listed is gone, it is looked at
 * anew. */
function look(place: Root, tries = 20): Disk {
  try {
    return scanDisk(place);
  } catch (error) {
    if (tries > 0 && error instanceof Fault && error.code === "not-found")
      return look(place, tries - 1);
    throw error;
  }
}

/** Read → plan → apply, for every verb that writes. With obstacles, without changes and with
 * `dryRun` nothing is written.
 * @throws Fault as `findRoot`, `readPackage`, `scanDisk`, `withLock` and `applyPlan` do; `declined`
 *   where the person said no */
export async function change(verb: Verb, flags: ChangeFlags, world: World): Promise<Change> {
  if (verb !== "uninstall") refuseOldNode(world.node ?? process.versions.node);
  const place = findRoot(flags, world.at);
  const pack = verb === "uninstall" ? undefined : readPackage(world.assets);
  const fixed = { verb, pack, place, force: flags.force === true, now: new Date() };
  const seen = look(place);
  const plan = planChange({ ...fixed, disk: seen });
  if (flags.dryRun || !(plan.changes || seen.leftover)) return { plan, applied: false };
  const question = questionFor(plan);
  if (question && world.confirm && !(await world.confirm(question)))
    throw new Fault("declined", "nothing was written", "call again when you want it");

  let { absent } = seen;
  try {
    return await withLock(dirname(place.real), LOCK, async () => {
      await recover(place);
      // What was seen without the lock may have been another installer's half-done work; the lock
      // lies in what was absent.
      const situation = { ...fixed, disk: { ...scanDisk(place), absent } };
      const plan = planChange(situation);
      if (!plan.changes) return { plan, applied: false };
      await applyPlan(plan, situation, world);
      absent = pack ? 0 : (situation.disk.manifest?.made ?? 0);
      return { plan, applied: true };
    });
  } catch (error) {
    // Another one's uninstall took away the folder in which the lock was to lie.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return await change(verb, flags, world);
    throw error;
  } finally {
    // What is not empty is not ours to remove.
    for (let above = dirname(place.real); absent > 1; absent--, above = dirname(above))
      orNothing(() => rmdirSync(above));
  }
}

/** What a person is to be asked before a plan is carried out; null where it takes nothing of
 * theirs. */
function questionFor({ verb, target, changes, saved }: Plan): string | null {
  if (!changes) return null;
  if (verb === "uninstall") return `Remove ${target}?`;
  return saved.length > 0 ? `Back up and replace ${saved.length} of yours?` : null;
}
