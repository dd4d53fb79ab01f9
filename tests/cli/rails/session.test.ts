import { spawnSync } from "node:child_process";
import {
  appendFileSync,
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

/** The session has ended its turn: somebody waits in its place.
 * @returns what it is woken with, or null where nothing comes of that */
// biome-ignore lint/suspicious/noExplicitAny: an answer of the program under test
async function wait(input: object = {}): Promise<any> {
  const { code, stdout, stderr } = await scene.hook("Wait", input);
  expect([stdout, code]).toEqual(["", stderr === "" ? 0 : 2]);
  return stderr === "" ? null : JSON.parse(stderr.slice(stderr.indexOf("\n{") + 1));
}

/** A notice of the client's. @returns the line for the person that stands in its place, or null
 * where it goes through to the model */
async function notice(prompt: string, transcript = ""): Promise<string | null> {
  const path = join(scene.home, "transcript.jsonl");
  writeFileSync(path, transcript);
  const { json } = await scene.hook("UserPromptSubmit", { prompt, transcript_path: path });
  expect(json?.hookSpecificOutput ?? null).toEqual(
    json && { hookEventName: "UserPromptSubmit", suppressOriginalPrompt: true },
  );
  return json?.reason ?? null;
}

const tasksOf = ({ dispatch }: { dispatch: { task: string }[] }) =>
  dispatch.map(({ task }) => task);

/** The session's context was made anew. */
function restart(input: object = {}): Promise<Answer> {
  const call = { session_id: "s1", cwd: scene.repo, source: "compact", ...input };
  return scene.minion(["hook", "SessionStart"], { input: JSON.stringify(call) });
}

const next = () => scene.minion(["next", "--json"]);

describe("in place of a session whose turn is over", () => {
  test("somebody waits, lands, and wakes it with what is to be started", async () => {
    await scene.start("1. One\n2. Two (depends on: 1)\n3. Three\n");
    // The base was not looked at yet.
    expect(tasksOf(await wait())).toEqual(["1", "3"]);
    const worker = await scene.agent("r1/1.1");
    await worker.begin();
    const other = await scene.agent("r1/3.1");
    await other.begin();
    const before = wait();
    await new Promise((resolve) => setTimeout(resolve, 300));
    // One waits: whoever comes last.
    const woken = wait();
    expect(await before).toBe(null);
    worker.edit({ "src/1.txt": "1\n" });
    await worker.finish();
    expect(await woken).toMatchObject({ version: 2, landed: ["1"], dispatch: [{ task: "2" }] });
    const two = await scene.agent("r1/2.1");
    const later = wait();
    for (const [one, file] of [
      [two, "src/2.txt"],
      [other, "src/3.txt"],
    ] as const) {
      if (one === two) await one.begin();
      one.edit({ [file]: "x\n" });
      await one.finish();
    }
    expect(await later).toMatchObject({ done: true, landed: ["1", "2", "3"] });
    expect(await wait()).toBe(null);
  });

  test("what was named and not started is said once more, then no more", async () => {
    await scene.start("1. One\n");
    expect(tasksOf((await next()).json)).toEqual(["1"]);
    expect(tasksOf(await wait())).toEqual(["1"]);
    const waiting = wait();
    await new Promise((resolve) => setTimeout(resolve, 500));
    await scene.minion(["abort"]);
    expect(await waiting).toBe(null);
  });

  test("nothing is said while the last answer is on its way, or the session acts on it", async () => {
    await scene.start("1. One\n");
    expect(tasksOf(await wait())).toEqual(["1"]);
    const path = join(scene.home, "transcript.jsonl");
    const content = "What `minion next --json --run r1` says now: act on it as if you had asked.";
    const write = (entry: object, at = Date.now()) => {
      const timestamp = new Date(at).toISOString();
      const request = { type: "api-request-blob", message: { content } };
      const lines = [{ ...entry, content, timestamp }, request];
      writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    };
    const queued = { type: "queue-operation", operation: "enqueue" };
    let isOver = false;
    write(queued);
    const waiting = wait({ transcript_path: path }).finally(() => {
      isOver = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(isOver).toBe(false);
    write({ type: "user" });
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(isOver).toBe(false);
    // It does not come back to that.
    write({ type: "user" }, Date.now() - 60_000);
    expect(tasksOf(await waiting)).toEqual(["1"]);
  });

  test("not of another session, nor of a worker, nor in plan mode", async () => {
    await scene.start("1. One\n");
    expect(await wait({ session_id: "s2" })).toBe(null);
    expect(await wait({ agent_type: "minion:minion-worker" })).toBe(null);
    expect(await wait({ permission_mode: "plan" })).toBe(null);
    expect(await wait()).not.toBe(null);
  });

  test("what only a person can decide is said once; then nobody waits for it", async () => {
    scene.write("src/start.txt", "FAIL\n");
    scene.commit("chore: red");
    await scene.start("1. One\n");
    expect(await wait()).toMatchObject({ attention: [{ reason: "base-red" }], dispatch: [] });
    expect(await wait()).toBe(null);
  });

  test("a limit of the account is waited for, where it is known when it ends", async () => {
    await scene.start("1. One\n2. Two\n");
    expect(tasksOf((await next()).json)).toEqual(["1", "2"]);
    const soon = Math.ceil(Date.now() / 1000) + 3;
    for (const attempt of ["r1/1.1", "r1/2.1"]) {
      const { id, path } = await scene.agent(attempt);
      const who = { cwd: path, agent_id: id, agent_type: "minion:minion-worker" };
      const said = `Claude AI usage limit reached|${soon}`;
      await scene.hook("StopFailure", {
        ...who,
        error: "rate_limit",
        last_assistant_message: said,
      });
    }
    expect(await wait()).toMatchObject({ attention: [{ reason: "rate-limit" }], dispatch: [] });
    expect(tasksOf(await wait())).toEqual(["1", "2"]);
    expect(Date.now()).toBeGreaterThanOrEqual(soon * 1000);
  });
});

describe("the turn of a session that was woken", () => {
  /** A worker was launched, in a terminal: one hook takes that down, the other waits. */
  function launched(
    event: "PostToolUse" | "Launched",
    attempt: string,
    client = "cli",
  ): Promise<Answer> {
    const input = JSON.stringify({
      session_id: "s1",
      cwd: scene.repo,
      tool_name: "Agent",
      tool_input: { prompt: `Run \`minion begin ${attempt}\` and do what it prints.` },
      tool_response: { agentId: `a${attempt.slice(3, 4)}` },
    });
    return scene.minion(["hook", event], { input, env: { CLAUDE_CODE_ENTRYPOINT: client } });
  }
  const silent = { code: 0, stdout: "", stderr: "" };
  const count = (what: string): number => {
    const file = join(scene.repo, ".git/minion/r1/events.jsonl");
    return readFileSync(file, "utf8").split(what).length - 1;
  };
  const waits = () => count('"event":"job","name":"wait r1"');
  async function comes(what: () => boolean): Promise<void> {
    while (!what()) await new Promise((resolve) => setTimeout(resolve, 50));
  }

  test("is over with the last launch, and somebody waits from then on", async () => {
    await scene.start("1. One\n2. Two\n");
    expect(tasksOf(await wait())).toEqual(["1", "2"]);
    const before = waits();
    const first = launched("Launched", "r1/1.1");
    expect(await launched("PostToolUse", "r1/1.1")).toMatchObject(silent);
    expect(await first).toMatchObject(silent);
    expect(waits()).toBe(before);
    const second = launched("Launched", "r1/2.1");
    const { stdout } = await launched("PostToolUse", "r1/2.1");
    expect(JSON.parse(stdout)).toEqual({
      continue: false,
      stopReason: "minion r1: 0 of 2 landed, 2 running",
    });
    await comes(() => waits() > before);
    await restart();
    expect(await second).toMatchObject(silent);
  });

  test("starts no second worker for what has one", async () => {
    await scene.start("1. One\n");
    expect(tasksOf(await wait())).toEqual(["1"]);
    const start = () =>
      scene.hook("PreToolUse", {
        tool_name: "Agent",
        tool_input: {
          subagent_type: "minion:minion-worker",
          prompt: "Run `minion begin r1/1.1` and do what it prints.",
        },
      });
    const decision = async () => (await start()).json.hookSpecificOutput.permissionDecision;
    expect(await decision()).toBe("allow");
    await scene.agent("r1/1.1");
    expect(await decision()).toBe("deny");
  });

  test.each([
    ["it was not woken", "cli", async () => (await next()).json],
    ["it was told more", "cli", () => wait({ background_tasks: [{ id: "a" }] })],
    ["it has no terminal", "sdk-cli", wait],
  ])("goes on after the last launch where %s", async (why, client, named) => {
    // Slower on the base than a waiter looks for, so that it comes back with the question first.
    scene.write(
      ".claude/minion/blueprint.md",
      '---\ngates:\n  - name: test\n    run: "sleep 4"\n---\n',
    );
    scene.commit("chore: slow");
    await scene.minion(["blueprint", "--agree"]);
    await scene.start("### Task 1: One\n\n### Task 2: Two\nAsk: which?\n");
    expect(tasksOf(await wait())).toEqual([]);
    await next();
    await comes(() => count('"base-checked"') > 0);
    if (why === "it was told more") await restart();
    expect(tasksOf(await named())).toEqual(["1"]);
    const before = waits();
    expect(await launched("PostToolUse", "r1/1.1", client)).toMatchObject(silent);
    expect(await launched("Launched", "r1/1.1", client)).toMatchObject(silent);
    expect(waits()).toBe(before);
  });
});

describe("the notice of a worker's end", () => {
  test("becomes a line for the person, unless the turn was cut short and nobody waits", async () => {
    await scene.start("1. One\n2. Two\n");
    await next();
    const worker = await scene.agent("r1/1.1");
    const said = `<task-notification>\n<task-id>${worker.id}</task-id>`;
    await worker.begin();
    // Nobody knows yet how it ended.
    expect(await notice(said)).toBe(null);
    worker.edit({ "src/1.txt": "1\n" });
    await worker.finish();
    const line = "minion r1: 0 of 2 landed, 1 running, 1 mergeable";
    expect(await notice(said)).toBe(line);
    expect(await notice(`<agent-message from="${worker.id}">\nr1/1.1 handed in`)).toBe(line);
    const another = "Another Claude session sent a message while you were working:\n";
    expect(await notice(`${another}<agent-message from="${worker.id}">`)).toBe(line);
    const cut = '{"type":"user","message":{"content":"[Request interrupted by user]"}}\n';
    expect(await notice(said, cut)).toBe(null);
    const broken = '{"isApiErrorMessage":true,"message":{"content":"API Error"}}\n';
    expect(await notice(said, broken)).toBe(null);
    expect(await notice("<task-notification>\n<task-id>other</task-id>")).toBe(null);
    expect(await notice(`what about ${worker.id}?`)).toBe(null);
    const file = join(scene.repo, ".git/minion/r1/events.jsonl");
    const { pid } = spawnSync("true");
    const left = { at: Date.now(), event: "job", name: "wait r1", attempt: null, token: "t" };
    appendFileSync(file, `${JSON.stringify({ ...left, process: { pid, started: "1" } })}\n`);
    // Who waited was ended from outside: nobody else tells the session.
    expect(await notice(said)).toBe(null);
    scene.session = "s2";
    expect(await notice(said)).toBe(null);
  });

  test("goes through with what woke the session, until that has said something since", async () => {
    await scene.start("1. One\n2. Two (depends on: 1)\n");
    await next();
    const replied = () =>
      `{"type":"assistant","message":{},"timestamp":"${new Date().toISOString()}"}\n`;
    const before = replied();
    expect(tasksOf(await wait())).toEqual(["1"]);
    const worker = await scene.goodWorker("r1/1.1", { "src/1.txt": "1\n" });
    const said = `<task-notification>\n<task-id>${worker.id}</task-id>`;
    // Who woke it still runs, so that the client does not have it yet.
    expect(await notice(said, before)).not.toBe(null);
    const { pid } = spawnSync("true");
    const woken = { at: Date.now(), event: "woken", attempts: ["r1/1.1"] };
    const file = join(scene.repo, ".git/minion/r1/events.jsonl");
    appendFileSync(file, `${JSON.stringify({ ...woken, process: { pid, started: "1" } })}\n`);
    expect(await notice(said, before)).toBe(null);
    expect(await notice(said, before + replied())).not.toBe(null);
    // In auto mode the client takes what a worker says by itself.
    expect(await notice(`<agent-message from="${worker.id}">`, before)).not.toBe(null);
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

  test("is sent on once, where its turn ends and no worker works", async () => {
    await scene.start("1. One\n");
    const stop = (input: object = {}) => scene.hook("Stop", input);
    expect(await stop()).toMatchObject({ code: 0, stderr: "" });
    await restart();
    const background_tasks = [{ id: "a1" }];
    expect(await stop({ background_tasks })).toMatchObject({ code: 0, stderr: "" });
    // Nobody waits beside that: what it would say is not heard.
    expect(await wait()).toBe(null);
    const { code, stderr } = await stop();
    expect(code).toBe(2);
    expect(stderr).toContain("Next step: `minion next --json --run r1`");
    expect(await stop()).toMatchObject({ code: 0, stderr: "" });
    expect(tasksOf(await wait())).toEqual(["1"]);
  });

  test("is told again what it was told before", async () => {
    await scene.start("### Task 1: One\nAsk: which?\n\n### Task 2: Two\n");
    expect((await next()).json.attention).toHaveLength(1);
    expect((await next()).json.attention).toEqual([]);
    await restart();
    expect((await next()).json.attention).toHaveLength(1);
  });
});

describe("the filter before both", () => {
  /** The shipped filter, with a program of ours that leaves a mark where the rails would start. */
  function passes(
    event: string,
    { cwd = scene.repo, session = "s1", PATH = process.env.PATH, client = "cli" } = {},
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
    const env = { PATH, CLAUDE_CODE_ENTRYPOINT: client };
    const run = { input, cwd, encoding: "utf8", env } as const;
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
      for (const event of ["Wait", "Launched", "SessionStart"])
        expect([cwd, passes(event, { cwd, PATH })]).toEqual([cwd, false]);
  });

  test("lets through the session whose run it is, wherever it stands in the repository, and no other", async () => {
    await scene.start("1. One\n");
    const worktree = join(scene.home, "linked");
    scene.git("worktree", "add", "-q", worktree);
    mkdirSync(join(worktree, "sub"));
    for (const cwd of [scene.repo, join(scene.repo, "src"), worktree, join(worktree, "sub")])
      for (const event of ["Wait", "Launched", "SessionStart"]) {
        expect([cwd, passes(event, { cwd })]).toEqual([cwd, true]);
        expect([cwd, passes(event, { cwd, session: "s2" })]).toEqual([cwd, false]);
      }
  });

  test("starts nothing at a launch where there is no terminal", async () => {
    await scene.start("1. One\n");
    expect(passes("Launched", { client: "sdk-cli" })).toBe(false);
  });
});
