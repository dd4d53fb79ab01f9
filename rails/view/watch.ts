import { stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { createLogUpdate } from "log-update";
import type { Journal } from "../journal/journal.ts";
import { isOpen, type RunState } from "../journal/state.ts";
import type { World } from "../program/world.ts";

const EVERY_MS = 1000;

/** Draws a run's board again and again until the run is over: in place on a terminal, else anew
 * whenever something happened.
 * @param draw a board of the run as it stands
 * @returns the run as it is in the end, of which nothing is drawn */
export async function watchBoard(
  journal: Journal,
  { stdout }: World,
  draw: (state: RunState) => Promise<string>,
): Promise<RunState> {
  const update = stdout.isTTY ? createLogUpdate(stdout as NodeJS.WriteStream) : null;
  for (let before = -1; ; await sleep(EVERY_MS)) {
    const { size } = await stat(journal.file);
    if (!update && size === before) continue;
    before = size;
    const state = await journal.state();
    if (!isOpen(state) || stdout.writable === false) {
      update?.clear();
      return state;
    }
    const text = await draw(state);
    if (update) update(fitting(text, stdout.rows ?? 24));
    else stdout.write(`${text}\n\n`);
  }
}

/** As much of a board as a screen is high: what is drawn in place must not scroll. */
function fitting(text: string, rows: number): string {
  const lines = text.split("\n");
  if (lines.length < rows) return text;
  const shown = Math.max(1, rows - 2);
  return [...lines.slice(0, shown), `… ${lines.length - shown} more`].join("\n");
}
