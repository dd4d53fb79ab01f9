import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import { makePlan } from "../../../rails/plan/plan.ts";
import { writeList } from "../../../rails/plan/write-list.ts";
import { pick, random } from "./random.ts";

const LISTS = [
  "Tasks:\n1. Event schema with Zod\n2. POST endpoint (depends on: 1)\n3. GET endpoint (depends on: 1)\n   Files: src/get.ts, `a b.ts`?\n4. Tests (depends on: 2, 3)\n",
  "# Plan\n\n### Task 1: Schema [DONE]\n**Files:** `src/a.ts`, package.json?\n**Depends**: none\n\n```ts\nconst a = 1;\n```\n\n### Task 2: Endpoint\n- Files:\n  - src/{b,c}/**\n- Depends on: Task 1\n- Agent: backend\n<!-- later -->\nDone when:\n- it works\nVerify: npm test\nRisk: low\n",
  "a. One\nb. Two (depends on: a)\n\n   ~~~\n   code\n   ~~~\n   Forbid: [id]/*.ts\nc. Three\n   Depends: a, b\n",
  "- [x] #12 One\n- [ ] **Task 2: Two** (blocked by #12)\n  - [ ] a step\n  - Files: src/a.ts:3-9 (why), `b c`\n* [ ] Three etc.\n  Done when:\n  - [ ] it works\n",
  "# Tasks: x\n\n## Phase 1: Setup\n\n- [x] T001 Project in package.json\n- [ ] T002 [P] Lint in `.eslintrc.json`\n\n**Checkpoint**: ok\n\n## Phase 2: Core\n### Tests\n- [ ] T003 [P] [US1] Test in tests/a.py\n- [ ] T004 [US1] Model in src/a.py (depends on T003)\n  and src/b.py:\n  - Verify: x\n\n## Notes\n1. First\n- [ ] all ok\n",
];
const PIECES = [
  ..."\n\r\t -#*`~<>()[]{}:,?!.\\/1a\u00e9\u4e16\0\uFEFF\uD800".split(""),
  "<!--",
  "-->",
  "```",
  "~~~",
  "### Task 2: x",
  "1. ",
  "- [ ] ",
  "- [x] T003 [P] ",
  "## Phase 3: x\n",
  "* [-] ",
  "#12 ",
  "Depends:",
  "(depends on:",
  "Files:",
  "../",
  "**",
  "[!a-]",
  "{,}",
  "{a,".repeat(40),
  "{a,b}".repeat(12),
  "`".repeat(50),
  "[x]".repeat(20),
  "*".repeat(60),
  "1".repeat(30),
  "[".repeat(99),
  "  ".repeat(30),
];

const ROUNDS = process.env.MINION_NIGHTLY ? 10_000 : 800;

test(`${ROUNDS} mutated lists: no crash, each error on a line that there is, each task on its own`, () => {
  const next = random(7);
  const codes = new Set<string>();
  let written = 0;
  let refused = 0;
  for (let round = 0; round < ROUNDS; round++) {
    let text = pick(next, LISTS);
    for (let times = 1 + Math.floor(next() * 6); times > 0; times--) {
      const at = Math.floor(next() * text.length);
      const to = Math.floor(at + next() * 12);
      const how = next();
      if (how < 0.5) text = text.slice(0, at) + pick(next, PIECES) + text.slice(at);
      else if (how < 0.75) text = text.slice(0, at) + text.slice(to);
      else if (how < 0.9) text = text.slice(0, at) + text.slice(to, to + 40) + text.slice(at);
      else {
        const lines = text.split("\n");
        lines.splice(
          Math.floor(next() * lines.length),
          0,
          ...lines.splice(Math.floor(next() * lines.length), 2),
        );
        text = lines.join("\n");
      }
    }
    const lines = text.split(/\r\n|\n|\r/).length;
    const plan = makePlan(text, "list", { vague: ["\\betc\\b"], exists: () => false, expected: 3 });
    for (const { level, code, line, message, hint } of plan.findings) {
      codes.add(code);
      if (line < (level === "error" ? 1 : 0) || line > lines || !message || !hint)
        throw new Error(`${code} on line ${line} of ${lines}: ${JSON.stringify(text)}`);
    }
    const errors = plan.findings.some(({ level }) => level === "error");
    if (plan.tasks.length === 0) expect(errors).toBe(true);
    if (!errors) {
      expect(new Set(plan.tasks.map(({ id }) => id.toLowerCase())).size).toBe(plan.tasks.length);
      expect(plan.waves.flat().length).toBe(plan.tasks.filter(({ done }) => !done).length);
    }
    if (round % 10 === 0) expect(makePlan(text, "list").tasks).toEqual(plan.tasks);
    if (errors || round % 4 > 0) continue;
    let again: string;
    try {
      again = writeList(plan);
    } catch (error) {
      expect(error).toMatchObject({ code: "unwritable" });
      refused++;
      continue;
    }
    written++;
    const bare = makePlan(again, "list").tasks.map(({ line, ...task }, index) => ({
      ...task,
      line: plan.tasks[index]?.line,
    }));
    if (!isDeepStrictEqual(bare, plan.tasks)) throw new Error(`${JSON.stringify(text)}\n${again}`);
  }
  expect(written).toBeGreaterThan(ROUNDS / 40);
  expect(refused).toBeLessThan(written / 50);
  // The mutations reach the readers, not only the first check.
  expect(codes.size).toBeGreaterThan(12);
});

test.each([
  ["backticks", "1. a ".concat("` `` ".repeat(5000))],
  ["braces", `1. a\n   Files: ${"{".repeat(50_000)}`],
  ["choices", `1. a\n   Files: ${"{a,b}".repeat(190)}`],
  ["brackets", `1. a\n   Files: ${"[a]*".repeat(200)}`],
  ["parentheses", `1. a${" (depends on: 1".repeat(5000)}`],
  ["comments", "<!-- a\n".repeat(20_000)],
  ["fences", "1. a\n```sh\n".repeat(10_000)],
  ["spaces", `1. a${" ".repeat(100_000)}b\n   Depends:${" ".repeat(100_000)}1 x`],
  ["fields", `1. a\n${"   Files:\n".repeat(10_000)}`],
  ["bold", `1. ${"**a".repeat(20_000)}`],
  ["dots", `- [ ] T1 [P] ${".".repeat(100_000)}a`],
  ["slashes", `- [ ] T1 [P] ${"a/".repeat(50_000)}:`],
  ["boxes", "- [ ] ".repeat(20_000)],
  ["checks", "- [ ] a\n".repeat(2_000)],
  ["phases", "## Phase 1\n- [ ] T1 [P] a\n".repeat(3_000)],
  ["no changes", `1. a\n   Files: no ${"change ".repeat(20_000)}/`],
  ["remarks", `1. a\n   Files: ${"(a ".repeat(30_000)}`],
  ["braces in a text", `- [ ] T1 [P] ${"{a/".repeat(30_000)}`],
])("no input is slow: %s", (_, text) => {
  // Of the processor, and not of the clock: others may be at work on the machine.
  const before = process.cpuUsage();
  makePlan(text, "list");
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(5000);
});
