import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readMarkdown } from "../../../rails/blueprint/markdown.ts";
import { makePlan } from "../../../rails/plan/plan.ts";

const PATTERNS = "assets/skills/minion-blueprint/patterns.md";
const vague = readMarkdown(readFileSync(PATTERNS, "utf8"), PATTERNS).data.vague as string[];
const found = (code: string, list: string, known = {}) =>
  makePlan(list, "list", known).findings.flatMap((finding) =>
    finding.code === code ? [finding] : [],
  );

test("tasks that nobody could prove, in one warning", () => {
  const list = "1. a\n2. b\n   Verify: x\n3. c\n   Done when: y\n4. d [DONE]\n5. e";
  expect(found("no-verification", list)).toMatchObject([
    { level: "warning", message: expect.stringMatching(/ 1, 5$/) },
  ]);
  const many = Array.from({ length: 13 }, (_, index) => `${index + 1}. a`).join("\n");
  expect(found("no-verification", many)[0]?.message).toMatch(/ 9, 10, 3 more$/);
});

test("tasks that are nothing but a title", () => {
  const list =
    "1. a\n2. b\n   text\n3. c\n   Files: x\n4. d\n   Verify: x\n5. e [DONE]\n6. f\n   Risk: low";
  expect(found("empty-body", list)).toMatchObject([
    { level: "note", message: expect.stringMatching(/ 1, 6$/) },
  ]);
});

test.each([
  ["1. Update docs etc.", "«etc» on line 1"],
  ["1. a\n   tests, types, and so on", "«and so on» on line 2"],
  ["1. a\n   Done when:\n   - b\n   - TBD", "«TBD» on line 4"],
  ["1. a\n   schema, endpoint, \u2026", "«\u2026» on line 2"],
  ["1. a\n   fix a, b...", "«...» on line 2"],
  ["1. Handle errors as needed", "«as needed» on line 1"],
  ["1. Various fixes", "«Various fixes» on line 1"],
  ["- [ ] a\n- [ ] TODO: what?\n- [ ] c ???", "«TODO» on line 2, «???» on line 3"],
])("%j is vague", (list, expected) => {
  const line = Number(/line (\d+)/.exec(expected)?.[1]);
  expect(found("vague", list, { vague })).toMatchObject([{ level: "warning", line }]);
  expect(found("vague", list, { vague })[0]?.message).toMatch(
    new RegExp(`${expected.replace(/[.?]/g, "\\$&")}$`),
  );
  expect(found("vague", list)).toEqual([]);
});

test.each([
  "1. a [DONE]\n   etc.",
  "1. Read `etc` and `a...b`",
  "1. a\n   ```\n   TBD\n   ```",
  "1. Call f(...args) in a fetch",
  "1. Remove the TODO comments",
  "1. a\n   Verify: grep etc",
  "1. Show \u00abLoading\u2026\u00bb",
])("%j is not", (list) => expect(found("vague", list, { vague })).toEqual([]));

test("paths that are not there and that no earlier task makes", () => {
  const there = new Set(["src/a.ts", "src"]);
  const exists = (path: string) => there.has(path);
  const list = `1. a
   Files: src/a.ts, src/b.ts, src/c.ts?, src/*.md
2. b
   Files: ./src/B.ts, new/
3. c
   Files: new/x.ts, later.ts, docs/**
4. d
   Files: later.ts, docs/x/y.md
5. e [DONE]
   Files: gone.ts
`;
  const [note, ...more] = found("not-there", list, { exists });
  expect([note?.level, note?.message, more]).toEqual([
    "note",
    "list names what is not there yet, so to be made: src/b.ts, new/, later.ts",
    [],
  ]);
  expect(found("not-there", list)).toEqual([]);
});

test("what is done before what it depends on", () => {
  const list =
    "1. a\n2. b (depends on: 1) [DONE]\n3. c (depends on: 2)\n4. d [DONE]\n5. e (depends on: 4) [DONE]";
  const said = { level: "warning", line: 2, message: expect.stringMatching(/: 2$/) };
  expect(found("done-early", list)).toMatchObject([said]);
});

test("as many tasks as expected, or an error that says how many", () => {
  expect(found("expected", "1. a\n2. b", { expected: 2 })).toEqual([]);
  expect(found("expected", "1. a\n2. b", { expected: 3 })).toMatchObject([
    { level: "error", line: 1, message: "list was read as 2 tasks, not 3" },
  ]);
});
