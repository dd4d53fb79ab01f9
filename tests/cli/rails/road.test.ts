import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { byNight } from "../../by-night.ts";
import { Scene } from "./scene.ts";

let scene: Scene;
beforeEach(() => {
  scene = new Scene();
});
afterEach(() => scene.destroy());

const next = async () => (await scene.minion(["next", "--json"])).json;
const states = async (): Promise<Record<string, string>> => {
  const { json } = await scene.minion(["board", "--json"]);
  return Object.fromEntries(
    json.tasks.map((row: { task: string; state: string }) => [row.task, row.state]),
  );
};
const dispatched = (answer: { dispatch: { attempt: string }[] }): string[] =>
  answer.dispatch.map(({ attempt }) => attempt);

// What is by night only the random runs have by day, without git, except where another test is
// named.

describe("a run from list to line", () => {
  test("dispatches in the order that the graph allows, on top of what landed", async () => {
    await scene.start("1. One\n2. Two (depends on: 1)\n3. Three (depends on: 1)\n");
    expect(dispatched(await next())).toEqual(["r1/1.1"]);
    await scene.goodWorker("r1/1.1", { "src/one.txt": "1" });
    const second = await next();
    expect(second.landed).toEqual(["1"]);
    expect(dispatched(second)).toEqual(["r1/2.1", "r1/3.1"]);
    const two = await scene.agent("r1/2.1");
    await two.begin();
    expect(readFileSync(join(two.path, "src/one.txt"), "utf8")).toBe("1");
    two.edit({ "src/two.txt": "2" });
    await two.finish();
    await scene.goodWorker("r1/3.1", { "src/three.txt": "3" });
    expect(await next()).toMatchObject({
      done: true,
      landed: ["1", "2", "3"],
      dispatch: [],
      attention: [],
      fault: null,
    });
    expect(scene.show("minion/r1/line")).toEqual(
      expect.arrayContaining(["src/one.txt", "src/two.txt", "src/three.txt"]),
    );
    const report = (await scene.minion(["report", "--json"])).json;
    expect(report.tip).toBe(scene.git("rev-parse", "minion/r1/line"));
    // Of each landing, what proved it: the command, how its output ends, and where the whole is.
    const [, proof = ""] = /## Raw output\n([\s\S]*?)\n## /.exec(report.report) ?? [];
    expect([...proof.matchAll(/^### (.*) on `/gm)].map(([, ids]) => ids)).toEqual(["1", "2, 3"]);
    expect(proof.match(/^```\n\$ echo testing; ! grep -rn FAIL src\ntesting\n```$/gm)).toHaveLength(
      2,
    );
    const raw = [...proof.matchAll(/`(\/.*landing-[\w-]+\.log)`/g)].map(([, path = ""]) => path);
    expect(raw).toHaveLength(4);
    for (const path of raw) expect(existsSync(path)).toBe(true);
  });

  test("changes nothing of the person's, and clean takes away what it made", async () => {
    scene.write("src/start.txt", "edited, not committed\n");
    scene.write("notes.txt", "not tracked\n");
    scene.git("stash", "push", "-q", "src/start.txt");
    scene.write("src/start.txt", "edited again\n");
    const seen = () => ({
      head: scene.git("symbolic-ref", "HEAD"),
      refs: scene
        .git("for-each-ref", "--format=%(refname) %(objectname)")
        .split("\n")
        .filter((ref) => !/refs\/heads\/minion\/r\d+\/line /.test(ref)),
      config: readFileSync(join(scene.repo, ".git/config"), "utf8"),
      index: scene.git("ls-files", "--stage"),
      status: scene.git("status", "--porcelain", "--untracked-files=all"),
      worktrees: scene.git("worktree", "list").split("\n").length,
      claude: readdirSync(join(scene.repo, ".claude")),
    });
    const before = seen();
    await scene.start("1. One\n2. Two\n");
    await next();
    await scene.goodWorker("r1/1.1", { "src/one.txt": "1" });
    const idle = await scene.agent("r1/2.1");
    await idle.begin();
    await idle.minion(["submit", "--nothing", "it is there already"]);
    expect((await next()).done).toBe(true);
    expect(await states()).toEqual({ 1: "landed", 2: "skipped" });
    expect((await scene.minion(["clean", "--dry-run"])).code).toBe(0);
    expect(seen().worktrees).toBe(before.worktrees + 3);
    expect((await scene.minion(["clean"])).code).toBe(0);
    expect(seen()).toEqual(before);
    expect(scene.show("minion/r1/line")).toContain("src/one.txt");
    // Once it is merged, the line goes too.
    scene.git("stash", "push", "-q", "-u");
    scene.git("merge", "-q", "--ff-only", "minion/r1/line");
    await scene.minion(["clean"]);
    expect(scene.git("branch", "--list", "minion/*")).toBe("");
  });

  byNight("two tasks on one file never run at the same time", async () => {
    await scene.start(
      "### Task 1: A\nFiles: src/x.txt\n### Task 2: B\nFiles: ./SRC/*.txt\n### Task 3: C\nFiles: docs/\n",
    );
    const first = await next();
    expect(dispatched(first)).toEqual(["r1/1.1", "r1/3.1"]);
    expect(first.waiting).toEqual({ conflict: 1 });
    await scene.agent("r1/1.1");
    await scene.agent("r1/3.1");
    expect(dispatched(await next())).toEqual([]);
  });

  byNight("a launch that was refused is offered again, up to the bound", async () => {
    await scene.start("1. One\n");
    expect(dispatched(await next())).toEqual(["r1/1.1"]);
    expect(dispatched(await next())).toEqual(["r1/1.1"]);
    await next();
    expect(await states()).toEqual({ 1: "running" });
  });

  test("no more workers than the blueprint says, the longest way first", async () => {
    await scene.start("1. One\n2. Two\n3. Three\n4. Four\n5. Five\n6. Six (depends on: 5)\n");
    const answer = await next();
    expect(dispatched(answer)).toEqual(["r1/5.1", "r1/1.1", "r1/2.1", "r1/3.1"]);
    expect(answer.waiting).toEqual({ slots: 1, dependency: 1 });
  });
});

describe("a result that is not proven", () => {
  test("claims only, in each mode: sent back, then not mergeable", async () => {
    const tasks = [
      { task: "1", mode: "default", first: "minion/r1/1-one.1" },
      { task: "2", mode: "auto", first: "minion/r1/2-two.1" },
    ] as const;
    await scene.start("1. One\n2. Two\n");
    await next();
    for (const { task, mode } of tasks) {
      const worker = await scene.agent(`r1/${task}.1`);
      await worker.begin();
      worker.edit({ "src/one.txt": "1" });
      worker.commit();
      const held = await worker.end(mode);
      if (mode === "default")
        expect(held).toMatchObject({ code: 2, stderr: expect.stringContaining("lint, test") });
      else expect(held.json.hookSpecificOutput.permissionDecision).toBe("deny");
      const submitted = await worker.submit();
      expect(submitted).toMatchObject({ code: 1, json: { error: { code: "unproven" } } });
      // The same end on the same files: nothing new to say, it goes.
      expect(await worker.end(mode)).toMatchObject({ code: 0, stdout: "" });
    }
    expect(await states()).toEqual({ 1: "verify-failed", 2: "verify-failed" });
    expect(dispatched(await next())).toEqual(["r1/1.2", "r1/2.2"]);
    for (const { task, mode, first } of tasks) {
      const second = await scene.agent(`r1/${task}.2`);
      expect((await second.begin()).stdout).toContain(first);
      for (const _ of [1, 2]) await second.end(mode);
    }
    const attention = tasks.map(({ task }) => ({ task, reason: "unproven" }));
    expect(await next()).toMatchObject({ done: true, attention });
    expect(scene.git("rev-parse", "minion/r1/line")).toBe(scene.git("rev-parse", "HEAD"));
  });

  test("an edit after the gate voids the evidence", async () => {
    await scene.start("1. One\n");
    await next();
    const worker = await scene.agent("r1/1.1");
    await worker.begin();
    worker.edit({ "src/one.txt": "1" });
    expect((await worker.minion(["gate", "--all"])).code).toBe(0);
    worker.edit({ "src/one.txt": "FAIL" });
    worker.commit();
    expect((await worker.submit()).json.error.code).toBe("unproven");
  });

  byNight(
    "tests fail twice, twice: the branch is kept, what depends on it is blocked, the rest lands",
    async () => {
      await scene.start("1. One\n2. Two (depends on: 1)\n3. Three\n");
      await next();
      await scene.goodWorker("r1/3.1", { "src/three.txt": "3" });
      for (const attempt of ["r1/1.1", "r1/1.2"]) {
        const worker = await scene.agent(attempt);
        await worker.begin();
        worker.edit({ "src/one.txt": `FAIL in ${attempt}` });
        expect(await worker.minion(["gate", "test"])).toMatchObject({
          code: 1,
          stdout: expect.stringContaining("FAIL"),
        });
        // On the same files nothing runs again and nothing counts.
        expect((await worker.minion(["gate", "test", "--json"])).json.gates[0]).toMatchObject({
          reused: true,
          failures: 1,
        });
        worker.edit({ "src/one.txt": `FAIL again in ${attempt}` });
        expect((await worker.minion(["gate", "test"])).code).toBe(1);
        worker.edit({ "src/one.txt": "fine" });
        expect((await worker.minion(["gate", "test"])).code).toBe(2);
        worker.commit("feat: what there is");
        expect((await worker.submit()).json.error.code).toBe("over");
        expect((await worker.end()).code).toBe(0);
        await next();
      }
      expect(await states()).toEqual({ 1: "needs-human", 2: "blocked", 3: "landed" });
      expect(scene.show("minion/r1/1-one.1")).toContain("src/one.txt");
      const open = (await scene.minion(["attention", "--json"])).json.attention;
      expect(open).toMatchObject([{ task: "1", reason: "gate-failed" }]);
      expect((await scene.minion(["clean"])).code).toBe(0);
      expect(scene.show("minion/r1/1-one.2")).toContain("src/one.txt");
      // A person mends the branch and lands it: then what waited for it goes on.
      const hand = join(scene.home, "hand");
      scene.git("worktree", "add", "-q", hand, "minion/r1/1-one.2");
      expect(await scene.minion(["land", "1", "--json"])).toMatchObject({
        code: 0,
        json: { landed: true },
      });
      expect(dispatched(await next())).toEqual(["r1/2.1"]);
    },
  );

  byNight(
    "a second attempt that leaves the very files that were red before has failed its gate, too",
    async () => {
      await scene.start("1. One\n");
      await next();
      const first = await scene.agent("r1/1.1");
      await first.begin();
      for (const text of ["FAIL", "FAIL still"]) {
        first.edit({ "src/one.txt": text });
        await first.minion(["gate", "test"]);
      }
      await next();
      const second = await scene.agent("r1/1.2");
      await second.begin();
      second.edit({ "src/one.txt": "FAIL still" });
      expect((await second.minion(["gate", "test", "--json"])).json.gates[0]).toMatchObject({
        result: "fail",
        reused: true,
      });
      expect(await second.end()).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("on exactly these files: test"),
      });
      expect((await second.end()).code).toBe(0);
      expect(await next()).toMatchObject({
        done: true,
        attention: [{ task: "1", reason: "gate-failed" }],
      });
    },
  );

  byNight("green alone, red together: only what keeps the line green lands", async () => {
    scene.write(
      ".claude/minion/blueprint.md",
      '---\ngates:\n  - name: test\n    run: "test $(ls src | wc -l) -le 2"\n---\n',
    );
    scene.commit("chore: at most two files");
    await scene.start("1. One\n2. Two\n");
    await next();
    await scene.goodWorker("r1/1.1", { "src/one.txt": "1" });
    await scene.goodWorker("r1/2.1", { "src/two.txt": "2" });
    expect(await next()).toMatchObject({ landed: ["1"] });
    expect(await states()).toEqual({ 1: "landed", 2: "running" });
    expect(scene.show("minion/r1/line")).not.toContain("src/two.txt");
  });
});

describe("workers that go astray", () => {
  test("one that never begins: its attempt is over", async () => {
    await scene.start("1. One\n");
    await next();
    const worker = await scene.agent("r1/1.1");
    await worker.end();
    expect(await next()).toMatchObject({ dispatch: [{ attempt: "r1/1.2" }] });
    expect(await worker.begin()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("over"),
    });
  });

  byNight(
    "one that ends before the client has told of its launch: its attempt is over",
    async () => {
      await scene.start("1. One\n");
      await next();
      const prompt = "Run `minion begin r1/1.1` and do what it prints.";
      scene.write(
        "../transcript.jsonl",
        `${JSON.stringify({ message: { role: "user", content: prompt } })}\n`,
      );
      await scene.hook("SubagentStop", {
        agent_id: "a1",
        agent_type: "minion:minion-worker",
        permission_mode: "default",
        agent_transcript_path: join(scene.home, "transcript.jsonl"),
      });
      await scene.hook("PostToolUse", {
        tool_name: "Agent",
        tool_input: { subagent_type: "minion:minion-worker", prompt },
        tool_response: { agentId: "a1" },
      });
      expect(await next()).toMatchObject({ dispatch: [{ attempt: "r1/1.2" }] });
    },
  );

  test("begin outside of a worktree of its own, or of somebody else's attempt, is refused", async () => {
    await scene.start("1. One\n2. Two\n");
    await next();
    expect(await scene.minion(["begin", "r1/1.1"])).toMatchObject({ code: 1 });
    expect(scene.git("branch", "--show-current")).toBe("trunk");
    const one = await scene.agent("r1/1.1");
    await one.begin();
    expect((await one.begin()).code).toBe(0);
    const other = await scene.agent("r1/1.1");
    expect((await other.begin()).stderr).toContain("was begun in");
    expect((await one.minion(["begin", "r1/2.1"])).stderr).toContain("belongs to r1/1.1");
  });

  test("one that went silent loses its lease", async () => {
    await scene.start("1. One\n");
    await next();
    const worker = await scene.agent("r1/1.1");
    await worker.begin();
    const journal = join(scene.repo, ".git/minion/r1/events.jsonl");
    const old = readFileSync(journal, "utf8").replace(
      /"at":(\d+)/g,
      (_, at) => `"at":${Number(at) - 11 * 60_000}`,
    );
    scene.write(".git/minion/r1/events.jsonl", old);
    expect(dispatched(await next())).toEqual(["r1/1.2"]);
  });

  test("a gate that outlives its call is picked up by the next one and runs once", async () => {
    scene.write(
      ".claude/minion/blueprint.md",
      '---\ngates:\n  - name: test\n    run: "echo ran >> ../ran; sleep 2"\n---\n',
    );
    scene.commit("chore: slow gate");
    await scene.start("1. One\n");
    await next();
    rmSync(join(scene.repo, ".claude/worktrees/ran")); // of the run on the base
    const worker = await scene.agent("r1/1.1");
    await worker.begin();
    worker.edit({ "src/one.txt": "1" });
    expect((await worker.minion(["gate", "test", "--wait", "0"])).code).toBe(75);
    const held = await worker.end();
    expect(held).toMatchObject({ code: 2, stderr: expect.stringContaining("still runs") });
    expect((await worker.minion(["gate", "test"])).code).toBe(0);
    expect(readFileSync(join(worker.path, "../ran"), "utf8")).toBe("ran\n");
  });
});

describe("a session that dies", () => {
  test("resume goes on where it was; what was lost counts against nobody", async () => {
    await scene.start("1. One\n");
    await next();
    const worker = await scene.agent("r1/1.1");
    await worker.begin();
    worker.edit({ "src/one.txt": "half" });
    worker.commit("feat: half");
    scene.session = "s2";
    expect((await scene.minion(["start", "-"], { input: "1. Other\n" })).stderr).toContain(
      "run r1 is open here",
    );
    const resumed = (await scene.minion(["resume", "--json"])).json;
    expect(resumed).toMatchObject({ run: "r1", lost: ["r1/1.1"] });
    expect(dispatched(await next())).toEqual(["r1/1.2"]);
    await scene.goodWorker("r1/1.2", { "src/one.txt": "1" });
    expect(await next()).toMatchObject({ done: true, landed: ["1"] });
  });

  // By day `crash.test.ts` kills there.
  byNight("killed between the line's move and its note: nothing lands twice", async () => {
    await scene.start("1. One\n");
    await next();
    await scene.goodWorker("r1/1.1", { "src/one.txt": "1" });
    await next();
    const journal = join(scene.repo, ".git/minion/r1/events.jsonl");
    const lines = readFileSync(journal, "utf8").trim().split("\n");
    const cut = lines.slice(
      0,
      lines.findIndex((line) => line.includes('"event":"landed"')),
    );
    scene.write(".git/minion/r1/events.jsonl", `${cut.join("\n")}\n{"at":1,"event":"torn`);
    expect(await next()).toMatchObject({ done: true, landed: ["1"] });
    expect(scene.git("rev-list", "--count", `HEAD..minion/r1/line`)).toBe("1");
  });

  test("abort ends it; a worker that comes late is told", async () => {
    await scene.start("1. One\n");
    await next();
    const worker = await scene.agent("r1/1.1");
    await scene.minion(["abort"]);
    expect((await worker.begin()).stderr).toContain("aborted");
    expect(await next()).toMatchObject({ done: true, dispatch: [] });
    expect((await scene.minion(["start", "-"], { input: "1. Other\n" })).code).toBe(0);
  });
});
