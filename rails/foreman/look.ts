import { commitOf, isFiledAs, type Place } from "../git/repository.ts";
import type { EventData } from "../journal/events.ts";
import { isOpen, type RunState } from "../journal/state.ts";
import { type Cost, costOf } from "../money/cost.ts";
import { usageNow } from "../money/usage.ts";
import { typed } from "../program/typed.ts";
import { outside } from "../program/world.ts";
import { type Alarm, alarmsOf } from "./alarms.ts";
import { type Attention, attentionOf } from "./attention.ts";

/** What can be known of a run beside its journal. */
type Look = Readonly<{
  cost: Cost | null; // Null where prices cannot be read: a slip there is no reason to stop a run
  dollars: number | null;
  now: number; // Milliseconds since 1970
  alarms: readonly Alarm[];
  fault: LineFault | null;
}>;

/** Why nothing can land, and the command with which a person puts that right. */
export type LineFault = Readonly<{ what: string; label: string; command: string }>;

/** Does the line stand where landing put it? After a crash it may also stand where landing was about
 * to; a run that is over and merged may have been cleaned up. */
async function lineFault(place: Place, state: RunState): Promise<LineFault | null> {
  const { line, tip, proven, landings, merged, run, errors } = state;
  const isWanted = isOpen(state) || (landings.length > 0 && !merged);
  const ref = `refs/heads/${line}`;
  // Mostly it stands there, and then no program is started to know that.
  const now = (await isFiledAs(tip, ref, place.common)) ? tip : await commitOf(ref, place.main);
  const command = `git update-ref refs/heads/${line} ${tip}`;
  if (isWanted && now === null && (landings.length > 0 || state.baseRed))
    return { what: `Branch ${line} is gone.`, label: "make it again", command };
  if (isWanted && now !== null && now !== tip && now !== proven?.to)
    return { what: `Somebody moved ${line} to ${now}.`, label: "put it back", command };
  const error = isOpen(state) ? errors.get(`land ${run}`) : null;
  if (!error) return null;
  const again = { label: "try again", command: typed(`next --run ${run}`) };
  return { what: `Landing could not be done: ${error}.`, ...again };
}

/** What a run has cost up to now, at the prices in force, and its alarms. Prices are read where
 * there is something to price.
 * @param used what was used, where that has just been looked up */
export async function lookAt(
  place: Place,
  state: RunState,
  used?: readonly EventData["spent"][],
): Promise<Look> {
  const spent = used ?? (await usageNow(state));
  const read = async () => {
    const { pricesAt } = await import("../money/price-table.ts");
    return (await pricesAt(place).catch(() => null))?.models;
  };
  const models = spent.length === 0 ? new Map() : await read();
  const cost = models ? costOf(state, spent, models) : null;
  const dollars = cost?.dollars ?? null;
  const now = outside().now();
  const fault = await lineFault(place, state);
  return { cost, dollars, now, alarms: alarmsOf(state, { dollars, now }), fault };
}

/** What a run has cost up to now, in dollars; null where that is not known. */
export const spentAt = async (
  place: Place,
  state: RunState,
  used?: readonly EventData["spent"][],
): Promise<number | null> => (await lookAt(place, state, used)).dollars;

/** What waits for a person in a run. */
export async function attentionAt(place: Place, state: RunState): Promise<Attention[]> {
  const look = await lookAt(place, state);
  return [...faultIn(look.fault), ...attentionOf(state, look.alarms, look)];
}

/** A fault as something that a person has to put right. */
export function faultIn(fault: LineFault | null): Attention[] {
  if (fault === null) return [];
  const { what, label, command } = fault;
  return [{ task: "", reason: "fault", note: what, choices: [{ label, command }] }];
}
