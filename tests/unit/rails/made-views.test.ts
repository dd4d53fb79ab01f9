// @vitest-environment happy-dom

import width from "fast-string-width";
import mermaid from "mermaid";
import { describe, expect, test } from "vitest";
import { attentionOf } from "../../../rails/foreman/attention.ts";
import { chainLeft } from "../../../rails/journal/chain.ts";
import type { NewEvent } from "../../../rails/journal/events.ts";
import type { RunState } from "../../../rails/journal/state.ts";
import { board } from "../../../rails/view/board.ts";
import { tasksData } from "../../../rails/view/flows-text.ts";
import { fullReport } from "../../../rails/view/full-report.ts";
import { stateGraph, workersGantt } from "../../../rails/view/mermaid.ts";
import {
  begun,
  done,
  ended,
  handedIn,
  listing,
  madeRun,
  round,
  type Step,
  stuck,
  visit,
} from "./made-run.ts";
import { seenWith } from "./run.ts";

// What people see of tasks that are made of others, that come again, and of which there are several.

const nothing = (task: string): NewEvent[] => [
  ...begun(task),
  { event: "nothing", attempt: `r1/${task}.1`, why: "It is there." },
];
const MANY = Array.from({ length: 300 }, (_, at) => `src/part${at}/file.ts`);
const idsFrom = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, at) => `1/${from + at}`);

/** A list by `Each:` of 300, an area with an area in it, a loop and a choice. */
const LIST = [
  "### Task 1: Move all of the dates from the old library to the new one\nEach: git grep -l moment\nFiles: {}",
  "### Task A: Tenants\nWorkflow: area\nFiles: lib/",
  "### Task L: Suite\nWorkflow: loop\nVerify: `npm test`",
  "### Task V: Cache\nWorkflow: choice",
  "### Task W: Whole\nDepends: 1",
].join("\n");
const steps: Step[] = [
  listing("1", MANY, 2),
  ...idsFrom(1, 285).map(done),
  ...idsFrom(286, 288).map(stuck),
  ...idsFrom(289, 290).map(nothing),
  ...idsFrom(291, 294).map((id) => begun(id)),
  ...visit("A", 1, "A/1", "A/2 area", "A/3"),
  done("A/1"),
  ...visit("A/2", 1, "A/2/1", "A/2/2"),
  begun("A/2/2"),
  stuck("A/2/1"),
  ...visit("A/2", 2),
  ...visit("A", 2),
  round("L", 1, "9 of 9 fail"),
  round("L", 2, "7 of 9 fail"),
  begun("L", 3),
  [...begun("V", 1, "ways"), handedIn("V", 1)],
  [2, 3, 4].flatMap((n) => begun("V", n, "implement", n - 1)),
  handedIn("V", 3),
];
const run = (): RunState => madeRun(LIST, ...steps);
const draw = (state: RunState, columns = 100) =>
  board(state, { now: 9e6, cost: null, alarms: [] }, { columns, isColoured: false });
const doing = (state: RunState, id: string): string | undefined =>
  draw(state).data.tasks.find(({ task }) => task === id)?.doing;

describe("the board", () => {
  for (const columns of [80, 100])
    test(`at ${columns} columns: what is open stands under its own, the rest is counted`, async () => {
      const { text } = draw(run(), columns);
      for (const line of text.split("\n")) expect(width(line)).toBeLessThanOrEqual(columns);
      await expect(`${text}\n`).toMatchFileSnapshot(`boards/made-${columns}.txt`);
    });

  test("has all of them as data", () => {
    const { tasks } = draw(run()).data;
    expect(tasks).toHaveLength(5 + 300 + 3 + 2);
    const found = (id: string) => tasks.find(({ task }) => task === id);
    expect(found("1/7")).toMatchObject({ state: "landed", parent: "1", round: null, visit: null });
    expect(found("A")).toMatchObject({ parent: null, visit: { number: 2, most: 12 } });
    expect(found("L")?.round).toEqual({ number: 3, most: 6, red: ["verify"] });
    expect(found("V")?.variants).toEqual([
      { number: 1, attempt: "r1/V.2", stands: "running", value: null, isPicked: false },
      { number: 2, attempt: "r1/V.3", stands: "handed in", value: null, isPicked: false },
      { number: 3, attempt: "r1/V.4", stands: "running", value: null, isPicked: false },
    ]);
  });

  test("of many that wait for a person some are named, and the others counted", () => {
    const { text } = draw(madeRun(LIST, listing("1", MANY), ...idsFrom(1, 200).map(stuck)));
    expect(text.split("\n").length).toBeLessThan(30);
    expect(text).toContain("190 more need you");
    expect(text).toMatch(/0 of 300 landed, 200 need you/);
    expect(text.replace(/\n/g, " ")).toMatch(/1\/20, 180 more → minion attention$/);
  });

  test("says of rounds which one, and what is still red", () => {
    const list = "### Task 1: One\nWorkflow: loop\nVerify: `npm test`\n";
    expect(doing(madeRun(list, begun("1")), "1")).toBe("round 1 of 6: working");
    expect(doing(madeRun(list, round("1", 1, "a fails")), "1")).toBe("round 2 of 6: verify red");
    const rounds = [..."abcdef"].map((what, at) => round("1", at + 1, `${what} fails`));
    const last = madeRun(list, ...rounds);
    expect(doing(last, "1")).toBe("round 6 of 6: gate-failed");
    const failed = madeRun(list, round("1", 1, "a"), [...begun("1", 2), ended("1", 2)]);
    expect(draw(failed).text).not.toContain("try 2");
    expect(doing(failed, "1")).toBe("round 2 of 6: gate-failed");
  });

  test("says of a choice who is at it, and what comes next", () => {
    const list = "### Task 1: One\nWorkflow: choice\nMeasure: lowest npm run size\n";
    const ways = [...begun("1", 1, "ways"), handedIn("1", 1)];
    const all = [2, 3, 4].flatMap((n) => begun("1", n, "implement", n - 1));
    const of = (...more: NewEvent[]) => doing(madeRun(list, ways, all, more), "1");
    expect(of()).toBe("variant 1, 2, 3 of 3");
    expect(of(ended("1", 2), handedIn("1", 3))).toBe("variant 3 of 3");
    const handed = [ended("1", 2), handedIn("1", 3), handedIn("1", 4)];
    expect(of(...handed)).toBe("measuring 1 of 2");
    const measured = { event: "measured", attempt: "r1/1.3", value: 7, output: "o" } as const;
    expect(of(...handed, measured)).toBe("measuring 2 of 2");
    const judged = madeRun(
      list.replace(/Measure.*/, ""),
      ways,
      all,
      handed,
      begun("1", 5, "choose"),
    );
    expect(doing(judged, "1")).toBe("choosing from 2");
  });

  test("says what an area or a list waits for itself", () => {
    expect(doing(madeRun(LIST), "1")).toBe("to be listed");
    expect(doing(madeRun(LIST, begun("A", 1, "plan")), "A")).toBe("visit 1 of 12: planning");
    const none = { event: "not-listed", task: "1", note: "It ended with 127." } as const;
    expect(doing(madeRun(LIST, none), "1")).toBe("gate-failed");
    const over = idsFrom(1, 2).map(done);
    const checked = { event: "whole-checked", task: "1", tip: "l", red: "verify" } as const;
    const whole = LIST.replace("Files: {}", "Files: {}\nVerify: `npm test`");
    const state = madeRun(whole, listing("1", ["a", "b"]), ...over, checked);
    expect(draw(state).text).toMatch(/^1 +needs-human +line-red: 2 of 2 landed {2}Move/m);
  });
});

test("the time that is left counts what is open of a list, as many at once as may be", () => {
  const list = "### Task 1: Move\nEach: ls\n### Task 2: Whole\nDepends: 1\n";
  const each = { low: 5, likely: 5, high: 5 };
  const state = { ...madeRun(list, listing("1", MANY.slice(0, 9))), estimate: { each } as never };
  expect(state.blueprint.bounds.workers).toBe(4);
  expect(chainLeft(state, 0)).toEqual({ ms: 4 * 5 * 60_000, tasks: ["1", "2"] });
});

describe("the report", () => {
  const text = (state: RunState, sizes = new Map()) =>
    fullReport(state, seenWith({ now: 9e6, sizes }));
  const part = (report: string, title: string): string =>
    report.split(/^## /m).find((each) => each.startsWith(`${title}\n`)) ?? "";

  test("counts what a command listed, and names what did not land; areas are a tree", async () => {
    const report = await text(run());
    expect(report).toMatch(/^# Run r1: 286 of 307 landed\n/);
    const rest = part(report, "Not landed");
    expect(rest).toContain(
      "**1 Move all of the dates from the old library to the new one**: needs-human (gate-failed: Task 1/286 waits.). " +
        "285 of 300 landed, 4 running, 3 need you, 2 nothing to do; 2 lines left out, blank or doubled\n" +
        "  - **1/286 ",
    );
    expect(rest.match(/^ {2}- \*\*1\//gm)).toHaveLength(3 + 4 + 6);
    expect(rest).toMatch(/^- \*\*A Tenants\*\*.*2 of 12 visits of its planner$/m);
    expect(rest).toMatch(/^ {2}- \*\*A\/1 Part A\/1\*\*: `lA\/1\.1`$/m);
    expect(rest).toMatch(/^ {4}- \*\*A\/2\/1 Part A\/2\/1\*\*: needs-human/m);
    expect(part(report, "Handoffs")).not.toContain("1/7 ");
  });

  test("says of each round what was tried and what it left red", async () => {
    expect(part(await text(run()), "Rounds")).toBe(
      "Rounds\n\n- **L Suite**: 2 of 6 rounds\n" +
        "  - round 1: Tried 1. left red verify (`9 of 9 fail`)\n" +
        "  - round 2: Tried 2. left red verify (`7 of 9 fail`)\n\n",
    );
  });

  test("has a table of what there was to choose from, and what was picked by what", async () => {
    const list = "### Task 1: One\nWorkflow: choice\nMeasure: lowest npm run size\n";
    const ways = [...begun("1", 1, "ways"), handedIn("1", 1)];
    const all = [2, 3, 4].flatMap((n) => begun("1", n, "implement", n - 1));
    const measured = (n: number, value: number): NewEvent => {
      return { event: "measured", attempt: `r1/1.${n}`, value, output: "o" };
    };
    const rest: NewEvent[] = [ended("1", 2), handedIn("1", 3), handedIn("1", 4)];
    const picked = { event: "picked", task: "1", attempt: "r1/1.4", by: "measure" } as const;
    const state = madeRun(list, ways, all, rest, measured(3, 9), measured(4, 7), picked);
    const size = { files: 2, added: 30, removed: 4 };
    expect(part(await text(state, new Map([["r1/1.4", size]])), "Choices")).toBe(
      [
        "Choices\n\n**1 One**: variant 3 was picked by its measure\n",
        "| variant | size | lowest of `npm run size` | cost |",
        "| --- | --- | --- | --- |",
        "| 1 | - | out | ? |",
        "| 2 | - | 9 | ? |",
        "| 3 | 2 files, +30 −4 | **7, picked** | ? |\n\n\n",
      ].join("\n"),
    );
    expect(tasksData(state, null, new Map([["r1/1.4", size]]))[0]?.variants[2]).toMatchObject({
      attempt: "r1/1.4",
      value: 7,
      size,
      isPicked: true,
    });
  });

  test("is the table of handoffs where nothing is written", async () => {
    const list = "### Task 1: Sort\nWorkflow: look\nEach: ls\n";
    const results = ["a | b", "c"].flatMap((what, at) => [
      ...begun(`1/${at + 1}`, 1, "look"),
      handedIn(`1/${at + 1}`, 1, { handoff: what }),
    ]);
    const report = await text(madeRun(list, listing("1", ["x.md", "y.md"]), results));
    expect(part(report, "Results")).toBe(
      "Results\n\n| task | of | result |\n| --- | --- | --- |\n" +
        "| 1/1 | Sort: x.md | a \\| b |\n| 1/2 | Sort: y.md | c |\n\n",
    );
    expect(part(report, "Handoffs")).toBe("");
    expect(part(report, "Landed")).toContain("- **1 Sort**: landed. 2 of 2 landed");
  });
});

test("pictures have frames with what is open, and counts for the rest", async () => {
  const graph = stateGraph(run());
  expect(graph.split("\n").length).toBeLessThan(60);
  expect((await mermaid.parse(graph)).diagramType).toMatch(/^flowchart/);
  expect(graph).toMatch(/subgraph t\d+\["A needs-human \(1 of 3 landed, 1 needs you\): Tenants"\]/);
  expect(graph).toContain("L running (round 3 of 6): Suite");
  expect(graph).toContain("V running (3 variants): Cache");
  const gantt = workersGantt(run(), 9e6);
  expect((await mermaid.parse(gantt)).diagramType).toBe("gantt");
  expect(gantt).toMatch(/^ {2}287 over :done, \d+, \d+$/m);
  expect(gantt.split("\n").length).toBeLessThan(80);
});

describe("what waits for a person", () => {
  const asked = (state: RunState) =>
    attentionOf(state, [], { dollars: null, now: 0 }).map(({ task }) => task);

  test("is no second entry where only a task of it does", () => {
    expect(asked(run())).toEqual(["1/286", "1/287", "1/288", "A/2/1"]);
    const stands = ["1", "A", "A/2"].map((id) => run().tasks.get(id)?.state);
    expect(stands).toEqual(["needs-human", "needs-human", "needs-human"]);
  });

  test("is one where nothing else says so", () => {
    const none = { event: "not-listed", task: "1", note: "It ended with 127." } as const;
    expect(asked(madeRun(LIST, none))).toEqual(["1"]);
    const stopped = { event: "stopped", task: "A", question: "" } as const;
    expect(asked(madeRun(LIST, ...visit("A", 1, "A/1"), stuck("A/1"), stopped))).toEqual([
      "A",
      "A/1",
    ]);
  });
});
