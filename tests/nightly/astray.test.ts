import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ClientResult } from "../../demo/client.ts";
import {
  type Behaviour,
  claimsWithoutRunning,
  failsTwice,
  neverBegins,
} from "../../demo/worker-script.ts";
import { type JournalEvent, MODES, World } from "../e2e/world.ts";

const LIST = `
### Task 1: Claims
Files: src/claimed.txt
### Task 2: After claims
Depends: 1
Files: src/after-claims.txt
### Task 3: Fails
Files: src/failing.txt
### Task 4: After fails
Depends: 3
Files: src/after-fails.txt
### Task 5: Never begins
Files: src/never.txt
### Task 6: After never begins
Depends: 5
Files: src/after-never.txt
### Task 7: First on the file
Files: src/shared.txt
### Task 8: Second on the file
Files: ./SRC/shared.txt?
### Task 9: After both
Depends: 7, 8
Files: docs/nine.txt
`;

const FILES = {
  1: { "src/claimed.txt": "claimed\n" },
  2: { "src/after-claims.txt": "after\n" },
  3: { "src/failing.txt": "fine so far\n" },
  4: { "src/after-fails.txt": "after\n" },
  5: { "src/never.txt": "never\n" },
  6: { "src/after-never.txt": "after\n" },
  7: { "src/shared.txt": "seven\n" },
  8: { "src/shared.txt": "seven\neight\n" },
  9: { "docs/nine.txt": "nine\n" },
};

// One run in each mode has all of them: workers go astray beside others, and a run of the client is
// dear.
describe.each(MODES)("workers that go astray, in %s mode", (mode) => {
  let world: World;
  let result: ClientResult;
  let of: (name: string, task: string) => JournalEvent[];

  beforeAll(async () => {
    world = World.small(FILES);
    // Another approach each time: on files that were red before, nothing would run and nothing
    // count.
    const fails: Behaviour = (worker) =>
      failsTwice(
        { write: "src/failing.txt", content: `FAIL ${worker.try}\n` },
        { write: "src/failing.txt", content: `FAIL ${worker.try} again\n` },
      )(worker);
    result = await world.run(`/minion ${world.list(LIST)}`, mode, {
      1: claimsWithoutRunning,
      3: fails,
      5: neverBegins,
    });
    const events = world.events();
    of = (name, task) =>
      events.filter((each) => each.event === name && JSON.stringify(each).includes(`"r1/${task}.`));
  });
  afterAll(() => world.close());

  test("the run ends by itself, and only what is good is on the line", () => {
    expect(result.code).toBe(0);
    // What a hook sends back counts as a denial with the client.
    expect(result.denials.filter(({ tool_name }) => tool_name !== "SubagentHandback")).toEqual([]);
    expect(world.states()).toEqual({
      1: "needs-human",
      2: "blocked",
      3: "needs-human",
      4: "blocked",
      5: "needs-human",
      6: "blocked",
      7: "landed",
      8: "landed",
      9: "landed",
    });
    const {
      "src/shared.txt": shared,
      "docs/nine.txt": nine,
      ...rest
    } = world.files("minion/r1/line");
    expect([shared, nine]).toEqual(["seven\neight", "nine"]);
    expect(rest).toEqual(world.files("main"));
  });

  test("«all tests pass» without a run: sent back, then not mergeable", () => {
    for (const attempt of ["r1/1.1", "r1/1.2"]) {
      expect(world.named("sent-back", attempt)).toMatchObject([{ reason: "no-evidence" }]);
      expect(world.named("ended", attempt)).toMatchObject([{ reason: "unproven" }]);
    }
    for (const name of ["evidence", "submitted", "proven"]) expect(of(name, "1")).toEqual([]);
    expect(of("dispatched", "1")).toHaveLength(2);
    expect(of("dispatched", "2")).toEqual([]);
  });

  test("tests that fail twice: it stops, its branch is kept, what depends on it is blocked", () => {
    for (const attempt of ["r1/3.1", "r1/3.2"]) {
      const ran = of("evidence", "3").filter(({ attempts }) =>
        (attempts as string[]).includes(attempt),
      );
      expect(ran.map(({ gate, code }) => [gate, code])).toEqual([
        ["lint", 0],
        ["test", 1],
        ["lint", 0],
        ["test", 1],
      ]);
      expect(world.named("ended", attempt)).toMatchObject([{ reason: "gate-failed" }]);
      expect(world.named("sent-back", attempt)).toEqual([]);
    }
    expect(of("submitted", "3")).toEqual([]);
    expect(of("dispatched", "4")).toEqual([]);
    const { attention } = JSON.parse(world.minion("attention", "--json"));
    expect(attention).toMatchObject([
      { task: "1", reason: "unproven" },
      { task: "3", reason: "gate-failed" },
      { task: "5", reason: "never-began" },
    ]);
  });

  test("the report that the person gets says where each task stands and where its work is", () => {
    const { report } = JSON.parse(world.minion("report", "--json"));
    const told = [
      ...report.matchAll(
        /^- \*\*(\d) .*?\*\*: (needs-human|blocked|`[0-9a-f]{10}`)(?:.*`(minion\/.*)`)?/gm,
      ),
    ];
    const where = (state: string) => (state.startsWith("`") ? "on the line" : state);
    expect(told.map(([, task, state, branch]) => [task, where(state), branch])).toEqual([
      ["7", "on the line", undefined],
      ["8", "on the line", undefined],
      ["9", "on the line", undefined],
      ["1", "needs-human", "minion/r1/1-claims.2"],
      ["2", "blocked", undefined],
      ["3", "needs-human", "minion/r1/3-fails.2"],
      ["4", "blocked", undefined],
      ["5", "needs-human", undefined],
      ["6", "blocked", undefined],
    ]);
    for (const [line] of told) expect(result.text).toContain(line);
  });

  test("a worker that never begins: its attempt is over, and a fresh one is tried once", () => {
    for (const attempt of ["r1/5.1", "r1/5.2"])
      expect(world.named("ended", attempt)).toMatchObject([{ reason: "never-began" }]);
    expect(of("begun", "5")).toEqual([]);
    expect(of("dispatched", "5")).toHaveLength(2);
    expect(of("dispatched", "6")).toEqual([]);
  });

  test("two tasks on one file: the second begins after the first has landed", () => {
    const landed = world.events().findIndex((each, index, all) => {
      const before = all.slice(0, index).findLast(({ event }) => event === "proven");
      return each.event === "landed" && JSON.stringify(before).includes('"r1/7.1"');
    });
    const begun = world
      .events()
      .findIndex(({ event, attempt }) => event === "dispatched" && attempt === "r1/8.1");
    expect(landed).toBeGreaterThan(0);
    expect(begun).toBeGreaterThan(landed);
    expect(of("submitted", "8")).toHaveLength(1);
  });

  test("clean keeps the branches with work that did not land", () => {
    world.minion("clean");
    expect(world.branches()).toEqual([
      "main",
      "minion/r1/1-claims.1",
      "minion/r1/1-claims.2",
      "minion/r1/3-fails.1",
      "minion/r1/3-fails.2",
      "minion/r1/line",
    ]);
    expect(world.files("minion/r1/3-fails.2")["src/failing.txt"]).toBe("FAIL 2 again");
  });
});
