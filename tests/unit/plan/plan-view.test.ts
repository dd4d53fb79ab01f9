import width from "fast-string-width";
import { describe, expect, test } from "vitest";
import { makePlan } from "../../../rails/plan/plan.ts";
import type { PlannedTask } from "../../../rails/plan/task.ts";
import { type Called, planTable } from "../../../rails/view/plan-table.ts";
import { cell } from "../../../rails/view/text.ts";
import { phasesOf } from "../rails/run.ts";

const none: Called[] = [];
const plain = { cwd: "", source: "", isLast: false };
const called: Called[] = [
  { ...plain, name: "setup", run: "npm ci", source: "package-lock.json" },
  {
    ...plain,
    name: "lint",
    run: "npm run lint",
    cwd: "packages/a",
    source: "packages/a/package.json: scripts.lint",
  },
  { ...plain, name: "test", run: "npm test", source: "package.json: scripts.test" },
  {
    ...plain,
    name: "slow",
    run: "npm run e2e",
    source: ".claude/minion/blueprint.md",
    isLast: true,
  },
  { ...plain, name: "build", run: "" },
];
const FOUR =
  "1. Event schema with Zod\n   Verify: a\n   Files: src/schema.ts, package.json?\n2. POST endpoint (depends on: 1)\n   Verify: b\n   Files: src/routes.ts\n3. GET endpoint with filters (depends on: 1)\n   Verify: c\n   Files: src/routes.ts\n4. Integration tests (depends on: 2, 3)\n   Verify: d\n   Files: tests/**\n";

test("the table of four tasks", () => {
  expect(planTable(makePlan(FOUR, "tasks.md"), called, 80)).toBe(`4 tasks · 3 waves · 1 conflict
longest chain (3): 1 → 2 → 4

wave  id  task                       after  files
1     1   Event schema with Zod      -      src/schema.ts, package.json?
2     2   POST endpoint              1      src/routes.ts
      3   GET endpoint with filters  1      src/routes.ts
3     4   Integration tests          2, 3   tests/**

conflict  both touch     never at the same time
2 × 3     src/routes.ts  declared

gate   command                       from
setup  npm ci                        package-lock.json
lint   npm run lint (in packages/a)  packages/a/package.json: scripts.lint
test   npm test                      package.json: scripts.test
slow   npm run e2e, at the end       .claude/minion/blueprint.md
build  none found
`);
});

test("what comes again, is chosen from, is planned as it goes or listed", () => {
  const list =
    "### Task A: Area\nWorkflow: area\nFiles: src/\n### Task L: Loop\nWorkflow: loop\nVerify: `npm test`\n" +
    "### Task V: Ways\nWorkflow: variants\n### Task 1: Move\nEach: git grep -l moment\nFiles: {}\nVerify: `x {}`\n" +
    "### Task 2: More\nEach: ls\nFiles: {}\nVerify: `x {}`\n";
  const plan = makePlan(list, "l");
  const workflows = {
    area: phasesOf("- {name: plan, tasks: 12, rounds: 12}"),
    loop: phasesOf("- {name: implement, rounds: 6}"),
    variants: phasesOf(
      "- {name: ways, writes: false}\n- {name: a, variants: 3}\n- {name: b, picks: a}",
    ),
  };
  const known = { workflows, planned: 200, listed: null };
  const uncounted = planTable(plan, none, 100, [], { ...known, budget: null });
  expect(uncounted).toContain("planned as they go: at most 200 tasks, no budget (A)\n");
  expect(uncounted).toMatch(
    /^1 +not counted: minion plan --each counts it {2}git grep -l moment$/m,
  );
  const [one, two] = plan.tasks.filter(({ each }) => each) as [PlannedTask, PlannedTask];
  const listed = [
    { task: one, lines: ["a", "b"], leftOut: 3, fault: "" },
    { task: two, lines: [], leftOut: 0, fault: "ended with 127" },
  ];
  const counted = planTable(plan, none, 100, [], { ...known, budget: 150, listed });
  expect(counted).toContain("planned as they go: at most 200 tasks, $150 (A)\n");
  expect(counted).toMatch(/^1 +2, 3 lines left out \(blank or doubled\) +git grep -l moment$/m);
  expect(counted).toMatch(/^2 +ended with 127 +ls$/m);
  expect(counted).toMatch(/^loop \(\): up to 6 workers +L$/m);
  expect(counted).toMatch(/^variants \(\): up to 5 workers +V$/m);
  for (const line of planTable(plan, none, 80, [], { ...known, budget: 150, listed }).split("\n"))
    expect(width(line)).toBeLessThanOrEqual(80);
});

test("findings stand beneath, with their line and what to do", () => {
  const output = planTable(
    makePlan("1. One [DONE]\n2. Two (depends on: 9)\n   Agent: backend", "l"),
    none,
    80,
  );
  expect(output).toContain("done  1   One   -      -        -");
  expect(output).toContain("error line 2: task 2 needs 9: no such task\n  → there are 1, 2\n");
  expect(output.indexOf("note: ")).toBeGreaterThan(output.indexOf("error line"));
  expect(planTable(makePlan("", "l"), none, 80)).toMatch(
    /^error line 1: the list has no tasks\n {2}→ write each/,
  );
});

describe("no line is wider than it may be", () => {
  const long = Array.from({ length: 60 }, (_, i) => {
    const title = [
      "word ".repeat(40),
      "\u4e2d\u6587\u5b57".repeat(30),
      "x".repeat(150),
      "\u{1F468}\u200D\u{1F469}\u200D\u{1F467}e\u0301".repeat(40),
    ][i % 4];
    return `${i + 1}. ${title}\n   Files: src/${"deep/".repeat(20)}a.ts\n   Verify: x\n   Agent: backend-architect, tdd-developer\n   Depends: ${i % 7 && i > 8 ? i - 5 : "none"}\n`;
  }).join("");
  test.each([[80], [100], [200], [60], [0]])("%i columns", (columns) => {
    const most = Math.max(40, Math.min(columns, 100));
    const lines = planTable(makePlan(long, "list"), called, columns).split("\n");
    expect(lines.length).toBeGreaterThan(60);
    for (const line of lines) expect(width(line), line).toBeLessThanOrEqual(most);
  });
  test("a title cannot steer the terminal", () => {
    expect(planTable(makePlan("1. a\u001b[31mred\u0007\u009b2J", "l"), none, 80)).not.toMatch(
      /(?!\n)\p{Cc}/u,
    );
  });
});

test.each([
  ["abc", 3],
  ["\u4e2d\u6587", 4],
  ["\uD55C", 2],
  ["e\u0301", 1],
  ["\u{1F600}", 2],
  ["\u2764\uFE0F", 2],
  ["→ × …", 5],
  ["", 0],
])("width of %s", (text, columns) => {
  expect(width(text)).toBe(columns);
  for (const size of [1, 2, 3, 7]) expect(width(cell(text, size))).toBe(size);
});
