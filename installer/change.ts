import { rmdirSync } from "node:fs";
import { join } from "node:path";
import { EXIT, Fault } from "../rails/fault.ts";
import { type ApplyOptions, applyPlan, recover } from "./apply.ts";
import { type LockOptions, withLock } from "./lock.ts";
import { readPackage } from "./package.ts";
import { findPlace, type RootFlags, type Surroundings } from "./paths.ts";
import { type Plan, planChange, type Verb } from "./plan.ts";
import { type Disk, scanDisk } from "./scan.ts";
import { checkFolder } from "./validate.ts";

export interface ChangeFlags extends RootFlags {
  readonly dryRun?: boolean;
  readonly force?: boolean;
}

/** What a change needs from outside; all but the first two are for people and tests. */
export interface World extends ApplyOptions, LockOptions {
  readonly assets: string;
  readonly at: Surroundings;
  /** Asked before something of a person's is replaced, or an installation removed. */
  readonly confirm?: (question: string) => Promise<boolean>;
}

/** The plan, whether it was carried out, and what could not be cleared away. */
export interface Change {
  readonly plan: Plan;
  readonly applied: boolean;
  readonly left: readonly string[];
}

/**
 * Read → plan → apply, for every verb that writes. With obstacles, without changes and with `dryRun` nothing is written.
 * @throws Fault as `findPlace`, `readPackage`, `scanDisk`, `withLock` and `applyPlan` do; `package-broken` also where its frontmatter
 * does not stand; `declined` where the person said no
 */
export async function change(verb: Verb, flags: ChangeFlags, world: World): Promise<Change> {
  const place = findPlace(flags, world.at);
  const pack = verb === "uninstall" ? undefined : readPackage(world.assets);
  const fault = pack && checkFolder(world.assets).find(({ level }) => level === "error");
  if (fault) {
    const where = `${fault.file}:${fault.line ?? 1}: ${fault.message}`;
    throw new Fault("package-broken", where, fault.hint, EXIT.usage);
  }
  const now = new Date();
  const planFor = (disk: Disk): Plan => planChange({ verb, pack, disk, place, force: flags.force === true, now });
  const seen = scanDisk(place);
  const first = planFor(seen);
  if (flags.dryRun || !(first.changes || seen.leftover)) return { plan: first, applied: false, left: [] };
  const { saved } = first;
  const asked = verb === "uninstall" ? `Remove ${place.target}?` : `Back up and replace ${saved.length} of yours?`;
  const mustAsk = first.changes && (verb === "uninstall" || saved.length > 0);
  if (mustAsk && world.confirm && !(await world.confirm(asked)))
    throw new Fault("declined", "nothing was written", "call again when you want it");

  let { absent } = seen;
  try {
    return await withLock(place.real, world, async (lost) => {
      await recover(place);
      // What was seen without the lock may have been another installer's half-done work; the lock lies in what was absent.
      const disk = { ...scanDisk(place), absent };
      const plan = planFor(disk);
      if (!plan.changes) return { plan, applied: false, left: [] };
      const signal = world.signal ? AbortSignal.any([world.signal, lost]) : lost;
      const left = await applyPlan({ plan, pack, place, disk }, { ...world, signal });
      absent = plan.made;
      return { plan, applied: true, left };
    });
  } finally {
    for (const above of absent.filter((path) => path !== ".")) {
      try {
        rmdirSync(join(place.real, above));
      } catch {
        // Something else is in it, or it is gone: then it is not ours to remove.
      }
    }
  }
}
