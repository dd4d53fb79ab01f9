import { spawnSync } from "node:child_process";
import { afterEach, expect, test } from "vitest";
import { World } from "../e2e/world.ts";

let world: World | undefined;
afterEach(() => world?.close());

const noTerminal = spawnSync("tmux", ["-V"]).status !== 0;

test.skipIf(noTerminal)(
  "a person types /minion in a terminal, in auto mode (needs tmux)",
  async () => {
    world = World.small({ 1: { "src/one.txt": "one\n" }, 2: { "src/two.txt": "two\n" } });
    const terminal = await world.open();
    await terminal.see(/auto mode/);
    await terminal.type("/minion Tasks:\n1. One\n2. Two (depends on: 1)");
    // The report is the last thing that a run asks for.
    const seen = await terminal.see(/What next|minion merge/, 150_000);
    expect(seen).not.toMatch(/Do you want/);
    expect(world.states()).toEqual({ 1: "landed", 2: "landed" });
    expect(world.files("minion/r1/line")).toEqual({
      ...world.files("main"),
      "src/one.txt": "one",
      "src/two.txt": "two",
    });
  },
);

test.skipIf(noTerminal)(
  "a person pastes /minion with so many lines that the client shows them as pasted text (needs tmux)",
  async () => {
    world = World.small({ 1: { "src/one.txt": "one\n" }, 2: { "src/two.txt": "two\n" } });
    const terminal = await world.open();
    await terminal.see(/auto mode/);
    await terminal.type(
      "/minion Tasks:\n1. One\n2. Two (depends on: 1)\n3. [DONE] Three\n4. [DONE] Four",
    );
    const seen = await terminal.see(/What next|minion merge/, 150_000);
    expect(seen).not.toMatch(/Do you want/);
    expect(world.states()).toMatchObject({ 1: "landed", 2: "landed" });
    const told = world.requests.filter(({ messages }) =>
      JSON.stringify(messages[0]).includes("<pasted_content"),
    );
    expect(told.length).toBeGreaterThan(0);
  },
);
