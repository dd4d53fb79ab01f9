import type { Place } from "../git/repository.ts";
import type { EventData } from "../journal/events.ts";
import type { RunState } from "../journal/state.ts";
import { type Cost, costOf } from "../money/cost.ts";
import { usageNow } from "../money/usage.ts";
import { outside } from "../program/world.ts";
import { type Alarm, alarmsOf } from "./alarms.ts";
import { type Attention, attentionOf } from "./attention.ts";

/** What can be known of a run beside its journal. */
type Look = Readonly<{
  cost: Cost | null; // Null where prices cannot be read: a slip there is no reason to stop a run
  dollars: number | null;
  now: number; // Milliseconds since 1970
  alarms: readonly Alarm[];
}>;

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
    const { pricesAt } = await import("../money/prices.ts");
    return (await pricesAt(place).catch(() => null))?.models;
  };
  const models = spent.length === 0 ? new Map() : await read();
  const cost = models ? costOf(state, spent, models) : null;
  const dollars = cost?.dollars ?? null;
  const now = outside().now();
  return { cost, dollars, now, alarms: alarmsOf(state, { dollars, now }) };
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
  return attentionOf(state, look.alarms, look);
}
