import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { Scene, type Worker } from "./scene.ts";

let scene: Scene | undefined;
afterEach(() => scene?.destroy());

async function begun(attempt: string): Promise<Worker> {
  const worker = await (scene as Scene).agent(attempt);
  expect((await worker.begin()).code).toBe(0);
  return worker;
}
const next = async () => (await (scene as Scene).minion(["next", "--json"])).json;

test("a clash sends the second back once, told what the first meant; a deletion that nobody named is flagged", async () => {
  scene = new Scene();
  await scene.start("1. Greet\n2. Part\n   Files: src/start.txt?\n");
  const { dispatch } = await next();
  const [one, two] = await Promise.all(dispatch.map(({ attempt }: { attempt: string }) => begun(attempt)));
  const done = async (worker: Worker, text: string) => {
    worker.edit({ "src/start.txt": `${text}\n` });
    await worker.minion(["gate", "--all"]);
    worker.commit(`feat: ${text}`);
    expect((await worker.submit(`it says ${text}, since people arrive.`)).code).toBe(0);
  };
  await done(one as Worker, "hello");
  await done(two as Worker, "goodbye");
  const after = await next();
  expect(after).toMatchObject({ landed: ["1"], dispatch: [{ attempt: "r1/2.2" }] });
  expect(scene.git("show", "minion/r1/line:src/start.txt")).toBe("hello");
  const again = await scene.agent("r1/2.2");
  const brief = (await again.begin()).stdout;
  expect(brief).toContain("## What task 1 left\n\nWhat and why: it says hello");
  expect(brief).toContain("conflict. It clashes in src/start.txt");

  rmSync(join(again.path, "src/start.txt"));
  again.edit({ "src/end.txt": "goodbye\n" });
  await again.minion(["gate", "--all"]);
  again.commit("feat: end");
  await again.submit();
  expect((await next()).done).toBe(true);
  const { report } = (await scene.minion(["report", "--json"])).json;
  expect(report).toMatch(/\*\*2 Part\*\*.*Touched though not named: src\/end\.txt/);
  expect(report).not.toContain("Deleted though not named");
});

const MANIFEST = (names: string) => `{\n  "dependencies": {\n${names}\n  }\n}\n`;

test.each([
  [
    "a rename and a new use",
    { "src/names.txt": null, "src/new-names.txt": "old\n" },
    { "src/use.txt": "uses names\n" },
    "line-red",
  ],
  [
    "two new dependencies",
    { "src/package.json": MANIFEST('    "a": "1",\n    "b": "1"') },
    { "src/package.json": MANIFEST('    "a": "1",\n    "c": "1"') },
    "conflict",
  ],
  ["one new file from both", { "src/one.txt": "mine\n" }, { "src/one.txt": "yours\n" }, "conflict"],
])("%s: each is green, and what they are together never reaches the line", async (_, first, second, reason) => {
  scene = new Scene(
    "---\ngates:\n  - name: test\n    run: \"! grep -rq 'uses names' src || test -f src/names.txt\"\n---\n",
  );
  scene.write("src/names.txt", "old\n");
  scene.write("src/package.json", MANIFEST('    "a": "1"'));
  scene.commit("chore: more");
  await scene.start("1. One\n2. Two\n");
  const { dispatch } = await next();
  const workers = await Promise.all(dispatch.map(({ attempt }: { attempt: string }) => begun(attempt)));
  for (const [at, worker] of (workers as Worker[]).entries()) {
    for (const [path, text] of Object.entries(at === 0 ? first : second)) {
      if (text === null) rmSync(join(worker.path, path));
      else worker.edit({ [path]: text as string });
    }
    await worker.finish();
  }
  expect(await next()).toMatchObject({ landed: ["1"], dispatch: [{ attempt: "r1/2.2" }] });
  const { events } = (await scene.minion(["events", "--json"])).json;
  expect(events.filter(({ event }: { event: string }) => event === "not-landed")).toMatchObject([{ reason }]);
  expect(scene.git("rev-list", "--count", "trunk..minion/r1/line")).toBe("1");
  expect(scene.git("status", "--porcelain", "--untracked-files=no")).toBe("");
  const inside = readdirSync(join(scene.repo, ".git"), { recursive: true, encoding: "utf8" });
  expect(inside.filter((path) => /(CHERRY_PICK|MERGE)_HEAD$|sequencer$|rebase-/.test(path))).toEqual([]);
});

test("a commit that changes nothing on the line is passed over, and that is said", async () => {
  scene = new Scene();
  await scene.start("1. One\n2. Two\n");
  const { dispatch } = await next();
  const workers = await Promise.all(dispatch.map(({ attempt }: { attempt: string }) => begun(attempt)));
  for (const [at, worker] of (workers as Worker[]).entries()) {
    worker.edit({ "src/both.txt": "the same\n" });
    worker.commit("feat: both");
    if (at === 1) worker.edit({ "src/own.txt": "own\n" });
    await worker.finish().catch(() => worker.submit());
  }
  await next();
  expect(scene.git("log", "--format=%s", "trunk..minion/r1/line").split("\n")).toEqual(["feat: work", "feat: both"]);
  const { report } = (await scene.minion(["report", "--json"])).json;
  expect(report).toMatch(/\*\*2 Two\*\*.*1 of its 2 commits changed nothing there/);
  expect(scene.git("status", "--porcelain", "--untracked-files=no")).toBe("");
});

test("a deletion that a task does not name is told of with that task", async () => {
  scene = new Scene();
  await scene.start("1. Tidy\n   Files: src/new.txt\n2. Other\n   Files: src/other.txt\n");
  const { dispatch } = await next();
  const [one, two] = await Promise.all(dispatch.map(({ attempt }: { attempt: string }) => begun(attempt)));
  rmSync(join((one as Worker).path, "src/start.txt"));
  (one as Worker).edit({ "src/new.txt": "new\n" });
  await (one as Worker).finish();
  (two as Worker).edit({ "src/other.txt": "other\n" });
  await (two as Worker).finish();
  await next();
  const { report } = (await scene.minion(["report", "--json"])).json;
  expect(report).toMatch(/\*\*1 Tidy\*\*.*\*\*Deleted though not named: src\/start\.txt\*\*/);
  expect(report.match(/Deleted though not named/g)).toHaveLength(1);
});
