import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { QUICK_GATES, World } from "../e2e/world.ts";

let world: World;
afterEach(() => world.close());

const MINUTE = 60_000;

/** A world of two tasks whose person is called by a command that writes down what it reads. */
function calling(): { list: (asks: boolean) => string; kinds: () => string[][] } {
  world = World.small(
    { 1: { "src/one.txt": "one\n" }, 2: { "src/two.txt": "two\n" } },
    `${QUICK_GATES}\nnotify: 'cat >> ../calls.jsonl'`,
  );
  const file = join(world.repo, "../calls.jsonl");
  return {
    list: (asks) =>
      world.list(`### Task 1: One\n\n### Task 2: Two\n${asks ? "Ask: In cents?\n" : ""}`),
    kinds: () => {
      const lines = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
      return lines.map((line) => JSON.parse(line).news.map((each: { kind: string }) => each.kind));
    },
  };
}

test("the person is called once where a task waits, and once where all is done, minutes apart", async () => {
  const { list, kinds } = calling();
  expect((await world.run(`/minion ${list(true)}`, "default")).code).toBe(0);
  expect(kinds()).toEqual([["waits"]]);
  world.minion("retry", "2", "-m", "cents");
  expect((await world.run("/minion --resume", "default")).code).toBe(0);
  expect(world.states()).toEqual({ 1: "landed", 2: "landed" });
  const called = world.named("notified").map(({ at }) => Number(at));
  for (let waited = 0; kinds().length < 2 && waited < 6 * MINUTE; waited += 1000)
    await setTimeout(1000);
  expect(kinds()).toEqual([["waits"], ["done"]]);
  const [first = 0, second = 0] = [called[0], world.named("notified").at(-1)?.at as number];
  expect(second - first).toBeGreaterThanOrEqual(5 * MINUTE);
});

test("in a quiet run nobody is called before it is done", async () => {
  const { list, kinds } = calling();
  expect((await world.run(`/minion ${list(false)}`, "default")).code).toBe(0);
  for (let waited = 0; kinds().length < 1 && waited < MINUTE; waited += 500) await setTimeout(500);
  expect(kinds()).toEqual([["done"]]);
});

test.skipIf(spawnSync("tmux", ["-V"]).status !== 0)(
  "without a command the terminal rings once where somebody is wanted (needs tmux)",
  async () => {
    world = World.small({ 1: { "src/one.txt": "one\n" }, 2: { "src/two.txt": "two\n" } });
    const terminal = await world.open();
    await terminal.see(/auto mode/);
    await terminal.type(
      `/minion ${world.list("### Task 1: One\n\n### Task 2: Two\nAsk: In cents?\n")}`,
    );
    await terminal.see(/What next|minion merge/, 300_000);
    for (let waited = 0; !(await terminal.hasRung()) && waited < MINUTE; waited += 500)
      await setTimeout(500);
    expect(await terminal.hasRung()).toBe(true);
    expect(world.named("notified")).toHaveLength(1);
  },
);
