import { expect, test } from "vitest";
import { makePlan } from "../../../rails/plan/plan.ts";

const errors = (text: string) =>
  makePlan(text, "list").findings.flatMap(({ level, code, line }) =>
    level === "error" ? [`${code} ${line}`] : [],
  );

test("what a list says of all its tasks", () => {
  const list =
    "---\ngoal: Events can be queried\ntools:\n  test: make check\ntitle: ours\n---\n\n1. One\n";
  const plan = makePlan(list, "list");
  expect(plan).toMatchObject({
    goal: "Events can be queried",
    success: "",
    toolsSaid: { test: "make check" },
  });
  expect(plan.tasks).toMatchObject([{ id: "1", line: 8 }]);
  expect(errors(list)).toEqual([]);
});

test.each([
  ["none", "1. One\n"],
  ["a rule that nothing closes", "---\n\n1. One\n"],
  ["an empty one", "---\n---\n1. One\n"],
  ["a BOM, CRLF", "\uFEFF---\r\ngoal: x\r\n---\r\n1. One\r\n"],
])("%s is no fault", (_, list) => {
  expect(errors(list)).toEqual([]);
  expect(makePlan(list, "list").tasks).toHaveLength(1);
});

test.each([
  ["a typo among the tools", "---\ngoal: x\ntools:\n  tset: make\n---\n1. One\n", "header 4"],
  ["a command that is none", "---\ntools:\n  test: [a]\n---\n1. One\n", "header 3"],
  ["a goal that is no text", "---\ngoal:\n  - a\n---\n1. One\n", "header 2"],
  ["broken YAML", "---\nsuccess: ok\ngoal: a: b\n---\n1. One\n", "header 3"],
])("%s is an error with its line", (_, list, error) => {
  expect(errors(list)).toEqual([error]);
});
