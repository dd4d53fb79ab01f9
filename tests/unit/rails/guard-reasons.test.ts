import { describe, expect, test } from "vitest";
import type { NewEvent } from "../../../rails/journal/events.ts";
import type { Reason } from "../../../rails/journal/shapes.ts";
import { type RunState, rateLimited } from "../../../rails/journal/state.ts";
import { matches } from "../../../rails/plan/conflicts.ts";
import { makePlan } from "../../../rails/plan/plan.ts";
import { runAfter as runAfterIn } from "./run.ts";

const runAfter = (...events: NewEvent[]): RunState =>
  runAfterIn("1. One\n2. Two\n3. Three\n4. Four\n", ...events);
const tried = (task: number, n: number, reason: Reason): NewEvent[] => [
  { event: "dispatched", task: `${task}`, attempt: `r1/${task}.${n}`, phase: "implement" },
  { event: "ended", attempt: `r1/${task}.${n}`, reason, note: "" },
];
const submitted: NewEvent = {
  event: "submitted",
  attempt: "r1/3.1",
  head: "h",
  tree: "t",
  handoff: "x",
  commits: ["c"],
  paths: [],
  deleted: [],
};
const nothing: NewEvent = { event: "nothing", attempt: "r1/3.1", why: "x" };

describe("a rate limit", () => {
  test("counts against no bound", () => {
    const often = [1, 2, 3, 4, 5, 6, 7, 8, 9].flatMap((n) => tried(1, n, "rate-limit"));
    const task = (state: RunState) => [state.tasks.get("1")?.state, state.tasks.get("1")?.reason];
    expect(task(runAfter(...often))).toEqual(["ready", "rate-limit"]);
    expect(task(runAfter(...often, ...tried(1, 10, "unproven")))).toEqual([
      "verify-failed",
      "unproven",
    ]);
    expect(
      task(runAfter(...often, ...tried(1, 10, "cut-off"), ...tried(1, 11, "permission"))),
    ).toEqual(["needs-human", "permission"]);
  });
  const [one, two, three] = [1, 2, 3].map((task) => tried(task, 1, "rate-limit")) as [
    NewEvent[],
    NewEvent[],
    NewEvent[],
  ];
  const begun: NewEvent = { event: "dispatched", task: "3", attempt: "r1/3.1", phase: "implement" };
  test.each<[string, NewEvent[], boolean]>([
    ["none", [], false],
    ["one", one, false],
    ["two in a row", [...one, ...two], true],
    ["three", [...one, ...two, ...three], true],
    ["one, another end, one", [...one, ...tried(2, 1, "unproven"), ...three], false],
    ["two, then another end", [...one, ...two, ...tried(3, 1, "unproven")], false],
    ["two, then a result", [begun, ...one, ...two, submitted], false],
    ["two, then nothing to do", [begun, ...one, ...two, nothing], false],
    [
      "two, then a new session",
      [...one, ...two, { event: "owner", session: "s2", owner: null }],
      false,
    ],
    ["two, and dispatched again", [...one, ...two, begun], true],
  ])("%s → %s", (_, events, expected) =>
    expect(rateLimited(runAfter(...events), 0)).toBe(expected),
  );
});

describe("patterns of a list for a subfolder", () => {
  test.each([
    ["src/", "pkg/a/src/x.ts", "pkg/a", true],
    ["src/", "src/x.ts", "pkg/a", true],
    ["pkg/b/x.ts", "pkg/b/x.ts", "pkg/a", true],
    ["./x.ts", "PKG/a/x.ts", "pkg/a", true],
    ["src/", "pkg/b/src/x.ts", "pkg/a", false],
    ["/x.ts", "pkg/a/x.ts", "pkg/a", false],
    ["src/", "pkg/a/src/x.ts", "", false],
    ["**/x.ts", "pkg/a/x.ts", "", true],
  ])("%s takes in %s in a run of %j → %s", (pattern, path, prefix, expected) => {
    expect(matches(pattern, path, prefix)).toBe(expected);
    if (prefix === "") expect(matches(pattern, path)).toBe(expected);
  });
});

test.each([
  [".claude/settings.json", true],
  ["./.claude/agents/**", true],
  [".claude", true],
  [".claude/", true],
  [".claude-plugin/plugin.json", false],
  ["docs/.claude/x", false],
  ["src/**", false],
  ["**", false],
])("a task on %s is warned of: %s", (path, expected) => {
  const { findings } = makePlan(`### Task 1: One\nFiles: ${path}\n`, "list");
  const found = findings.filter(({ code }) => code === "claude-folder");
  expect(found.map(({ level, line }) => [level, line])).toEqual(expected ? [["warning", 1]] : []);
});
