import { describe, expect, test } from "vitest";
import { next } from "../../../rails/foreman/next.ts";
import type { NewEvent } from "../../../rails/journal/events.ts";
import type { RunState } from "../../../rails/journal/state.ts";
import { MemoryJournal } from "./memory-journal.ts";
import { runAfter, SHIPPED, startedWith } from "./run.ts";

const states = (state: RunState) =>
  Object.fromEntries([...state.tasks].map(([id, task]) => [id, task.state]));

const dispatched = (task: string, n = 1): NewEvent => ({
  event: "dispatched",
  task,
  attempt: `r1/${task}.${n}`,
  phase: "implement",
});
const ended = (
  task: string,
  n: number,
  reason: "gate-failed" | "never-began" | "session-lost" | "unproven",
): NewEvent => ({
  event: "ended",
  attempt: `r1/${task}.${n}`,
  reason,
  note: "",
});
const submitted = (task: string, n = 1): NewEvent => ({
  event: "submitted",
  attempt: `r1/${task}.${n}`,
  head: "h",
  tree: "t",
  handoff: "x",
  commits: ["c"],
  paths: [],
  deleted: [],
});
const landed = (...attempts: string[]): NewEvent[] => [
  {
    event: "proven",
    from: "b",
    to: "n",
    tree: "t",
    landed: attempts.map((attempt) => ({ attempt, commits: ["c"] })),
  },
  { event: "landed", to: "n" },
];

const CHAIN = "1. One\n2. Two (depends on: 1)\n3. Three (depends on: 2)\n4. Four\n";

describe("states follow from the events alone", () => {
  test("at the start", () =>
    expect(states(runAfter(CHAIN))).toEqual({
      1: "ready",
      2: "waiting",
      3: "waiting",
      4: "ready",
    }));
  test("a task that is done in the list counts as landed", () =>
    expect(states(runAfter("### Task 1: One [DONE]\n### Task 2: Two\nDepends: 1\n"))).toEqual({
      1: "landed",
      2: "ready",
    }));
  test("running, mergeable, landed", () => {
    expect(states(runAfter(CHAIN, dispatched("1")))[1]).toBe("running");
    expect(states(runAfter(CHAIN, dispatched("1"), submitted("1")))[1]).toBe("mergeable");
    const state = runAfter(CHAIN, dispatched("1"), submitted("1"), ...landed("r1/1.1"));
    expect(states(state)).toMatchObject({ 1: "landed", 2: "ready", 3: "waiting" });
    expect(state.tip).toBe("n");
  });
  test("nothing to do: skipped, and what depends on it goes on", () =>
    expect(
      states(
        runAfter(CHAIN, dispatched("1"), { event: "nothing", attempt: "r1/1.1", why: "is there" }),
      ),
    ).toMatchObject({ 1: "skipped", 2: "ready" }));
  test("a failed attempt is tried again once, then a person is wanted and what depends on it is blocked", () => {
    const once = [dispatched("1"), ended("1", 1, "gate-failed")];
    expect(states(runAfter(CHAIN, ...once))).toMatchObject({ 1: "verify-failed", 2: "waiting" });
    const twice = [...once, dispatched("1", 2), ended("1", 2, "unproven")];
    const state = runAfter(CHAIN, ...twice);
    expect(states(state)).toEqual({ 1: "needs-human", 2: "blocked", 3: "blocked", 4: "ready" });
    expect(state.tasks.get("1")?.reason).toBe("unproven");
    expect(
      states(runAfter(CHAIN, ...twice, { event: "retried", task: "1", words: "" })),
    ).toMatchObject({
      1: "verify-failed",
      2: "waiting",
    });
  });
  test("what was lost with its session counts against nobody", () => {
    const lost = [1, 2, 3, 4, 5].flatMap((n) => [
      dispatched("1", n),
      ended("1", n, "session-lost"),
    ]);
    expect(states(runAfter(CHAIN, ...lost))[1]).toBe("ready");
  });
  test("what was dispatched and never launched counts against no bound, however often", () => {
    const refused = Array.from({ length: 5 }, () => dispatched("1"));
    const never = [1, 2, 3].flatMap((n) => [dispatched("1", n), ended("1", n, "never-began")]);
    const state = runAfter("1. One\n", ...refused, ...never);
    expect([states(state)[1], state.left]).toEqual(["verify-failed", 2]);
  });
  test("a result that comes after the worker was let go is taken; an end after a result changes nothing", () => {
    expect(
      states(runAfter(CHAIN, dispatched("1"), ended("1", 1, "unproven"), submitted("1")))[1],
    ).toBe("mergeable");
    expect(
      states(runAfter(CHAIN, dispatched("1"), submitted("1"), ended("1", 1, "unproven")))[1],
    ).toBe("mergeable");
  });
  test("a landing that no proof went before lands nothing", () =>
    expect(
      states(runAfter(CHAIN, dispatched("1"), submitted("1"), { event: "landed", to: "x" }))[1],
    ).toBe("mergeable"));
  test("done: nothing is running, ready or mergeable", () => {
    expect(runAfter("1. One\n").done).toBe(false);
    expect(runAfter("1. One\n", dispatched("1"), submitted("1"), ...landed("r1/1.1")).done).toBe(
      true,
    );
  });
});

describe("what is dispatched next", () => {
  test("the most urgent first, no rival of what runs or waits for landing, as many as there are slots", async () => {
    const list = "1. One\n2. Two\n3. Three\n4. Four\n5. Five\n6. Six\n7. Seven\n";
    const journal = new MemoryJournal("/none", "r1");
    const blueprint = { ...SHIPPED, bounds: { ...SHIPPED.bounds, workers: 3 } };
    const conflicts = [
      ["1", "7"],
      ["2", "6"],
      ["3", "5"],
    ] as const;
    const { at, ...started } = startedWith(list, {
      blueprint,
      conflicts,
      priority: { 3: 1, 5: 2, 6: 9, 7: 8 },
    });
    await journal.add(started, dispatched("1"), submitted("1"), dispatched("2"));
    const tasks = async () =>
      (await next(journal, 0, null, async () => {})).answer.dispatch.map(({ task }) => task);
    // What was dispatched and not launched is named again.
    expect(await tasks()).toEqual(["2"]);
    await journal.add({ event: "base-checked", red: [] });
    expect(await tasks()).toEqual(["2", "5", "4"]);
  });
});
