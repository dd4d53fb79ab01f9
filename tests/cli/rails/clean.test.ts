import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Scene } from "./scene.ts";

// What `clean` keeps and removes in odd places is in tests/nightly/git.test.ts.

let scene: Scene;
beforeEach(() => {
  scene = new Scene();
});
afterEach(() => scene.destroy());

const branches = (): string[] =>
  scene.git("for-each-ref", "--format=%(refname:short)", "refs/heads").split("\n");
const clean = async () => (await scene.minion(["clean", "--run", "r1", "--json"])).json;

test("finds the branch of each agent that was launched, also where one attempt had two, and of nobody else's", async () => {
  await scene.start("1. One\n2. Two\n");
  await scene.minion(["next"]);
  // On a busy machine the client tells so late of a launch that the attempt is named again.
  const first = await scene.agent("r1/1.1");
  const second = await scene.agent("r1/1.1");
  expect((await second.begin()).code).toBe(0);
  expect((await first.begin()).code).toBe(1);
  // In some versions the client calls what it makes by the beginning of the agent's id only.
  const short = await scene.agent("r1/2.1");
  const called = `worktree-agent-${short.id.slice(0, 7)}`;
  scene.git("branch", "-m", `worktree-agent-${short.id}`, called);
  // The client takes the worktree of an agent that changed nothing, and leaves its branch.
  for (const { path } of [first, short]) scene.git("worktree", "remove", path);
  const theirs = ["worktree-agent-0000000", `agent-${first.id}`, `worktree-agent-${first.id}-x`];
  for (const name of theirs) scene.git("branch", name);
  await scene.minion(["abort"]);
  const { keep } = await clean();
  expect(keep).toEqual([]);
  expect(branches()).toEqual([...theirs, "trunk"].sort());
});

test("keeps what an agent committed on the client's branch, and says why", async () => {
  await scene.start("1. One\n");
  await scene.minion(["next"]);
  const worker = await scene.agent("r1/1.1");
  worker.edit({ "src/one.txt": "1\n" });
  worker.commit();
  scene.git("worktree", "remove", worker.path);
  await scene.minion(["abort"]);
  const name = `worktree-agent-${worker.id}`;
  expect((await clean()).keep).toEqual([
    { name: `branch ${name}`, why: expect.stringContaining("did not land") },
  ]);
  expect(branches()).toContain(name);
});

test("what ending and cleaning say to type is about their own run, whichever is the newest", async () => {
  await scene.start("1. One\n");
  await scene.minion(["start", "-", "--new"], { input: "1. One\n" });
  /** Types the command that stands in what was said. */
  const type = (said: string) => {
    const words = / ((abort|clean|report|board|merge) .*--run.*)$/m.exec(said)?.[1] ?? "";
    expect(words, said).toContain("--run r1");
    return scene.minion(words.split(" "));
  };
  const open = await scene.minion(["clean", "--run", "r1"]);
  expect(open.code).toBe(1);
  const ended = await type(open.stderr);
  expect(ended.code).toBe(0);
  expect((await scene.minion(["board", "--run", "r2", "--json"])).json.done).toBe(false);
  expect((await type(ended.stdout)).code).toBe(0);
  expect(branches()).toEqual(["minion/r2/line", "trunk"]);
  const again = await scene.minion(["abort", "--run", "r1"]);
  expect((await type(again.stderr)).stdout).toContain("r1");
  const merge = await scene.minion(["merge", "--run", "r1"]);
  expect((await type(merge.stderr)).stdout).toContain("r1");
});

test("keeps a branch that another name stands for, and deletes none by way of another", async () => {
  await scene.start("1. One\n");
  await scene.minion(["next"]);
  await scene.goodWorker("r1/1.1", { "src/one.txt": "1\n" });
  await scene.minion(["next"]);
  const tip = scene.git("rev-parse", "minion/r1/line");
  // What a person calls the result, and a branch of a person's in place of the attempt's.
  scene.git("symbolic-ref", "refs/heads/result", "refs/heads/minion/r1/line");
  scene.git("branch", "precious", "minion/r1/1-one.1");
  const { branch = "" } = (await scene.minion(["events", "--json"])).json.events.find(
    ({ event }: { event: string }) => event === "begun",
  );
  scene.git("symbolic-ref", `refs/heads/${branch}`, "refs/heads/precious");
  const { keep } = await clean();
  expect(keep).toContainEqual({
    name: "branch minion/r1/line",
    why: "refs/heads/result stands for it",
  });
  expect(scene.git("rev-parse", "result")).toBe(tip);
  expect(branches()).toContain("precious");
});

test("keeps a worktree that a person locked, whatever the reason says, and one with an edit at which git was told not to look", async () => {
  await scene.start("1. One\n2. Two\n");
  await scene.minion(["next"]);
  const locked = await scene.goodWorker("r1/1.1", { "src/one.txt": "1\n" });
  const edited = await scene.goodWorker("r1/2.1", { "src/two.txt": "2\n" });
  await scene.minion(["next"]);
  scene.git("worktree", "lock", "--reason", "I look at pid 99 there", locked.path);
  scene.gitIn(edited.path, "update-index", "--assume-unchanged", "src/two.txt");
  writeFileSync(join(edited.path, "src/two.txt"), "precious\n");
  const { keep } = await clean();
  expect(keep).toEqual(
    expect.arrayContaining([
      { name: `worktree ${locked.path}`, why: "locked: I look at pid 99 there" },
      { name: `worktree ${edited.path}`, why: "not committed: src/two.txt" },
    ]),
  );
  expect(readFileSync(join(edited.path, "src/two.txt"), "utf8")).toBe("precious\n");
});
