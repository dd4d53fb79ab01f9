import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { NewEvent } from "../../../rails/journal/events.ts";
import { fullReport } from "../../../rails/view/full-report.ts";
import { runAfter, seenWith } from "./run.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "minion-report-"));
  mkdirSync(join(folder, "output"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const made = (task: string, paths: string[], commits: string[]): NewEvent[] => {
  const attempt = `r1/${task}.1`;
  const result = { head: "h", tree: "t", commits, paths, deleted: [] };
  return [
    { event: "dispatched", task, attempt, phase: "implement" },
    { event: "submitted", attempt, handoff: `What and why: ${task}`, ...result },
  ];
};
const proof = (gate: string, command: string, output: string): NewEvent => {
  const plain = {
    changed: [],
    made: [],
    cwd: "",
    setup: "",
    code: 0,
    untested: false,
    known: false,
    ms: 1,
  };
  const whose = { by: "landing", attempts: ["r1/1.1", "r1/2.1"], tree: "line" } as const;
  return { event: "evidence", gate, command, output, ...whose, ...plain };
};

test("what proved tasks that landed at once: each command and the last lines of its output, which end no block", async () => {
  const long = "x".repeat(500);
  writeFileSync(
    join(folder, "output/a.log"),
    `passed over\nzero\none\ntwo\n\x1b[32m✓ three\x1b[39m\n\`\`\`\`\n## Not landed\n${long}\r\nsix\n\n`,
  );
  const paths = Array.from({ length: 23 }, (_, at) => `src/${at}.ts`);
  const landed = [
    { attempt: "r1/1.1", commits: ["a", "b"] },
    { attempt: "r1/2.1", commits: ["c", "d", "e"], skipped: 1 },
  ];
  const state = runAfter(
    "1. One\n2. Two\n3. Three\n",
    ...made("1", ["src/one.ts"], ["a", "b"]),
    ...made("2", paths, ["c", "d", "e"]),
    proof("test", "npm test", "output/old.log"),
    proof("test", "npm test\n# all", "output/a.log"),
    proof("lint", "npm run lint", "output/gone.log"),
    { event: "proven", from: "b", to: "0123456789abcdef", tree: "line", landed },
    { event: "landed", to: "0123456789abcdef" },
  );
  const report = await fullReport(state, seenWith({ folder }));
  const [, raw = ""] = /## Raw output\n\n([\s\S]*)\n\n## Handoffs\n/.exec(report) ?? [];
  const shown = ["✓ three", "````", "## Not landed", `${"x".repeat(159)}…`, "six"];
  const lines = ["zero", "one", "two", ...shown];
  expect(raw.trim()).toBe(
    [
      "### 1, 2 on `0123456789`",
      "",
      `test ended with 0, \`${folder}/output/a.log\`:`,
      "",
      "`````",
      "$ npm test",
      "# all",
      ...lines,
      "`````",
      "",
      `lint ended with 0, \`${folder}/output/gone.log\`:`,
      "",
      "```",
      "$ npm run lint",
      "",
      "```",
    ].join("\n"),
  );
  // Each by its own last commit: of the three of the second one was passed over.
  expect(report).toContain("- **1 One**: `0123456789~2`");
  expect(report).toMatch(
    /- \*\*2 Two\*\*: `0123456789`; 1 of its 3 commits changed nothing there$/m,
  );
  expect(report).toContain("### 1 One\n\nFiles: src/one.ts\n\n> What and why: 1");
  expect(report).toMatch(/Files: src\/0.ts, .*src\/19.ts, and 3 more\n/);
});

test("what handoffs say beside what was done is grouped, and «none» is left out", async () => {
  const form = (concerns: string, others: string) =>
    `**What and why:** it\nConcerns: ${concerns}\nDeviations from the task: None.\nFindings for others: ${others}\nRisks and how to roll back: -`;
  const said = (task: string, handoff: string) =>
    made(task, [], []).map((event) =>
      event.event === "submitted" ? { ...event, handoff } : event,
    );
  const list = "1. One\n2. Two\n3. Three\n";
  const report = await fullReport(
    runAfter(
      list,
      ...said("1", form("slow\nfor many", "none")),
      ...said("2", form("none", "`x` is unused")),
      ...said("3", "free"),
    ),
    seenWith({ folder }),
  );
  expect(report).toContain(
    "## Findings\n\n**Concerns**\n\n- 1: slow\n  for many\n\n**Findings for others**\n\n- 2: `x` is unused\n",
  );
  expect(report).not.toMatch(/Deviations|Risks/);
  const [, handoffs = ""] = /## Handoffs\n\n([\s\S]*?)\n## /.exec(report) ?? [];
  expect(handoffs.replace(/\n+/g, "\n").trim()).toBe(
    "### 1 One\n> it\n### 2 Two\n> it\n### 3 Three\n> free",
  );
});

test("says nothing of gates for the end where there are none", async () => {
  const landed = [{ attempt: "r1/1.1", commits: ["a"] }];
  const state = runAfter(
    "1. One\n",
    ...made("1", ["src/one.ts"], ["a"]),
    { event: "proven", from: "b", to: "0123456789abcdef", tree: "line", landed },
    { event: "landed", to: "0123456789abcdef" },
    { event: "end-checked", tip: "0123456789abcdef", red: null },
  );
  expect(await fullReport(state, seenWith({ folder }))).not.toMatch(/at the end: *\./i);
});
