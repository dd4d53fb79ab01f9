import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { NewEvent } from "../../../rails/journal/events.ts";
import type { RunState } from "../../../rails/journal/state.ts";
import { fullReport } from "../../../rails/view/full-report.ts";
import { reportText } from "../../../rails/view/report.ts";
import { begun, ended, handedIn, landed, madeRun, red } from "./made-run.ts";
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
  const own = [
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
    { event: "proven", from: "b", to: "0123456789abcdef", tree: "line", landed: own },
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
  const own = [{ attempt: "r1/1.1", commits: ["a"] }];
  const state = runAfter(
    "1. One\n",
    ...made("1", ["src/one.ts"], ["a"]),
    { event: "proven", from: "b", to: "0123456789abcdef", tree: "line", landed: own },
    { event: "landed", to: "0123456789abcdef" },
    { event: "end-checked", tip: "0123456789abcdef", red: null },
  );
  expect(await fullReport(state, seenWith({ folder }))).not.toMatch(/at the end: *\./i);
});

describe("what a person gets", () => {
  const ids = (count: number): string[] => Array.from({ length: count }, (_, at) => `${at + 1}`);
  /** A run of so many tasks: some failed, one asks, the last depends on a failed one; the rest
   * landed, in the order from the last to the first. */
  function runOf(count: number, failed: readonly string[], handoff = "What and why: it") {
    const asks = `${count - 1}`;
    const blocked = `${count}`;
    const good = ids(count - 2).filter((id) => !failed.includes(id));
    const list = ids(count).map((id) => {
      const depends = id === blocked ? `Depends: ${failed[0]}\n` : "";
      const ask = id === asks ? "Ask: In cents or in dollars?\n" : "";
      return `### Task ${id}: Part ${id}\n${depends}${ask}Files: src/${id}.txt\n`;
    });
    const steps = [
      ...failed.flatMap((id) =>
        [1, 2].flatMap((n) => [
          begun(id, n),
          red(id, n, "AssertionError: expected 404, got 500", "at test/users.test.js:12"),
          ended(id, n),
        ]),
      ),
      ...good.toReversed().flatMap((id) => {
        const paths = [`src/${id}.txt`, ...(id === "2" ? ["src/other.txt"] : [])];
        return [...begun(id), handedIn(id, 1, { paths, handoff }), ...landed(id)];
      }),
    ];
    return madeRun(list.join("\n"), ...steps.map((step) => [step].flat()));
  }
  const linesOf = async (state: RunState, more = {}): Promise<string[]> =>
    (await reportText(state, seenWith({ folder, ...more }))).split("\n");

  test("of four tasks is 30 lines long at most, and has all that a decision wants", async () => {
    const state = runOf(4, ["1"]);
    const worktrees = new Set(["w"]);
    const lines = await linesOf(state, { worktrees });
    expect(lines.length).toBeLessThanOrEqual(30);
    const text = lines.join("\n");
    const [, decisions = ""] = /## Yours to decide\n([\s\S]*?)\n\n## Landed/.exec(text) ?? [];
    expect(decisions.split("\n")).toEqual([
      "- **1 Part 1**: gate-failed after 2 attempts",
      `  - verify said \`AssertionError: expected 404, got 500\` \`at test/users.test.js:12\`, in \`${folder}/o\``,
      "  - its work: minion/r1/1.2, in `w`",
      "  - see what there is of r1/1.2: `git diff b refs/heads/minion/r1/1.2`",
      "  - see what there is of r1/1.1: `git diff b refs/heads/minion/r1/1.1`",
      expect.stringMatching(/^ {2}- mend it on its branch .* land 1 --run r1`$/),
      expect.stringMatching(/^ {2}- let a worker try again: `.* retry 1 --run r1`$/),
      expect.stringMatching(/^ {2}- leave it undone, with 4 .* drop 4 1 --run r1`$/),
      "- **3 Part 3**: question. In cents or in dollars?",
      expect.stringMatching(/^ {2}- answer it: `.* retry 3 --run r1 -m "the answer"`$/),
      expect.stringMatching(/^ {2}- leave it undone: `.* drop 3 --run r1`$/),
    ]);
    expect(text).toContain("- **2 Part 2**: `l2.1`; touched though not named: src/other.txt");
    expect(text).toContain("- Blocked by what did not land: 4");
  });

  test("of thirty tasks is 60 lines long at most, whatever happened", async () => {
    const said =
      "What and why: it\nConcerns: c\nDeviations from the task: d\nFindings for others: f\nRisks and how to roll back: r";
    for (const failed of [[], ["1"], ids(6), ids(20)]) {
      const state = runOf(30, failed.length > 0 ? failed : ["1"], said);
      const lines = await linesOf(state);
      expect(lines.length).toBeLessThanOrEqual(60);
      const text = lines.join("\n");
      for (const id of ids(30)) expect(text).toMatch(new RegExp(`\\b${id}\\b|–`));
      expect(text).toContain("## What next");
    }
  });

  test("names what landed in the order of landing, and no push where there is no remote", async () => {
    const text = (await linesOf(runOf(6, ["1"]), { remote: null })).join("\n");
    expect([...text.matchAll(/^- \*\*(\d) .*: `l\d/gm)].map(([, id]) => id)).toEqual([
      "4",
      "3",
      "2",
    ]);
    expect(text).not.toMatch(/push|gh pr/);
    const other = { remote: { name: "up", isGitHub: false } };
    const pushed = (await linesOf(runOf(6, ["1"]), other)).join("\n");
    expect(pushed).toContain("`git push -u up refs/heads/minion/r1/line`");
    expect(pushed).not.toContain("gh pr");
  });

  test("says once what many tasks have alike", async () => {
    const text = (await linesOf(runOf(6, ["1"]))).join("\n");
    expect(text).toContain("- Nobody but its author read any of them");
  });
});
