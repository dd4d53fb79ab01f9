import { expect, test } from "vitest";
import type { NewEvent } from "../../../rails/journal/events.ts";
import type { State } from "../../../rails/journal/shapes.ts";
import { recall } from "../../../rails/view/recall.ts";
import { runAfter } from "./run.ts";

const STATES: readonly State[] = [
  ...(["waiting", "ready", "running", "mergeable", "landed"] as const),
  ...(["verify-failed", "needs-human", "blocked", "skipped"] as const),
];

const dispatched = (task: string): NewEvent => {
  return { event: "dispatched", task, attempt: `r1/${task}.1`, phase: "implement" };
};
const landed = (task: string): NewEvent[] => [
  {
    event: "proven",
    from: "b",
    to: task,
    tree: "t",
    landed: [{ attempt: `r1/${task}.1`, commits: ["c"] }],
  },
  { event: "landed", to: task },
];
const failed = (attempt: string): NewEvent => ({
  event: "ended",
  attempt,
  reason: "gate-failed",
  note: "lint is red",
});

test("a run is told by its states, the most urgent first, with what runs, why things stand still, and the next step", () => {
  const list =
    "1. One\n2. Two\n3. Three\n4. Four\n5. Five (depends on: 3)\n6. Six (depends on: 2)\n";
  const failures = [
    dispatched("3"),
    failed("r1/3.1"),
    { ...dispatched("3"), attempt: "r1/3.2" },
    failed("r1/3.2"),
  ];
  const state = runAfter(
    list,
    dispatched("1"),
    ...landed("1"),
    dispatched("2"),
    ...(failures as NewEvent[]),
  );
  const told = recall(state, false);
  expect(told.split("\n").filter((line) => line.startsWith("-"))).toEqual([
    "- running: 2 (r1/2.1)",
    "- needs-human: 3 (gate-failed)",
    "- ready: 4",
    "- waiting: 6",
    "- blocked: 5 (dependency)",
    "- landed: 1",
  ]);
  expect(told).toMatch(/run r1, .*minion\/r1\/line/);
  expect(told).toContain("Next step: `minion next --json --run r1`.");
  expect(recall(state, true)).toContain("Next step: `minion resume --run r1`");
});

test.each([
  ["all of one state", 40, 0, "", true],
  ["of three states", 40, 20, "T00", true],
  ["with long ids", 40, 20, "Abcdefgh0000000", false],
  ["twenty times as many", 800, 300, "", false],
])(
  "no more than 400 tokens of four characters, and none forgotten: %s",
  (_, size, done, prefix, isWhole) => {
    const ids = Array.from({ length: size }, (_, index) => `${prefix}${index + 1}`);
    const isLast = (index: number) => index >= size - 5;
    const items = ids.map(
      (id, index) => `### Task ${id}: T\n${isLast(index) ? `Depends: ${ids[0]}\n` : ""}\n`,
    );
    const over = ids.slice(5, 5 + done).flatMap((id) => [dispatched(id), ...landed(id)]);
    const state = runAfter(items.join(""), ...ids.slice(1, 5).map(dispatched), ...over);
    expect(state.tasks.size).toBe(size);
    for (const isLost of [true, false])
      expect(recall(state, isLost).length).toBeLessThanOrEqual(1600);
    const lines = recall(state, true).match(/(?<=^- [\w-]+: ).*/gm) ?? [];
    const entries = lines.flatMap((line) => line.split(", "));
    const more = entries.filter((entry) => entry.endsWith(" more"));
    expect(more.length === 0).toBe(isWhole);
    expect(
      entries.length -
        more.length +
        more.reduce((sum, entry) => sum + Number.parseInt(entry, 10), 0),
    ).toBe(size);
  },
);

test("nor where every state has more tasks than can be named", () => {
  const items = Array.from({ length: 900 }, (_, index) => `### Task Abcdefgh00${index}: T\n`);
  const state = runAfter(items.join(""));
  for (const [index, task] of [...state.tasks.values()].entries())
    Object.assign(task, { state: STATES[index % STATES.length], reason: "gate-failed" });
  const told = recall(state, true);
  expect(told.match(/ \d+ more$/gm)).toHaveLength(STATES.length);
  expect(told.length).toBeLessThanOrEqual(1600);
});
