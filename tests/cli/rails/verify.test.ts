import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Scene } from "./scene.ts";

let scene: Scene;
beforeEach(() => {
  scene = new Scene();
});
afterEach(() => scene.destroy());

const next = async () => (await scene.minion(["next", "--json"])).json;
const plan = async (list: string) =>
  (await scene.minion(["plan", "-", "--json"], { input: list })).json;
const events = (name: string) =>
  readFileSync(join(scene.repo, ".git/minion/r1/events.jsonl"), "utf8")
    .split("\n")
    .filter((line) => line.includes(`"event":"${name}"`))
    .map((line) => JSON.parse(line));
const runsOf = (command: string) =>
  events("evidence")
    .filter((each) => each.command === command)
    .map(({ by, attempts, code }) => `${by} ${attempts.join(" ") || "base"}: ${code}`);
const stateOf = async (id: string): Promise<string> => {
  const { tasks } = (await scene.minion(["board", "--json"])).json;
  return tasks.find((each: { task: string }) => each.task === id).state;
};

describe("Verify: in a plan", () => {
  test("a command is code, or a line whose first word is a program or a file here", async () => {
    scene.write("check.sh", "true\n");
    scene.commit("chore: check");
    const { tasks, findings } = await plan(
      [
        "### Task 1: A\nVerify: `anything at all`\n",
        "### Task 2: B\nVerify: git status\n",
        "### Task 3: C\nVerify: ./check.sh -x\nVerify: ! grep -rn x src\n",
        "### Task 4: D\nFiles: made.sh\nVerify: CI=1 ./made.sh\n",
        "### Task 5: E\nVerify: test -f src/never.txt\n",
      ].join("\n"),
    );
    expect(tasks.map((each: { verify: string[] }) => each.verify)).toEqual([
      ["anything at all"],
      ["git status"],
      ["./check.sh -x", "! grep -rn x src"],
      ["CI=1 ./made.sh"],
      ["test -f src/never.txt"],
    ]);
    const codes = findings.map((each: { code: string }) => each.code);
    expect(codes).not.toContain("no-command");
  });

  test.each([
    "it answers with 200",
    "test that it answers",
    "make sure that it works",
    "nosuchprogram --x",
    "src/never.sh",
    "run `npm test` and look",
    "` `",
  ])("anything else is an error that says where it goes: %s", async (line) => {
    const { findings } = await plan(`### Task 1: A\nVerify: ${line}\n`);
    expect(findings).toContainEqual(
      expect.objectContaining({
        level: "error",
        code: "no-command",
        hint: expect.stringContaining("Done when:"),
      }),
    );
    // In a list of another form it is words, and said.
    const other = await plan(`1. A\n   - Verify: ${line}\n`);
    expect(other.findings).toContainEqual(
      expect.objectContaining({ level: "warning", code: "no-command" }),
    );
    expect(other.tasks[0].verify).toEqual([]);
  });

  test("what cannot work is said, and gates in force are listed with where they come from", async () => {
    const { findings, gates } = await plan("### Task 1: A\nVerify: `vitest --watch`\n");
    const said = findings.map((each: { message: string }) => each.message).join("\n");
    expect(said).toMatch(/verify \(vitest --watch\).*(does not end|no vitest)/);
    expect(gates).toMatchObject([
      { name: "lint", when: "task", source: expect.stringContaining("blueprint.md") },
      { name: "test", when: "task" },
    ]);
  });
});

describe("Verify: in a run", () => {
  test("is a gate of its task alone, for the worker and at landing, and once more at the end", async () => {
    const check = "test -f src/one.txt";
    await scene.start(`### Task 1: One\nVerify: ${check}\n\n### Task 2: Two\n`);
    await next();
    const worker = await scene.agent("r1/1.1");
    expect((await worker.begin()).stdout).toContain("verify (`test -f src/one.txt`)");
    worker.edit({ "src/other.txt": "1\n" });
    const red = await worker.minion(["gate", "--all", "--json"]);
    expect(red.json.gates.at(-1)).toMatchObject({ gate: "verify", result: "fail" });
    worker.edit({ "src/one.txt": "1\n" });
    await worker.finish();
    await scene.goodWorker("r1/2.1", { "src/two.txt": "2\n" });
    expect(await next()).toMatchObject({ done: true });
    expect(runsOf(check).filter((each) => !each.includes("base"))).toEqual([
      "worker r1/1.1: 1",
      "worker r1/1.1: 0",
      "landing r1/1.1: 0",
      ...(runsOf(check).length > 4 ? ["landing r1/1.1: 0"] : []),
    ]);
    expect(events("end-checked").at(-1)).toMatchObject({ red: null });
  });

  test("red on the line it refuses its own task; the rest lands without halves", async () => {
    const check = "test ! -f src/two.txt";
    await scene.start(
      `### Task 1: One\nVerify: ${check}\n\n### Task 2: Two\n\n### Task 3: Three\n`,
    );
    await next();
    // Together they are what neither saw.
    for (const [id, file] of [
      ["1", "src/one.txt"],
      ["2", "src/two.txt"],
      ["3", "src/three.txt"],
    ] as const)
      await scene.goodWorker(`r1/${id}.1`, { [file]: "x\n" });
    const { dispatch } = await next();
    expect(await stateOf("2")).toBe("landed");
    expect(await stateOf("3")).toBe("landed");
    expect(events("not-landed")).toMatchObject([{ attempt: "r1/1.1", reason: "line-red" }]);
    expect(events("proven")).toHaveLength(1);
    expect(dispatch).toMatchObject([{ attempt: "r1/1.2" }]);
  });

  test("what a later task broke is named with both at the end, and becomes the check of one more", async () => {
    const check = "! grep -rqn BAD src";
    await scene.start(
      `### Task 1: One\nVerify: ${check}\n\n### Task 2: Two\nDepends: 1\n\n### Task 3: Three\nDepends: 2\n`,
    );
    for (const [id, file] of [
      ["1", "src/one.txt"],
      ["2", "src/two.txt"],
      ["3", "src/three.txt"],
    ] as const) {
      await next();
      await scene.goodWorker(`r1/${id}.1`, { [file]: id === "3" ? "BAD\n" : "x\n" });
    }
    const { dispatch } = await next();
    expect(events("end-checked")).toMatchObject([
      { checks: [check], red: expect.stringMatching(/Of task 1: .*passed until 3 landed/) },
    ]);
    expect(dispatch).toMatchObject([{ task: "end", attempt: "r1/end.1" }]);
    const worker = await scene.agent("r1/end.1");
    expect((await worker.begin()).stdout).toContain(check);
    worker.edit({ "src/three.txt": "good\n" });
    await worker.finish();
    expect(await next()).toMatchObject({ done: true });
    expect(events("end-checked").at(-1)).toMatchObject({ red: null });
  });

  test("one that passed before anything was done is said to show nothing", async () => {
    await scene.start("### Task 1: One\nVerify: test -f src/start.txt\n");
    await next();
    await scene.goodWorker("r1/1.1", { "src/one.txt": "1\n" });
    await next();
    expect((await scene.minion(["report"])).stdout).toContain("passed before anything was done");
  });

  test("binds the last phase that writes, and none before it", async () => {
    await scene.start("### Task 1: One\nWorkflow: tdd\nVerify: test -f src/one.txt\n");
    await next();
    const first = await scene.agent("r1/1.1");
    expect((await first.begin()).stdout).not.toContain("verify (");
  });

  test("a gate that is red on the base does not stop the task whose Verify: it is", async () => {
    scene.write("src/start.txt", "FAIL\n");
    scene.commit("chore: red");
    const gate = "echo testing; ! grep -rn FAIL src";
    await scene.start(`### Task 1: One\nVerify: \`${gate}\`\n\n### Task 2: Two\n`);
    const { dispatch, attention } = await next();
    expect(dispatch).toMatchObject([{ task: "1" }]);
    expect(attention).toMatchObject([{ task: "2", reason: "base-red" }]);
    await scene.goodWorker("r1/1.1", { "src/start.txt": "fine\n" });
    expect((await next()).dispatch).toMatchObject([{ task: "2" }]);
  });

  test("a file that it names is proof: changing it is an objection, unless the task names it", async () => {
    scene.write("check.sh", "test -f src/one.txt\n");
    scene.commit("chore: check");
    await scene.start(
      "### Task 1: One\nVerify: sh check.sh\n\n### Task 2: Two\nFiles: check.sh\nVerify: sh check.sh\n",
    );
    await next();
    const worker = await scene.agent("r1/1.1");
    await worker.begin();
    worker.edit({ "check.sh": "true\n" });
    await worker.minion(["gate", "--all"]);
    worker.commit();
    expect((await worker.submit()).json.error).toMatchObject({ code: "proof-changed" });
  });

  test("commands of success: are gates of the end", async () => {
    await scene.start("---\nsuccess: test -f src/all.txt\n---\n### Task 1: One\n");
    const { dispatch } = await next();
    expect(dispatch).toHaveLength(1);
    await scene.goodWorker("r1/1.1", { "src/one.txt": "1\n" });
    expect(await next()).toMatchObject({ dispatch: [{ task: "end" }] });
    expect(events("end-checked")).toMatchObject([{ red: expect.stringContaining("success") }]);
    const worker = await scene.goodWorker("r1/end.1", { "src/all.txt": "1\n" });
    expect(worker.path).not.toBe("");
    expect(await next()).toMatchObject({ done: true });
  });

  test("words of success: are judged once, by somebody else; what is found wants a task first", async () => {
    await scene.start("---\nsuccess: the team is happy\n---\n### Task 1: One\n");
    await next();
    await scene.goodWorker("r1/1.1", { "src/one.txt": "1\n" });
    const { dispatch } = await next();
    expect(dispatch).toMatchObject([{ attempt: "r1/success.1", agent: "minion:minion-verifier" }]);
    const judge = await scene.agent("r1/success.1");
    const { stdout } = await judge.begin();
    expect(stdout).toContain("the team is happy");
    expect(stdout).toMatch(/git diff [0-9a-f]{10} [0-9a-f]{10}/);
    const said = await judge.minion(
      ["verdict", "r1/success.1", "fail"],
      "src/one.txt:1: nobody is happy with 1",
    );
    expect(said.code).toBe(0);
    expect(await next()).toMatchObject({
      done: true,
      attention: [{ task: "success", reason: "findings", note: expect.stringContaining("nobody") }],
    });
    // As the session may: one more task. Once that has landed, it is judged again.
    await scene.minion(["change", "-"], { input: "### Task 2: Make them happy\n" });
    expect(await next()).toMatchObject({ done: false, dispatch: [{ task: "2" }] });
    await scene.goodWorker("r1/2.1", { "src/one.txt": "2\n" });
    expect(await next()).toMatchObject({ dispatch: [{ attempt: "r1/success.2" }] });
    const again = await scene.agent("r1/success.2");
    await again.begin();
    await again.minion(["verdict", "r1/success.2", "pass"], "looked at all of it");
    expect(await next()).toMatchObject({ done: true });
    const report = (await scene.minion(["report"])).stdout;
    expect(report).toContain("2 of 2 landed");
    expect(report).toContain("judged: pass. looked at all of it");
  });

  test("commands that are not the project's own are asked for once, all of them shown", async () => {
    const ask = async (list: string) =>
      (
        await scene.hook("PreToolUse", {
          tool_name: "Bash",
          tool_input: { command: `minion start - <<'T'\n${list}\nT` },
        })
      ).json?.hookSpecificOutput;
    const list = "---\nsuccess: curl evil.example\n---\n### Task 1: One\nVerify: `rm -rf x`\n";
    await scene.minion(["blueprint", "--agree"]);
    expect(await ask(list)).toMatchObject({
      permissionDecision: "ask",
      permissionDecisionReason: expect.stringMatching(/rm -rf x[\s\S]*curl evil/),
    });
    const own =
      "### Task 1: One\nVerify: `echo testing; ! grep -rn FAIL src`\nVerify: git status\n";
    expect(await ask(own)).toMatchObject({ permissionDecision: "allow" });
  });
});
