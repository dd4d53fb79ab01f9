import { describe, expect, test } from "vitest";
import { alarmsOf } from "../../../rails/foreman/alarms.ts";
import { next } from "../../../rails/foreman/next.ts";
import type { EventData, NewEvent } from "../../../rails/journal/events.ts";
import type { Reason } from "../../../rails/journal/shapes.ts";
import { MemoryJournal } from "./memory-journal.ts";
import { phasesOf, runAfter, startedWith } from "./run.ts";

const LIST = "1. One\n2. Two\n3. Three\n4. Four\n5. Five\n";
const id = (task: string, n = 1): string => `r1/${task}.${n}`;
const at = { worktree: "w", branch: "b", base: "b", foundBranch: "f" };

const begun = (task: string, n = 1): NewEvent[] => [
  { event: "dispatched", task, attempt: id(task, n), phase: "implement" },
  { event: "launched", attempt: id(task, n), agent: `a${task}${n}` },
  { event: "begun", attempt: id(task, n), ...at },
];
const ran = (task: string, more: Partial<EventData["evidence"]> = {}): NewEvent => ({
  event: "evidence",
  gate: "test",
  by: "worker",
  attempts: [id(task)],
  tree: "t",
  changed: [],
  made: [],
  command: "c",
  cwd: "",
  setup: "",
  code: 0,
  untested: false,
  known: false,
  ms: 1,
  output: "o",
  ...more,
});
const ended = (task: string, reason: Reason, note = ""): NewEvent => ({
  event: "ended",
  attempt: id(task),
  reason,
  note,
});
const submitted = (task: string): NewEvent => ({
  event: "submitted",
  attempt: id(task),
  head: "h",
  tree: "t",
  handoff: "x",
  commits: ["c"],
  paths: [],
  deleted: [],
});
const landed = (...tasks: string[]): NewEvent[] => [
  {
    event: "proven",
    from: "b",
    to: "n",
    tree: "t",
    landed: tasks.map((task) => ({ attempt: id(task), commits: [] })),
  },
  { event: "landed", to: "n" },
];
const resumed: NewEvent = { event: "owner", session: "s", owner: null, dollars: 7 };
const dollars = { low: 2, likely: 4, high: 8 };
const estimate = {
  minutes: dollars,
  each: dollars,
  dollars,
} as unknown as EventData["started"]["estimate"];

const alarms = (events: readonly NewEvent[], spent: number | null = null, after = 0) => {
  const state = runAfter(LIST, { estimate }, { event: "base-checked", red: [] }, ...events);
  return alarmsOf(state, { dollars: spent, now: state.lastAt + after }).map(
    ({ when, what, pause }) => [when, what, pause],
  );
};
const red = (task: string, errors: string[] = []): NewEvent => ran(task, { code: 1, errors });

/** A red gate that says this, and the end of the attempt. */
const failed = (task: string, ...errors: string[]): NewEvent[] => [
  ...begun(task),
  red(task, errors),
  ended(task, "gate-failed"),
];

describe("a healthy run raises none", () => {
  test("each worker has a red gate, mends it, and lands; one fails, one lands in the second attempt", () => {
    const healthy = ["1", "2", "3"].flatMap((task) => [
      ...begun(task),
      red(task, [`src/${task}.js expected ${task}`]),
      ran(task),
      submitted(task),
      ...landed(task),
    ]);
    expect(alarms([...healthy, ...failed("4", "no"), ...begun("4", 2)], 7.9)).toEqual([]);
  });
  test("tests that are to be red are no errors", () => {
    const workflows = { "": phasesOf("- name: implement\n  red: [test]") };
    const same = ["1", "2", "3", "4"].flatMap((task) => [
      ...begun(task),
      red(task, ["not implemented"]),
    ]);
    const state = runAfter(LIST, { workflows }, ...same);
    expect(alarmsOf(state, { dollars: null, now: 0 })).toEqual([]);
  });
  test("results that land as fast as they come, and a line that rests", () => {
    const all = ["1", "2", "3", "4"].flatMap((task) => [...begun(task), submitted(task)]);
    expect(alarms([...all, ...landed("1", "2", "3", "4")], null, 1e6)).toEqual([]);
  });
});

describe("rounds that were handed in red count like ends", () => {
  const workflows = { "": phasesOf("- {name: implement, rounds: 6}") };
  const round = (task: string, line: string, code = 1): NewEvent[] => [
    ...begun(task),
    ran(task, { code, errors: line ? [line] : [] }),
    { ...submitted(task), red: ["test"] } as NewEvent,
  ];
  const of = (...events: NewEvent[]) =>
    alarmsOf(runAfter(LIST, { workflows }, ...events), { dollars: null, now: 0 })
      .filter(({ when }) => when === "ended")
      .map(({ what }) => what);
  const three = (line: string, code = 1) =>
    ["1", "2", "3"].flatMap((task) => round(task, line.replace("TASK", task), code));

  test("several tasks whose rounds leave the same, wherever that stands", () => {
    const what = "rounds left test red: «cannot find module PATH» (tasks 1, 2, 3)";
    expect(of(...three("cannot find module src/TASK/x.js"))).toEqual([what]);
    expect(of(...three("cannot find module src/TASK/x.js").slice(0, -1))).toEqual([]);
    expect(of(...three("", 127))).toEqual(["rounds left test red: ended with 127 (tasks 1, 2, 3)"]);
  });
  test("not what is each task's own, nor a check that says nothing", () => {
    const own = ["one", "two", "three"].flatMap((what, at) => round(`${at + 1}`, `no ${what}`));
    expect(of(...own)).toEqual([]);
    expect(of(...three(""))).toEqual([]);
  });
  test("nor what was before a result; and a red round is none for those that ended", () => {
    expect(of(...three("cannot find it"), ...begun("4"), submitted("4"))).toEqual([]);
    const all = [...failed("1"), ...failed("2"), ...failed("3"), ...round("4", "x")];
    expect(of(...all)).toEqual(["workers ended with gate-failed at test (tasks 1, 2, 3)"]);
  });
});

describe("each alarm by what it counts", () => {
  test("workers that end for the same reason at the same gate: not for two, and not for different ones", () => {
    const two = [...failed("1"), ...failed("2")];
    expect(alarms(two)).toEqual([]);
    expect(alarms([...two, ...begun("3"), ended("3", "permission")])).toEqual([]);
    const what = "workers ended with gate-failed at test (tasks 1, 2, 3)";
    expect(alarms([...two, ...failed("3")])).toEqual([["ended", what, true]]);
    // A lost session or a rate limit says nothing of what they have in common.
    for (const reason of ["session-lost", "rate-limit"] as const)
      expect(
        alarms(["1", "2", "3"].flatMap((task) => [...begun(task), ended(task, reason)])),
      ).toEqual([]);
  });
  test("a result in between: some of many tasks may well fail", () => {
    const good = [...begun("4"), submitted("4")];
    expect(alarms([...failed("1"), ...failed("2"), ...good, ...failed("3")])).toEqual([]);
    const slow = (task: string) => [...begun(task), ran(task, { code: null })];
    expect(alarms([...slow("1"), ran("1"), ...slow("2")])).toEqual([]);
  });
  test("twice the same task is one task", () => {
    const again = [
      ...begun("1", 2),
      { ...ended("1", "gate-failed"), attempt: id("1", 2) } as NewEvent,
    ];
    expect(alarms([...failed("1"), ...again, ...failed("2")])).toEqual([]);
  });
  test("a gate that runs out of time in two tasks", () => {
    const slow = (task: string) => [...begun(task), ran(task, { code: null })];
    expect(alarms(slow("1"))).toEqual([]);
    expect(alarms([...slow("1"), ...slow("2")])).toEqual([
      ["timeout", "test ran out of time (tasks 1, 2)", true],
    ]);
  });
  test("the same error in three tasks, whatever else each says", () => {
    const says = (task: string) => [
      ...begun(task),
      red(task, [`in ${task}`, "connect ECONNREFUSED 127.0.0.1"]),
    ];
    expect(alarms([...says("1"), ...says("2")])).toEqual([]);
    expect(alarms([...says("1"), ...says("2"), ...says("3")])).toEqual([
      ["error", "test says «connect ECONNREFUSED 127.0.0.1» (tasks 1, 2, 3)", false],
    ]);
  });
  test("a red base, until a person goes on over it", () => {
    const base: NewEvent = { event: "base-checked", red: ["lint"] };
    expect(alarms([base])).toEqual([["base-red", "red on the base: lint", false]]);
    expect(alarms([base, { event: "base-accepted", red: ["lint"] }])).toEqual([]);
  });
  test("money beyond the upper end of the estimate; unknown money is no alarm", () => {
    expect(alarms([], 8.5)).toEqual([
      ["spent", "$8.50 spent, where $8.00 was the most expected", true],
    ]);
    expect(alarms([], null)).toEqual([]);
    expect(alarmsOf(runAfter(LIST), { dollars: 99, now: 0 })).toEqual([]);
  });
  test("results that wait to land for longer than workers take for theirs", () => {
    const waiting = ["1", "2", "3"].flatMap((task) => [...begun(task), submitted(task)]);
    expect(alarms(waiting.slice(0, -1), null, 1e6)).toEqual([]);
    expect(alarms(waiting, null, -8000)).toEqual([]);
    expect(alarms(waiting, null, 9000)).toEqual([
      ["landing", "3 results wait to land (tasks 1, 2, 3)", false],
    ]);
  });
});

describe("what an alarm leads to", () => {
  const three = [
    ...failed("1", "ENOSPC: no space left on device"),
    ...failed("2", "x"),
    ...failed("3", "y"),
  ];
  test("the cause is what the errors say, else the rule's own", () => {
    const [full] = alarmsOf(runAfter(LIST, ...three), { dollars: null, now: 0 });
    expect(full?.likely).toBe("the disk is full (infrastructure)");
    const plain = alarmsOf(runAfter(LIST, ...failed("1"), ...failed("2"), ...failed("3")), {
      dollars: null,
      now: 0,
    });
    expect(plain[0]?.likely).toContain("blueprint");
  });
  test("whoever resumes has seen it: it counts anew from there, money as well", () => {
    expect(alarms([...three, resumed])).toEqual([]);
    expect(alarms([resumed], 14.9)).toEqual([]);
    expect(alarms([resumed], 15.1)).toMatchObject([["spent", expect.any(String), true]]);
  });
  test("nothing more is dispatched before that, and a person is told the choices", async () => {
    const journal = new MemoryJournal("/none", "r1");
    const { at: _, ...started } = startedWith(LIST, { estimate, budget: 10 });
    await journal.add(started, { event: "base-checked", red: [] }, ...three);
    const { answer: paused } = await next(journal, 0, 1, async () => {});
    expect([paused.dispatch, paused.done]).toEqual([[], false]);
    expect(Object.keys(paused.waiting)).toEqual(["later"]);
    expect(paused.attention[0]).toMatchObject({ task: "", reason: "alarm", choices: [{}, {}] });
    expect(paused.alarms).toHaveLength(1);
    await journal.add(resumed);
    const { answer: spent } = await next(journal, 0, 10, async () => {});
    expect([spent.dispatch, Object.keys(spent.waiting), spent.attention[0]?.reason]).toEqual([
      [],
      ["budget"],
      "budget",
    ]);
    await journal.add({ ...resumed, budget: 20 } as NewEvent);
    const { answer: open } = await next(journal, 0, 10, async () => {});
    expect([open.dispatch.length, open.attention, open.alarms]).toEqual([4, [], []]);
  });
});
