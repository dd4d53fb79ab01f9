import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

// `gh` cannot be had here: this one takes the flags and fields of `gh help pr create` and `gh help pr checks` (2.8x), and
// ends with their codes.
const GH = `#!/usr/bin/env node
const { appendFileSync, readFileSync } = require("node:fs");
const [what, verb, ...args] = process.argv.slice(2);
const flags = { create: ["head", "base", "title", "body-file"], checks: ["json"], merge: ["auto"] }[verb];
if (what !== "pr" || !flags) { console.error("unknown command"); process.exit(1); }
const given = args.filter((arg) => arg.startsWith("-")).map((arg) => arg.replace(/^-+/, ""));
const odd = given.find((flag) => !flags.includes(flag));
if (odd) { console.error("unknown flag: --" + odd); process.exit(1); }
const valueOf = (flag) => args[args.indexOf("--" + flag) + 1];
if (verb === "create") {
  appendFileSync(process.env.GH_LOG, JSON.stringify({ head: valueOf("head"), base: valueOf("base"), body: readFileSync(valueOf("body-file"), "utf8") }) + "\\n");
  console.log("https://example.invalid/o/r/pull/1");
}
if (verb === "checks") {
  const known = ["bucket", "completedAt", "description", "event", "link", "name", "startedAt", "state", "workflow"];
  const wrong = valueOf("json").split(",").find((field) => !known.includes(field));
  if (wrong) { console.error('Unknown JSON field: "' + wrong + '"'); process.exit(1); }
  console.log(JSON.stringify([{ bucket: "pending", link: "l", name: "ci" }]));
  process.exit(8);
}
`;
const GUIDE = join(import.meta.dirname, "../../assets/skills/minion-blueprint/guides/delivery.md");
const [one = "", each = "", checks = ""] = [...readFileSync(GUIDE, "utf8").matchAll(/^```\n([\s\S]*?)^```$/gm)].map(
  ([, block = ""]) => block,
);

const home = realpathSync(mkdtempSync(join(tmpdir(), "minion-delivery-")));
const repo = join(home, "repo");
const log = join(home, "gh.jsonl");
const env = { PATH: `${join(home, "bin")}:${process.env.PATH}`, HOME: home, GH_LOG: log };
const git = (...args: string[]) => execFileSync("git", args, { cwd: repo, env, encoding: "utf8" }).trim();

beforeAll(() => {
  mkdirSync(join(home, "bin"));
  mkdirSync(repo);
  writeFileSync(join(home, "bin/gh"), GH);
  chmodSync(join(home, "bin/gh"), 0o755);
  execFileSync("git", ["init", "-q", "--bare", join(home, "remote.git")], { env });
  git("init", "-q", "-b", "main");
  git("config", "user.name", "t");
  git("config", "user.email", "t@t");
  git("remote", "add", "origin", join(home, "remote.git"));
  git("commit", "-q", "--allow-empty", "-m", "chore: start");
  git("switch", "-q", "-c", "minion/r1/line");
  for (const task of ["1", "2"]) git("commit", "-q", "--allow-empty", "-m", `feat: task ${task}`);
  writeFileSync(join(home, "body.md"), "What landed.\n");
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** Runs a block of the guide with the words that stand for something replaced. */
function run(block: string, words: Record<string, string>) {
  const all: Record<string, string> = {
    REMOTE: "origin",
    BASE: "main",
    TITLE: "'A title'",
    FILE: "../body.md",
    ...words,
  };
  const text = block.replace(/\b[A-Z]{2,}\b/g, (word) => all[word] ?? word);
  return execFileSync("sh", ["-ec", text], { cwd: repo, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}
const requests = () =>
  readFileSync(log, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
const remote = (branch: string) => git("ls-remote", "origin", `refs/heads/${branch}`).split("\t")[0];

test("one request for the line", () => {
  run(one, { LINE: "minion/r1/line" });
  expect(remote("minion/r1/line")).toBe(git("rev-parse", "minion/r1/line"));
  expect(requests()).toEqual([{ head: "minion/r1/line", base: "main", body: "What landed.\n" }]);
});

test("one for each task, each on the one before", () => {
  run(each, { COMMIT: git("rev-parse", "HEAD~1"), RUN: "r1", ID: "1" });
  run(each, { COMMIT: git("rev-parse", "HEAD"), RUN: "r1", ID: "2", BASE: "minion/r1/task-1" });
  expect(remote("minion/r1/task-1")).toBe(git("rev-parse", "HEAD~1"));
  expect(remote("minion/r1/task-2")).toBe(git("rev-parse", "HEAD"));
  expect(requests().slice(1)).toMatchObject([{ base: "main" }, { head: "minion/r1/task-2", base: "minion/r1/task-1" }]);
  expect(git("branch", "--format=%(refname:short)").split("\n")).toEqual(["main", "minion/r1/line"]);
});

test("checks are asked for by fields that there are; pending is code 8", () => {
  try {
    run(checks, { LINE: "minion/r1/line" });
    expect.unreachable();
  } catch (error) {
    const { status, stdout } = error as { status: number; stdout: string };
    expect([status, JSON.parse(stdout)]).toEqual([8, [{ bucket: "pending", link: "l", name: "ci" }]]);
  }
});
