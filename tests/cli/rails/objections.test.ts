import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fold } from "../../../rails/journal/fold.ts";
import { objectionTo } from "../../../rails/proof/objections.ts";
import { startedWith } from "../../unit/rails/run.ts";

const A = 'test("adds", () => {});\ntest("subtracts", () => {});\n';
const WHO = {
  GIT_AUTHOR_NAME: "t",
  GIT_AUTHOR_EMAIL: "t@t",
  GIT_COMMITTER_NAME: "t",
  GIT_COMMITTER_EMAIL: "t@t",
};

let repo: string;
const git = (...args: string[]) =>
  execFileSync("git", args, {
    cwd: repo,
    env: { PATH: process.env.PATH, ...WHO },
    encoding: "utf8",
  }).trim();
function commit(files: Record<string, string | null>): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(repo, path)), { recursive: true });
    if (text === null) rmSync(join(repo, path));
    else writeFileSync(join(repo, path), text);
  }
  git("add", "--all");
  git("commit", "-qm", "chore: work");
  return git("rev-parse", "HEAD");
}
let base: string;
beforeAll(() => {
  repo = realpathSync(mkdtempSync(join(tmpdir(), "minion objections-")));
  git("init", "-q");
  base = commit({
    "check.sh": "! grep -rn FAIL src\n",
    "package.json": '{ "name": "a", "scripts": { "test": "sh check.sh" }, "dependencies": {} }\n',
    "vitest.config.js": "export default {};\n",
    ".github/workflows/ci.yml": "on: push\n",
    "src/main.js": "1\n",
    "test/a.test.js": A,
    "lib/test/b.test.js": 'test("b", () => {});\n',
    'te[st]s/ü "x".test.js': 'test("c", () => {});\n',
    "pkg/a/src/a.js": "1\n",
  });
});
afterAll(() => rmSync(repo, { recursive: true }));

async function objection(fields: string, files: Record<string, string | null>, prefix = "") {
  git("checkout", "-q", base);
  const head = commit({ "src/one.txt": "1", ...files });
  const gates = [
    { name: "test", run: "sh check.sh", cwd: "", timeout: 60 },
    { name: "types", run: "tsc --noEmit src/main.js", cwd: "", timeout: 60 },
  ];
  const started = startedWith(`### Task 1: One\nDo it.\n${fields}`, { gates, prefix });
  const state = fold(started, [started], []);
  const task = state.tasks.get("1");
  if (!task) throw new Error("no task");
  return objectionTo(state, task, { base, head, cwd: repo });
}

describe("what a gate stands on is not changed in passing", () => {
  test.each<[string, string, Record<string, string | null>, string]>([
    [
      "a script",
      "Files: package.json",
      { "package.json": '{ "name": "a", "scripts": { "test": "true" } }\n' },
      "package.json#scripts",
    ],
    [
      "the runner's configuration",
      "",
      { "vitest.config.js": "export default { test: { exclude: ['**'] } };\n" },
      "vitest.config.js",
    ],
    [
      "a guessed file is no declaration",
      "Files: vitest.config.js?",
      { "vitest.config.js": "export default 1;\n" },
      "vitest.config.js",
    ],
    ["configuration that was not there", "", { ".eslintignore": "**\n" }, ".eslintignore"],
    ["CI", "", { ".github/workflows/ci.yml": "on: []\n" }, ".github/workflows/ci.yml"],
    [
      "the blueprint",
      "",
      { ".claude/minion/blueprint.md": "---\nbounds:\n  failures: 5\n---\n" },
      ".claude/minion/blueprint.md",
    ],
    ["what the gate's command runs", "", { "check.sh": "true\n" }, "check.sh"],
    [
      "a test is skipped",
      "Files: test/a.test.js",
      { "test/a.test.js": A.replace('test("adds"', 'test.skip("adds"') },
      "test/a.test.js (tests skipped)",
    ],
    [
      "a test is removed",
      "Files: test/a.test.js",
      { "test/a.test.js": 'test("subtracts", () => {});\n' },
      "test/a.test.js (tests removed)",
    ],
    [
      "one is removed, another added",
      "",
      {
        "test/a.test.js": 'test("subtracts", () => {});\n\n\n// more\ntest("divides", () => {});\n',
      },
      "test/a.test.js (tests removed)",
    ],
    [
      "a test is commented out",
      "",
      { "test/a.test.js": A.replace('test("adds"', '// test("adds"') },
      "test/a.test.js (tests removed)",
    ],
    [
      "a file of tests is removed",
      "",
      { "test/a.test.js": null },
      "test/a.test.js (tests removed)",
    ],
    [
      "tests become something else",
      "",
      { "lib/test/b.test.js": null, "lib/b.js": 'test("b", () => {});\n' },
      "lib/test/b.test.js (tests removed)",
    ],
    [
      "a script, without any manifest that can be read",
      "",
      { "package.json": "{" },
      "package.json#scripts",
    ],
    ["the manifest is gone", "", { "package.json": null }, "package.json#scripts"],
    [
      "a test in a file with an odd name",
      "",
      { 'te[st]s/ü "x".test.js': 'test.only("c", () => {});\n' },
      'te[st]s/ü "x".test.js (tests skipped)',
    ],
  ])("%s", async (_, fields, files, what) =>
    expect(await objection(fields, files)).toMatchObject({
      reason: "proof-changed",
      what: expect.arrayContaining([what]),
    }),
  );

  test.each<[string, string, Record<string, string | null>]>([
    [
      "a new dependency",
      "Files: package.json",
      {
        "package.json":
          '{ "name": "a", "scripts": { "test": "sh check.sh" }, "dependencies": { "b": "1" } }\n',
      },
    ],
    [
      "scripts that the task declares",
      "Gates: package.json#scripts",
      { "package.json": '{ "scripts": { "test": "true" } }\n' },
    ],
    [
      "configuration that the task names",
      "Files: vitest.config.js",
      { "vitest.config.js": "export default 1;\n" },
    ],
    ["tests that the task is to remove", "Gates: test/a.test.js", { "test/a.test.js": null }],
    ["a new test", "", { "test/a.test.js": `${A}test("divides", () => {});\n` }],
    ["another title", "", { "test/a.test.js": A.replace("adds", "adds two") }],
    [
      "a test that moved within tests",
      "",
      {
        "test/a.test.js": 'test("subtracts", () => {});\n',
        "test/c.test.js": 'test("adds", () => {});\n',
      },
    ],
    ["a file of tests that was renamed", "", { "test/a.test.js": null, "test/sums.test.js": A }],
    ["another package", "", { "pkg/package.json": '{ "scripts": { "test": "true" } }\n' }],
    ["a source that a gate looks at", "", { "src/main.js": "2\n" }],
  ])("left alone: %s", async (_, fields, files) =>
    expect(await objection(fields, files)).toBeNull(),
  );
});

describe("files that the task forbids", () => {
  test.each<[string, string, Record<string, string | null>, string, string[]]>([
    ["changed", "Forbid: src/", { "src/main.js": "2" }, "", ["src/main.js", "src/one.txt"]],
    ["removed", "Forbid: SRC/main.*", { "src/main.js": null }, "", ["src/main.js"]],
    [
      "moved away",
      "Forbid: test/",
      { "test/a.test.js": null, "test2/a.test.js": A },
      "",
      ["test/a.test.js"],
    ],
    [
      "from a folder of the list",
      "Forbid: src/a.js",
      { "pkg/a/src/a.js": "2" },
      "pkg/a",
      ["pkg/a/src/a.js"],
    ],
    [
      "from the root, in a list of a folder",
      "Forbid: src/main.js",
      { "src/main.js": "2" },
      "pkg/a",
      ["src/main.js"],
    ],
  ])("%s", async (_, fields, files, prefix, what) =>
    expect(await objection(fields, files, prefix)).toEqual({ reason: "forbidden", what }),
  );
});
