import width from "fast-string-width";
import { expect, test } from "vitest";
import { board } from "../../../rails/view/board.ts";
import { statsTable } from "../../../rails/view/stats.ts";
import { table } from "../../../rails/view/text.ts";
import { runAfter } from "./run.ts";

test("what a table has of numbers is whole at 80 columns, whatever stands beside it", () => {
  const numbers = { runs: 112, tasks: 2340, landed: 2319, asked: 118, waited: 1234.5 };
  const more = { changed: 12, reruns: 240, conflicts: 131, sendBacks: 1024, reverted: 17 };
  const flows = { rounds: 1031, variants: 312, visits: 47 };
  const weeks = [{ week: "2026-11-30", blueprint: "a1b2c3d", ...numbers, ...more, ...flows }];
  const text = statsTable(weeks, 80);
  for (const one of [
    "2026-11-30",
    "112",
    "2319 of 2340",
    "118",
    "1234:30",
    "240",
    "131",
    "1024",
    "17",
    "1031",
    "312",
    "47",
  ])
    expect(text.split(/ {2,}|\n/)).toContain(one);
  for (const line of text.split("\n")) expect(width(line)).toBeLessThanOrEqual(80);
  expect(table([["1.25", "a long text that gives way", "12:34"]], 24)).toEqual([
    "1.25  a long tex…  12:34",
  ]);
});

test("a further try of a task is marked on the board, and what waits for a person with the way to it", () => {
  const ended = (n: number) =>
    [
      { event: "dispatched", task: "1", attempt: `r1/1.${n}`, phase: "implement" },
      { event: "ended", attempt: `r1/1.${n}`, reason: "unproven", note: "" },
    ] as const;
  const draw = (...events: Parameters<typeof runAfter>[2][]) =>
    board(
      runAfter("1. One\n", { event: "base-checked", red: [] }, ...(events as never[])),
      { now: 9000, cost: null, alarms: [], attention: "x attention" },
      { columns: 80, isColoured: false },
    ).text;
  const again = { event: "dispatched", task: "1", attempt: "r1/1.2", phase: "implement" } as const;
  expect(draw(...ended(1), again)).toMatch(/^1 {2}running {2}try 2: starting /m);
  expect(draw(...ended(1), again)).not.toContain("waits for you");
  expect(draw(...ended(1), ...ended(2))).toMatch(/^waits for you: 1 → x attention$/m);
});
