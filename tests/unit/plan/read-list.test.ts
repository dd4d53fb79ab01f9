import { describe, expect, test } from "vitest";
import { makePlan } from "../../../rails/plan/plan.ts";
import { readList } from "../../../rails/plan/read-list.ts";
import { random } from "./random.ts";

const read = (text: string) => readList(text).tasks;
/** `code line` of each error of the whole plan. */
const errors = (text: string) =>
  makePlan(text, "list")
    .findings.filter(({ level }) => level === "error")
    .map(({ code, line }) => `${code} ${line}`);
const shape = (text: string) =>
  read(text).map(({ id, title, depends }) => [id, title, depends.join()]);
const files = (text: string) =>
  read(text).map((task) =>
    task.files.map(({ path, guessed }) => path + (guessed ? " (guessed)" : "")),
  );

const FOUR = [
  ["1", "Event schema with Zod", ""],
  ["2", "POST endpoint", "1"],
  ["3", "GET endpoint with filters", "1"],
  ["4", "Integration tests", "2,3"],
];

describe("numbered lists", () => {
  const lines = [
    "1. Event schema with Zod",
    "2. POST endpoint (depends on: 1)",
    "3. GET endpoint with filters (depends on: 1)",
    "4. Integration tests (depends on: 2, 3)",
  ];
  test.each([
    ["alone", lines.join("\n")],
    ["under a heading and prose", `Build it.\n\n- not a task\n\nTasks:\n${lines.join("\n")}\n`],
    ["under a Markdown heading", `# Audit log\n\n## Tasks\n\n${lines.join("\n\n")}\n`],
    ["CRLF and BOM", `\uFEFF${lines.join("\r\n")}\r\n`],
    ["old line ends", lines.join("\r")],
    ["parentheses", lines.join("\n").replace(/^(\d)\./gm, "$1)")],
    ["tabs", lines.join("\n").replace(/^(\d)\. /gm, "$1.\t")],
    ["bold", lines.join("\n").replace(/^(\d\. )(.*?)( \(|$)/gm, "$1**$2**$3")],
    ["bold numbers", lines.join("\n").replace(/^(\d\.)/gm, "**$1**")],
    ["indented as a whole", lines.map((line) => `  ${line}`).join("\n")],
    ["words about the ids", lines.join("\n").replace("2, 3)", "Task 2 and #3)")],
    ["prose behind", `${lines.join("\n")}\n\nThanks, and mind the style.\n`],
  ])("%s", (_, text) => {
    expect(shape(text)).toEqual(FOUR);
    expect(errors(text)).toEqual([]);
  });

  test("letters and T001 are ids, matched without regard to case", () => {
    expect(shape("a. One\nb) Two (depends on: A)")).toEqual([
      ["a", "One", ""],
      ["b", "Two", "a"],
    ]);
    expect(shape("T001. One\nT002. Two (depends on: t001)")).toEqual([
      ["T001", "One", ""],
      ["T002", "Two", "T001"],
    ]);
  });
  test("what is indented belongs to the item, and may hold fields", () => {
    const [one, two] = read(
      "1. One\n   More of it\n   1. a step\n   - Files: src/a.ts\n\n   Done when: it works\n2. Two\n   Depends:\n   - 1\nlazy line\n",
    );
    expect(one).toMatchObject({
      title: "One",
      description: "More of it\n1. a step",
      files: [{ path: "src/a.ts", guessed: false }],
      doneWhen: "it works",
      line: 1,
    });
    expect(two).toMatchObject({ title: "Two", description: "lazy line", depends: ["1"], line: 7 });
  });
  test("code only looks like a dependency", () => {
    expect(shape("1. One\n2. Read `(depends on: 9)` texts")[1]).toEqual([
      "2",
      "Read `(depends on: 9)` texts",
      "",
    ]);
  });
  test("a number that starts a line of prose is no task", () => {
    expect(shape("It came out in\n2024. Then nothing.\n\n1. One\n2. Two")).toEqual([
      ["1", "One", ""],
      ["2", "Two", ""],
    ]);
  });
  test("a BOM is no indentation, a field leaves paragraphs apart", () => {
    expect(read("\uFEFF1. One\n\n  More\n  Files: x\n\n  and more")[0]?.description).toBe(
      "More\n\nand more",
    );
  });
  test("steps with numbers of their own are text", () => {
    expect(shape("1. One\n   1. so\n   2. and so\n2. Two\n   a) x")).toHaveLength(2);
    expect(errors("1. One\n   1. so\n   2. and so\n2. Two\n   a) x")).toEqual([]);
  });
  test("done", () => {
    expect(
      read("1. One [DONE]\n2. Two [done] (depends on: 1)\n3. Three").map(({ done }) => done),
    ).toEqual([true, true, false]);
  });
});

describe("lists with headings", () => {
  test.each(["#", "##", "###", "######"])(
    "%s, all fields, bold or not, inline or as bullets",
    (marks) => {
      const text = `# Plan\n\n${marks} Task 1: Schema [DONE]\n**Files:** \`src/a.ts\`, package.json?\n**Depends**: none\nAgent: backend, tdd-developer\n
Do it:\n1. so\n2. and so\n\n${marks} task T002: Endpoint\n- **Files:**\n  - \`src/b.ts\`\n  - src/c.ts\n- **Depends on:** Task 1
- Forbid: src/secret/, *.lock\n- write it\n\n**Done when:**\n- it answers 201\n- it is logged\n\n__Verify__: npm test -- post\nRisk: HIGH\nModel: opus\nWorkflow: tdd\n`;
      expect(errors(text)).toEqual([]);
      expect(
        read(text).map(({ dependsLine, lead, words, said, ask, checks, ...task }) => task),
      ).toEqual([
        {
          id: "1",
          title: "Schema",
          description: "Do it:\n1. so\n2. and so",
          depends: [],
          files: [
            { path: "src/a.ts", guessed: false },
            { path: "package.json", guessed: true },
          ],
          forbid: [],
          gates: [],
          agent: ["backend", "tdd-developer"],
          doneWhen: "",
          verify: "",
          risk: "",
          model: "",
          workflow: "",
          done: true,
          line: 3,
        },
        {
          id: "T002",
          title: "Endpoint",
          description: "- write it",
          depends: ["1"],
          files: [
            { path: "src/b.ts", guessed: false },
            { path: "src/c.ts", guessed: false },
          ],
          forbid: ["src/secret/", "*.lock"],
          gates: [],
          agent: [],
          doneWhen: "it answers 201\nit is logged",
          verify: "npm test -- post",
          risk: "high",
          model: "opus",
          workflow: "tdd",
          done: false,
          line: 12,
        },
      ]);
    },
  );
  test("a heading as high ends the task, a lower one is part of it", () => {
    const [task] = read("## Task 1: One\nbody\n### Steps\n1. a\n## Notes\nnot this\n");
    expect(task?.description).toBe("body\n### Steps\n1. a");
  });
  test("letters, dashes, bold, closing marks", () => {
    expect(
      shape("## Task a - One ##\n## **Task b: Two**\n### Task 3\u2014Three (depends on: a)"),
    ).toEqual([
      ["a", "One", ""],
      ["b", "Two", ""],
      ["3", "Three", "a"],
    ]);
  });
});

describe("checklists", () => {
  test.each(["-", "*", "+"])("%s, done with an x, ids by place", (mark) => {
    const list = `Build it.\n\n${mark} [x] Schema\n${mark} [ ] Endpoint (depends on: 1)\n\n## More\n${mark} [X] Tests (depends on 1 and 2)\n`;
    expect(
      read(list).map(({ id, title, depends, done }) => [id, title, depends.join(), done]),
    ).toEqual([
      ["1", "Schema", "", true],
      ["2", "Endpoint", "1", false],
      ["3", "Tests", "1,2", true],
    ]);
    expect(errors(list)).toEqual([]);
  });
  test.each([
    ["#123 Title", "123", "Title"],
    ["#123: Title", "123", "Title"],
    ["#123", "123", "#123"],
    ["T001 Title", "T001", "Title"],
    ["T001: Title", "T001", "Title"],
    ["[T001] Title", "T001", "Title"],
    ["**T001** \u2014 Title", "T001", "Title"],
    ["4. Title", "4", "Title"],
    ["b) Title", "b", "Title"],
    ["Task 4: Title", "4", "Title"],
    ["**Task 4: Title**", "4", "Title"],
    ["Title (#123)", "1", "Title (#123)"],
    ["1.2 Title", "1", "1.2 Title"],
    ["Task queue: Title", "1", "Task queue: Title"],
    ["T-001 Title", "1", "T-001 Title"],
    ["A title", "1", "A title"],
    ["S3 bucket", "1", "S3 bucket"],
    ["**Bold** title", "1", "**Bold** title"],
    ["https://example.org/issues/4", "1", "https://example.org/issues/4"],
  ])("- [ ] %s", (words, id, title) => {
    expect(shape(`- [ ] ${words}`)).toEqual([[id, title, ""]]);
    expect(errors(`- [ ] ${words}`)).toEqual([]);
  });
  test("what is nested belongs to the task above, fields and all", () => {
    const list = `- Backend
  - [ ] One
    and more
    - [ ] a step
      1. so
    - Depends: #7
    - Files: src/a.ts
    Done when:
    - [ ] it answers
- Frontend

  - [ ] #7 Two

    text
`;
    expect(errors(list)).toEqual([]);
    expect(read(list)).toMatchObject([
      {
        id: "1",
        description: "and more\n- [ ] a step\n  1. so",
        depends: ["7"],
        doneWhen: "it answers",
      },
      { id: "7", description: "text", line: 12 },
    ]);
  });
  test.each([
    ["- [ ] One\n- Two", ["stray-item 2"]],
    ["- [ ] One\n- [-] Two", ["stray-item 2"]],
    ["- [~] One\n- [ ] Two", ["stray-item 1"]],
    ["- [ ] One\n- []  Two", ["stray-item 2"]],
    ["- [ ] One\n- [x]Two", ["stray-item 2"]],
    ["- [ ] One\n1. Two", ["stray-item 2"]],
    ["- [ ] One\n\nThen:\n\n1. Two", ["stray-item 5"]],
    ["- [ ] One\n- [ ] Two (depends on: 9)", ["unknown-dependency 2"]],
    ["- [ ] One (depends on: 2)\n- [ ] Two (depends on: 1)", ["cycle 1"]],
    ["- [ ] One (depends on: 1)", ["self-dependency 1"]],
    ["- [ ] #2 One\n- [ ] Two", ["duplicate-id 2"]],
    ["- [ ] ", ["no-title 1"]],
    ["- [ ] One\n\nText\n\nFiles: x", ["stray-field 5"]],
    ["- [ ] One\n- [ ] Two\n  Depends: none, maybe 1", ["depends 3"]],
    ["- [ ] One\n  and so on, depends on task 1", ["depends 2"]],
    ["1. Read\n2. Write\n\n## Done\n- [ ] it works", ["stray-item 5"]],
    ["1. One\n- [ ] a step", ["stray-item 2"]],
  ])("%j", (text, expected) => expect(errors(text)).toEqual(expected));
  test.each([
    [
      "steps of a list with headings",
      "### Task 1: One\n- [ ] step\n- [x] step\n\n### Task 2: Two\n",
      2,
    ],
    ["steps of a numbered list", "1. One\n   - [ ] step\n   - [ ] step\n2. Two", 2],
    ["boxes behind numbers and in headings", "1. [x] One\n2. [ ] Two", 2],
    ["a title that looks like a task", "# Task List: Users\n\n- [ ] One\n- [ ] Two", 2],
  ])("%s", (_, text, tasks) => {
    expect(read(text)).toHaveLength(tasks);
    expect(errors(text)).toEqual([]);
  });
  test("what is struck through is no task, and that is said; its place keeps its number", () => {
    const list = "- [ ] One\n- [ ] ~~Two~~\n- [ ] Three ~~and four~~\n";
    expect(shape(list)).toEqual([
      ["1", "One", ""],
      ["3", "Three ~~and four~~", ""],
    ]);
    expect(readList(list).findings).toMatchObject([
      { level: "warning", code: "struck-out", line: 2 },
    ]);
    expect(shape("### Task 1: ~~Old~~\n### Task 2: New")).toEqual([["2", "New", ""]]);
  });
  test("another list under a heading of its own is told of", () => {
    const list = "- [ ] One\n\n## How\n\n1. so\n2. and so\n";
    expect(shape(list)).toEqual([["1", "One", ""]]);
    expect(readList(list).findings).toMatchObject([
      { level: "warning", code: "other-list", line: 5 },
    ]);
  });
});

describe("spec-kit's tasks", () => {
  const waves = (text: string) => makePlan(text, "list").waves.map((ids) => ids.join(" "));
  const edges = (text: string) => read(text).map(({ id, depends }) => `${id}<${depends.join()}`);
  test("phases are barriers, one without [P] is a barrier within", () => {
    const list = `## Phase 1: Setup
- [ ] T001 a
- [ ] T002 [P] b
- [ ] T003 [P] c
- [ ] T004 d
- [ ] T005 e

## Phase 2: Core

### Tests
- [ ] T006 [P] [US1] f
### Code
- [ ] T007 [US1] [P] g
# Phase 3
- [ ] T008 [P] h
- [ ] T009 i
`;
    expect(edges(list)).toEqual(
      [
        "T001<",
        "T002<T001",
        "T003<T001",
        "T004<T002,T003",
        "T005<T004",
        "T006<T005",
        "T007<T005",
      ].concat("T008<T006,T007", "T009<T008"),
    );
    expect(waves(list)).toEqual(["T001", "T002 T003", "T004", "T005", "T006 T007", "T008", "T009"]);
    expect(read(list)[5]?.title).toBe("[US1] f");
  });
  test("what is done is no barrier, and keeps those before and after it apart", () => {
    const list =
      "## Phase 1\n- [ ] T1 [P] a\n- [x] T2 b\n- [ ] T3 [P] c\n## Phase 2\n- [x] T4 d\n## Phase 3\n- [ ] T5 e";
    expect(edges(list)).toEqual(["T1<", "T2<", "T3<T1", "T4<", "T5<T3"]);
  });
  test("what is said is added, once", () => {
    expect(
      edges(
        "- [ ] T1 [P] a\n- [ ] T2 [P] b (depends on T1)\n- [ ] T3 c\n  Depends: T2\n- [ ] T4 [P] d",
      ),
    ).toEqual(["T1<", "T2<T1", "T3<T2,T1", "T4<T3"]);
    expect(errors("## Phase 1\n- [ ] T1 a (depends on T2)\n## Phase 2\n- [ ] T2 b")).toEqual([
      "cycle 2",
    ]);
  });
  test("where no heading says phase, those like the first task's", () => {
    const list =
      "# X\n## Setup\n- [ ] T1 [P] a\n### More\n- [ ] T2 [P] b\n## Core\n- [ ] T3 [P] c\n- [ ] T4 [P] d";
    expect(waves(list)).toEqual(["T1 T2", "T3 T4"]);
  });
  test("a title that says phase is not the only one", () => {
    expect(
      edges(
        "# Phase 2 of it\n## Phase 1\n- [ ] T1 [P] a\n## Phase 2\n- [ ] T2 [P] b\n## Rest\n- [ ] T3 [P] c",
      ),
    ).toEqual(["T1<", "T2<T1", "T3<T2"]);
  });
  test("beside each other, but in the same place (T4)", () => {
    const places = [
      ["src/a.ts", "./src/a.ts", true],
      ["src/api/", "src/api/u.ts", true],
      ["src/**", "SRC/x.ts", true],
      ["src/a.ts", "src/a.tsx", false],
    ] as const;
    for (const [one, other, meets] of places)
      for (const list of [
        `- [ ] T1 [P] Write ${one}\n- [ ] T2 [P] Read \`${other}\``,
        `- [ ] Write\n  Files: ${one}\n- [ ] Read\n  Files: ${other}`,
      ])
        expect([list, makePlan(list, "list").conflicts.length]).toEqual([list, Number(meets)]);
  });
  test.each([
    ["CRLF", (text: string) => text.replaceAll("\n", "\r\n")],
    ["BOM and old line ends", (text: string) => `\uFEFF${text.replaceAll("\n", "\r")}`],
    ["tabs", (text: string) => text.replaceAll("  ", "\t")],
  ])("%s", (_, change) => {
    const list =
      "## Phase 1\n\n- [ ] T1 a\n- [x] T2 [P] b\n  Files: x\n\n## Phase 2\n\n- [ ] T3 c\n  Depends: T2, Task T1\n";
    const lists = [
      list,
      list
        .replace(/Phase/g, "Part")
        .replace("[P] ", "")
        .replace(/T(?=\d)/g, "Task T")
        .replace(/(T\d) /g, "$1: "),
    ];
    for (const text of lists) {
      const bare = (all: string) => read(all).map(({ description, ...task }) => task);
      expect(bare(change(text))).toEqual(bare(text));
      expect(read(text)[2]?.depends).toEqual(["T2", "T1"]);
      expect(errors(change(text))).toEqual([]);
    }
  });
  test("ids alone are a checklist without order", () => {
    expect(edges("- [ ] T1 a\n- [ ] T2 b")).toEqual(["T1<", "T2<"]);
  });
  test("against the order by hand on random lists, with no edge too many", () => {
    const next = random(5);
    for (let round = 0; round < 300; round++) {
      const rows = Array.from({ length: 1 + Math.floor(next() * 9) }, (_, index) => ({
        id: `T${index}`,
        beside: next() < 0.6,
        done: next() < 0.2,
        starts: index === 0 || next() < 0.3,
      }));
      const line = ({ id, beside, done, starts }: (typeof rows)[0]) =>
        `${starts ? "## Phase x\n" : ""}- [${done ? "x" : " "}] ${id} ${beside ? "[P] " : ""}a\n`;
      const list = rows.map(line).join("");
      const isAfter = (from: number, to: number) =>
        rows.slice(from + 1, to + 1).some(({ starts }) => starts) ||
        rows.slice(from, to + 1).some(({ beside }) => !beside);
      const { tasks } = makePlan(list, "list");
      const before = tasks.map(({ depends }) => new Set(depends.map((id) => Number(id.slice(1)))));
      for (const set of before)
        for (const from of [...set]) for (const one of before[from] ?? []) set.add(one);
      for (const [to, task] of tasks.entries()) {
        const expected = rows.flatMap(({ done }, from) =>
          from < to && !done && isAfter(from, to) ? [from] : [],
        );
        if (!task.done)
          expect([list, task.id, [...(before[to] ?? [])].sort((a, b) => a - b)]).toEqual([
            list,
            task.id,
            expected,
          ]);
        for (const id of task.depends) {
          const others = task.depends.filter((one) => one !== id);
          expect(others.some((one) => before[Number(one.slice(1))]?.has(Number(id.slice(1))))).toBe(
            false,
          );
        }
      }
    }
  });
  test.each([
    ["Create x in src/x.ts", ["src/x.ts"]],
    ["Add `a b` to `src/a.ts:10-20`, src/b.ts.", ["src/a.ts", "src/b.ts"]],
    [
      "Tests in tests/test_[name].py and app/(auth)/page.tsx",
      ["tests/test_[name].py", "app/(auth)/page.tsx"],
    ],
    ["Next in `app/(auth)/page.tsx`", ["app/(auth)/page.tsx"]],
    [
      "Node.js, package.json and .env.example; e.g. and/or CI/CD v1.2",
      ["package.json", ".env.example"],
    ],
    ["POST /api/users/ at https://a.b/c.html with @types/node", []],
    ["Folders backend/app/{models,routes} and src/**", ["backend/app/{models,routes}", "src/**"]],
    ["Update Dockerfile in /etc/x.conf, ../y.ts", ["Dockerfile"]],
    ["Extend it\n  in src/a.ts,\n  - not src/b.ts", ["src/a.ts"]],
    ["Extend src/a.ts\n  Files: src/b.ts?", ["src/b.ts (guessed)"]],
  ])("%j: the paths in it are its files", (text, expected) => {
    expect(files(`- [ ] T001 [P] ${text}`)).toEqual([expected]);
  });
  test.each([
    ["## Phase 1\n- [ ] T1 a\n- [ ] TXXX b", ["stray-item 3"]],
    ["## Phase 1\n- [ ] T1 a\n\nText\n\n- [-] T2 b", ["stray-item 6"]],
    ["## Phase 1\n- [ ] T1 a\n- [ ] T1 b", ["duplicate-id 3"]],
    ["## Phase 1\n- [ ] T1 a\n- [ ] T2 b (depends on T9)", ["unknown-dependency 3"]],
    ["## Phase 1\n- [ ] T1 [P]", ["no-title 2"]],
    ["## Phase 1\n- [ ] T1 a, depends on T2\n- [ ] T2 b", ["depends 2"]],
  ])("%j", (text, expected) => expect(errors(text)).toEqual(expected));
});

describe("code and comments are text", () => {
  test.each([
    ["fence", "```md\n### Task 9: no\nDepends: 9\n9. no\n```"],
    ["tildes, longer fence inside", "~~~~\n~~~\n9. no\nFiles: x\n~~~~"],
    ["indented fence", "   ```\n   Depends: 9\n### Task 9: no\n   ```"],
    ["comment", "<!-- ### Task 9: no -->"],
    ["comment of several lines", "<!--\n### Task 9: no\n\nDepends: 9\n9. no\n-->"],
    ["comment that starts in a line", "text <!-- and\nDepends: 9\n--> more"],
    ["code span", "`Depends: 9`, `<!--` and `(depends on: 9)`"],
  ])("%s", (_, block) => {
    for (const text of [
      `### Task 1: One\n\n${block}\n\n### Task 2: Two`,
      `1. One\n\n   ${block.replaceAll("\n", "\n   ")}\n2. Two`,
    ]) {
      expect(shape(text)).toEqual([
        ["1", "One", ""],
        ["2", "Two", ""],
      ]);
      expect(errors(text)).toEqual([]);
    }
  });
  test("a comment behind a title is not part of it", () => {
    expect(shape("1. One <!-- (depends on: 9) --> here\n2. Two <!-- x -->")).toEqual([
      ["1", "One here", ""],
      ["2", "Two", ""],
    ]);
  });
  test.each([
    ["1. One\n   ```\n2. Two", ["unclosed 2"]],
    ["1. One\n~~~ ~~~\n2. Two", ["unclosed 2"]],
    ["1. One\n<!-- two\n2. Two", ["unclosed 2"]],
  ])("what does not close is an error %#", (text, expected) =>
    expect(errors(text)).toEqual(expected),
  );
});

describe("T1 and T2: only ids count", () => {
  test.each([
    ["none", ""],
    ["None.", ""],
    ["-", ""],
    ["\u2014", ""],
    ["n/a", ""],
    ["1", "1"],
    ["1, 2", "1,2"],
    ["Task 1, 2", "1,2"],
    ["Tasks 1 and 2", "1,2"],
    ["task 1, task 2, and task 3", "1,2,3"],
    ["#1, #2", "1,2"],
    ["`1`, **2**", "1,2"],
    ["1 & 2", "1,2"],
    ["T001", "T001"],
    ["none (parallel-safe with Task 2)", ""],
    ["None (can start at once).", ""],
  ])("Depends: %s", (value, expected) => {
    for (const field of [
      "Depends:",
      "**Depends:**",
      "**Depends**:",
      "Depends on:",
      "- depends:",
      "Dependencies:",
    ]) {
      const text = `1. a\n2. b\n3. c\n4. d\n   ${field} ${value}\nT001. e`;
      expect(read(text)[3]?.depends.join()).toBe(expected);
      expect(errors(text)).toEqual([]);
    }
  });
  test.each([
    "none, parallel-safe with Task 2",
    "Task 1 (schema)",
    "1 2",
    "1-3",
    "the schema",
    "1, maybe 2",
    "Task 1: a",
    "1 or 2",
    "1..3",
    "none, 1",
    "1, 1",
  ])("Depends: %s is an error on its line", (value) => {
    const field = errors(`1. a\n2. b\n3. c\n   text\n   Depends: ${value}`);
    expect(field).toEqual([expect.stringMatching(/^(depends|duplicate-dependency) 5$/)]);
    expect(errors(`### Task 1: a\n### Task 2: b\n### Task 3: c\nDepends:\n- ${value}`)).toEqual([
      expect.stringMatching(/ 5$/),
    ]);
    expect(errors(`1. a\n2. b\n3. c (depends on: ${value})`)).toContainEqual(
      expect.stringMatching(/ 3$/),
    );
  });
  test.each([
    "2. Two (depends on: 1",
    "2. Two depends on: 1",
    "2. Two (depends on:)",
    "2. Two. Depends on 1 and T002",
    "   Depends on task 1",
    "   - quickly (depends on: 1)",
    "   - and\n   goes on (depends on: 1)",
    "2. Two, blocked by #1",
    "2. Two in T3. Depends on T1",
    "2. Two (depends on: 1) (depends on: 1)",
    "2. Two (requires 1 and more), depends on 1",
    "   1. a step (depends on: 1)",
    "2. Two\n   After: 1",
    "2. Two\n   **Requires:** task 1, T2",
    "2. Two\n   - needs: #1 and 3.",
  ])("%s is not lost in the text", (line) =>
    expect(errors(`1. One\n${line}`)).toEqual([expect.stringMatching(/^depends [23]$/)]),
  );
  test.each([
    ["2. Two (depends on: 1) [DONE]", "Two"],
    ["2. **Two** (depends on: 1) \u2014 with more", "**Two** \u2014 with more"],
    ["2. Two\n   (depends on: 1).", "Two"],
    ["2. Two\n   and goes on (dependencies: 1)", "Two"],
    ["2. Two (depends on 1)", "Two"],
    ["2. Two (depends on task 1)", "Two"],
    ["2. Two (depends on `1`)", null],
    ["2. Two (blocked by #1)", "Two"],
    ["2. Two (after task 1)", "Two"],
    ["2. Two (requires 1)", null],
    ["2. Two (depends on 1 service)", null],
  ])("%s", (line, title) => {
    const [, two] = read(`1. One\n${line}`);
    expect([two?.title, two?.depends.join()]).toEqual(
      title === null ? [line.slice(3), ""] : [title, "1"],
    );
    expect(errors(`1. One\n${line}`)).toEqual([]);
  });
  test.each([
    "It depends on the weather.",
    "It depends on 3 services.",
    "After: 3 days it expires",
    "Needs: 2 reviewers",
    "This depends on: the weather",
    "`depends on: 1`",
    "Update dependencies: zod",
  ])("%s is no dependency", (line) => expect(errors(`1. One\n   ${line}`)).toEqual([]));
  test("ids are spelled as the tasks spell them", () => {
    expect(
      makePlan("T1. One\nT2. Two (depends on: t1)\nb. Three\n   Depends: t2, T1", "l").tasks[2]
        ?.depends,
    ).toEqual(["T2", "T1"]);
  });
});

describe("T3: what cannot be worked", () => {
  test.each([
    ["1. a (depends on: 1)", ["self-dependency 1"]],
    ["1. a\n2. b\n   Depends: 9", ["unknown-dependency 3"]],
    ["1. a\n2. b\n1. c", ["duplicate-id 3"]],
    ["### Task a: x\n### Task A: y", ["duplicate-id 2"]],
    ["1. a (depends on: 3)\n2. b (depends on: 1)\n3. c (depends on: 2)", ["cycle 1"]],
    ["1. a\n2. b (depends on: 1)\n3. c (depends on: 1)\n4. d (depends on: 2, 3)", []],
    ["", ["empty-list 1"]],
    ["  \n\n", ["empty-list 1"]],
    ["Nothing to do here.\nReally.", ["empty-list 1"]],
    ["```\n1. a\n```", ["empty-list 1"]],
    ["<!-- 1. a -->", ["empty-list 1"]],
    ["1. ", ["no-title 1"]],
    ["### Task 1\ntext", ["no-title 1"]],
  ])("%j", (text, expected) => expect(errors(text)).toEqual(expected));
  test("a cycle is told with its whole path", () => {
    const { findings } = makePlan(
      "1. a (depends on: 3)\n2. b (depends on: 1)\n3. c (depends on: 2)",
      "list",
    );
    expect(findings[0]?.message).toContain("1 → 3 → 2 → 1");
  });
});

describe("what looks like a task and is in no form is an error", () => {
  test.each([
    ["Tasks:\n- One\n- Two", "empty-list 1"],
    ["Task 1: One\nTask 2: Two", "empty-list 1"],
    ["### Task one: One", "stray-item 1"],
    ["1. One\n2: Two", "stray-item 2"],
    ["1. One\n- Two", "stray-item 2"],
    ["1. One\n\n- Two", "stray-item 3"],
    ["1. One\n- [ ] Two", "stray-item 2"],
    ["1. One\nTask 2: Two", "stray-item 2"],
    ["1. One\n\nBut first\n2. Two", "stray-item 4"],
    ["1. One\n\nOther\n\nFiles: x", "stray-field 5"],
    ["1. One\n2. Two\n### Task 3: Three", "stray-item 1"],
    ["### Task 1: One\ntext\n2. Two (depends on: 1)", "depends 3"],
    ["### Task 1: One\n### Task two: Two", "stray-item 2"],
    ["### Task 1: One\n### Task 1.2: Two", "stray-item 2"],
    ["### Task 1: One\n### Task 2 Two", "stray-item 2"],
    ["### Task 1: One\n# Notes\nFiles: x", "stray-field 3"],
  ])("%j", (text, expected) => expect(errors(text)).toContain(expected));
  test("an overview before tasks with headings is prose", () => {
    const text = "Steps:\n1. schema\n2. endpoint\n\n### Task 1: Schema\n### Task 2: Endpoint";
    expect(shape(text)).toHaveLength(2);
    expect(errors(text)).toEqual([]);
  });
});

describe("files", () => {
  test.each([
    ["src/a.ts", ["src/a.ts"]],
    ["src/a.ts, src/b.ts,docs/", ["src/a.ts", "src/b.ts", "docs/"]],
    [
      "`src/a.ts`, `package.json?`, `x.lock`?",
      ["src/a.ts", "package.json (guessed)", "x.lock (guessed)"],
    ],
    ["src/{a,b}.ts, src/?.ts", ["src/{a,b}.ts", "src/?.ts"]],
    ["`My Docs/a b.md`", ["My Docs/a b.md"]],
    ["none", []],
    ["none (docs only)", []],
    ["src/a.ts (the schema, with types)", ["src/a.ts"]],
    ["`src/a.ts` — the schema", ["src/a.ts"]],
    ["`src/a.ts:10-20`, src/b.ts:3", ["src/a.ts", "src/b.ts"]],
    ["Create: src/a.ts, Modify `src/b.ts?`", ["src/a.ts", "src/b.ts (guessed)"]],
    ["Create `src/a.ts`; test: `tests/a.test.ts`", ["src/a.ts", "tests/a.test.ts"]],
    ["app/(group)/page.tsx", ["app/(group)/page.tsx"]],
    ["tests", ["tests"]],
  ])("%s", (value, expected) => {
    expect(files(`1. a\n   Files: ${value}`)).toEqual([expected]);
    expect(files(`### Task 1: a\nFiles:\n- ${value}`)).toEqual([expected]);
    expect(errors(`1. a\n   Files: ${value}`)).toEqual([]);
  });
  test("a loose list of bullets, and text after it", () => {
    const [task] = read("### Task 1: a\n**Files:**\n\n- `a.py`\n\n- `b.py`\n\nWrite it.\n");
    expect(task).toMatchObject({
      description: "Write it.",
      files: [{ path: "a.py" }, { path: "b.py" }],
    });
  });
  test("what goes on in the next line", () => {
    expect(files("### Task 1: a\nFiles: src/a.ts,\n  src/b.ts\nbody")).toEqual([
      ["src/a.ts", "src/b.ts"],
    ]);
    expect(files("### Task 1: a\nFiles: src/a.ts\n- body")).toEqual([["src/a.ts"]]);
    expect(files("### Task 1: a\nFiles: src/a.ts\n\n    code()")).toEqual([["src/a.ts"]]);
  });
  test("a field that says nothing is an error", () => {
    expect(errors("### Task 1: a\nFiles:\nbody")).toEqual(["empty-field 2"]);
    expect(errors("1. a\n   - Files:\n   - src/a.ts\n2. b\n   Verify:")).toEqual([
      "empty-field 2",
      "empty-field 5",
    ]);
  });
  test.each([
    "/etc/passwd",
    "../other/x.ts",
    "src/../../x",
    "C:\\x.ts",
    "~/x",
    "!src/a.ts",
    "src/@(a|b).ts",
    "?",
    "the schema file",
    "src/a.ts and src/b.ts",
    "src/a.ts (the schema) too",
    "Create: the schema",
    "Create: src/a.ts and more",
    "`src/a.ts:10-20` and below",
    "src/a.ts:first",
  ])("%s is an error on its line", (value) => {
    expect(errors(`1. a\n   text\n   Files: ${value}`)).toEqual(["files 3"]);
    expect(errors(`1. a\n   Forbid:\n   - ${value}`)).toEqual(["forbid 3"]);
  });
  test("what of its proof a task is meant to change is read like any paths", () => {
    const [task] = read(
      "1. a\n   Gates: package.json#scripts, `tests/old one.test.ts`\n   **Gates**:\n   - vitest.config.*",
    );
    expect(task?.gates).toEqual([
      "package.json#scripts",
      "tests/old one.test.ts",
      "vitest.config.*",
    ]);
    expect(read("### Task 1: a\nGates: none")[0]?.gates).toEqual([]);
    expect(errors("1. a\n   Gates: the old tests")).toEqual(["gates 2"]);
    expect(errors("1. a\n   Gates: ../package.json#scripts")).toEqual(["gates 2"]);
  });
  test("agent and risk", () => {
    expect(errors("1. a\n   Agent: someone who knows")).toEqual(["agent 2"]);
    expect(errors("1. a\n   Risk: some")).toEqual(["risk 2"]);
    expect(errors("1. a\n   Risk: low/medium")).toEqual(["risk 2"]);
    expect(errors("1. a\n   Risk: low, high")).toEqual(["risk 2"]);
    expect(read("1. a\n   Risk: High")[0]).toMatchObject({ risk: "high", description: "" });
  });
});

describe("the plan", () => {
  test("waves, critical path and a note for all tasks without files", () => {
    const plan = makePlan("1. a [DONE]\n2. b (depends on: 1)\n3. c (depends on: 2)\n4. d", "list");
    expect(plan.tasks.map(({ wave }) => wave)).toEqual([0, 1, 2, 1]);
    expect(plan.waves).toEqual([["2", "4"], ["3"]]);
    expect(plan.criticalPath).toEqual(["2", "3"]);
    expect(plan.findings.map(({ level, code, line }) => [level, code, line])).toEqual([
      ["warning", "no-verification", 0],
      ["note", "no-files", 0],
      ["note", "empty-body", 0],
    ]);
  });
  test("where there is a cycle nothing is said about order", () => {
    const plan = makePlan(
      "1. a (depends on: 2)\n   Files: x\n2. b (depends on: 1)\n   Files: x",
      "list",
    );
    expect([plan.waves, plan.criticalPath, plan.conflicts]).toEqual([[], [], []]);
  });
});
