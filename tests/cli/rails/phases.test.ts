import { afterEach, expect, test } from "vitest";
import { Scene, type Worker } from "./scene.ts";

let scene: Scene | undefined;
afterEach(() => scene?.destroy());

const LIST = "### Task 1: Gate the door\nWho may pass.\nFiles: src/door.txt\nRisk: high\n";

/** The worker of the next phase, begun. */
async function next(phase: string): Promise<Worker> {
  const made = scene as Scene;
  const { json } = await made.minion(["next", "--json"]);
  expect(json.dispatch).toMatchObject([{ task: "1", description: `1 ${phase}: Gate the door` }]);
  const worker = await made.agent(json.dispatch[0].attempt);
  const begun = await worker.begin();
  expect([begun.code, begun.stdout]).toEqual([0, expect.stringContaining(`its phase ${phase}`)]);
  return worker;
}
const code = (answer: { json: { error?: { code: string } } }) => answer.json.error?.code;
const write = (worker: Worker) =>
  scene?.hook("PreToolUse", {
    agent_id: worker.id,
    agent_type: "minion:minion-worker",
    cwd: worker.path,
    tool_name: "Write",
    tool_input: { file_path: `${worker.path}/src/door.txt`, content: "x" },
  });

test("a plan that wrote is sent back; a judge sends the task back once, then a person decides", async () => {
  scene = new Scene();
  await scene.start(LIST);

  const planner = await next("plan");
  expect((await write(planner))?.json).toMatchObject({
    hookSpecificOutput: { permissionDecision: "deny" },
  });
  planner.edit({ "src/door.txt": "open\n" });
  expect(code(await planner.submit())).toBe("wrote");
  planner.commit();
  expect(code(await planner.submit())).toBe("wrote");
  expect((await planner.end()).code).toBe(2);
  scene.gitIn(planner.path, "reset", "--hard", "-q", "HEAD~1");
  expect((await planner.submit("Ask for the key first.")).code).toBe(0);
  expect((await planner.end()).code).toBe(0);

  const author = await next("implement");
  expect((await author.begin()).stdout).toContain("Ask for the key first.");
  author.edit({ "src/door.txt": "closed\n" });
  await author.finish();

  const judge = await next("review");
  const brief = (await judge.begin()).stdout;
  expect([brief.includes("Did it."), brief.includes("git diff")]).toEqual([false, true]);
  expect(scene.gitIn(judge.path, "show", "HEAD:src/door.txt")).toBe("closed");
  const verdict = (what: string, said: string) =>
    judge.minion(["verdict", judge.attempt, what, "--json"], said);
  expect(code(await judge.submit())).toBe("no-verdict");
  expect(code(await verdict("maybe", "?"))).toBe("usage");
  expect(code(await verdict("fail", ""))).toBe("no-findings");
  expect(code(await verdict("fail", "It is wrong."))).toBe("no-place");
  expect((await judge.end()).stderr).toContain("minion verdict");
  expect((await verdict("fail", "src/door.txt:1: anybody has that key")).code).toBe(0);

  const mender = await next("fix");
  expect((await mender.begin()).stdout).toContain("src/door.txt:1: anybody has that key");
  mender.edit({ "src/door.txt": "closed twice\n" });
  await mender.finish();

  const again = await next("review");
  await again.minion(["verdict", again.attempt, "fail"], "src/door.txt:1: still");
  const { json } = await scene.minion(["next", "--json"]);
  expect(json).toMatchObject({ done: true, attention: [{ task: "1", reason: "findings" }] });

  // By a person's word what there is lands, with the commits of each phase once.
  expect((await scene.minion(["land", "1"])).code).toBe(0);
  expect(scene.git("show", "minion/r1/line:src/door.txt")).toBe("closed twice");
  expect(scene.git("rev-list", "--count", "trunk..minion/r1/line")).toBe("2");
  await scene.minion(["clean"]);
  expect(scene.git("branch", "--format=%(refname:short)").split("\n")).toEqual([
    "minion/r1/line",
    "trunk",
  ]);
});

test("what only the work shows to be risky is looked at by another, and then waits for a person", async () => {
  scene = new Scene();
  await scene.start(
    "1. Gate the door\n   Risk: low\n   Workflow: default\n   Files: src/door.txt\n",
  );
  const dispatched = async () => (await (scene as Scene).minion(["next", "--json"])).json;
  const { dispatch } = await dispatched();
  await scene.goodWorker(dispatch[0].attempt, { "src/auth/key.txt": "key\n" });
  const judge = await next("review");
  expect((await judge.minion(["verdict", judge.attempt, "pass"], "Looked at the key.")).code).toBe(
    0,
  );
  const { attention, done } = await dispatched();
  expect([done, attention]).toMatchObject([
    true,
    [{ task: "1", reason: "high-risk", note: "Looked at the key." }],
  ]);
  expect(attention[0].choices[0].command).toMatch(/-- :\/src\/auth\/key\.txt$/);
  expect((await scene.minion(["land", "1"])).code).toBe(0);
  expect(scene.git("show", "minion/r1/line:src/auth/key.txt")).toBe("key");
});

test("a workflow without a review gets that of the risk which the work shows", async () => {
  scene = new Scene();
  await scene.start("1. Gate the door\n   Risk: low\n   Files: src/door.txt\n");
  const dispatched = async () => (await (scene as Scene).minion(["next", "--json"])).json;
  const { dispatch } = await dispatched();
  expect(dispatch).toMatchObject([{ description: "1 Gate the door" }]);
  await scene.goodWorker(dispatch[0].attempt, { "src/auth/key.txt": "key\n" });
  const judge = await next("review");
  // As the workflow for high risk has it.
  expect((await judge.begin()).stdout).toContain("## Audit");
  expect(
    (await judge.minion(["verdict", judge.attempt, "fail"], "src/auth/key.txt:1: it lies open"))
      .code,
  ).toBe(0);
  const mender = await next("fix");
  mender.edit({ "src/auth/key.txt": "hidden\n" });
  await mender.finish();
  const again = await next("review");
  expect((await again.minion(["verdict", again.attempt, "pass"], "It is hidden.")).code).toBe(0);
  expect(await dispatched()).toMatchObject({
    done: true,
    attention: [{ reason: "high-risk", note: "It is hidden." }],
  });
  expect((await scene.minion(["land", "1"])).code).toBe(0);
  expect(scene.git("show", "minion/r1/line:src/auth/key.txt")).toBe("hidden");
});

test("what cannot be chosen is an error of its task, before anything starts", async () => {
  scene = new Scene("---\ngates:\n  - name: lint\n    run: 'true'\n---\n");
  const plan = async (list: string, ...args: string[]) => {
    const { json } = await (scene as Scene).minion(["plan", "-", "--json", ...args], {
      input: list,
    });
    return json.findings.flatMap((each: { level: string; code: string; line: number }) =>
      each.level === "error" ? [`${each.code} ${each.line}`] : [],
    );
  };
  expect(await plan("1. One\n   Workflow: none-such\n")).toEqual(["workflow 1"]);
  expect(await plan("1. One\n", "--workflow", "none-such")).toEqual(["workflow 1"]);
  // It wants a gate `test` to be red, and there is none.
  expect(await plan("1. One\n2. Two\n   Workflow: tdd\n")).toEqual(["workflow 2"]);
  scene.write(
    ".claude/minion/workflows/own.md",
    "---\nwhen: ours\nphases:\n  - name: do\n    agent: nobody\n---\n",
  );
  expect(await plan("1. One\n   Workflow: own\n")).toEqual(["workflow 1"]);
  expect(await plan("1. One\n")).toEqual([]);
});
