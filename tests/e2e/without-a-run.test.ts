import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterEach, beforeEach, expect, inject, test } from "vitest";
import type { ClientEvent, ClientRun } from "../../demo/client.ts";
import { World } from "./world.ts";

let world: World;
beforeEach(() => {
  world = World.small({});
});
afterEach(() => world.close());

/** Every file and folder of the repository, `.git` and all. */
const everything = () =>
  execFileSync(
    "sh",
    ["-c", "find . -type f -exec sha1sum {} + | sort -k2; find . -type d | sort"],
    {
      cwd: world.repo,
      encoding: "utf8",
    },
  );

/** What a turn ended with; fails where the client ends before it. */
async function turnsEnd(client: ClientRun, turn: number): Promise<ClientEvent> {
  let over = false;
  void client.done.then(() => {
    over = true;
  });
  for (;;) {
    const result = client.events.filter(({ type }) => type === "result")[turn - 1];
    if (result) return result;
    if (over) throw new Error(`the client ended before turn ${turn} did`);
    await setTimeout(20);
  }
}

const CYCLE = "Tasks:\n1. One (depends on: 3)\n2. Two (depends on: 1)\n3. Three (depends on: 2)";
const GOOD = "Tasks:\n1. One\n2. Two (depends on: 1)";
const DRY_RUN = `${GOOD}\n--dry-run`;

// Each way to have the plugin with one of the permission modes.
test.each([
  ["a cycle", "installed", "default", CYCLE, /^error line 2: 1 → 3 → 2 → 1: /m],
  ["--dry-run", "as a plugin's folder", "auto", DRY_RUN, /2 tasks · 2 waves/],
] as const)(
  "%s, then /minion:board, %s, in %s mode: nothing is written, and the model is given the board, and that is all",
  async (_, how, mode, words, said) => {
    const args = how === "installed" ? [] : ["--plugin-dir", join(inject("unpacked"), "assets")];
    if (args.length > 0) world.installer("uninstall");
    const before = everything();
    const client = await world.start(`/minion ${words}`, mode, {}, args, true);
    const refused = await turnsEnd(client, 1);
    expect(refused.permission_denials).toEqual([]);
    expect(refused.result).toMatch(said);
    expect(world.asked("worker")).toEqual([]);
    expect(everything()).toBe(before);

    const askedBefore = world.asked("orchestrator").length;
    world.plugin("start", world.list("1. One\n2. Two (depends on: 1)\n"));
    const [, ...board] = world.plugin("board").trim().split("\n");
    expect(board.slice(-2)).toEqual([
      expect.stringMatching(/^1 +ready /),
      expect.stringMatching(/^2 +waiting /),
    ]);
    client.say("/minion:board");
    await turnsEnd(client, 2);
    client.close();
    expect(await client.done).toMatchObject({ code: 0, denials: [] });
    const [asked, ...more] = world.asked("orchestrator").slice(askedBefore);
    expect(more).toEqual([]);
    const text = JSON.stringify(asked?.messages).replaceAll("\\n", "\n");
    expect(text).toContain(board.join("\n"));
    // What only a person types costs nothing in other sessions: it is not among what a model is
    // told of.
    expect(text).toContain("available for use with the Skill tool");
    expect(text).not.toContain("- minion:board");
  },
);

test("--dry-run, then a file, in plan mode: nobody is spawned and nothing is written, in .git neither", async () => {
  const before = everything();
  const client = await world.start(`/minion ${DRY_RUN}`, "plan", {}, [], true);
  const dry = await turnsEnd(client, 1);
  expect(dry.permission_denials).toEqual([]);
  expect(dry.result).toMatch(/2 tasks · 2 waves/);
  expect(everything()).toBe(before);
  client.say(`/minion ${world.list("1. One\n2. Two\n")}`);
  // What is refused in plan mode is the start, and by us.
  const file = await turnsEnd(client, 2);
  client.close();
  expect((await client.done).code).toBe(0);
  expect(file.result).toMatch(/plan mode is a dry run/);
  expect(world.asked("worker")).toEqual([]);
  expect(everything()).toBe(before);
});
