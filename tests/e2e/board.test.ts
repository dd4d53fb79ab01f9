import { join } from "node:path";
import { afterEach, expect, inject, test } from "vitest";
import { World } from "./world.ts";

let world: World;
afterEach(() => world.close());

// Each way to have the plugin with one of the permission modes.
test.each([
  ["installed", "default"],
  ["as a plugin's folder", "auto"],
] as const)(
  "/minion:board, %s, in %s mode: the model is given the board, and that is all",
  async (how, mode) => {
    world = World.small({});
    world.minion("start", world.list("1. One\n2. Two (depends on: 1)\n"));
    const [, ...board] = world.minion("board").trim().split("\n");
    expect(board.slice(-2)).toEqual([
      expect.stringMatching(/^1 +ready /),
      expect.stringMatching(/^2 +waiting /),
    ]);
    const args = how === "installed" ? [] : ["--plugin-dir", join(inject("unpacked"), "assets")];
    if (args.length > 0) world.installer("uninstall");
    const result = await world.run("/minion:board", mode, {}, args);
    expect(result).toMatchObject({ code: 0, denials: [] });
    const [asked, ...more] = world.asked("orchestrator");
    expect(more).toEqual([]);
    const text = JSON.stringify(asked?.messages).replaceAll("\\n", "\n");
    expect(text).toContain(board.join("\n"));
    // What only a person types costs nothing in other sessions: it is not among what a model is
    // told of.
    expect(text).toContain("available for use with the Skill tool");
    expect(text).not.toContain("- minion:board");
  },
);
