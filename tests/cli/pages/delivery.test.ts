import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";

// `gh` cannot be had here: this one takes the flags and fields of `gh help pr create` and `gh help
// pr checks`, and says and ends as gh 2.8x does. GH_CHECKS: the buckets of the checks that there
// are; GH_FAULT: what is wrong.
const GH = `#!/usr/bin/env node
const { appendFileSync, readFileSync } = require("node:fs");
const { GH_CHECKS = "", GH_FAULT, GH_LOG } = process.env;
const [what, verb, ...args] = process.argv.slice(2);
const end = (code, words) => { if (words) console.error(words); process.exit(code); };
const flags = { create: ["head", "base", "title", "body-file"], checks: ["json"], merge: ["auto"] }[verb];
if (what !== "pr" || !flags) end(1, "unknown command");
const given = args.filter((arg) => arg.startsWith("-")).map((arg) => arg.replace(/^-+/, ""));
const odd = given.find((flag) => !flags.includes(flag));
if (odd) end(1, "unknown flag: --" + odd);
const valueOf = (flag) => args[args.indexOf("--" + flag) + 1];
const fields = valueOf("json")?.split(",") ?? [];
const known = ["bucket", "completedAt", "description", "event", "link", "name", "startedAt", "state", "workflow"];
const wrong = given.includes("json") && fields.find((field) => !known.includes(field));
if (wrong) end(1, 'Unknown JSON field: "' + wrong + '"\\nAvailable fields:\\n  ' + known.join("\\n  "));
if (GH_FAULT === "login") end(4, "To get started with GitHub CLI, please run:  gh auth login");
if (GH_FAULT === "network") end(1, "error connecting to api.github.com");
if (verb === "create") {
  appendFileSync(GH_LOG, JSON.stringify({ head: valueOf("head"), base: valueOf("base"), body: readFileSync(valueOf("body-file"), "utf8") }) + "\\n");
  console.log("https://example.invalid/o/r/pull/1");
}
if (verb === "checks") {
  const buckets = GH_CHECKS.split(" ").filter(Boolean);
  if (buckets.length === 0 && GH_FAULT !== "empty") end(1, "no checks reported on the '" + args[0] + "' branch");
  const all = buckets.map((bucket, at) => ({ bucket, link: "https://example.invalid/" + at, name: "ci " + at }));
  if (given.includes("json")) {
    console.log(JSON.stringify(all.map((one) => Object.fromEntries(fields.map((field) => [field, one[field]])))));
    end(0); // Also over red ones: gh writes the list and returns
  }
  for (const { name, bucket, link } of all) console.log([name, bucket, "0", link].join("\\t"));
  end(/fail|cancel/.test(GH_CHECKS) ? 1 : /pending/.test(GH_CHECKS) ? 8 : 0);
}
`;
const GUIDE = join(
  import.meta.dirname,
  "../../../assets/skills/minion-blueprint/guides/delivery.md",
);
const [one = "", each = "", checks = ""] = [
  ...readFileSync(GUIDE, "utf8").matchAll(/^```\n([\s\S]*?)^```$/gm),
].map(([, block = ""]) => block);

const home = realpathSync(mkdtempSync(join(tmpdir(), "minion-delivery-")));
const repo = join(home, "repo");
const log = join(home, "gh.jsonl");
const env = { PATH: `${join(home, "bin")}:${process.env.PATH}`, HOME: home, GH_LOG: log };
const git = (...args: string[]) =>
  execFileSync("git", args, { cwd: repo, env, encoding: "utf8" }).trim();

beforeAll(() => {
  mkdirSync(join(home, "bin"));
  mkdirSync(repo);
  mkdirSync(join(home, "bare"));
  symlinkSync(
    execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim(),
    join(home, "bare/git"),
  );
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
function run(block: string, words: Record<string, string>, more: Record<string, string> = {}) {
  const all: Record<string, string> = {
    REMOTE: "origin",
    BASE: "main",
    TITLE: "'A title'",
    FILE: "../body.md",
    ...words,
  };
  const text = block.replace(/\b[A-Z]{2,}\b/g, (word) => all[word] ?? word);
  const { status, stdout, stderr } = spawnSync("/bin/sh", ["-ec", text], {
    cwd: repo,
    env: { ...env, ...more },
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}
const requests = () =>
  readFileSync(log, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
const remote = (branch: string) =>
  git("ls-remote", "origin", `refs/heads/${branch}`).split("\t")[0];

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
  expect(requests().slice(1)).toMatchObject([
    { base: "main" },
    { head: "minion/r1/task-2", base: "minion/r1/task-1" },
  ]);
  expect(git("branch", "--format=%(refname:short)").split("\n")).toEqual([
    "main",
    "minion/r1/line",
  ]);
});

describe("where something is missing", () => {
  const line = (words: Record<string, string>, more: Record<string, string>) => {
    const before = requests().length;
    const { status, stderr } = run(one, { LINE: "minion/r1/line", ...words }, more);
    expect(requests()).toHaveLength(before);
    return { status, stderr };
  };
  beforeEach(() => git("push", "-q", "origin", ":refs/heads/minion/r1/line"));

  test.each([
    ["no login", { GH_FAULT: "login" }, 4, /gh auth login/],
    ["no gh", { PATH: join(home, "bare") }, 127, /gh: .*not found/],
  ])("%s: the push is done, and what is left is the page", (_, more, code, words) => {
    const { status, stderr } = line({}, more as Record<string, string>);
    expect([status, words.test(stderr)]).toEqual([code, true]);
    expect(remote("minion/r1/line")).toBe(git("rev-parse", "minion/r1/line"));
  });

  test("no remote of that name: nothing is asked of gh", () => {
    const { status, stderr } = line({ REMOTE: "nowhere" }, {});
    expect([status, stderr]).toEqual([
      128,
      expect.stringContaining("'nowhere' does not appear to be a git repository"),
    ]);
  });

  test("a push that is refused leaves what is there, and asks nothing of gh", () => {
    const theirs = git("commit-tree", "-m", "theirs", "-p", "main", "main^{tree}");
    git("push", "-q", "origin", `${theirs}:refs/heads/minion/r1/line`);
    const { status, stderr } = line({}, {});
    expect([status, stderr]).toEqual([1, expect.stringContaining("[rejected]")]);
    expect(remote("minion/r1/line")).toBe(theirs);
  });
});

describe("what became of the checks", () => {
  const text = readFileSync(GUIDE, "utf8").replace(/[\s\S]*\*\*Checks\.\*\*/, "");
  const [, good = "", bad = "", open = ""] =
    /nothing else: (.*) are good, (.*) are not, (.*) is not over/.exec(text) ?? [];
  const named = (words: string) => [...words.matchAll(/`(\w+)`/g)].map(([, word = ""]) => word);
  /** What the guide makes of an answer. */
  const reading = ({ status, stdout, stderr }: ReturnType<typeof run>): string => {
    const buckets: string[] = stdout
      ? JSON.parse(stdout).map(({ bucket }: { bucket: string }) => bucket)
      : [];
    if (buckets.length === 0 && (stdout || stderr.includes("no checks reported")))
      return "nobody looks";
    if (!stdout) return status === 4 ? "no login" : "the command failed";
    if (buckets.some((bucket) => named(bad).includes(bucket))) return "bad";
    return buckets.some((bucket) => named(open).includes(bucket)) ? "not over" : "good";
  };
  const ask = (more: Record<string, string>, block = checks) =>
    run(block, { LINE: "minion/r1/line" }, more);

  test("the guide knows each bucket that gh has, once, and what gh says without a list", () => {
    expect([...named(good), ...named(bad), ...named(open)].sort()).toEqual([
      "cancel",
      "fail",
      "pass",
      "pending",
      "skipping",
    ]);
    for (const words of [
      "«no checks reported»",
      "empty list",
      "code 4",
      "field that it does not know",
    ])
      expect(text).toContain(words);
  });

  test.each([
    ["pass skipping", "good"],
    ["pass pending", "not over"],
    ["pending cancel", "bad"],
    ["fail pending", "bad"],
    ["", "nobody looks"],
  ])("«%s»: %s, whatever gh ends with", (GH_CHECKS, what) =>
    expect(reading(ask({ GH_CHECKS }))).toBe(what),
  );

  test.each([
    ["[]", { GH_FAULT: "empty" }, 0, "nobody looks"],
    ["no login", { GH_FAULT: "login", GH_CHECKS: "pass" }, 4, "no login"],
    ["no network", { GH_FAULT: "network", GH_CHECKS: "pending" }, 1, "the command failed"],
  ])("%s", (_, more, code, what) => {
    const answer = ask(more as Record<string, string>);
    expect([answer.status, reading(answer)]).toEqual([code, what]);
  });

  test("a field that gh does not know is a command that failed, and not pending", () => {
    const answer = ask({ GH_CHECKS: "pending" }, checks.replace("bucket", "conclusion"));
    expect([answer.status, reading(answer)]).toEqual([1, "the command failed"]);
    expect(answer.stderr).toContain('Unknown JSON field: "conclusion"');
  });

  test("without --json, gh's exit codes are those that it documents", () => {
    const bare = checks.replace(/ --json \S+/, "");
    for (const [GH_CHECKS, code] of [
      ["pass", 0],
      ["pass pending", 8],
      ["pending fail", 1],
      ["cancel", 1],
    ] as const)
      expect(ask({ GH_CHECKS }, bare).status).toBe(code);
  });
});
