import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Answer, Scene } from "./scene.ts";

let scene: Scene;
beforeEach(() => {
  scene = new Scene();
});
afterEach(() => scene.destroy());

/** The session ends its turn. @returns what it is told, or null where it may */
async function stop(input: object = {}): Promise<string | null> {
  const { code, stdout, stderr } = await scene.hook("Stop", { stop_hook_active: false, ...input });
  expect([stdout, code]).toEqual(["", stderr === "" ? 0 : 2]);
  return stderr === "" ? null : stderr;
}

const atWork = (id: string) => ({
  background_tasks: [
    { id, type: "subagent", status: "running", agent_type: "minion:minion-worker" },
  ],
});

/** The session's context was made anew. */
function restart(input: object = {}): Promise<Answer> {
  const call = { session_id: "s1", cwd: scene.repo, source: "compact", ...input };
  return scene.minion(["hook", "SessionStart"], { input: JSON.stringify(call) });
}

const next = () => scene.minion(["next", "--json"]);
const reminders = () =>
  readFileSync(join(scene.repo, ".git/minion/r1/events.jsonl"), "utf8").match(/"event":"reminded"/g)
    ?.length ?? 0;

describe("a session that ends its turn with work ready", () => {
  test("is told once each time that something is ready anew, and never while tasks merely run", async () => {
    await scene.start("1. One\n2. Two (depends on: 1)\n3. Three\n");
    // The base was not looked at yet.
    expect(await stop()).toMatch(/r1 .*\(1, 3\).*minion next --json/);
    expect(await stop()).toBe(null);
    // Named, and no agent was started for it.
    await next();
    expect(await stop()).toContain("(1, 3)");
    expect(await stop()).toBe(null);
    const workers = [await scene.agent("r1/1.1"), await scene.agent("r1/3.1")] as const;
    for (const worker of workers) await worker.begin();
    expect(await stop()).toBe(null);
    // Handed in, and nobody lands it.
    workers[0].edit({ "src/1.txt": "1\n" });
    await workers[0].finish();
    // Its worker has not ended yet: that will wake the session.
    expect(await stop(atWork(workers[0].id))).toBe(null);
    expect(await stop()).toContain("(1)");
    expect(await stop()).toBe(null);
    await next();
    await (await scene.agent("r1/2.1")).begin();
    expect(await stop()).toBe(null);
    expect(reminders()).toBe(3);
  });

  test("while landing is at it, only where no worker's end will wake it", async () => {
    await scene.destroy();
    const go = '"$(git rev-parse --git-common-dir)/go"';
    scene = new Scene(
      `---\ngates:\n  - name: test\n    run: 'until [ -e ${go} ]; do sleep 0.1; done'\n---\n`,
    );
    await scene.start("1. One\n");
    const { waiting } = (await scene.minion(["next", "--json", "--wait", "0"])).json;
    expect(waiting).toEqual([{ task: "1", why: "landing" }]);
    expect(await stop(atWork("a1"))).toBe(null);
    expect(
      await stop({ background_tasks: [{ id: "b1", type: "shell", status: "running" }] }),
    ).toContain("(1)");
    writeFileSync(join(scene.repo, ".git/go"), "");
    expect((await next()).json.dispatch).toHaveLength(1);
  });

  test("not another session, nor a worker, nor in plan mode, nor one that goes on because it was told", async () => {
    await scene.start("1. One\n");
    expect(await stop({ session_id: "s2" })).toBe(null);
    expect(await stop({ agent_type: "minion:minion-worker" })).toBe(null);
    expect(await stop({ permission_mode: "plan" })).toBe(null);
    expect(await stop({ stop_hook_active: true })).toBe(null);
    expect(reminders()).toBe(0);
    expect(await stop()).not.toBe(null);
  });

  test("not where a rate limit holds up what is ready, also where something could land", async () => {
    await scene.start("1. One\n2. Two\n3. Three\n");
    await next();
    await scene.goodWorker("r1/3.1", { "src/3.txt": "3\n" });
    for (const attempt of ["r1/1.1", "r1/2.1"]) {
      const { id, path } = await scene.agent(attempt);
      const who = { cwd: path, agent_id: id, agent_type: "minion:minion-worker" };
      await scene.hook("StopFailure", { ...who, error: "rate_limit" });
    }
    expect(await stop()).toBe(null);
  });

  test("not where the base is red, which is a person's to decide", async () => {
    scene.write("src/start.txt", "FAIL\n");
    scene.commit("chore: red");
    await scene.start("1. One\n");
    await next();
    expect(await stop()).toBe(null);
  });
});

describe("a session whose context is made anew", () => {
  test("is told where its run stands and what is next, and nobody else is", async () => {
    await scene.start("1. One\n2. Two (depends on: 1)\n");
    await next();
    const { code, stdout, stderr } = await restart();
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("- running: 1 (r1/1.1)\n- waiting: 2\n");
    expect(stdout).toContain("Next step: `minion next --json --run r1`");
    expect(await restart({ session_id: "s2" })).toMatchObject({ code: 0, stdout: "" });
    expect(await restart({ agent_type: "minion:minion-worker" })).toMatchObject({
      code: 0,
      stdout: "",
    });
    await scene.minion(["abort"]);
    expect(await restart()).toMatchObject({ code: 0, stdout: "" });
  });

  test("is told to resume where its workers ended with the client", async () => {
    const { pid } = spawnSync("true");
    await scene.start("1. One\n");
    const file = join(scene.repo, ".git/minion/r1/events.jsonl");
    const started = readFileSync(file, "utf8");
    writeFileSync(file, started.replace('"owner":null', `"owner":{"pid":${pid},"started":"1"}`));
    expect((await restart({ source: "resume" })).stdout).toContain(
      "Next step: `minion resume --run r1`",
    );
    const { list } = (await scene.minion(["resume", "--json"])).json;
    expect(readFileSync(list, "utf8")).toBe("1. One\n");
  });
});

describe("the filter before both", () => {
  /** The shipped filter, with a program of ours that leaves a mark where the rails would start. */
  function passes(
    event: string,
    { cwd = scene.repo, session = "s1", PATH = process.env.PATH } = {},
  ): boolean {
    const folder = join(scene.home, "plugin");
    for (const name of ["hooks", "bin"]) mkdirSync(join(folder, name), { recursive: true });
    copyFileSync(
      join(import.meta.dirname, "../../../assets/hooks/filter.sh"),
      join(folder, "hooks/filter.sh"),
    );
    writeFileSync(join(folder, "bin/minion"), `#!/bin/sh\ncat > "${folder}/mark"\n`);
    chmodSync(join(folder, "bin/minion"), 0o755);
    const input = JSON.stringify({ session_id: session, cwd, hook_event_name: event });
    const run = { input, cwd, encoding: "utf8", env: { PATH } } as const;
    const { status, stderr } = spawnSync("/bin/sh", [join(folder, "hooks/filter.sh"), event], run);
    expect([status, stderr]).toEqual([0, ""]);
    const isMarked = existsSync(join(folder, "mark"));
    rmSync(join(folder, "mark"), { force: true });
    return isMarked;
  }

  test("starts no program in a repository without a run, nor outside of one", () => {
    const PATH = scene.home;
    mkdirSync(join(scene.repo, "deep/er"), { recursive: true });
    for (const cwd of [scene.repo, join(scene.repo, "deep/er"), scene.home, "/"])
      for (const event of ["Stop", "SessionStart"])
        expect([cwd, passes(event, { cwd, PATH })]).toEqual([cwd, false]);
  });

  test("lets through the session whose run it is, wherever it stands in the repository, and no other", async () => {
    await scene.start("1. One\n");
    const worktree = join(scene.home, "linked");
    scene.git("worktree", "add", "-q", worktree);
    mkdirSync(join(worktree, "sub"));
    for (const cwd of [scene.repo, join(scene.repo, "src"), worktree, join(worktree, "sub")])
      for (const event of ["Stop", "SessionStart"]) {
        expect([cwd, passes(event, { cwd })]).toEqual([cwd, true]);
        expect([cwd, passes(event, { cwd, session: "s2" })]).toEqual([cwd, false]);
      }
  });
});
