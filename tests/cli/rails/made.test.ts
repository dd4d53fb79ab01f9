import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { casesOf } from "../../by-night.ts";
import { Scene } from "./scene.ts";

let scene: Scene;
afterEach(() => scene.destroy());

const blueprint = (...runs: string[]) =>
  `---\ngates:\n${runs.map((run, index) => `  - name: g${index}\n    run: '${run}'\n`).join("")}---\n`;

async function begun(): Promise<Awaited<ReturnType<Scene["agent"]>>> {
  await scene.start("1. One\n");
  await scene.minion(["next"]);
  const worker = await scene.agent("r1/1.1");
  await worker.begin();
  worker.edit({ "src/one.txt": "1" });
  return worker;
}

test("what gates make beside the files is in nobody's way and on no line", async () => {
  // Another content at each run, as a report with a date has.
  scene = new Scene(
    blueprint(
      "mkdir -p coverage; date +%N > coverage/report",
      "date +%N > build.log; test -f coverage/report",
    ),
  );
  const worker = await begun();
  expect((await worker.minion(["gate", "--all"])).code).toBe(0);
  expect((await worker.minion(["gate", "g0", "--json"])).json.gates[0]).toMatchObject({
    result: "pass",
    reused: true,
  });
  scene.gitIn(worker.path, "add", "src");
  scene.gitIn(worker.path, "commit", "-qm", "feat: one");
  expect(await worker.submit()).toMatchObject({ code: 0 });
  expect((await scene.minion(["next", "--json"])).json).toMatchObject({
    done: true,
    landed: ["1"],
  });
  expect(scene.show("minion/r1/line")).not.toContain("coverage/report");
  expect(existsSync(join(worker.path, "coverage/report"))).toBe(true);
  expect((await scene.minion(["clean"])).code).toBe(0);
  expect(existsSync(worker.path)).toBe(false);
});

test("a file that a gate made and the worker then takes as its own counts like any other", async () => {
  scene = new Scene(blueprint("test -f snapshot || echo made > snapshot"));
  const worker = await begun();
  expect((await worker.minion(["gate", "--all"])).code).toBe(0);
  worker.commit("feat: one");
  expect((await worker.submit()).json.error.code).toBe("unproven");
  expect((await worker.minion(["gate", "--all"])).code).toBe(0);
  expect((await worker.submit()).code).toBe(0);
});

test("a gate that changes what was there has not passed", async () => {
  scene = new Scene(blueprint("echo formatted > src/one.txt"));
  const worker = await begun();
  expect((await worker.minion(["gate", "g0", "--json"])).json.gates[0]).toMatchObject({
    result: "changed-files",
    failures: 0,
  });
  expect((await worker.minion(["gate", "g0", "--json"])).json.gates[0]).toMatchObject({
    result: "pass",
  });
});

test("a setup that makes files of its own is done once for a worktree, and lands nothing", async () => {
  scene = new Scene(blueprint("test -f lock"));
  scene.write(
    ".claude/minion/toolchains.md",
    "| Tool | Command | When |\n|---|---|---|\n| setup | `date +%N > lock` | `src/start.txt` |\n",
  );
  scene.commit("chore: set up");
  const worker = await begun();
  expect((await worker.minion(["gate", "--all"])).code).toBe(0);
  scene.gitIn(worker.path, "add", "src");
  scene.gitIn(worker.path, "commit", "-qm", "feat: one");
  expect((await worker.submit()).code).toBe(0);
  expect((await scene.minion(["next", "--json"])).json).toMatchObject({
    done: true,
    landed: ["1"],
  });
  expect(scene.show("minion/r1/line")).not.toContain("lock");
});

/** A run whose project has a setup, which waits until it may go on where somebody asks it to. */
async function withSetup(setup: string, ...gates: string[]) {
  scene = new Scene(blueprint(...gates));
  scene.write("wait.sh", "touch ~/runs; while test -e ~/wait; do sleep 0.02; done\n");
  scene.write("lock", "1\n");
  scene.write(
    ".claude/minion/toolchains.md",
    `| Tool | Command | When |\n|---|---|---|\n| setup | \`sh wait.sh; ${setup}\` | \`lock\` |\n`,
  );
  scene.commit("chore: set up");
  await scene.start("1. One\n");
  await scene.minion(["next"]);
  return scene.agent("r1/1.1");
}

/** Begins; `during` happens while the setup runs. */
async function beginsWhile(worker: Awaited<ReturnType<typeof withSetup>>, during: () => void) {
  scene.write("../wait", "");
  rmSync(join(scene.home, "runs"));
  expect((await worker.minion(["begin", worker.attempt, "--wait", "1"])).code).toBe(75);
  while (!existsSync(join(scene.home, "runs"))) await sleep(20);
  during();
  rmSync(join(scene.home, "wait"));
  const answer = await worker.begin();
  expect(answer.code).toBe(0);
  return answer.stdout;
}
const read = (top: string, path: string) => readFileSync(join(top, path), "utf8");

test("what a setup changes of tracked files is undone, and what its worker edits meanwhile stays", async () => {
  const worker = await withSetup("echo 2 > lock; rm wait.sh", "test -f lock");
  const told = await beginsWhile(worker, () =>
    worker.edit({ "src/start.txt": "edited\n", "src/new.txt": "new\n" }),
  );
  expect(read(worker.path, "src/start.txt")).toBe("edited\n");
  expect(read(worker.path, "src/new.txt")).toBe("new\n");
  expect(scene.gitIn(worker.path, "status", "--porcelain").split("\n")).toEqual([
    "M src/start.txt",
    "?? src/new.txt",
  ]);
  expect(told).toContain("git restore :/src/start.txt`");
  expect((await worker.minion(["gate", "--all"])).code).toBe(0);
  expect((await worker.submit()).json.error.message).toContain("src/new.txt");
  worker.commit();
  expect((await worker.submit()).code).toBe(0);
  expect((await scene.minion(["next", "--json"])).json).toMatchObject({ landed: ["1"] });
});

test("of a file that both change, what is not the setup's alone stays, and is said", async () => {
  const worker = await withSetup("echo 2 >> lock", "true");
  const told = await beginsWhile(worker, () => worker.edit({ lock: "mine\n" }));
  expect(read(worker.path, "lock")).toBe("mine\n2\n");
  expect(told).toContain("git restore :/lock`");
});

test("nothing new of a worker's that came up while the setup ran is cleaned away", async () => {
  const worker = await withSetup("mkdir -p out; touch out/a", "true");
  await beginsWhile(worker, () => worker.edit({ "src/new.txt": "new\n" }));
  await scene.minion(["abort"]);
  const { keep } = (await scene.minion(["clean", "--json"])).json;
  expect(keep).toContainEqual({
    name: `worktree ${worker.path}`,
    why: "not committed: src/new.txt",
  });
  expect(read(worker.path, "src/new.txt")).toBe("new\n");
});

test("a gate that is called setup is a gate, beside the project's setup", async () => {
  const worker = await withSetup("echo 2 > lock", "true");
  scene.write(
    ".claude/minion/blueprint.md",
    "---\ngates:\n  - name: setup\n    run: '! grep -rn FAIL src'\n---\n",
  );
  await scene.minion(["abort"]);
  scene.commit("chore: a gate");
  await scene.start("1. One\n2. Two\n");
  await scene.minion(["next"]);
  const [one, two] = [await scene.agent("r2/1.1"), await scene.agent("r2/2.1")];
  await one.begin();
  one.edit({ "src/start.txt": "edited\n" });
  expect((await one.minion(["gate", "setup"])).code).toBe(0);
  expect(read(one.path, "src/start.txt")).toBe("edited\n");
  one.commit();
  expect((await one.submit()).code).toBe(0);
  await two.begin();
  two.edit({ "src/two.txt": "FAIL\n" });
  expect((await two.minion(["gate", "setup"])).code).toBe(1);
  expect(read(two.path, "src/two.txt")).toBe("FAIL\n");
  expect(existsSync(worker.path)).toBe(true);
  expect((await scene.minion(["next", "--json"])).json).toMatchObject({ landed: ["1"] });
  const events = read(scene.repo, ".git/minion/r2/events.jsonl").split("\n");
  const landing = events.filter((line) => /"evidence".*"by":"landing".*grep/.test(line));
  expect(landing.length).toBe(2);
});

test("clean copes with a worktree whose folder somebody removed, and keeps what was on its branch", async () => {
  scene = new Scene(blueprint("true"));
  const worker = await begun();
  worker.commit("feat: half");
  await scene.minion(["abort"]);
  rmSync(worker.path, { recursive: true });
  const dry = await scene.minion(["clean", "--dry-run", "--json"]);
  const { remove, keep } = (await scene.minion(["clean", "--json"])).json;
  expect(dry.json).toMatchObject({ dryRun: true, remove, keep });
  expect(remove).toContain(`worktree ${worker.path}`);
  expect(keep).toEqual([{ name: "branch minion/r1/1-one.1", why: "work that did not land" }]);
  expect(scene.git("worktree", "list").split("\n")).toHaveLength(1);
  expect(scene.show("minion/r1/1-one.1")).toContain("src/one.txt");
});

test("nothing of a run can be added by accident, and the folder goes with the last worktree", async () => {
  scene = new Scene(blueprint("true"));
  const worker = await begun();
  for (const at of [scene.repo, worker.path]) scene.gitIn(at, "add", "--all");
  expect(scene.git("status", "--porcelain", "--untracked-files=all")).toBe("");
  expect(scene.gitIn(worker.path, "status", "--porcelain")).toBe("A  src/one.txt");
  await worker.finish();
  await scene.minion(["next"]);
  expect((await scene.minion(["merge"])).code).toBe(0);
  expect((await scene.minion(["clean", "--json"])).json.keep).toEqual([]);
  expect(existsSync(join(scene.repo, ".claude/worktrees"))).toBe(false);
});

test("a folder of worktrees that was there is not written to, and what that means is said", async () => {
  scene = new Scene(blueprint("true"));
  scene.write(".claude/worktrees/mine/note", "mine\n");
  const started = await scene.minion(["start", "-", "--json"], { input: "1. One\n" });
  expect(started.json.warnings).toContainEqual(expect.stringContaining(".git/info/exclude"));
  await scene.minion(["next"]);
  expect(existsSync(join(scene.repo, ".claude/worktrees/.gitignore"))).toBe(false);
  await scene.minion(["abort"]);
  await scene.minion(["clean"]);
  expect(read(scene.repo, ".claude/worktrees/mine/note")).toBe("mine\n");
});

test("clean leaves a worktree that a person locked, and a branch that somebody is just rebasing", async () => {
  scene = new Scene(blueprint("true"));
  const worker = await begun();
  await worker.finish();
  await scene.minion(["next"]);
  scene.keep();
  const landing = join(scene.repo, ".claude/worktrees/minion-r1-landing");
  scene.git("worktree", "lock", worker.path, "--reason", "I look at it");
  scene.git("worktree", "lock", landing);
  const locked = (await scene.minion(["clean", "--json"])).json;
  expect(locked.keep).toEqual(
    expect.arrayContaining([
      { name: `worktree ${worker.path}`, why: "locked: I look at it" },
      { name: `worktree ${landing}`, why: "locked" },
    ]),
  );
  expect([worker.path, landing].map((path) => existsSync(join(path, ".git")))).toEqual([
    true,
    true,
  ]);
  scene.git("worktree", "unlock", worker.path);
  scene.git("worktree", "unlock", landing);
  expect((await scene.minion(["clean", "--json"])).json.remove).toEqual(
    expect.arrayContaining([`worktree ${worker.path}`, `worktree ${landing}`]),
  );

  scene.back();
  scene.gitIn(worker.path, "switch", "-q", "--detach");
  scene.git("switch", "-q", "minion/r1/1-one.1");
  expect(() => scene.git("rebase", "-q", "-x", "false", "HEAD~")).toThrow();
  const rebased = (await scene.minion(["clean", "--json"])).json;
  expect(rebased.keep).toContainEqual({
    name: "branch minion/r1/1-one.1",
    why: `being rebased in ${scene.repo}`,
  });
  scene.git("rebase", "--abort");
  expect(scene.git("branch", "--show-current")).toBe("minion/r1/1-one.1");
});

// By day what git knows and what only lies there; by night what lies there in other forms.
type Put = [name: string, put: (path: string) => unknown];
const PUT = casesOf<Put>(
  [
    [
      "a folder where the run's worktree was",
      async (path) => {
        await scene.minion(["next"]);
        rmSync(path, { recursive: true });
        scene.write("note", "mine\n", path);
      },
    ],
    [
      "a worktree with work in it",
      (path) => {
        scene.git("worktree", "add", "-q", "-b", "mine", path);
        scene.write("note", "mine\n", path);
      },
    ],
  ],
  [
    ["a folder", (path) => scene.write("note", "mine\n", path)],
    [
      "a repository",
      (path) => {
        scene.write("note", "mine\n", path);
        scene.gitIn(path, "init", "-q");
      },
    ],
  ],
);

test.each(PUT)("%s of a person's at landing's place is named, and left", async (_, put) => {
  scene = new Scene(blueprint("true"));
  await scene.start("1. One\n");
  const path = join(scene.repo, ".claude/worktrees/minion-r1-landing");
  await put(path);
  if (existsSync(join(scene.repo, ".git/minion/r1/output"))) {
    await scene.goodWorker("r1/1.1", { "src/one.txt": "1" });
  }
  const { fault } = (await scene.minion(["next", "--json"])).json;
  expect(JSON.stringify(fault)).toContain(path);
  expect(read(path, "note")).toBe("mine\n");
  await scene.minion(["abort"]);
  await scene.minion(["clean"]);
  expect(read(path, "note")).toBe("mine\n");
});

describe("what all worktrees share", () => {
  const config = () => scene.git("config", "--local", "--list");
  const report = async () => (await scene.minion(["report", "--full"])).stdout;

  test("is as it was after a setup that writes config and hooks, as husky does", async () => {
    const hook = 'printf x > "$(git rev-parse --git-common-dir)/hooks/pre-commit"';
    const worker = await withSetup(
      `git config core.hooksPath .husky/_; git config --add remote.origin.url u; ${hook}`,
      "true",
    );
    const hooks = join(scene.repo, ".git/hooks/pre-commit");
    const isClean = () =>
      expect([config().includes("hookspath"), existsSync(hooks)]).toEqual([false, false]);
    isClean();
    await worker.begin();
    isClean();
    const text = await report();
    expect(text.match(/core\.hookspath is \.husky\/\\?_: taken back/g)).toHaveLength(1);
    expect(text).toContain("hooks/pre-commit is another: taken back");
  });

  test("keeps what was there, and what a person sets meanwhile", async () => {
    const worker = await withSetup("git config core.hooksPath .husky/_", "true");
    scene.git("config", "core.hooksPath", "mine");
    scene.git("config", "--add", "demo.many", "a");
    scene.git("config", "--add", "demo.many", "b");
    scene.write(".git/hooks/pre-commit", "mine\n");
    const before = config();
    await worker.begin();
    expect(config()).toBe(before);
    expect(read(scene.repo, ".git/hooks/pre-commit")).toBe("mine\n");
  });

  test("is said where a gate changes it, and left", async () => {
    scene = new Scene(blueprint("git branch -f theirs HEAD; git config demo.gate 1"));
    const worker = await begun();
    await worker.finish();
    expect(scene.git("config", "demo.gate")).toBe("1");
    const text = await report();
    expect(text).toContain("refs/heads/theirs is another: left");
    expect(text).toContain("demo.gate is 1: left");
  });
});
