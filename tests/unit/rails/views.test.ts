// @vitest-environment happy-dom

import width from "fast-string-width";
import mermaid from "mermaid";
import { describe, expect, test } from "vitest";
import { alarmsOf } from "../../../rails/foreman/alarms.ts";
import type { EventData, NewEvent } from "../../../rails/journal/events.ts";
import type { Usage } from "../../../rails/journal/shapes.ts";
import { costOf } from "../../../rails/money/cost.ts";
import { board } from "../../../rails/view/board.ts";
import { fullReport } from "../../../rails/view/full-report.ts";
import { stateGraph, workersGantt } from "../../../rails/view/mermaid.ts";
import { phasesOf, runAfter, seenWith } from "./run.ts";

const LIST = `1. Add \`POST /events\`: "quotes"; and #marks & <tags>
2. Paging (depends on: 1)
3. A title that is much longer than any column of a board will ever be, so that it has to be cut somewhere
4. 数据库迁移 with wide characters
5. Export (depends on: 4)
6. Import
7. Release notes (depends on: 2, 5)
`;
const minutes = { low: 2, likely: 5, high: 12 };
const dollars = { low: 1.2, likely: 2.5, high: 4.1 };
const estimate = { minutes, each: minutes, dollars } as unknown as EventData["started"]["estimate"];
const MINUTE = 60_000;

const start = (task: string, at: number, n = 1, phase = "implement"): object[] => [
  { event: "dispatched", task, attempt: `r1/${task}.${n}`, phase, at },
  { event: "launched", attempt: `r1/${task}.${n}`, agent: `a${task}`, at },
  {
    event: "begun",
    attempt: `r1/${task}.${n}`,
    worktree: "w",
    branch: `b${task}`,
    base: "b0",
    foundBranch: "f",
    at,
  },
];
const submit = (task: string, at: number, n = 1) => ({
  event: "submitted",
  attempt: `r1/${task}.${n}`,
  head: "h",
  tree: "t",
  commits: ["c"],
  paths: [],
  deleted: [],
  at,
  handoff: "What and why: it.",
});
const used: Usage = {
  model: "opus",
  requests: 9,
  input: 1000,
  write: 9000,
  writeHour: 0,
  read: 99_000,
  output: 4000,
};
const events = [
  { event: "base-checked", red: [], at: 1000 },
  ...start("1", 2000),
  ...start("3", 2000),
  ...start("4", 2000),
  {
    event: "job",
    name: "gate r1/3.1 test",
    attempt: "r1/3.1",
    process: { pid: 1, started: "1" },
    at: 3 * MINUTE,
  },
  submit("1", 4 * MINUTE),
  {
    event: "proven",
    from: "b",
    to: "n",
    tree: "t",
    landed: [{ attempt: "r1/1.1", commits: ["c"] }],
    at: 5 * MINUTE,
  },
  { event: "landed", to: "n", at: 5 * MINUTE },
  ...start("2", 6 * MINUTE),
  {
    event: "ended",
    attempt: "r1/4.1",
    reason: "forbidden",
    note: "It changed db/schema.sql.",
    at: 7 * MINUTE,
  },
  { event: "spent", attempt: "r1/1.1", transcript: "t1", size: 1, usage: [used], at: 7 * MINUTE },
] as unknown as NewEvent[];
const conflicts = [["3", "6"]] as const;
const run = () => runAfter(LIST, { estimate, conflicts }, ...events);
const models = new Map([["opus", { input: 4, cacheWrite: 5, cacheRead: 0.2, output: 20 }]]);
const now = 8 * MINUTE;

function draw(columns: number, isColoured = false) {
  const state = run();
  const cost = costOf(state, [...state.spent.values()], models);
  const alarms = alarmsOf(state, { dollars: 9, now });
  return board(state, { now, cost, alarms }, { columns, isColoured });
}

describe("the board", () => {
  for (const columns of [80, 120])
    test(`at ${columns} columns, no line wider`, async () => {
      const { text } = draw(columns);
      for (const line of text.split("\n")) expect(width(line)).toBeLessThanOrEqual(columns);
      await expect(`${text}\n`).toMatchFileSnapshot(`boards/${columns}.txt`);
    });
  test("the same as data", () => {
    const { tasks, money, left, alarms } = draw(80).data;
    expect(tasks.map(({ task, state, doing }) => [task, state, doing])).toEqual([
      ["1", "landed", ""],
      ["2", "running", "working"],
      ["3", "running", "gate test"],
      ["4", "needs-human", "forbidden"],
      ["5", "blocked", "after 4"],
      ["6", "ready", "not beside 3"],
      ["7", "blocked", "after 2, 5"],
    ]);
    // 1,000 × 4 + 9,000 × 5 + 99,000 × 0.2 + 4,000 × 20, in millionths; nothing is known of three
    // attempts.
    expect(money).toMatchObject({
      dollars: 0.1488,
      unknown: ["r1/3.1", "r1/4.1", "r1/2.1"],
      expected: dollars,
    });
    // Two minutes of the five that task 2 takes are over, task 3 should long be done; 5 and 7 wait
    // for a person.
    expect(left).toEqual({ minutes: 5, tasks: ["6"] });
    expect(alarms.map(({ when }) => when)).toEqual(["spent"]);
  });
  test("colour says nothing that a word does not say as well", () => {
    const coloured = draw(80, true).text;
    expect(coloured).toContain("\u001b[");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what colours are made of
    expect(coloured.replace(/\u001b\[\d+m/g, "")).toBe(draw(80).text);
  });
});

describe("pictures", () => {
  const parsed = async (text: string) => (await mermaid.parse(text)).diagramType;
  test("parse in the real library, whatever titles and names say", async () => {
    expect(await parsed(stateGraph(run()))).toMatch(/^flowchart/);
    expect(await parsed(workersGantt(run(), now))).toBe("gantt");
    for (const title of [
      "end",
      "click t0 call",
      "a:b,c",
      "%% x",
      "section x",
      "]]\"'`",
      "; t0-->t1",
      "{{",
      "#quot;",
    ]) {
      const phases = phasesOf("- name: crit\n- name: done");
      const odd = runAfter(
        `1. ${title}\n`,
        { workflows: { "": phases } },
        ...(start("1", 5, 1, "crit") as NewEvent[]),
      );
      expect(await parsed(stateGraph(odd)), title).toMatch(/^flowchart/);
      expect(await parsed(workersGantt(odd, 9)), title).toBe("gantt");
    }
  });
  test("the library does refuse what is wrong", async () => {
    await expect(parsed("flowchart LR\n  a[[x]\n")).rejects.toThrow();
    await expect(parsed("gantt\n  dateFormat x\n  )\n")).rejects.toThrow();
  });
  test("nobody worked: no gantt", () => expect(workersGantt(runAfter(LIST), now)).toBe(""));
  test("the report's own blocks parse as they stand in it", async () => {
    const state = run();
    const report = await fullReport(
      state,
      seenWith({ cost: costOf(state, [...state.spent.values()], models), now }),
    );
    const blocks = [...report.matchAll(/^```mermaid\n([\s\S]*?)^```$/gm)].map(
      ([, block = ""]) => block,
    );
    expect(await Promise.all(blocks.map(parsed))).toEqual([
      expect.stringMatching(/^flowchart/),
      "gantt",
    ]);
    expect(report).toContain("| 1 implement | `opus` | 9 | 1K | 9K | 99K | 4K | 0.15 |");
  });
});

describe("a run that is over", () => {
  const proven = {
    event: "proven",
    from: "b",
    to: "n",
    tree: "t",
    landed: [{ attempt: "r1/1.1", commits: ["c"] }],
    at: 5 * MINUTE,
  };
  const landed = [
    { event: "base-checked", red: [], at: 1000 },
    ...start("1", MINUTE),
    submit("1", 2 * MINUTE),
    proven,
    { event: "landed", to: "n", at: 5 * MINUTE },
    { event: "end-checked", tip: "n", red: null, at: 6 * MINUTE },
  ] as unknown as NewEvent[];
  const merged = { event: "merged", branch: "main", to: "abcdef", at: 7 * MINUTE };
  const ended = {
    event: "ended",
    attempt: "r1/1.1",
    reason: "stopped",
    note: "",
    at: 4 * MINUTE,
  };
  const over = (own: object, ...all: object[]) =>
    runAfter("1. One\n", own, ...(all as unknown as NewEvent[]));
  const report = (state: ReturnType<typeof over>) => fullReport(state, seenWith({ now }));
  const boardOf = (state: ReturnType<typeof over>) =>
    board(state, { now, cost: null, alarms: [] }, { columns: 80, isColoured: false });

  test("says what was looked at in the end, and nothing where no gate is for that", async () => {
    const plain = await report(over({}, ...landed));
    expect(plain).not.toContain("t the end");
    const fresh = await report(over({ fresh: true }, ...landed));
    expect(fresh).toContain("At the end it held");
    expect(fresh).not.toContain("Also at the end");
  });
  test("names nothing of a line that was merged: it may be gone", async () => {
    expect(await report(over({}, ...landed))).toContain("refs/heads/minion/r1/line");
    const text = await report(over({}, ...landed, merged));
    expect(text).not.toContain("refs/heads/minion/r1/line");
    expect(text).not.toContain("minion merge");
    expect(text).toContain("..abcdef`");
    expect(text).toContain("`git push origin refs/heads/main`");
  });
  test("is not done while something waits for a person", async () => {
    const state = over({}, landed[0] as object, ...start("1", MINUTE), ended);
    expect(state.done).toBe(true);
    expect(await report(state)).toContain("It waits for you");
    expect(boardOf(state).text).toMatch(/^run r1: waits for you/);
    expect(boardOf(over({}, ...landed)).text).toMatch(/^run r1: done/);
  });
  test("says on the board by whom it is worked at, and in the end what shows how it went", () => {
    const [tick] = landed;
    const [dispatched, ...rest] = start("1", MINUTE);
    const begun = [{ ...dispatched, model: "opus" }, ...rest];
    const running = boardOf(over({}, tick as object, ...begun)).text;
    expect(running).toMatch(/^1 +running +working, opus /m);
    expect(running).not.toContain("how it went");
    expect(boardOf(over({}, ...landed)).text).toMatch(/^how it went → minion report$/m);
  });
  test("has the time of all workers of a task", () => {
    const [tick] = landed;
    const again = [{ event: "retried", task: "1", at: 5 * MINUTE }, ...start("1", 6 * MINUTE, 2)];
    const running = over({}, tick as object, ...start("1", MINUTE), ended, ...again);
    expect(boardOf(running).data.tasks[0]?.seconds).toBe(2 * 60);
    const stopped = { ...ended, attempt: "r1/1.2", at: 7 * MINUTE };
    const both = over({}, tick as object, ...start("1", MINUTE), ended, ...again, stopped);
    expect(boardOf(both).data.tasks[0]?.seconds).toBe(4 * 60);
  });
});

test("the table of what was used fits a terminal of 80 columns, as the client frames it", async () => {
  const state = run();
  const cost = costOf(state, [...state.spent.values()], models);
  const usual = { model: "opus-5-5", input: 29_700, write: 44_400, read: 296_000, output: 1290 };
  const rows = cost.rows.flatMap((row) => [
    { ...row, ...usual, task: "1", phase: "implement" },
    { ...row, ...usual, task: null, phase: "" },
  ]);
  const report = await fullReport(state, seenWith({ cost: { ...cost, rows }, now }));
  const table = report.split("\n").filter((line) => line.startsWith("| "));
  const cells = table
    .filter((line) => !line.startsWith("| ---"))
    .map((line) =>
      line
        .slice(2, -2)
        .split(" | ")
        .map((cell) => cell.replaceAll("`", "").length),
    );
  const widths = cells[0]?.map((_, at) => Math.max(...cells.map((row) => row[at] ?? 0))) ?? [];
  // Each cell has a frame and two spaces; the client indents by two.
  expect(widths.reduce((sum, one) => sum + one + 3, 3)).toBeLessThanOrEqual(80);
});
