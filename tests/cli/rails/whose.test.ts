import { spawn } from "node:child_process";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { casesOf } from "../../by-night.ts";
import { Scene, type Worker } from "./scene.ts";

let scene: Scene;
/** What all tests of a group begin with. */
let prepared: Scene | null = null;
beforeEach(() => {
  scene = prepared ?? new Scene();
  prepared?.back();
});
afterEach(async () => {
  if (scene !== prepared) await scene.destroy();
});

/** Makes a scene once for all tests of a group. */
function preparedBy(make: () => Promise<void>): void {
  beforeAll(async () => {
    scene = prepared = new Scene();
    await make();
    scene.keep();
  });
  afterAll(async () => {
    await prepared?.destroy();
    prepared = null;
  });
}

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

describe("work of another task's worker", () => {
  /** Two at work, the first with a commit of its own, of which nobody has looked at anything. */
  let first: Worker;
  let second: Worker;
  let its: string;
  preparedBy(async () => {
    await scene.start("1. One\n2. Two\n");
    await scene.minion(["next"]);
    first = await scene.agent("r1/1.1");
    second = await scene.agent("r1/2.1");
    for (const worker of [first, second]) await worker.begin();
    first.edit({ "src/1.txt": "unreviewed\n" });
    first.commit("feat: one");
    its = scene.gitIn(first.path, "rev-parse", "HEAD");
  });
  /** How the second comes by what the first did. */
  const WAYS = {
    "reset onto": () => scene.gitIn(second.path, "reset", "-q", "--hard", its),
    merged: () => scene.gitIn(second.path, "merge", "-q", its),
    "rebased onto": () => {
      second.edit({ "src/2a.txt": "2\n" });
      second.commit("feat: two a");
      scene.gitIn(second.path, "rebase", "-q", its);
    },
    "cherry-picked onto its own": () => {
      second.edit({ "src/2a.txt": "2\n" });
      second.commit("feat: two a");
      scene.gitIn(second.path, "cherry-pick", its);
    },
    "cherry-picked and given another message": () => {
      scene.gitIn(second.path, "cherry-pick", "-x", its);
      scene.gitIn(second.path, "commit", "-q", "--amend", "-m", "feat: mine");
    },
  };

  // By day the very commit and a copy of it, here; "reset onto" in the test below.
  const ways = casesOf<keyof typeof WAYS>(
    ["merged", "cherry-picked and given another message"],
    ["reset onto", "rebased onto", "cherry-picked onto its own"],
  );
  test.each(ways)("is objected to where it was %s", async (way) => {
    WAYS[way]();
    second.edit({ "src/2.txt": "2\n" });
    await second.minion(["gate", "--all"]);
    second.commit("feat: two");
    const told = (await second.submit()).json.error;
    expect(told).toMatchObject({ code: "others-work" });
    expect(told.message).toContain("is r1/1.1's");
    // Handed in all the same: a person decides, and nothing of it is on the line.
    expect((await second.submit()).code).toBe(0);
    const { json } = await scene.minion(["next", "--json"]);
    expect(json.attention).toMatchObject([{ task: "2", reason: "others-work" }]);
    expect(scene.show("minion/r1/line")).not.toContain("src/1.txt");
    // Whoever made it has done nothing wrong.
    first.edit({ "src/1b.txt": "1\n" });
    await first.finish();
    expect((await scene.minion(["next", "--json"])).json.landed).toEqual(["1"]);
  });

  test("is nobody's business once it is on the line; what is the task's own never was", async () => {
    scene.gitIn(second.path, "reset", "-q", "--hard", its);
    second.edit({ "src/2.txt": "2\n" });
    await second.minion(["gate", "--all"]);
    second.commit("feat: two");
    expect((await second.submit()).code).toBe(1);
    expect((await second.submit()).code).toBe(0);
    scene.gitIn(first.path, "reset", "-q", "--hard", its);
    await first.minion(["gate", "--all"]);
    expect((await first.submit()).code).toBe(0);
    expect((await scene.minion(["next", "--json"])).json.landed).toEqual(["1", "2"]);
  });

  test("a worker that rebases its own onto the line as it is now takes nobody's", async () => {
    first.edit({ "src/1b.txt": "1\n" });
    await first.finish();
    await scene.minion(["next"]);
    second.edit({ "src/2.txt": "2\n" });
    second.commit("feat: two");
    scene.gitIn(second.path, "rebase", "-q", "minion/r1/line");
    await second.minion(["gate", "--all"]);
    expect((await second.submit()).code).toBe(0);
    expect((await scene.minion(["next", "--json"])).json.landed).toEqual(["1", "2"]);
  });
});

describe("a verdict", () => {
  const LIST = "### Task 1: Gate the door\nFiles: src/door.txt\nRisk: medium\n";
  const verdict = (worker: Worker, attempt: string) =>
    worker.minion(["verdict", attempt, "pass", "--json"], "Looked at all of it.");

  let author: Worker;
  preparedBy(async () => {
    await scene.start(LIST);
    await scene.minion(["next"]);
    author = await scene.goodWorker("r1/1.1", { "src/door.txt": "closed\n" });
    const { json } = await scene.minion(["next", "--json"]);
    expect(json.dispatch).toMatchObject([{ attempt: "r1/1.2", agent: "minion:minion-verifier" }]);
  });

  test("is refused from the author, who begins the review in its own worktree or in one that it made", async () => {
    expect((await author.minion(["begin", "r1/1.2"])).stderr).toContain("nobody judges their own");
    const path = `${scene.home}/aside`;
    scene.gitIn(author.path, "worktree", "add", "-q", "--detach", path);
    const aside = { cwd: path, input: "Fine." };
    expect((await scene.minion(["begin", "r1/1.2"], aside)).code).toBe(0);
    const early = await scene.minion(["verdict", "r1/1.2", "pass"], aside);
    expect([early.code, early.stderr]).toEqual([1, expect.stringContaining("no agent")]);
    const judge = await scene.agent("r1/1.2");
    const late = await scene.minion(["verdict", "r1/1.2", "pass"], aside);
    expect([late.code, late.stderr]).toEqual([1, expect.stringContaining("is not the worktree")]);
    expect((await judge.begin()).code).toBe(1);
    expect((await scene.minion(["next", "--json"])).json.landed).toEqual([]);
  });

  test("is refused where the author calls from the judge's own worktree, and taken from the judge", async () => {
    const judge = await scene.agent("r1/1.2");
    const call = (who: Worker, verb: string) =>
      scene.hook("PreToolUse", {
        agent_id: who.id,
        agent_type: "minion:minion-worker",
        cwd: judge.path,
        tool_name: "Bash",
        tool_input: { command: `cd ${judge.path} && minion ${verb} r1/1.2 pass` },
      });
    for (const verb of ["begin", "verdict"]) {
      const { json } = await call(author, verb);
      expect(json.hookSpecificOutput).toMatchObject({
        permissionDecision: "deny",
        permissionDecisionReason: expect.stringContaining("started for r1/1.1"),
      });
      expect((await call(judge, verb)).json?.hookSpecificOutput.permissionDecision).not.toBe(
        "deny",
      );
    }
    await judge.begin();
    expect((await verdict(judge, "r1/1.2")).code).toBe(0);
    expect((await scene.minion(["next", "--json"])).json.landed).toEqual(["1"]);
  });
});
