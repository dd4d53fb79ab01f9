import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Scene } from "./scene.ts";

/** A gate that says that it runs, and goes on once nothing holds it any more. */
const BLUEPRINT = `---
gates:
  - name: test
    run: "test ! -e ../../../.git/hold || touch ../../../.git/runs; \
while test -e ../../../.git/hold; do sleep 0.05; done; echo tested"
---
`;
const LIST = "### Task 1: One\nFiles: src/one.txt\n\n### Task 2: Two\nFiles: src/two.txt\n";

let scene: Scene;
beforeEach(async () => {
  scene = new Scene(BLUEPRINT);
  await scene.start(LIST);
  await next();
  await scene.goodWorker("r1/1.1", { "src/one.txt": "1\n" });
  await scene.goodWorker("r1/2.1", { "src/two.txt": "2\n" });
});
afterEach(() => scene.destroy());

const next = async () => (await scene.minion(["next", "--json"])).json;
const line = () => scene.show("minion/r1/line").filter((path) => path.startsWith("src/"));
const states = async () => {
  const { tasks } = (await scene.minion(["board", "--json"])).json;
  return tasks.map(({ state }: { state: string }) => state);
};

/** Does something while a gate runs for what another call waits for. */
async function whileProving(call: string[], act: () => Promise<unknown>) {
  const [hold, runs] = ["hold", "runs"].map((name) => join(scene.repo, ".git", name)) as [
    string,
    string,
  ];
  scene.write(".git/hold", "");
  const answer = scene.minion(call);
  while (!existsSync(runs)) await new Promise((resolve) => setTimeout(resolve, 20));
  await act();
  rmSync(hold);
  rmSync(runs, { force: true });
  return answer;
}

describe("while landing proves", () => {
  test.each(["drop", "stop"])("%s keeps a task off the line, and the rest lands", async (verb) => {
    await whileProving(["next"], () => scene.minion([verb, "1"]));
    await next();
    expect(line()).toEqual(["src/start.txt", "src/two.txt"]);
    expect(await states()).toEqual([verb === "drop" ? "dropped" : "needs-human", "landed"]);
  });

  test("new rails decide: what was proven by the old ones is proven anew", async () => {
    const rails = "---\ngates:\n  - name: test\n    run: test ! -e src/one.txt\n---\n";
    await whileProving(["next"], async () => {
      scene.write(".claude/minion/blueprint.md", rails);
      await scene.minion(["change", "--rails"]);
    });
    await next();
    expect(line()).toEqual(["src/start.txt", "src/two.txt"]);
  });

  test("two that are dropped by two calls are both taken back", async () => {
    await next();
    let second: ReturnType<Scene["minion"]> | undefined;
    const first = await whileProving(["drop", "1"], async () => {
      second = scene.minion(["drop", "2"]);
      while (!(await scene.minion(["events", "--json"])).stdout.includes('"tasks":["2"]'))
        await new Promise((resolve) => setTimeout(resolve, 50));
    });
    expect([first.code, (await second)?.code]).toEqual([0, 0]);
    expect(line()).toEqual(["src/start.txt"]);
    expect(await states()).toEqual(["dropped", "dropped"]);
  });
});

test("what landed is proven at the end by rails that are taken after it", async () => {
  await next();
  expect(await next()).toMatchObject({ done: true });
  const rails = "---\ngates:\n  - name: test\n    run: test ! -e src/one.txt\n---\n";
  scene.write(".claude/minion/blueprint.md", rails);
  await scene.minion(["change", "--rails"]);
  expect(await next()).toMatchObject({ dispatch: [{ task: "end" }] });
});
