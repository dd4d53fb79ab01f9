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
    new Option(
      "--watch",
      "draw it anew as things happen, until the run is over; waits for one to start",
    ),
    RUN,
  ],
  async run({ options }, world) {
    const isWatched = options.watch === true && !options.json;
    const place = await findPlace(world.cwd);
    const draw = (now: RunState): Promise<Board> => boardAt(place, now, world);
    if (options.run === undefined) {
      if (isWatched) await untilOpen(place, world, draw);
      else if (!(await hasRun(place))) return NO_RUN;
    }
    const { journal, state } = await runIn(place, world, options.run);
    if (!isWatched) return { ...(await draw(state)), isColoured: true };
    const { watchBoard } = await import("./watch.ts");
    const last = await watchBoard(journal, world, async (now) => (await draw(now)).text);
    return { ...(await draw(last)), isColoured: true };
  },
};

const hasRun = async ({ common }: Place): Promise<boolean> => (await listRuns(common)).length > 0;

/** Waits until there is a run under way. One that is over is shown meanwhile: whoever opens a board
 * before they start the next run means that one. */
async function untilOpen(
  place: Place,
  world: World,
  draw: (now: RunState) => Promise<Board>,
): Promise<void> {
  let isTold = false;
  const tell = (text: string): void => {
    if (!isTold) world.stderr.write(`${text}\n`);
    isTold = true;
  };
  for (; ; await sleep(EVERY_MS)) {
    if (!(await hasRun(place))) {
      tell("There is no run here yet: waiting for one.");
      continue;
    }
    const { state } = await runIn(place, world);
    if (isOpen(state) || world.stdout.writable === false) return;
    if (!isTold) world.stdout.write(`${(await draw(state)).text}\n\n`);
    tell(`Run ${state.run} is over: waiting for the next one.`);
  }
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
    report: typed(`report --run ${state.run}`),
  };
  return board(state, seen, screen);
}
