import { execFileSync } from "node:child_process";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Mode, World } from "./world.ts";

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

const CYCLE = "Tasks:\n1. One (depends on: 3)\n2. Two (depends on: 1)\n3. Three (depends on: 2)";
const GOOD = "Tasks:\n1. One\n2. Two (depends on: 1)";

test.each<[string, string, Mode | "plan", RegExp]>([
  ["a cycle", CYCLE, "default", /^error line 2: 1 → 3 → 2 → 1: /m],
  ["--dry-run", `${GOOD}\n--dry-run`, "auto", /2 tasks · 2 waves/],
  ["--dry-run in plan mode", `${GOOD}\n--dry-run`, "plan", /2 tasks · 2 waves/],
  ["a file in plan mode", "", "plan", /plan mode is a dry run/],
])(
  "%s: nobody is spawned and nothing is written, in .git neither",
  async (_, words, mode, said) => {
    const before = everything();
    const result = await world.run(`/minion ${words || world.list("1. One\n2. Two\n")}`, mode);
    expect(result.code).toBe(0);
    // What is refused in plan mode is the start, and by us.
    if (words) expect(result.denials).toEqual([]);
    expect(result.text).toMatch(said);
    expect(world.asked("worker")).toEqual([]);
    expect(everything()).toBe(before);
  },
);
