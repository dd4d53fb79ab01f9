import { EXIT, Fault } from "../rails/fault.ts";
import { type ApplyOptions, applyPlan, recover, removeMade } from "./apply.ts";
import { withLock } from "./lock.ts";
import { type Package, readPackage } from "./package.ts";
import { findPlace, type Place, type RootFlags, type Surroundings } from "./paths.ts";
import { type Plan, planChange, type Verb } from "./plan.ts";
import { scanDisk } from "./scan.ts";
import { checkFolder } from "./validate.ts";

export interface ChangeFlags extends RootFlags {
  readonly dryRun?: boolean;
  readonly force?: boolean;
}

/** What a change needs from outside; all but the first two are for people and tests. */
export interface World extends ApplyOptions {
  readonly assets: string;
  readonly at: Surroundings;
  /** Asked before something of a person's is replaced or an installation removed. */
  readonly confirm?: (question: string) => Promise<boolean>;
  /** Progress and the like, for stderr. */
  readonly say?: (line: string) => void;
  readonly patience?: number;
}

/** The plan as it was carried out, or was not. */
export interface Change {
  readonly plan: Plan;
  readonly place: Place;
  readonly applied: boolean;
  readonly left: readonly string[];
}

/**
 * Read → plan → apply, for every verb that writes.
 * With obstacles, without changes and with `dryRun` nothing is written.
 * @throws Fault as `findPlace`, `readPackage`, `scanDisk`, `withLock` and `applyPlan` do; `declined` where the person said no
 */
export async function change(verb: Verb, flags: ChangeFlags, world: World): Promise<Change> {
  const place = findPlace(flags, world.at);
  const pack = verb === "uninstall" ? undefined : checked(readPackage(world.assets));
  const now = new Date();
  const look = (): { plan: Plan; disk: ReturnType<typeof scanDisk> } => {
    const disk = scanDisk(place);
    return { disk, plan: planChange(verb, pack, disk, place, { force: flags.force ?? false, now }) };
  };
  const first = look();
  if (flags.dryRun || !first.plan.changes) return { plan: first.plan, place, applied: false, left: [] };
  const question =
    verb === "uninstall"
      ? `Remove ${place.target}?`
      : first.plan.backup && `Back up and replace ${first.plan.saved.length} of your files?`;
  if (question && world.confirm && !(await world.confirm(question)))
    throw new Fault("declined", "nothing was written", "call again when you want it");

  const waiting = (): void => world.say?.("another minion-toolkit is at work here: waiting for it");
  let result: Change | undefined;
  try {
    result = await withLock(
      place.real,
      { waiting, ...(world.patience === undefined ? {} : { patience: world.patience }) },
      async (lost) => {
        await recover(place);
        // What was seen without the lock may be another installer's half-done work.
        const { plan, disk } = look();
        // Folders that were absent then exist by now: the lock is in them.
        const manifest =
          plan.manifest && !disk.manifest ? { ...plan.manifest, made: first.disk.absent } : plan.manifest;
        const final = { ...plan, manifest };
        if (!final.changes) return { plan: final, place, applied: false, left: [] };
        const signal = world.signal ? AbortSignal.any([world.signal, lost]) : lost;
        const left = await applyPlan(final, pack, place, disk, { ...world, signal });
        return { plan: final, place, applied: true, left };
      },
    );
    return result;
  } finally {
    const gone = result ? result.plan.made : first.disk.absent;
    await removeMade(place.real, gone);
  }
}

function checked(pack: Package): Package {
  const fault = checkFolder(pack.assets).find(({ level }) => level === "error");
  if (fault)
    throw new Fault("package-broken", `${fault.file}:${fault.line ?? 1}: ${fault.message}`, fault.hint, EXIT.usage);
  return pack;
}
