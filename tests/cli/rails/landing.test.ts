import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { casesOf } from "../../by-night.ts";
import { Scene, type Worker } from "./scene.ts";

let scene: Scene;
afterEach(() => scene.destroy());

const gate = (run: string): string => `---\ngates:\n  - name: test\n    run: '${run}'\n---\n`;
const next = async () => (await scene.minion(["next", "--json"])).json;
const events = async (name: string) =>
  (await scene.minion(["events", "--json"])).json.events.filter(
    ({ event }: { event: string }) => event === name,
  );
const onLine = (): string[] => scene.show("minion/r1/line");

/** A worker of the first task, with what it did committed and proven. */
async function worked(files: Record<string, string>): Promise<Worker> {
  const worker = await scene.agent("r1/1.1");
  await worker.begin();
  worker.edit(files);
  return worker;
}

describe("a pick that stops", () => {
  /** A filter that fails wherever the rails land, for files of one kind. */
  function brokenFilter(): void {
    scene.git("config", "filter.kind.clean", "cat");
    scene.git("config", "filter.kind.smudge", "case $PWD in *landing*) exit 1 ;; esac; cat");
    scene.git("config", "filter.kind.required", "true");
    scene.write(".gitattributes", "*.kind filter=kind\n");
    scene.commit("chore: a filter");
  }

  // By night also with the one commit that stops, and nothing behind it.
  test.each(casesOf([2], [1]))(
    "since a filter fails there loses none of %i commits, and refuses nobody",
    async (count) => {
      scene = new Scene();
      brokenFilter();
      await scene.start("1. One\n");
      await next();
      const worker = await worked({ "src/first.kind": "1" });
      if (count === 2) {
        worker.commit("feat: first");
        worker.edit({ "src/second.txt": "2" });
      }
      await worker.finish();
      const answer = await next();
      expect(answer.fault).toMatch(/git cherry-pick failed in .*not for what the commits change/);
      expect(await events("not-landed")).toEqual([]);
      expect(answer.landed).toEqual([]);

      scene.git("config", "filter.kind.smudge", "cat");
      expect((await next()).landed).toEqual(["1"]);
      expect(onLine()).toEqual(expect.arrayContaining(["src/first.kind"]));
      expect(onLine().includes("src/second.txt")).toBe(count === 2);
      expect((await events("landed")).length).toBe(1);
    },
  );

  test("over a clash names the files that clash, all of them and no others", async () => {
    scene = new Scene();
    const names = ["a", "b", "c", "d", "e", "f"].map((name) => `src/${name}.txt`);
    const all = (text: string) => Object.fromEntries(names.map((name) => [name, `${text}\n`]));
    for (const [name, text] of Object.entries(all("0"))) scene.write(name, text);
    scene.commit("chore: files");
    await scene.start("1. One\n2. Two\n");
    await next();
    const second = await scene.agent("r1/2.1");
    await second.begin();
    await scene.goodWorker("r1/1.1", all("1"));
    await next();
    second.edit({ ...all("2"), "src/own.txt": "own" });
    await second.finish();
    await next();
    const [{ note }] = await events("not-landed");
    expect(note).toBe(`It clashes in ${names.join(", ")}.`);
  });

  test("over what lies ignored where a commit brings a file goes on without that", async () => {
    scene = new Scene(gate("mkdir -p out; echo old > out/made.txt"));
    scene.write(".gitignore", "out/\n");
    scene.commit("chore: ignore what is made");
    await scene.start("1. One\n");
    await next();
    const worker = await worked({});
    worker.edit({ "out/made.txt": "new" });
    await worker.minion(["gate", "--all"]);
    scene.gitIn(worker.path, "add", "-f", "out/made.txt");
    scene.gitIn(worker.path, "commit", "-qm", "feat: made");
    await scene.minion(["land", "1"]);
    expect((await next()).fault).toBeNull();
  });
});

test("a gate that acts on the place where it is run is red, and what it left is not what lands", async () => {
  const acts = {
    "moves HEAD": "git update-ref --no-deref HEAD $(git rev-list --max-parents=0 HEAD)",
    "goes back": "git reset -q --soft HEAD~1",
    commits: "git -c user.name=t -c user.email=t@t commit -q --allow-empty -m more",
  };
  const acting = 'test -e src/one.txt && sh "$HOME/act"';
  scene = new Scene(gate(`case $PWD in *landing*) ${acting} ;; esac; true`));
  await scene.start("1. One\n2. Two (depends on: 1)\n");
  await next();
  await scene.goodWorker("r1/1.1", { "src/one.txt": "1" });
  const before = scene.git("rev-parse", "minion/r1/line");
  scene.keep();
  for (const [what, act] of Object.entries(acts)) {
    scene.back();
    scene.write("../act", `${act}\n`);
    await next();
    expect(scene.git("rev-parse", "minion/r1/line"), what).toBe(before);
    expect(await events("not-landed"), what).toMatchObject([
      { reason: "line-red", note: expect.stringContaining("test moved HEAD") },
    ]);
  }
});

test("of two that clash, of which the first then does not land, the second loses nothing", async () => {
  scene = new Scene(gate("case $PWD in *landing*) ! grep -q first src/same.txt ;; esac"));
  scene.write("src/same.txt", "base\n");
  scene.commit("chore: a file");
  await scene.start("1. One\n2. Two\n");
  await next();
  const one = await scene.agent("r1/1.1");
  const two = await scene.agent("r1/2.1");
  for (const worker of [one, two]) await worker.begin();
  one.edit({ "src/same.txt": "first\n" });
  two.edit({ "src/same.txt": "second\n" });
  for (const worker of [one, two]) await worker.finish();
  const answer = await next();
  expect(answer.landed).toEqual(["2"]);
  expect(await events("not-landed")).toMatchObject([{ attempt: "r1/1.1", reason: "line-red" }]);
  expect(scene.git("show", "minion/r1/line:src/same.txt")).toBe("second");
});

test("a lock that somebody left on the line ends landing with its path, and it goes on without it", async () => {
  scene = new Scene();
  await scene.start("1. One\n");
  await next();
  await scene.goodWorker("r1/1.1", { "src/one.txt": "1" });
  const lock = join(scene.repo, ".git/refs/heads/minion/r1/line.lock");
  mkdirSync(join(lock, ".."), { recursive: true });
  writeFileSync(lock, "");
  const answer = await next();
  expect(answer.fault).toContain("git does not move minion/r1/line");
  expect((await events("proven")).length).toBe(1);
  rmSync(lock);
  expect((await next()).landed).toEqual(["1"]);
});

test("what a gate left beside the files makes nothing green at the end that a fresh clone would not", async () => {
  // Built once and kept since it is ignored: as a bundler does that never removes what it made.
  const build = "mkdir -p dist; for f in src/*.js; do cp $f dist/; done";
  scene = new Scene(gate(`${build}; cat dist/util.js`));
  scene.write("src/util.js", "export {}\n");
  scene.write(".gitignore", "dist/\n");
  scene.commit("chore: a module");
  await scene.start("1. Rename it\n");
  await next();
  const worker = await scene.agent("r1/1.1");
  await worker.begin();
  worker.edit({ "src/other.js": "export {}\n" });
  await worker.minion(["gate", "--all"]);
  scene.gitIn(worker.path, "mv", "src/util.js", "src/tool.js");
  await worker.finish();
  const answer = await next();
  const [end] = await events("end-checked");
  expect(end.red).toMatch(/^test ended with 1 on the line with it/);
  expect(answer.done).toBe(false);
  expect(answer.dispatch).toMatchObject([{ task: "end" }]);
});

test("nothing of the person's settings and environment changes what is read from git", async () => {
  scene = new Scene();
  scene.write("test/a.test.js", "test('a', () => {});\ntest('b', () => {});\n");
  scene.commit("test: two");
  for (const [name, value] of [
    ["color.ui", "always"],
    ["color.diff", "always"],
    ["color.status", "always"],
    ["diff.external", "false"],
    ["diff.noprefix", "true"],
    ["diff.mnemonicPrefix", "true"],
    ["diff.renames", "copies"],
    ["diff.ignoreSubmodules", "all"],
    ["status.showUntrackedFiles", "no"],
    ["core.quotePath", "true"],
    ["log.showSignature", "true"],
    ["merge.ff", "only"],
    ["merge.conflictStyle", "diff3"],
    ["commit.cleanup", "scissors"],
    ["core.commentChar", ";"],
    ["submodule.recurse", "true"],
    ["core.editor", "false"],
  ] as const)
    scene.git("config", name, value);
  const env = {
    GIT_LITERAL_PATHSPECS: "1",
    GIT_EXTERNAL_DIFF: "false",
    GIT_DIFF_OPTS: "-u0",
    GIT_EDITOR: "false",
    GIT_DIR: "/nowhere",
    GIT_INDEX_FILE: "/nowhere/index",
    GIT_CONFIG_PARAMETERS: "'color.ui=always'",
    GIT_NAMESPACE: "other",
  };
  const call = (args: string[], cwd = scene.repo, input = "") =>
    scene.minion([...args, "--json"], { cwd, env, input });
  expect((await call(["start", "-"], scene.repo, "1. One\n2. Two\n")).code).toBe(0);
  const first = (await call(["next"])).json;
  expect({ fault: first.fault, count: first.dispatch.length }).toEqual({ fault: null, count: 2 });
  const remover = await scene.agent("r1/1.1");
  expect((await call(["begin", "r1/1.1"], remover.path)).code).toBe(0);
  // A test goes: that is seen through all of it.
  remover.edit({ "test/a.test.js": "test('a', () => {});\n" });
  expect((await call(["gate", "--all"], remover.path)).code).toBe(0);
  remover.commit();
  const refused = await call(["submit"], remover.path, HANDOFF);
  expect(refused.json.error.code).toBe("proof-changed");

  const good = await scene.agent("r1/2.1");
  expect((await call(["begin", "r1/2.1"], good.path)).code).toBe(0);
  good.edit({ "src/zwölf ünd.txt": "12" });
  expect((await call(["gate", "--all"], good.path)).code).toBe(0);
  good.commit("feat: zwölf\n\n; no comment");
  expect((await call(["submit"], good.path, HANDOFF)).code).toBe(0);
  expect((await call(["next"])).json.landed).toEqual(["2"]);
  expect(scene.git("log", "-1", "--format=%B", "minion/r1/line")).toContain("; no comment");
});

const HANDOFF = [
  "What and why: it",
  "Concerns: none",
  "Deviations from the task: none",
  "Findings for others: none",
  "Risks and how to roll back: none",
].join("\n");

test("a bare repository with worktrees beside it runs like any other", async () => {
  scene = new Scene();
  const around = join(scene.home, "around");
  mkdirSync(around);
  scene.gitIn(scene.home, "clone", "-q", "--bare", scene.repo, join(around, ".bare"));
  writeFileSync(join(around, ".git"), "gitdir: ./.bare\n");
  scene.gitIn(around, "worktree", "add", "-q", "main", "trunk");
  const top = join(around, "main");
  const call = (...args: string[]) =>
    scene.minion([...args, "--json"], { cwd: top, input: "1. One\n" });
  expect((await call("start", "-")).code).toBe(0);
  const { fault, dispatch } = (await call("next")).json;
  expect({ fault, count: dispatch.length }).toEqual({ fault: null, count: 1 });
  expect(existsSync(join(around, ".claude/worktrees/minion-r1-landing"))).toBe(true);
});

test("what git is told to put in a commit's place here is not what lands", async () => {
  scene = new Scene();
  await scene.start("1. One\n");
  await next();
  const worker = await worked({ "src/one.txt": "good\n" });
  worker.commit();
  const good = scene.gitIn(worker.path, "rev-parse", "HEAD");
  worker.edit({ "src/one.txt": "FAIL\n" });
  scene.gitIn(worker.path, "commit", "-q", "--all", "--amend", "-m", "feat: other");
  scene.gitIn(worker.path, "replace", "HEAD", good);
  scene.gitIn(worker.path, "reset", "-q", "--hard");
  await worker.minion(["gate", "--all"]);
  await worker.submit();
  await next();
  expect(onLine()).not.toContain("src/one.txt");
});

// By night also the other way to tell it.
test.each(casesOf(["skip-worktree"], ["assume-unchanged"]))(
  "a gate hides no edit from landing by telling git not to look: %s",
  async (flag) => {
    scene = new Scene(`---
gates:
  - name: lint
    run: "sh src/lint.sh"
  - name: test
    run: "! grep -rn FAIL src/one.txt"
---
`);
    scene.write("src/lint.sh", "echo linting\n");
    scene.commit("chore: lint");
    await scene.start("1. One\n   Files: src/lint.sh\n");
    await next();
    const hide = `git update-index --${flag} src/one.txt; echo fine > src/one.txt\n`;
    const worker = await worked({ "src/one.txt": "FAIL\n", "src/lint.sh": hide });
    worker.commit();
    await worker.minion(["gate", "--all"]);
    await worker.submit();
    await next();
    expect(onLine()).not.toContain("src/one.txt");
    expect((await events("not-landed")).map(({ reason }: { reason: string }) => reason)).toEqual([
      "line-red",
    ]);
  },
);

test("a sparse checkout runs like any other, and stays as it is", async () => {
  scene = new Scene();
  scene.write("docs/a.txt", "a\n");
  scene.commit("docs: a");
  scene.git("sparse-checkout", "set", "src", ".claude");
  await scene.start("1. One\n");
  await next();
  await (await worked({ "src/one.txt": "1\n" })).finish();
  expect((await next()).landed).toEqual(["1"]);
  expect((await scene.minion(["merge"])).code).toBe(0);
  expect(scene.show("trunk")).toEqual(expect.arrayContaining(["docs/a.txt", "src/one.txt"]));
  expect(scene.git("status", "--porcelain")).toBe("");
  expect(existsSync(join(scene.repo, "docs"))).toBe(false);
});

test("a line that stands for another branch moves nothing of that", async () => {
  scene = new Scene();
  await scene.start("1. One\n");
  await next();
  const trunk = scene.git("rev-parse", "trunk");
  scene.git("symbolic-ref", "refs/heads/minion/r1/line", "refs/heads/trunk");
  await (await worked({ "src/one.txt": "1\n" })).finish();
  expect((await next()).landed).toEqual(["1"]);
  expect(scene.git("rev-parse", "trunk")).toBe(trunk);
  expect(onLine()).toContain("src/one.txt");
});
