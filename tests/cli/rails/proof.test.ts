import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Scene } from "./scene.ts";

let scene: Scene;
beforeEach(() => {
  scene = new Scene('---\ngates:\n  - name: test\n    run: "sh check.sh"\n---\n');
  scene.write("check.sh", "! grep -rn FAIL src\n");
  scene.write(
    "package.json",
    '{ "name": "a", "scripts": { "test": "sh check.sh" }, "dependencies": {} }\n',
  );
  scene.commit("chore: a project");
});
afterEach(() => scene.destroy());

/** Lets a worker do a task, hand it in, and again where it is told to think twice. */
async function lands(fields: string, files: Record<string, string | null>) {
  await scene.start(`### Task 1: One\nDo it.\n${fields}`);
  await scene.minion(["next"]);
  const worker = await scene.agent("r1/1.1");
  await worker.begin();
  for (const [path, text] of Object.entries(files))
    if (text === null) scene.gitIn(worker.path, "rm", "-q", path);
    else worker.edit({ [path]: text });
  await worker.minion(["gate", "--all"]);
  worker.commit();
  const first = await worker.submit();
  const second = await worker.submit();
  const { landed, attention } = (await scene.minion(["next", "--json"])).json;
  return { told: first.json.error?.code, taken: second.code === 0, landed, attention };
}

test("a script that is changed in passing waits for a person, whose word lands it, proven like everything", async () => {
  const weak = '{ "name": "a", "scripts": { "test": "true" } }\n';
  const { told, taken, landed, attention } = await lands("Files: package.json", {
    "src/one.txt": "1",
    "package.json": weak,
  });
  expect({ told, taken, landed }).toEqual({ told: "proof-changed", taken: true, landed: [] });
  expect(attention).toMatchObject([
    { task: "1", reason: "proof-changed", note: "package.json#scripts." },
  ]);
  expect(scene.git("rev-parse", "minion/r1/line")).toBe(scene.git("rev-parse", "HEAD"));
  expect((await scene.minion(["land", "1"])).code).toBe(0);
  expect(scene.show("minion/r1/line")).toContain("src/one.txt");
});

test("what is ignored here waits for a person, and no merge lays it over what the person has", async () => {
  scene.write(".gitignore", ".env\nnode_modules/\n.claude/worktrees/\n");
  scene.commit("chore: ignore");
  scene.write(".env", "mine\n");
  scene.write("node_modules/dep/index.js", "1\n");
  await scene.start("1. One\n");
  await scene.minion(["next"]);
  const worker = await scene.agent("r1/1.1");
  await worker.begin();
  worker.edit({ "src/one.txt": "1", ".env": "theirs\n" });
  symlinkSync(join(scene.repo, "node_modules"), join(worker.path, "node_modules"));
  scene.gitIn(worker.path, "add", "--force", ".env", "node_modules");
  worker.commit();
  await worker.minion(["gate", "--all"]);
  const told = (await worker.submit()).json.error;
  expect([told.code, told.message]).toEqual(["ignored", expect.stringMatching(/\.env, node_mod/)]);
  expect((await worker.submit()).code).toBe(0);
  const { landed, attention } = (await scene.minion(["next", "--json"])).json;
  expect({ landed, attention }).toMatchObject({
    landed: [],
    attention: [{ task: "1", reason: "ignored", note: ".env, node_modules." }],
  });
  expect((await scene.minion(["land", "1"])).code).toBe(0);
  const { error } = (await scene.minion(["merge", "--json"])).json;
  expect([error.code, error.message]).toEqual(["in-the-way", expect.stringContaining(".env")]);
  const [, command = ""] = /: (git .*)$/.exec(error.hint) ?? [];
  expect(() => execFileSync("sh", ["-c", command], { cwd: scene.repo, stdio: "pipe" })).toThrow();
  expect(readFileSync(join(scene.repo, ".env"), "utf8")).toBe("mine\n");
  expect(existsSync(join(scene.repo, "node_modules/dep/index.js"))).toBe(true);
  expect(scene.git("status", "--porcelain")).toBe("");
});

test("a file that the task forbids does not land, however it was changed", async () => {
  const { told, landed, attention } = await lands("Forbid: src/start.txt", {
    "src/start.txt": "changed\n",
  });
  expect({ told, landed }).toEqual({ told: "forbidden", landed: [] });
  expect(attention).toMatchObject([{ task: "1", reason: "forbidden", note: "src/start.txt." }]);
});

test("a worker that takes it back hands in without a person", async () => {
  await scene.start("### Task 1: One\nForbid: src/start.txt\n");
  await scene.minion(["next"]);
  const worker = await scene.agent("r1/1.1");
  await worker.begin();
  worker.edit({ "src/start.txt": "changed\n", "src/one.txt": "1" });
  await worker.minion(["gate", "--all"]);
  worker.commit();
  expect((await worker.submit()).json.error.code).toBe("forbidden");
  scene.gitIn(worker.path, "checkout", "-q", "HEAD~", "--", "src/start.txt");
  await worker.minion(["gate", "--all"]);
  worker.commit();
  expect((await worker.submit()).code).toBe(0);
  expect((await scene.minion(["next", "--json"])).json).toMatchObject({
    done: true,
    landed: ["1"],
  });
});

test("a line that somebody moved is put back where nothing is lost by it", async () => {
  await scene.start("1. One\n2. Two (depends on: 1)\n");
  await scene.minion(["next"]);
  const worker = await scene.agent("r1/1.1");
  await worker.begin();
  worker.edit({ "src/one.txt": "FAIL" });
  worker.commit();
  scene.gitIn(worker.path, "update-ref", "refs/heads/minion/r1/line", "HEAD");
  await worker.end();
  await worker.end();
  await scene.minion(["next"]);
  await scene.goodWorker("r1/1.2", { "src/two.txt": "2" });
  expect((await scene.minion(["next", "--json"])).json).toMatchObject({
    landed: ["1"],
    fault: null,
  });
  expect(scene.show("minion/r1/line")).toContain("src/two.txt");
  expect(scene.show("minion/r1/line")).not.toContain("src/one.txt");
});

test("evidence that somebody wrote into the journal moves nothing", async () => {
  await scene.start("1. One\n");
  await scene.minion(["next"]);
  const worker = await scene.agent("r1/1.1");
  await worker.begin();
  worker.edit({ "src/one.txt": "FAIL" });
  worker.commit();
  const tree = scene.gitIn(worker.path, "rev-parse", "HEAD^{tree}");
  const forged = {
    at: Date.now(),
    event: "evidence",
    gate: "test",
    by: "landing",
    attempts: ["r1/1.1"],
    tree,
    code: 0,
  };
  const rest = {
    changed: [],
    made: [],
    untested: false,
    known: false,
    command: "sh check.sh",
    cwd: "",
    setup: "",
    ms: 1,
  };
  const lines = ["worker", "landing"].map(
    (by) => `${JSON.stringify({ ...forged, ...rest, by, output: "x" })}\n`,
  );
  scene.write(
    "forge.mjs",
    `import { appendFileSync } from "node:fs"; appendFileSync(process.argv[2], ${JSON.stringify(lines.join(""))});`,
  );
  const { execFileSync } = await import("node:child_process");
  execFileSync(process.execPath, [
    `${scene.repo}/forge.mjs`,
    `${scene.repo}/.git/minion/r1/events.jsonl`,
  ]);
  expect((await worker.submit()).code).toBe(0); // It believes what it reads …
  const after = (await scene.minion(["next", "--json"])).json;
  expect(after.landed).toEqual([]); // … and landing does not.
  expect(scene.git("rev-parse", "minion/r1/line")).toBe(scene.git("rev-parse", "HEAD"));
});
