import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { Scene } from "./scene.ts";

let scene: Scene;
afterEach(() => scene.destroy());

const next = async () => (await scene.minion(["next", "--json"])).json;
const gates = (...runs: string[]) =>
  `---\ngates:\n${runs.map((run, index) => `  - name: g${index}\n    run: '${run}'\n`).join("")}---\n`;

/** A gate as a test runner: a line for each file of src that says FAIL. */
const RUNNER = 'for f in $(grep -rl FAIL src | sort); do echo "✖ $f"; done; ! grep -rq FAIL src';

describe("gates that are red on the base", () => {
  test("are said before anybody is set to work, each of them; nothing is dispatched", async () => {
    scene = new Scene(gates("true", "exit 3", "false"));
    await scene.start("1. One\n2. Two (depends on: 1)\n");
    expect(await next()).toMatchObject({
      done: true,
      dispatch: [],
      landed: [],
      attention: [{ task: "1", reason: "base-red", note: "Red on the base: g1, g2." }],
    });
    const { tasks } = (await scene.minion(["board", "--json"])).json;
    expect(tasks.map(({ state }: { state: string }) => state)).toEqual(["needs-human", "blocked"]);
    expect((await scene.minion(["report"])).stdout).toContain("minion resume --run r1 --red-base");
  });

  test("a setup that fails there is said the same way", async () => {
    scene = new Scene(gates("true"));
    scene.write(
      ".claude/minion/toolchains.md",
      "| Tool | Command | When |\n|---|---|---|\n| setup | `exit 7` | `src/start.txt` |\n",
    );
    scene.commit("chore: set up");
    await scene.start("1. One\n");
    expect((await next()).attention).toMatchObject([
      { reason: "base-red", note: "Red on the base: setup." },
    ]);
  });

  test("go on over them: what fails there does not count, a new failure does, for worker and landing", async () => {
    scene = new Scene(gates(RUNNER));
    scene.write("src/old.txt", "FAIL\n");
    scene.commit("chore: an old failure");
    await scene.start("1. One\n2. Two\n");
    await next();
    expect((await scene.minion(["resume", "--red-base"])).code).toBe(0);
    const { dispatch } = await next();
    expect(dispatch).toHaveLength(2);
    await scene.goodWorker("r1/1.1", { "src/one.txt": "1" });
    const two = await scene.agent("r1/2.1");
    await two.begin();
    two.edit({ "src/two.txt": "FAIL" });
    expect((await two.minion(["gate", "g0", "--json"])).json.gates[0]).toMatchObject({
      result: "fail",
      failures: 1,
    });
    two.edit({ "src/two.txt": "2" });
    await two.finish();
    expect(await next()).toMatchObject({ done: true, landed: ["1", "2"] });
  });

  test("a green base is looked at once, and costs nobody a question", async () => {
    scene = new Scene(gates("echo ran >> ../ran; true"));
    await scene.start("1. One\n");
    expect((await next()).dispatch).toHaveLength(1);
    await next();
    expect(readFileSync(join(scene.repo, ".claude/worktrees/ran"), "utf8")).toBe("ran\n");
  });
});

describe("a gate that says that it tested nothing", () => {
  test("fails, though it ends with 0", async () => {
    scene = new Scene(
      gates('if [ -e src/one.txt ]; then echo "# tests 0"; else echo "# tests 4"; fi'),
    );
    await scene.start("1. One\n");
    await next();
    const worker = await scene.agent("r1/1.1");
    await worker.begin();
    worker.edit({ "src/one.txt": "1" });
    expect((await worker.minion(["gate", "g0", "--json"])).json.gates[0]).toMatchObject({
      result: "fail",
      failures: 1,
    });
    worker.commit();
    expect((await worker.submit()).json.error.code).toBe("unproven");
  });

  test("on the base it is a red base", async () => {
    scene = new Scene(gates("echo No test files found, exiting with code 0"));
    await scene.start("1. One\n");
    expect((await next()).attention).toMatchObject([{ reason: "base-red" }]);
  });
});

describe("failure escalates by steps", () => {
  const PRINTS = "cat src/one.txt; ! grep -q FAIL src/one.txt";
  async function failsTwice(attempt: string, first: string, second: string) {
    const worker = await scene.agent(attempt);
    const begun = await worker.begin();
    for (const text of [first, second]) {
      worker.edit({ "src/one.txt": text });
      await worker.minion(["gate", "--all"]);
    }
    worker.commit();
    await worker.end();
    return begun.stdout;
  }
  const ended = () =>
    readFileSync(join(scene.repo, ".git/minion/r1/events.jsonl"), "utf8")
      .split("\n")
      .filter((line) => line.includes('"event":"ended"'))
      .map((line) => JSON.parse(line).reason);

  test("the same error after the fix is stuck, another is not; then a debugger with another model; then a person", async () => {
    scene = new Scene(gates(PRINTS).replace("gates:", "retry:\n  model: opus\ngates:"));
    scene.write("src/one.txt", "fine\n");
    scene.commit("chore: one");
    await scene.start("1. One\n");
    expect((await next()).dispatch[0]).not.toHaveProperty("model");
    const brief = await failsTwice(
      "r1/1.1",
      "✖ adds FAIL (1ms)\n",
      "// tried\n✖ adds FAIL (3ms)\n",
    );
    expect(brief).not.toContain("## Debugger");
    expect(ended()).toEqual(["stuck"]);
    expect((await next()).dispatch).toMatchObject([{ attempt: "r1/1.2", model: "opus" }]);
    const second = await failsTwice("r1/1.2", "✖ adds FAIL\n", "✖ subtracts FAIL\n");
    expect(second).toContain("## Debugger");
    expect(second).toContain("r1/1.1: stuck");
    expect(ended()).toEqual(["stuck", "gate-failed"]);
    expect(await next()).toMatchObject({
      done: true,
      dispatch: [],
      attention: [{ task: "1", reason: "gate-failed" }],
    });
  });

  test("an expertise for it that there is not is an error before anything starts", async () => {
    scene = new Scene(gates("true").replace("gates:", "retry:\n  agent: debuger\ngates:"));
    expect(await scene.minion(["start", "-", "--json"], { input: "1. One\n" })).toMatchObject({
      code: 1,
      json: { error: { code: "blueprint", message: expect.stringContaining("debuger") } },
    });
  });
});

test("secrets of the environment are not in what a gate leaves", async () => {
  scene = new Scene(gates("echo token is $MY_TOKEN; exit 1"));
  await scene.start("1. One\n");
  await scene.minion(["next"], { env: { MY_TOKEN: "s3cr3t-s3cr3t" } });
  const folder = join(scene.repo, ".git/minion/r1/output");
  const [name = ""] = readdirSync(folder);
  expect(readFileSync(join(folder, name), "utf8")).toBe("token is [MY_TOKEN]\n");
});

describe("a gate that ends with 0 over failures that its runner prints", () => {
  /** As node --test does it, its exit code hidden by the pipe. */
  const TEE = `(${RUNNER}; echo "# fail $(grep -rl FAIL src | wc -l)") | tee ../out.log`;
  const start = async () => {
    scene = new Scene(gates(TEE));
    await scene.start("1. One\n");
    return next();
  };

  test("fails for its worker, who is told the line; what lands by hand does not land either", async () => {
    expect((await start()).dispatch).toHaveLength(1);
    const worker = await scene.agent("r1/1.1");
    await worker.begin();
    worker.edit({ "src/one.txt": "FAIL" });
    expect((await worker.minion(["gate", "g0", "--json"])).json.gates[0]).toMatchObject({
      result: "fail",
      failures: 1,
      failing: "# fail 1",
      hint: expect.stringContaining("«# fail 1»"),
    });
    worker.commit();
    expect((await worker.submit()).json.error.code).toBe("unproven");
    const land = await scene.minion(["land", "1", "--json"]);
    expect(land.json.error).toMatchObject({ code: "not-landed" });
    expect(land.json.error.message).toContain("g0 ended with 0 and printed «# fail 1»");
    expect(scene.show("minion/r1/line")).not.toContain("src/one.txt");
  });

  test("lands once nothing fails", async () => {
    await start();
    await scene.goodWorker("r1/1.1", { "src/one.txt": "1" });
    expect(await next()).toMatchObject({ done: true, landed: ["1"] });
  });

  test("on the base it is a red base, and what fails there as well does not count then", async () => {
    scene = new Scene(gates(TEE));
    scene.write("src/old.txt", "FAIL\n");
    scene.commit("chore: an old failure");
    await scene.start("1. One\n2. Two\n");
    expect((await next()).attention).toMatchObject([
      { reason: "base-red", note: "Red on the base: g0 ended with 0 and printed «# fail 1»." },
      { reason: "base-red" },
    ]);
    expect((await scene.minion(["resume", "--red-base"])).code).toBe(0);
    await next();
    await scene.goodWorker("r1/1.1", { "src/one.txt": "1" });
    const two = await scene.agent("r1/2.1");
    await two.begin();
    two.edit({ "src/two.txt": "FAIL" });
    expect((await two.minion(["gate", "g0", "--json"])).json.gates[0]).toMatchObject({
      result: "fail",
      failing: "# fail 2",
    });
    two.edit({ "src/two.txt": "2" });
    await two.finish();
    expect(await next()).toMatchObject({ done: true, landed: ["1", "2"] });
  });

  test("where tests have to fail first, that shows it", async () => {
    scene = new Scene(gates(TEE).replace("g0", "test"));
    await scene.start("1. One\n   Workflow: tdd\n");
    await next();
    const worker = await scene.agent("r1/1.1");
    await worker.begin();
    worker.edit({ "src/one.txt": "FAIL" });
    const { json } = await worker.minion(["gate", "test", "--json"]);
    expect(json.gates[0]).toMatchObject({ result: "pass", failures: 0, failing: "# fail 1" });
  });
});
