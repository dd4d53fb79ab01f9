import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
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

describe("what is ignored does not come in by the way", () => {
  /** What a task adds where these rules are, by force: a value that begins with `->` is a link. */
  async function ignored(rules: Record<string, string>, files: Record<string, string | null>) {
    git("checkout", "-q", base);
    const from = commit(rules);
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(repo, path)), { recursive: true });
      rmSync(join(repo, path), { recursive: true, force: true });
      if (text?.startsWith("->")) symlinkSync(text.slice(2), join(repo, path));
      else if (text !== null) writeFileSync(join(repo, path), text);
    }
    git("add", "--all", "--force");
    git("commit", "-qm", "feat: work");
    const started = startedWith("### Task 1: One\nDo it.\n");
    const state = fold(started, [started], []);
    const task = state.tasks.get("1");
    if (!task) throw new Error("no task");
    return objectionTo(state, task, { base: from, head: git("rev-parse", "HEAD"), cwd: repo });
  }

  test.each<[string, Record<string, string>, Record<string, string | null>, string[]]>([
    ["a file", { ".gitignore": ".env\n" }, { ".env": "A=1\n", "src/b.js": "1" }, [".env"]],
    [
      "a link in place of a folder",
      { ".gitignore": "node_modules/\n" },
      { node_modules: "->/tmp/node_modules" },
      ["node_modules"],
    ],
    [
      "a link in place of a folder whose content is ignored",
      { ".gitignore": "cache/*\n" },
      { cache: "->/tmp/cache" },
      ["cache"],
    ],
    ["a file in place of a folder", { ".gitignore": "out/\n" }, { out: "1" }, ["out"]],
    ["a file within a folder", { ".gitignore": "out/\n" }, { "out/a/b.js": "1" }, ["out/a/b.js"]],
    [
      "also where the task takes the rule out",
      { ".gitignore": ".env\n*.log\n" },
      { ".gitignore": "*.log\n", ".env": "A=1\n" },
      [".env"],
    ],
    [
      "also where the task makes the rule",
      { ".gitignore": "*.log\n" },
      { ".gitignore": "*.log\ndata/\n", "data/a.bin": "1" },
      ["data/a.bin"],
    ],
    [
      "by rules of a folder",
      { "pkg/.gitignore": "/local.*\n" },
      { "pkg/local.json": "1", "local.json": "2" },
      ["pkg/local.json"],
    ],
    [
      "with an odd name",
      { ".gitignore": "*.key\n" },
      { ':(top)ü "x\n*".key': "1" },
      [':(top)ü "x\n*".key'],
    ],
  ])("%s", async (_, rules, files, what) =>
    expect(await ignored(rules, files)).toEqual({ reason: "ignored", what }),
  );

  test.each<[string, Record<string, string>, Record<string, string | null>]>([
    [
      "an exception to a rule",
      { ".gitignore": "logs/**\n!logs/.gitkeep\n" },
      { "logs/.gitkeep": "" },
    ],
    [
      "folders of files by exception",
      { ".gitignore": "*\n!*/\n!*.c\n!.gitignore\n" },
      { "a/b.c": "1" },
    ],
    ["a new rule", { ".gitignore": "*.log\n" }, { ".gitignore": "*.log\n.env\n" }],
    ["a rule of another folder", { "pkg/.gitignore": "local.js\n" }, { "src/local.js": "1" }],
  ])("left alone: %s", async (_, rules, files) => expect(await ignored(rules, files)).toBeNull());

  test("what was tracked against a rule may be changed", async () => {
    const rules = { ".gitignore": "" };
    git("checkout", "-q", base);
    writeFileSync(join(repo, "kept.log"), "1");
    git("add", "--force", "kept.log");
    expect(await ignored({ ...rules, ".gitignore": "*.log\n" }, { "kept.log": "2" })).toBeNull();
  });

  test("what a later commit takes out again is in the history all the same", async () => {
    git("checkout", "-q", base);
    const from = commit({ ".gitignore": ".env\n" });
    writeFileSync(join(repo, ".env"), "SECRET=1\n");
    git("add", "--force", ".env");
    git("commit", "-qm", "feat: work");
    const head = commit({ ".env": null });
    const started = startedWith("### Task 1: One\nDo it.\n");
    const state = fold(started, [started], []);
    const task = state.tasks.get("1");
    if (!task) throw new Error("no task");
    expect(await objectionTo(state, task, { base: from, head, cwd: repo })).toEqual({
      reason: "ignored",
      what: [".env"],
    });
  });
});
