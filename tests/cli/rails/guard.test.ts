import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Scene, type Worker } from "./scene.ts";

let scene: Scene;

const events = (name: string) =>
  readFileSync(join(scene.repo, ".git/minion/r1/events.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
    .filter(({ event }) => event === name);

const states = async (): Promise<Record<string, string>> => {
  const { json } = await scene.minion(["board", "--json"]);
  return Object.fromEntries(
    json.tasks.map((row: { task: string; state: string }) => [row.task, row.state]),
  );
};

/** A hook call as the client makes it for a worker. */
const hook = (event: string, worker: Worker, input: object = {}) =>
  scene.hook(event, {
    cwd: worker.path,
    agent_id: worker.id,
    agent_type: "minion:minion-worker",
    ...input,
  });

const decision = async (worker: Worker, tool_name: string, tool_input: object) =>
  (await hook("PreToolUse", worker, { tool_name, tool_input })).json?.hookSpecificOutput
    .permissionDecision ?? null;

async function begun(list: string): Promise<Worker> {
  await scene.start(list);
  await scene.minion(["next"]);
  const worker = await scene.agent("r1/1.1");
  await worker.begin();
  return worker;
}

/** For the tests of a block: a scene for each. */
function ownScene(): void {
  beforeEach(() => {
    scene = new Scene();
  });
  afterEach(() => scene.destroy());
}

describe("what a worker may touch", () => {
  ownScene();
  const LIST = `
### Task 1: Own
Files: src/one.ts, src/both.ts, lib/maybe.ts?
Forbid: src/secret/**
### Task 2: Open
Files: src/two.ts, src/both.ts, docs/, guessed.ts?
### Task 3: After one
Depends: 1
Files: src/three.ts
### Task 4: After three
Depends: 3
Files: src/four.ts
### Task 5: Waits for the open one
Depends: 2
Files: src/five.ts
### Task 6: Done [DONE]
Files: src/six.ts
### Task 7: Soon over
Files: src/seven.ts
`;
  const PATHS = {
    "src/one.ts": "allow",
    "src/both.ts": "allow",
    "src/other.ts": "allow",
    "src/secret/key.ts": "deny",
    "src/two.ts": "deny",
    "DOCS/a.md": "deny",
    "guessed.ts": "allow",
    "src/three.ts": "allow",
    "src/four.ts": "allow",
    "src/five.ts": "deny",
    "src/six.ts": "allow",
    "src/seven.ts": "deny",
    ".git/config": "deny",
    ".claude/settings.json": null,
  };

  test("not what its task forbids, nor another open task's files", async () => {
    const worker = await begun(LIST);
    const answers: Record<string, string | null> = {};
    for (const path of Object.keys(PATHS))
      answers[path] = await decision(worker, "Edit", { file_path: path });
    expect(answers).toEqual(PATHS);
    expect(
      await decision(worker, "NotebookEdit", { notebook_path: join(worker.path, "src/two.ts") }),
    ).toBe("deny");
    const journal = join(scene.repo, ".git/minion/r1/events.jsonl");
    expect(await decision(worker, "Write", { file_path: journal })).toBe("deny");
    // Once the other task is over, its files are free.
    const other = await scene.agent("r1/7.1");
    await other.begin();
    await other.minion(["submit", "--nothing", "is there"]);
    expect(await decision(worker, "Edit", { file_path: "src/seven.ts" })).toBe("allow");
  });

  test("in a run of a subfolder, patterns are read from there and from the root", async () => {
    scene.write("pkg/a/src/x.txt", "x\n");
    scene.commit("chore: packages");
    const list =
      "### Task 1: A\nForbid: src/no/, pkg/b/no/\n### Task 2: B\nFiles: three.ts, pkg/a/two.ts\n";
    const { json } = await scene.minion(["start", "-", "--json"], {
      input: list,
      cwd: join(scene.repo, "pkg/a"),
    });
    expect(json.run).toBe("r1");
    await scene.minion(["next"]);
    const worker = await scene.agent("r1/1.1");
    await worker.begin();
    const edit = (path: string) => decision(worker, "Edit", { file_path: path });
    for (const path of [
      "pkg/a/src/no/x.ts",
      "src/no/x.ts",
      "pkg/b/no/x.ts",
      "pkg/a/three.ts",
      "three.ts",
      "pkg/a/two.ts",
    ])
      expect([path, await edit(path)]).toEqual([path, "deny"]);
    for (const path of ["pkg/b/src/no/x.ts", "pkg/b/three.ts", "two.ts"])
      expect([path, await edit(path)]).toEqual([path, "allow"]);
  });
});

describe("a worker that has begun", () => {
  let worker: Worker;
  beforeAll(async () => {
    scene = new Scene();
    worker = await begun("1. One\n");
    scene.keep();
  });
  afterEach(() => scene.back());
  afterAll(() => scene.destroy());

  test("no agents, no foreign refs; what the blueprint lists goes without asking", async () => {
    for (const tool of ["Agent", "Task", "Workflow"])
      expect(await decision(worker, tool, { prompt: "x" })).toBe("deny");
    const run = (command: string) => decision(worker, "Bash", { command });
    expect(await run("git push origin minion/r1/1-one.1")).toBe(null);
    expect(await run("git push origin minion/r1/line")).toBe("deny");
    expect(await run("git commit -m \"$(cat <<'EOF'\nfeat: a\n\nnever git stash\nEOF\n)\"")).toBe(
      "allow",
    );
    expect(await run("git commit -F - <<'EOF'\nfeat: a\nEOF")).toBe("allow");
    expect(await run("git log -n 5 --oneline")).toBe("allow");
    expect(await run("git log | head")).toBe(null);
  });

  test.each([
    ['cp one "$(git rev-parse --git-common-dir)/hooks/pre-push"', "deny"],
    ['cd "$(git rev-parse --git-common-dir)" && echo x > hooks/pre-push', "deny"],
    ['cd "$(git rev-parse --git-common-dir)/.." && git commit -am x', "deny"],
    ['git -C "$(dirname "$(git rev-parse --git-common-dir)")" commit -am x', "deny"],
    ['rm "$(git rev-parse --show-toplevel)/../../../.git/config"', "deny"],
    ['cat "$(git rev-parse --git-common-dir)/config"', null],
    ['cd "$(git rev-parse --show-toplevel)" && git commit -am x', null],
  ])("what git says where it stands is no way into the person's: %s", async (command, answer) =>
    expect(await decision(worker, "Bash", { command })).toBe(answer),
  );

  test.each([
    ["git commit -F secret", "deny"],
    ["git commit -Fsecret", "deny"],
    ["git commit --file=secret", "deny"],
    ["cd src && git commit -F ../secret", "deny"],
    ["git tag -a v1 -F secret", "deny"],
    ["git diff secret", null],
    ["git commit -F inside/one.txt", "allow"],
    ["git commit -F none", "allow"],
    ["git -C theirs reset --hard", "deny"],
    ["git -C theirs log", null],
    ["rm logs/a.log", "deny"],
    ["echo x > logs/a.log", "deny"],
    ["cat logs/a.log", null],
  ])("a link is what it leads to: %j → %s", async (command, expected) => {
    for (const [name, target] of [
      ["secret", "/etc/passwd"],
      ["inside", "src"],
      ["theirs", scene.repo],
      ["logs", join(scene.repo, ".git/minion/r1/output")],
    ] as const)
      symlinkSync(target, join(worker.path, name));
    expect(await decision(worker, "Bash", { command })).toBe(expected);
  });

  test.each([
    ["PermissionRequest", "default", { command: "npm  test\n# all" }, "Bash", "npm test # all"],
    ["PermissionDenied", "auto", { file_path: "/etc/x" }, "Write", "/etc/x"],
  ] as const)(
    "%s: ends for want of permission, with what was refused",
    async (event, mode, tool_input, tool_name, what) => {
      const answer = await hook(event, worker, { permission_mode: mode, tool_name, tool_input });
      expect(answer).toMatchObject({ code: 0, stdout: "" });
      expect(events("refused")).toMatchObject([{ attempt: "r1/1.1", tool: tool_name, what }]);
      const end = { permission_mode: mode, last_assistant_message: "I could not." };
      if (mode === "default") expect((await hook("SubagentStop", worker, end)).code).toBe(2);
      await hook("SubagentStop", worker, end);
      expect(events("ended")).toMatchObject([
        { reason: "permission", note: expect.stringContaining(what) },
      ]);
    },
  );

  test("a red gate stays a failed gate, whatever was refused before", async () => {
    await hook("PermissionRequest", worker, {
      tool_name: "Bash",
      tool_input: { command: "x".repeat(500) },
    });
    expect(events("refused")[0].what).toHaveLength(300);
    worker.edit({ "src/one.txt": "FAIL" });
    await worker.minion(["gate", "--all"]);
    await worker.end();
    await worker.end();
    expect(events("ended")).toMatchObject([{ reason: "gate-failed" }]);
  });

  test.each([
    [
      "rate_limit",
      "API Error: Request rejected (429) · This request would exceed your account's rate limit.",
    ],
    ["server_error", "API Error: 529 Overloaded. This is a server-side issue, usually temporary"],
  ])("%s: a rate limit is nobody's fault", async (error, last_assistant_message) => {
    await hook("StopFailure", worker, { error, last_assistant_message });
    expect(events("ended")).toMatchObject([
      { attempt: "r1/1.1", reason: "rate-limit", note: last_assistant_message },
    ]);
    expect(await states()).toEqual({ 1: "ready" });
  });

  test("one that only forgot to hand in is sent back once, then its result is taken", async () => {
    worker.edit({ "src/one.txt": "1" });
    await worker.minion(["gate", "--all"]);
    worker.commit();
    expect((await worker.end()).code).toBe(2);
    expect(events("submitted")).toEqual([]);
    expect(await worker.end()).toMatchObject({ code: 0, stderr: "" });
    const head = scene.gitIn(worker.path, "rev-parse", "HEAD");
    expect(events("submitted")).toMatchObject([{ head, commits: [head], paths: ["src/one.txt"] }]);
    expect(events("ended")).toEqual([]);
    expect(await states()).toEqual({ 1: "mergeable" });
  });

  test("not where its commits have not the form that the blueprint asks for", async () => {
    worker.edit({ "src/one.txt": "1" });
    await worker.minion(["gate", "--all"]);
    worker.commit("did it");
    await worker.end();
    await worker.end();
    expect(events("submitted")).toEqual([]);
    expect(events("ended")).toMatchObject([
      { reason: "unproven", note: expect.stringContaining("did it") },
    ]);
  });
});

describe("an attempt that was cut off", () => {
  ownScene();

  test("by another failure of the service, by an empty end, by a limit of turns: says so, and what the branch holds", async () => {
    const list = "1. One\n2. Two\n3. Three\n";
    const one = await begun(list);
    one.edit({ "src/one.txt": "1" });
    one.commit();
    one.edit({ "src/more.txt": "2" });
    await hook("StopFailure", one, {
      error: "server_error",
      last_assistant_message: "API Error: 500",
    });
    const two = await scene.agent("r1/2.1");
    await two.begin();
    for (let call = 0; call < 2; call++)
      await hook("SubagentStop", two, { permission_mode: "default" });
    const three = await scene.agent("r1/3.1");
    await three.begin();
    await scene.hook("UserPromptSubmit", {
      prompt: `<task-notification>\n<task-id>${three.id}</task-id>\n<summary>Agent "x" stopped at its 3-turn limit (partial</summary>`,
    });
    const ended = events("ended");
    expect(ended.map(({ attempt, reason }) => [attempt, reason])).toEqual([
      ["r1/1.1", "cut-off"],
      ["r1/2.1", "cut-off"],
      ["r1/3.1", "cut-off"],
    ]);
    expect(ended[0].note).toMatch(
      /API Error: 500.*minion\/r1\/1-one\.1: 1; not committed: src\/more\.txt/,
    );
    expect(ended[2].note).toMatch(/turns.*3-three\.1: 0; not committed: nothing/);
  });
});

describe("the foreman", () => {
  ownScene();
  test("an agent is told what next named and nothing else: more would be known to one try of one task alone", async () => {
    await scene.start("1. One\n");
    const [dispatch] = (await scene.minion(["next", "--json"])).json.dispatch;
    const ask = async (prompt: string) => {
      const tool_input = { subagent_type: dispatch.agent, prompt };
      const answer = await scene.hook("PreToolUse", { tool_name: "Agent", tool_input });
      const { permissionDecision, permissionDecisionReason } = answer.json.hookSpecificOutput;
      return [permissionDecision, permissionDecisionReason];
    };
    expect(await ask(`${dispatch.prompt}\n`)).toMatchObject(["allow", expect.anything()]);
    const more = await ask(`${dispatch.prompt} Comments are to be in German.`);
    expect(more).toMatchObject(["deny", expect.stringContaining(`«${dispatch.prompt}»`)]);
  });

  test("starts nothing in plan mode", async () => {
    await scene.start("1. One\n");
    await scene.minion(["next"]);
    const ask = async (tool_name: string, tool_input: object) => {
      const answer = await scene.hook("PreToolUse", {
        permission_mode: "plan",
        tool_name,
        tool_input,
      });
      return answer.json?.hookSpecificOutput.permissionDecision;
    };
    const prompt = "Run `minion begin r1/1.1` and do what it prints.";
    expect(await ask("Agent", { subagent_type: "minion:minion-worker", prompt })).toBe("deny");
    expect(await ask("Bash", { command: "minion next --json" })).toBe("deny");
    expect(await ask("Bash", { command: "minion plan - <<'TASKS'\n1. One\nTASKS" })).toBe("allow");
  });
});

describe("the filter before the hooks", () => {
  ownScene();

  /** The shipped filter, with a program of ours that leaves a mark where the rails would start. */
  function passes(input: object): boolean {
    const folder = join(scene.home, "plugin");
    const mark = join(folder, "mark");
    for (const name of ["hooks", "bin"]) mkdirSync(join(folder, name), { recursive: true });
    copyFileSync(
      join(import.meta.dirname, "../../../assets/hooks/filter.sh"),
      join(folder, "hooks/filter.sh"),
    );
    writeFileSync(join(folder, "bin/minion"), `#!/bin/sh\ncat > "${mark}"\n`);
    chmodSync(join(folder, "bin/minion"), 0o755);
    const { status } = spawnSync("sh", [join(folder, "hooks/filter.sh"), "X"], {
      input: JSON.stringify(input),
    });
    expect(status).toBe(0);
    const isMarked = existsSync(mark);
    rmSync(mark, { force: true });
    return isMarked;
  }

  test("lets through what is a minion's, and starts nothing for anybody else", () => {
    const turns =
      '<task-notification>\n<summary>Agent "x" stopped at its 200-turn limit (partial result)</summary>';
    expect(passes({ agent_type: "minion:minion-worker", tool_name: "Task" })).toBe(true);
    expect(
      passes({ tool_name: "Agent", tool_input: { subagent_type: "minion:minion-worker" } }),
    ).toBe(true);
    expect(passes({ hook_event_name: "UserPromptSubmit", prompt: turns })).toBe(true);
    for (const command of ["minion next", "cd . && minion land 1", "FOO=1 minion merge"])
      expect(passes({ tool_name: "Bash", tool_input: { command } })).toBe(true);
    expect(passes({ tool_name: "Bash", tool_input: { command: "ls minions" } })).toBe(false);
    for (const prompt of [
      "fix it",
      "<task-notification>\n<summary>Agent finished</summary>",
      "a 3-turn limit (partial)",
    ])
      expect(passes({ hook_event_name: "UserPromptSubmit", prompt })).toBe(false);
    expect(
      passes({ agent_type: "Explore", tool_name: "Bash", tool_input: { command: "git stash" } }),
    ).toBe(false);
    expect(
      passes({ tool_name: "Agent", tool_input: { subagent_type: "Explore", prompt: "minion" } }),
    ).toBe(false);
    expect(passes({ hook_event_name: "StopFailure", error: "rate_limit" })).toBe(false);
  });
});
