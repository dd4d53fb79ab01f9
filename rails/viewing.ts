import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Place } from "./git/repository.ts";
import { pricesAt } from "./here.ts";
import { alarmsOf } from "./record/alarms.ts";
import { type Attention, attentionOf } from "./record/attention.ts";
import { type Cost, costOf } from "./record/cost.ts";
import type { EventData } from "./record/events.ts";
import type { Journal } from "./record/journal.ts";
import { isOpen, type RunState } from "./record/state.ts";
import { takeDown, usageNow } from "./record/usage.ts";
import { board } from "./view/board.ts";
import { reportText } from "./view/report.ts";

// What people look at, with what it needs beside the journal: transcripts, prices, the clock.

/** What a run has cost up to now, at the prices in force, which are read where there is something to price; null where they
 * cannot be read: a slip in that file is no reason to stop a run.
 * @param used what was used, where that has just been looked up */
async function costAt(place: Place, state: RunState, used?: EventData["spent"][]): Promise<Cost | null> {
  const spent = used ?? (await usageNow(state));
  const models = spent.length === 0 ? new Map() : (await pricesAt(place).catch(() => null))?.models;
  return models ? costOf(state, spent, models) : null;
}

export const spentAt = async (place: Place, state: RunState, used?: EventData["spent"][]): Promise<number | null> =>
  (await costAt(place, state, used))?.dollars ?? null;

/** @returns the board of a run as text, and as data */
export async function boardOf(place: Place, state: RunState, columns: number) {
  const now = Date.now();
  const cost = await costAt(place, state);
  const alarms = isOpen(state) ? alarmsOf(state, { dollars: cost?.dollars ?? null, now }) : [];
  const isColoured = process.stdout.isTTY && !process.env.NO_COLOR;
  return board(state, { now, cost, alarms }, { columns, isColoured });
}

export async function attentionAt(place: Place, state: RunState): Promise<Attention[]> {
  const dollars = await spentAt(place, state);
  return attentionOf(state, alarmsOf(state, { dollars, now: Date.now() }), dollars);
}

/** Writes a run's report beside its journal, once what was used is taken down there. */
export async function reportAt(place: Place, journal: Journal) {
  const used = await takeDown(journal, true);
  const state = await journal.state();
  const cost = await costAt(place, state, used);
  const report = await reportText(state, journal.folder, cost);
  const file = join(journal.folder, "report.md");
  await writeFile(file, report);
  return { run: state.run, line: state.line, tip: state.tip, file, cost, report };
}
