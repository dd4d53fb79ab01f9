import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Scene } from "./scene.ts";

let scene: Scene;
beforeEach(() => {
  scene = new Scene("---\nbounds:\n  workers: 4\n---\n");
  for (const name of ["a", "b"]) {
    scene.write(`pkg/${name}/package.json`, `{ "scripts": { "test": "node test.js" } }\n`);
    scene.write(`pkg/${name}/test.js`, `console.log("# tests 1 of ${name}");\n`);
    scene.write(`pkg/${name}/src/x.js`, "1\n");
  }
  scene.write("package.json", '{ "scripts": { "test": "exit 1" } }\n');
  scene.commit("chore: two packages");
});
afterEach(() => scene.destroy());

test("a run that is started in a package runs that package's gates there, for worker and landing", async () => {
  const cwd = join(scene.repo, "pkg/a");
  const list = "### Task 1: One\nFiles: src/x.js\nForbid: src/y.js\n";
  expect((await scene.minion(["start", "-"], { cwd, input: list })).code).toBe(0);
  expect((await scene.minion(["next", "--json"], { cwd })).json.dispatch).toHaveLength(1);
  const worker = await scene.agent("r1/1.1");
  const brief = (await worker.begin()).stdout;
  expect(brief).toContain("test (`npm test`)");
  expect(brief).toContain("pkg/a/");
  worker.edit({ "pkg/a/src/x.js": "2\n" });
  await worker.finish();
  expect((await scene.minion(["next", "--json"])).json).toMatchObject({
    done: true,
    landed: ["1"],
  });
  const { events } = (await scene.minion(["events", "--json"])).json;
  const evidence = events.filter(({ event }: { event: string }) => event === "evidence");
  expect(new Set(evidence.map(({ cwd: folder }: { cwd: string }) => folder))).toEqual(
    new Set(["pkg/a"]),
  );
  // What it names is what it touched, written from its own folder.
  const report = (await scene.minion(["report"])).stdout;
  expect(report).not.toContain("none of the files");
  expect(report).not.toContain("not named");
});

test("what the task forbids in its package is refused there, and nowhere else", async () => {
  const cwd = join(scene.repo, "pkg/a");
  await scene.minion(["start", "-"], { cwd, input: "### Task 1: One\nForbid: src/x.js\n" });
  await scene.minion(["next"], { cwd });
  const worker = await scene.agent("r1/1.1");
  await worker.begin();
  const write = async (path: string) => {
    const who = { agent_id: worker.id, agent_type: "minion:minion-worker", cwd: worker.path };
    const file_path = join(worker.path, path);
    const { json } = await scene.hook("PreToolUse", {
      ...who,
      tool_name: "Write",
      tool_input: { file_path },
    });
    return json.hookSpecificOutput.permissionDecision;
  };
  expect([await write("pkg/a/src/x.js"), await write("pkg/b/src/x.js")]).toEqual(["deny", "allow"]);
});
