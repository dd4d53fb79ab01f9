import { describe, expect, test } from "vitest";
import { makePlan } from "../../../rails/plan/plan.ts";
import type { Plan } from "../../../rails/plan/task.ts";
import { writeList } from "../../../rails/plan/write-list.ts";
import { pick, random } from "./random.ts";

const written = (list: string) => writeList(makePlan(list, "list"));
/** A plan without what changes with the form: where its tasks stand, and what is said about the
 * list. */
const bare = ({ findings, tasks, ...plan }: Plan) => ({
  ...plan,
  tasks: tasks.map(({ line, ...task }) => task),
});

test("a list of another form in ours", () => {
  const list = `---
goal: "Events: all"
tools:
  test: make check
---
- [x] #12 Schema
- [ ] Endpoint
  Write it.

  Depends: #12
  - Files: src/{a,b}.ts, \`a b.ts\`?, none
  - Forbid: docs/
  - Gates: package.json#scripts
  - Agent: backend-architect
  - Risk: High
  - Model: opus
  - Workflow: tdd
  Done when:
  - it answers
  - [ ] it is logged
  Verify: npm test
`;
  expect(written(list)).toBe(`---
goal: "Events: all"
tools:
  test: make check
---

### Task 12: Schema [DONE]

### Task 2: Endpoint

Write it.

Depends: 12
Files: \`src/{a,b}.ts\`, \`a b.ts\`?, \`none\`
Forbid: docs/
Gates: package.json#scripts
Agent: backend-architect
Risk: high
Model: opus
Workflow: tdd
Done when: it answers
Done when: it is logged
Verify: npm test
`);
});

describe("what would read differently", () => {
  test.each([
    ["a heading in it", "1. One\n   # Notes\n   ### Task 9: no\n\n   text\n2. Two"],
    [
      "a heading as high as a task's",
      "# Task 1: One\n## Steps\n- so\n### Task-like: no\n# Task 2: Two",
    ],
    ["indented code and tabs", "1. One\n\n\t# x\n\t    - y\n   \n\tz"],
    ["code with comments", "1. One\n   ```sh\n   # Files: x\n   ### Task 3: no\n   ```"],
    [
      "marks in a title",
      "1. **Remove [done]**\n2. **[x] is a box**\n3. Learn C #\n4. [x] One [DONE]\n5. x #\n",
    ],
    ["names that mean nothing", "1. One\n   Files: a, none\n   Forbid: `n/a`, -"],
    [
      "a field within a field",
      "1. One\n   Verify: Files: x\n   Done when: - a\n   Done when: Verify: b",
    ],
    ["wild names", "1. One\n   Files: a??, `b,c`, `d <!-- e`, {f,g}/(h)/[i].ts?, ``"],
  ])("%s", (_, list) => {
    const plan = makePlan(list.replace(", ``", ""), "list");
    expect(bare(makePlan(writeList(plan), "list"))).toEqual(bare(plan));
  });
  test("is refused with its line where nothing helps", () => {
    const list = "1. One\n2. Two <!-- (was:\n   Files: x\n   -->\n";
    expect(makePlan(list, "list").findings.filter(({ level }) => level === "error")).toEqual([]);
    expect(() => written(list)).toThrow(/^line 2: task 2 would read differently/);
  });
});

const ROUNDS = process.env.MINION_NIGHTLY ? 2_000 : 60;

test(`${ROUNDS} random plans, in each form, read the same when written`, () => {
  const next = random(17);
  const words = [
    "Add",
    "the",
    "`<!--`",
    "C #",
    "[done]",
    "**bold**",
    "a_b",
    "(group)",
    "x: y",
    "#7",
    "…",
    "or",
    "—",
    "1.",
  ];
  const text = (): string =>
    Array.from({ length: 1 + Math.floor(next() * 4) }, () => pick(next, words)).join(" ");
  const paths = ["src/a.ts", "`a b.ts`", "docs/**", "x?", "`n/a`?", "{a,b}/c", "[id].ts"];
  const fields: (() => string)[] = [
    () => `Files: ${pick(next, paths)}, ${pick(next, paths)}`,
    () => `Forbid: ${pick(next, paths)}`,
    () => `Verify: ${text()}`,
    () => `Done when: ${text()}`,
    () => `Risk: ${pick(next, ["low", "High"])}`,
    () => "Agent: backend, tester",
    () =>
      pick(next, [
        "# Notes",
        "### Steps",
        "- [ ] step",
        "1. step",
        "```\n   # x\n   ```",
        "\ttab",
        "",
        "    deep",
      ]),
    text,
  ];
  let errors = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const form = pick(next, ["head", "number", "check", "kit"]);
    const list = Array.from({ length: 1 + Math.floor(next() * 5) }, (_, index) => {
      const id = index + 1;
      const needs =
        next() < 0.3 && index > 0 ? ` (depends on: ${form === "kit" ? `T${index}` : index})` : "";
      const box = next() < 0.3 ? "x" : " ";
      const head = {
        head: `${pick(next, ["##", "###"])} Task ${id}: ${text()}${needs}`,
        number: `${id}. ${text()}${needs}`,
        check: `- [${box}] ${text()}${needs}`,
        kit: `${next() < 0.3 ? `## Phase ${id}: x\n\n` : ""}- [${box}] T${id} ${next() < 0.5 ? "[P] " : ""}${text()}${needs}`,
      }[form];
      const beneath = Array.from(
        { length: Math.floor(next() * 5) },
        () => `   ${pick(next, fields)()}\n`,
      );
      return `${head}\n${beneath.join("")}`;
    }).join(next() < 0.5 ? "\n" : "");
    const plan = makePlan(list, "list");
    if (plan.findings.some(({ level }) => level === "error")) errors++;
    else expect([list, bare(makePlan(writeList(plan), "list"))]).toEqual([list, bare(plan)]);
  }
  expect(errors).toBeLessThan(ROUNDS / 2);
});
