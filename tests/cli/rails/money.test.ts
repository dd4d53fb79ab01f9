import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { Scene, type Worker } from "./scene.ts";

let scene: Scene;
afterEach(() => scene.destroy());

const json = async (...args: string[]) => (await scene.minion([...args, "--json"])).json;
const next = () => json("next");

/** What the session's own `minion resume` is answered. */
async function resuming(...more: string[]): Promise<[decision: string, why: string]> {
  const command = ["minion", "resume", ...more].join(" ");
  const { json } = await scene.hook("PreToolUse", { tool_name: "Bash", tool_input: { command } });
  const { permissionDecision, permissionDecisionReason } = json.hookSpecificOutput;
  return [permissionDecision, permissionDecisionReason];
}

/** Leaves a transcript as the client does, in which a worker used so many tokens of output. */
function used(worker: Worker, output: number, model = "claude-opus-5-5"): void {
  const folder = join(scene.home, ".claude/projects/p", scene.session, "subagents");
  mkdirSync(folder, { recursive: true });
  const usage = {
    input_tokens: 0,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: output,
  };
  const message = { id: `m-${worker.id}`, model, role: "assistant", content: [], usage };
  const line = {
    type: "assistant",
    isSidechain: true,
    timestamp: new Date().toISOString(),
    message,
  };
  writeFileSync(join(folder, `agent-${worker.id}.jsonl`), `${JSON.stringify(line)}\n`);
}

/** A worker whose gate is red for the last time, and who ends. */
async function fails(attempt: string): Promise<void> {
  const worker = await scene.agent(attempt);
  await worker.begin();
  // On the very same files a gate is not run twice, and counts once.
  const own = `src/${attempt.replaceAll("/", "-")}.txt`;
  worker.edit({ "src/end.txt": "FAIL: connect ECONNREFUSED 127.0.0.1:5432", [own]: attempt });
  for (const _ of [1, 2]) await worker.minion(["gate", "test"]);
  for (const _ of [1, 2]) await worker.end();
}

test("workers that all fail alike: nobody else is started, the cause is named, and a resume goes on", async () => {
  scene = new Scene();
  await scene.start("1. One\n2. Two\n3. Three\n4. Four (depends on: 1)\n");
  for (const { attempt } of (await next()).dispatch) await fails(attempt);
  const paused = await next();
  expect([paused.done, paused.dispatch, paused.running]).toEqual([false, [], []]);
  expect(paused.waiting).toEqual({ later: 3, dependency: 1 });
  expect(paused.attention).toMatchObject([{ task: "", reason: "alarm", choices: [{}, {}] }]);
  expect(paused.alarms.join()).toContain("a service, a port or the network");
  expect((await json("board")).alarms.map(({ when }: { when: string }) => when)).toEqual([
    "ended",
    "error",
  ]);
  expect((await json("attention")).attention).toHaveLength(1);
  expect(await resuming()).toEqual(["ask", expect.stringContaining("workers ended with")]);
  await json("resume");
  expect(await resuming()).toContain("allow");
  expect((await next()).dispatch.map(({ attempt }: { attempt: string }) => attempt)).toEqual([
    "r1/1.2",
    "r1/2.2",
    "r1/3.2",
  ]);
});

test("a budget ends dispatching where the transcripts say that it is spent, until a person gives more", async () => {
  scene = new Scene();
  expect((await scene.minion(["start", "-", "--budget", "0"], { input: "1. One\n" })).code).toBe(2);
  const started = await scene.minion(["start", "-", "--budget", "0.5"], {
    input: "1. One\n2. Two (depends on: 1)\n",
  });
  expect(started.code).toBe(0);
  const { dispatch } = await next();
  expect(await resuming("--budget", "1")).toContain("ask");
  const worker = await scene.goodWorker(dispatch[0].attempt, { "src/one.txt": "1" });
  used(worker, 25_000); // Half a dollar at 20 dollars a million
  expect(await next()).toMatchObject({
    landed: ["1"],
    dispatch: [],
    waiting: { budget: 1 },
    attention: [{ task: "", reason: "budget" }],
  });
  // Said once: who waits in place of the session does not wake it for that again and again.
  expect(await scene.hook("Wait", {})).toMatchObject({ code: 0, stderr: "" });
  expect((await json("board")).money).toMatchObject({
    dollars: 0.5,
    budget: 0.5,
    unknown: [],
    unpriced: [],
  });
  expect(await resuming("--budget", "1")).toEqual([
    "ask",
    expect.stringContaining("$0.50 of $0.5 are spent"),
  ]);
  expect((await scene.minion(["resume", "--budget", "1"])).code).toBe(0);
  expect((await next()).dispatch).toHaveLength(1);
  // What was taken down stays when the client has cleared its transcripts away.
  const session = scene.session;
  scene.session = "gone";
  expect((await json("report", "--run", "r1")).cost).toMatchObject({ dollars: 0.5 });
  scene.session = session;
});

test("earlier runs tell what the next one costs; a model without a price is named", async () => {
  scene = new Scene();
  await scene.start("1. One\n2. Two\n3. Three\n4. Four\n");
  for (const { attempt, task } of (await next()).dispatch) {
    const worker = await scene.goodWorker(attempt, { [`src/${task}.txt`]: task });
    used(worker, 10_000, task === "4" ? "some-model" : undefined);
  }
  expect((await next()).done).toBe(true);
  const { cost } = await json("report");
  expect([cost.dollars, cost.unpriced]).toEqual([expect.closeTo(0.6, 10), ["some-model"]]);
  const { estimate } = (await scene.minion(["plan", "-", "--json"], { input: "1. Five\n" })).json;
  expect(estimate).toMatchObject({
    basis: "4 attempts of 1 run",
    tokenBasis: "4 attempts",
    tokens: 10_000,
  });
  expect(estimate.dollars.likely).toBe(0.2);
});

test("numbers per week and version of the rails: what landed, what a person did, what was taken back", async () => {
  scene = new Scene();
  expect((await scene.minion(["stats"])).stdout).toContain("no run here yet: /minion");
  await scene.start("1. One\n2. Two\n");
  const [one, two] = (await next()).dispatch;
  await scene.goodWorker(one.attempt, { "src/one.txt": "1" });
  await fails(two.attempt);
  await fails((await next()).dispatch[0].attempt);
  expect((await next()).done).toBe(true);
  await json("retry", "2");
  await scene.goodWorker((await next()).dispatch[0].attempt, { "src/two.txt": "2" });
  expect((await next()).done).toBe(true);
  expect((await scene.minion(["merge"])).code).toBe(0);
  scene.git("revert", "--no-edit", "HEAD");
  const [week, ...none] = (await json("stats")).weeks;
  expect(week).toMatchObject({
    runs: 1,
    tasks: 2,
    landed: 2,
    asked: 1,
    reruns: 2,
    conflicts: 0,
    reverted: 1,
  });
  expect([week.sendBacks, none]).toEqual([2, []]);
  // Other rails are another line, so that the two can be compared.
  scene.write(
    ".claude/minion/blueprint.md",
    "---\nbounds:\n  workers: 2\ngates:\n  - name: test\n    run: 'true'\n---\n",
  );
  await scene.start("1. One more\n");
  const { weeks } = await json("stats");
  expect(weeks.map(({ landed }: { landed: number }) => landed).sort()).toEqual([0, 2]);
  expect(new Set(weeks.map(({ blueprint }: { blueprint: string }) => blueprint)).size).toBe(2);
});

test("a watched board without a terminal is drawn anew when something happened, and ends with the run", async () => {
  scene = new Scene();
  await scene.start("1. One\n");
  const watching = scene.minion(["board", "--watch"]);
  const { attempt } = (await next()).dispatch[0];
  await scene.minion(["abort"]);
  expect(attempt).toBe("r1/1.1");
  const { code, stdout } = await watching;
  expect(code).toBe(0);
  const boards = stdout.trim().split("\n\n");
  expect(boards.length).toBeGreaterThan(1);
  expect(boards.at(-1)).toContain("run r1: aborted");
  expect(stdout).not.toContain("\u001b");
});
