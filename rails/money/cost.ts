import type { EventData } from "../journal/events.ts";
import type { Usage } from "../journal/shapes.ts";
import type { RunState } from "../journal/state.ts";
import { dollarsFor, type Prices, priceOf } from "./prices.ts";
import { plus } from "./usage.ts";

/** What one model did for one phase of a task, all its attempts together; no task: the session that
 * led the run. `dollars`: at list prices, null where the table has no such model. */
export type CostRow = Readonly<
  { task: string | null; phase: string; dollars: number | null } & Usage
>;

/** What a run has cost, in dollars at list prices. */
export type Cost = Readonly<{
  rows: readonly CostRow[];
  dollars: number; // Of all that has a price
  unpriced: readonly string[]; // Models without one
  unknown: readonly string[]; // Attempts of which no transcript tells
  // By attempt; null where a model has no price
  attempts: Readonly<Record<string, number | null>>;
}>;

/** What a run has cost.
 * @param spent what was used, as `usageNow` gives it */
export function costOf(
  state: RunState,
  spent: readonly EventData["spent"][],
  models: Prices["models"],
): Cost {
  const order = [...state.tasks.keys(), null];
  const rows = rowsOf(state, spent)
    .sort((a, b) => order.indexOf(a.task) - order.indexOf(b.task))
    .map((row) => ({ ...row, dollars: dollarsFor(priceOf(models, row.model), row) }));
  const unpriced = new Set(rows.filter(({ dollars }) => dollars === null).map((row) => row.model));
  const told = new Set(spent.map(({ attempt }) => attempt));
  const unknown = [...state.attempts.values()].filter(({ id, begun }) => begun && !told.has(id));
  return {
    rows,
    dollars: rows.reduce((sum, { dollars }) => sum + (dollars ?? 0), 0),
    unpriced: [...unpriced],
    unknown: unknown.map(({ id }) => id),
    attempts: attemptsOf(spent, models),
  };
}

function attemptsOf(
  spent: readonly EventData["spent"][],
  models: Prices["models"],
): Cost["attempts"] {
  const sums: Record<string, number | null> = {};
  for (const { attempt, usage } of spent)
    if (attempt !== null)
      for (const used of usage) {
        const dollars = dollarsFor(priceOf(models, used.model), used);
        const before = Object.hasOwn(sums, attempt) ? (sums[attempt] ?? null) : 0;
        sums[attempt] = before === null || dollars === null ? null : before + dollars;
      }
  return sums;
}

/** What was used, by task, phase and model. */
function rowsOf(state: RunState, spent: readonly EventData["spent"][]): Omit<CostRow, "dollars">[] {
  const rows = new Map<string, Omit<CostRow, "dollars">>();
  for (const { attempt: id, usage } of spent) {
    const attempt = state.attempts.get(id ?? "");
    if (id !== null && !attempt) continue;
    const task = attempt?.task.id ?? null;
    const phase = attempt?.phase.name ?? "";
    for (const used of usage) {
      const key = JSON.stringify([task, phase, used.model]);
      rows.set(key, { task, phase, ...plus(used, rows.get(key)) });
    }
  }
  return [...rows.values()];
}
