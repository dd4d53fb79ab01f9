import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Place } from "./git/repository.ts";
import { pricesAt } from "./here.ts";
import { alarmsOf } from "./record/alarms.ts";
import { type Attention, attentionOf } from "./record/attention.ts";
import { costOf } from "./record/cost.ts";
import type { EventData } from "./record/events.ts";
import type { Journal } from "./record/journal.ts";
import { isOpen, type RunState } from "./record/state.ts";
import { takeDown, usageNow } from "./record/usage.ts";
import { board } from "./view/board.ts";
import { reportText } from "./view/report.ts";

// What people look at, with what it needs beside the journal: transcripts, prices, the clock.

/** What a run has cost up to now, at the prices in force, and its alarms. Prices are read where
 * there is something to price; `cost` is null where they cannot be read: a slip in that file is no
 * reason to stop a run.
 * @param used what was used, where that has just been looked up */
async function lookAt(place: Place, state: RunState, used?: EventData["spent"][]) {
  const spent = used ?? (await usageNow(state));
  const models = spent.length === 0 ? new Map() : (await pricesAt(place).catch(() => null))?.models;
  const cost = models ? costOf(state, spent, models) : null;
  const dollars = cost?.dollars ?? null;
  const now = Date.now();
  return { cost, dollars, now, alarms: alarmsOf(state, { dollars, now }) };
}

export const spentAt = async (
  place: Place,
  state: RunState,
  used?: EventData["spent"][],
): Promise<number | null> => (await lookAt(place, state, used)).dollars;

/** @returns the board of a run as text, and as data */
export async function boardOf(place: Place, state: RunState, columns: number) {
  const { cost, now, alarms } = await lookAt(place, state);
  const isColoured = process.stdout.isTTY && !process.env.NO_COLOR;
  return board(state, { now, cost, alarms: isOpen(state) ? alarms : [] }, { columns, isColoured });
}

export async function attentionAt(place: Place, state: RunState): Promise<Attention[]> {
  const { alarms, dollars } = await lookAt(place, state);
  return attentionOf(state, alarms, dollars);
}

/** Writes a run's report beside its journal, once what was used is taken down there. */
export async function reportAt(place: Place, journal: Journal) {
  const used = await takeDown(journal, true);
  const state = await journal.state();
  const { cost } = await lookAt(place, state, used);
  const report = await reportText(state, journal.folder, cost);
  const file = join(journal.folder, "report.md");
  await writeFile(file, report);
  return { run: state.run, line: state.line, tip: state.tip, file, cost, report };
}
