import { Option } from "commander";
import { lookAt } from "../foreman/look.ts";
import type { Place } from "../git/repository.ts";
import { runAt } from "../journal/run-at.ts";
import { isOpen, type RunState } from "../journal/state.ts";
import { type OfRun, RUN, type Verb } from "../program/verb.ts";
import type { World } from "../program/world.ts";
import { type Board, board } from "./board.ts";
import { columnsOf } from "./text.ts";

export const verb: Verb<OfRun & { watch?: true; json: boolean }> = {
  usage: "board",
  about: "show where each task stands",
  options: [new Option("--watch", "draw it anew as things happen, until the run is over"), RUN],
  async run({ options }, world) {
    const { journal, place, state } = await runAt(world, options.run);
    const draw = (now: RunState): Promise<Board> => boardAt(place, now, world);
    const isOnce = !options.watch || options.json;
    const { watchBoard } = await import("./watch.ts");
    const last = isOnce
      ? state
      : await watchBoard(journal, world, async (now) => (await draw(now)).text);
    return { ...(await draw(last)), isColoured: true };
  },
};

/** The board of a run with what it needs beside the journal: transcripts, prices, the clock. */
async function boardAt(place: Place, state: RunState, world: World): Promise<Board> {
  const { cost, now, alarms } = await lookAt(place, state);
  const screen = {
    columns: columnsOf(world),
    isColoured: world.stdout.isTTY === true && !world.env.NO_COLOR,
  };
  return board(state, { now, cost, alarms: isOpen(state) ? alarms : [] }, screen);
}
