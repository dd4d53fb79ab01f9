import { spawn } from "node:child_process";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Scene } from "./scene.ts";

let scene: Scene;
beforeEach(() => {
  scene = new Scene();
});
afterEach(() => scene.destroy());

/** A client's process: what a session's run is led by. */
const alive = { CLAUDE_PID: String(process.pid) };
const one = { env: { CLAUDE_CODE_SESSION_ID: "one", ...alive } };
/** Another client, which is another process. */
let other: { env: NodeJS.ProcessEnv };
let client: ReturnType<typeof spawn>;
beforeEach(() => {
  client = spawn("sleep", ["600"]);
  other = { env: { CLAUDE_CODE_SESSION_ID: "two", CLAUDE_PID: String(client.pid) } };
});
afterEach(() => void client.kill());
const terminal = { env: { CLAUDE_CODE_SESSION_ID: "" } };

const stateOf = async (run: string) =>
  Object.fromEntries(
    (await scene.minion(["board", "--run", run, "--json"])).json.tasks.map(
      (each: { task: string; state: string }) => [each.task, each.state],
    ),
  );

describe("a verb without --run", () => {
  test("takes this session's newest run, done or not, and not another session's", async () => {
    scene.session = "one";
    expect((await scene.minion(["start", "-", "--json"], { ...one, input: "1. One\n" })).code).toBe(
      0,
    );
    await scene.minion(["next"], one);
    const worker = await scene.goodWorker("r1/1.1", { "src/1.txt": "1\n" });
    scene.gitIn(worker.path, "branch", "keep"); // What there is stays to be landed by hand
    await scene.minion(["abort", "--run", "r1"], one);
    const second = ["start", "-", "--json"];
    expect((await scene.minion(second, { ...other, input: "1. Two\n" })).json.run).toBe("r2");
    for (const verb of ["board", "report", "attention"])
      expect((await scene.minion([verb, "--json"], one)).json.run).toBe("r1");
    const { code, stderr } = await scene.minion(["abort"], one);
    expect([code, stderr]).toEqual([1, expect.stringContaining("run r1 is over already")]);
    expect((await scene.minion(["board", "--json"], other)).json).toMatchObject({
      run: "r2",
      done: false,
    });
  });

  test("refuses a run that another session leads, unless it is named; in a terminal it is the person's", async () => {
    await scene.minion(["start", "-"], { ...other, input: "1. Two\n" });
    for (const words of [["abort"], ["retry", "1"], ["land", "1"], ["merge"]]) {
      const { code, stderr } = await scene.minion(words, one);
      const named = `minion ${words.join(" ")} --run r1`;
      expect([code, stderr]).toEqual([1, expect.stringContaining("of another session")]);
      expect(stderr).toContain(named);
    }
    const named = await scene.minion(["land", "1", "--run", "r1"], one);
    expect(named.stderr).not.toContain("another session");
    expect((await scene.minion(["abort"], terminal)).code).toBe(0);
  });

  test("next drives no run of another session, also where it is named", async () => {
    await scene.minion(["start", "-"], { ...other, input: "1. Two\n" });
    for (const words of [["next"], ["next", "--run", "r1"]]) {
      const { code, stderr } = await scene.minion(words, one);
      expect([code, stderr]).toEqual([1, expect.stringContaining("resume --run r1 --take")]);
    }
    expect(await stateOf("r1")).toEqual({ 1: "ready" });
    expect((await scene.minion(["next", "--json"], other)).json.dispatch).toHaveLength(1);
    // Its client is gone: whoever comes goes on with it.
    const ended = new Promise((resolve) => client.on("exit", resolve));
    client.kill();
    await ended;
    expect((await scene.minion(["next", "--json"], one)).code).toBe(0);
  });

  test("resume takes what is to be gone on with, also where this session's own run is over", async () => {
    await scene.minion(["start", "-"], { ...one, input: "1. One\n" });
    await scene.minion(["abort"], one);
    await scene.minion(["start", "-"], { ...other, input: "1. Two\n" });
    expect((await scene.minion(["resume"], one)).stderr).toContain("r2 is of a session");
    const ended = new Promise((resolve) => client.on("exit", resolve));
    client.kill();
    await ended;
    expect((await scene.minion(["resume", "--json"], one)).json).toMatchObject({ run: "r2" });
  });

  test("resume in a terminal leaves the run to the session that leads it, with its workers", async () => {
    await scene.minion(["start", "-"], { ...one, input: "1. One\n" });
    await scene.minion(["next"], one);
    expect((await scene.minion(["resume", "--json"], terminal)).json).toMatchObject({ lost: [] });
    expect((await scene.minion(["next", "--json"], one)).code).toBe(0);
    expect((await scene.minion(["next"], other)).code).toBe(1);
  });
});

test("of three that start at once one opens a run", async () => {
  const start = () => scene.minion(["start", "-", "--json"], { input: "1. One\n" });
  const answers = await Promise.all([start(), start(), start()]);
  expect(answers.map(({ code }) => code).sort()).toEqual([0, 1, 1]);
  const refused = answers.filter(({ code }) => code === 1);
  expect(refused.map(({ json }) => json.error.code)).toEqual(["run-open", "run-open"]);
  expect(scene.git("branch", "--list", "minion/*")).toBe("minion/r1/line");
});
