import { spawnSync } from "node:child_process";
import { afterEach, expect, test } from "vitest";
import { World } from "../e2e/world.ts";

let world: World;
afterEach(() => world.close());

const IDS = Array.from({ length: 30 }, (_, at) => at + 1);
const TEN = 10;

/** Thirty tasks, of which each but the first ten waits for one.
 * @returns the path of their list */
function thirty(): string {
  world = World.small(Object.fromEntries(IDS.map((id) => [id, { [`src/${id}.txt`]: `${id}\n` }])));
  const tasks = IDS.map((id) => {
    const depends = id > TEN ? `Depends: ${id - TEN}\n` : "";
    return `### Task ${id}: Write part ${id}\n${depends}Files: src/${id}.txt\n`;
  });
  return world.list(tasks.join("\n"));
}

const allLanded = Object.fromEntries(IDS.map((id) => [id, "landed"]));

/** Plan, start and the first `next` before the first round; the report and the last word after the
 * last one. */
const BESIDE_ROUNDS = 5;

/** What the foreman cost: its requests for each time that something was dispatched, and what the
 * rails said to it for each task, in tokens of four characters; the report apart, which goes on to
 * the person. */
function figures(how: string): { requests: number; tokens: number } {
  const { said, reported } = world.saidByRails();
  const rounds = new Set(world.named("dispatched").map(({ at }) => at)).size;
  const asked = world.asked("orchestrator").length;
  const requests = (asked - BESIDE_ROUNDS) / rounds;
  const tokens = said / 4 / IDS.length;
  console.log(
    `${how}: ${asked} requests in ${rounds} rounds, ${requests.toFixed(2)} a round; ` +
      `${tokens.toFixed(0)} tokens a task, and ${(reported / 4 / IDS.length).toFixed(0)} of the report`,
  );
  return { requests, tokens };
}

test("thirty tasks without a terminal: two requests a round, and few words of the rails", async () => {
  const list = thirty();
  const result = await world.run(`/minion ${list}`, "default");
  expect(result).toMatchObject({ code: 0, denials: [] });
  expect(world.states()).toEqual(allLanded);
  const { requests, tokens } = figures("without a terminal");
  expect(requests).toBeLessThanOrEqual(2.1);
  expect(tokens).toBeLessThanOrEqual(120);
});

test.skipIf(spawnSync("tmux", ["-V"]).status !== 0)(
  "thirty tasks in a terminal: one request a round, and few words of the rails (needs tmux)",
  async () => {
    const list = thirty();
    const terminal = await world.open();
    await terminal.see(/auto mode/);
    await terminal.type(`/minion ${list}`);
    await terminal.see(/What next|minion merge/, 1_500_000);
    expect(world.states()).toEqual(allLanded);
    const { requests, tokens } = figures("in a terminal");
    expect(requests).toBeLessThanOrEqual(1.2);
    expect(tokens).toBeLessThanOrEqual(120);
  },
);
