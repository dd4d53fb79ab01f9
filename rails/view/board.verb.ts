import { setTimeout as sleep } from "node:timers/promises";
import { Option } from "commander";
import { lookAt } from "../foreman/look.ts";
import { findPlace, type Place } from "../git/repository.ts";
import { listRuns } from "../journal/journal.ts";
import { runIn } from "../journal/run-at.ts";
import { isOpen, type RunState } from "../journal/state.ts";
import { typed } from "../program/typed.ts";
import { type OfRun, RUN, type Said, type Verb } from "../program/verb.ts";
import type { World } from "../program/world.ts";
import { type Board, board } from "./board.ts";
import { columnsOf } from "./text.ts";

type Options = OfRun & { watch?: true; json: boolean };

/** What a board says where nothing has been started. */
const NO_RUN: Said = {
  text: "There is no run here yet: /minion starts one.",
  data: { run: null, tasks: [] },
};
const EVERY_MS = 500;

export const verb: Verb<Options> = {
  usage: "board",
  about: "show where each task stands",
  options: [
    new Option("--watch", "draw it anew as things happen, until the run is over; waits for one"),
    RUN,
  ],
  async run({ options }, world) {
    const isWatched = options.watch === true && !options.json;
    const place = await findPlace(world.cwd);
    if (options.run === undefined && !(await hasRun(place, world, isWatched))) return NO_RUN;
    const { journal, state } = await runIn(place, world, options.run);
    const draw = (now: RunState): Promise<Board> => boardAt(place, now, world);
    if (!isWatched) return { ...(await draw(state)), isColoured: true };
    const { watchBoard } = await import("./watch.ts");
    const last = await watchBoard(journal, world, async (now) => (await draw(now)).text);
    return { ...(await draw(last)), isColoured: true };
  },
};

/** Is there a run to show?
 * @param isAwaited waits until there is one */
async function hasRun({ common }: Place, world: World, isAwaited: boolean): Promise<boolean> {
  const isThere = async (): Promise<boolean> => (await listRuns(common)).length > 0;
  if (await isThere()) return true;
  if (!isAwaited) return false;
  world.stderr.write("There is no run here yet: waiting for one.\n");
  while (!(await isThere())) await sleep(EVERY_MS);
  return true;
}

/** The board of a run with what it needs beside the journal: transcripts, prices, the clock. */
async function boardAt(place: Place, state: RunState, world: World): Promise<Board> {
  const { cost, now, alarms, fault } = await lookAt(place, state);
  const screen = {
    columns: columnsOf(world),
    isColoured: world.stdout.isTTY === true && !world.env.NO_COLOR,
  };
  const seen = {
    now,
    cost,
    alarms: isOpen(state) ? alarms : [],
    fault,
    attention: typed(`attention --run ${state.run}`),
  };
  return board(state, seen, screen);
}
