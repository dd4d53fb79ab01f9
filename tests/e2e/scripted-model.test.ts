import { execFile, spawnSync } from "node:child_process";
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startClient } from "../../demo/client.ts";
import { orchestrator } from "../../demo/orchestrator-script.ts";
import { type ScriptedModel, startModel } from "../../demo/scripted-model.ts";
import { conversations, type Role, roleOf } from "../../demo/talk.ts";
import { claimsWithoutRunning, type ScriptedTask, worker } from "../../demo/worker-script.ts";
import { openTerminal } from "./terminal.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");
const claude = join(root, "node_modules/.bin/claude");
const identity = {
  GIT_AUTHOR_NAME: "t",
  GIT_AUTHOR_EMAIL: "t@example.invalid",
  GIT_COMMITTER_NAME: "t",
  GIT_COMMITTER_EMAIL: "t@example.invalid",
};

let temp: string;
let home: string;
let repo: string;
let model: ScriptedModel;
let roles: Role[];

const tasks: Record<string, ScriptedTask> = {
  "1": {
    steps: [
      { write: "one.txt", content: "one\n" },
      { write: "a.txt", content: "b\n" },
      { edit: "one.txt", from: "one", to: "'1'" },
    ],
    commit: "feat: it's one",
    handoff: 'What: one\n$(touch "never")',
  },
  "2": { steps: [{ write: "two.txt", content: "two\n" }], commit: "feat: two", handoff: "What: two" },
};

beforeEach(async () => {
  temp = await mkdtemp(join(tmpdir(), "minion scripted-"));
  home = join(temp, "home");
  repo = join(temp, "repo");
  await layPlugin(join(home, ".claude/skills/minion"));
  await mkdir(repo);
  const env = { ...process.env, ...identity };
  await run("git", ["init", "--quiet", "-b", "main"], { cwd: repo });
  await writeFile(join(repo, "a.txt"), "a\n");
  await run("git", ["add", "-A"], { cwd: repo });
  await run("git", ["commit", "--quiet", "-m", "init"], { cwd: repo, env });
  roles = [];
  const script = conversations({ orchestrator: orchestrator(), worker: worker(tasks, { "2": claimsWithoutRunning }) });
  model = await startModel(script, (request) => roles.push(roleOf(request)));
});
afterEach(async () => {
  await model.close();
  await rm(temp, { recursive: true, force: true });
});

/** A plugin with the stand-in for the rails: enough for the client to expand `/minion` and to run workers. */
async function layPlugin(plugin: string): Promise<void> {
  for (const folder of [".claude-plugin", "agents", "hooks", "bin"])
    await mkdir(join(plugin, folder), { recursive: true });
  const manifest = { name: "minion", version: "0.0.0", description: "stand-in" };
  await writeFile(join(plugin, ".claude-plugin/plugin.json"), JSON.stringify(manifest));
  const list = `${temp}/lists/\${CLAUDE_SESSION_ID}.md`;
  await writeFile(
    join(plugin, "SKILL.md"),
    `---\nname: minion\ndescription: stand-in\ndisable-model-invocation: true\n---\nWrite the list to \`${list}\`:\n$ARGUMENTS\n`,
  );
  await writeFile(
    join(plugin, "agents/minion-worker.md"),
    "---\nname: minion-worker\ndescription: stand-in\nisolation: worktree\ndisallowedTools: Agent\n---\nDo one task.\n",
  );
  await copyFile(join(root, "tests/e2e/stand-in.cjs"), join(plugin, "bin/stand-in.cjs"));
  await writeFile(join(plugin, "bin/minion"), '#!/bin/sh\nexec node "$(dirname "$0")/stand-in.cjs" "$@"\n', {
    mode: 0o755,
  });
  const hook = [{ hooks: [{ type: "command", command: '"$' + '{CLAUDE_PLUGIN_ROOT}/bin/minion" hook' }] }];
  const hooks = JSON.stringify({ hooks: { PreToolUse: hook, SubagentStop: hook } });
  await writeFile(join(plugin, "hooks/hooks.json"), hooks);
}

function start(prompt: string, permissionMode: "default" | "auto") {
  return startClient({ claude, prompt, model: model.url, home, cwd: repo, permissionMode, env: identity });
}

describe.each(["default", "auto"] as const)("the real client in %s mode", (mode) => {
  test("two workers, one of which claims what it never ran", { timeout: 120_000 }, async () => {
    const result = await start("/minion Tasks:\n1. One's $(task)\n2. Two\n", mode).done;
    // The client counts what a hook sends back as a denial.
    expect(result.denials.filter(({ tool_name }) => tool_name !== "SubagentHandback")).toEqual([]);
    expect(result.code).toBe(0);
    expect(result.text).toBe("task 1: landed\ntask 2: failed");
    expect(result.costUsd).toBeGreaterThan(0);
    expect(new Set(roles)).toEqual(
      new Set(mode === "auto" ? ["orchestrator", "worker", "classifier"] : ["orchestrator", "worker"]),
    );
    expect(await readdir(join(temp, "lists"))).toHaveLength(1);
    const state = JSON.parse(await readFile(join(repo, ".git/minion/state.json"), "utf8"));
    const [one, two] = state.tasks;
    expect(one).toMatchObject({ title: "One's $(task)", gates: 2, sentBack: 0, handoff: `${tasks["1"]?.handoff}\n` });
    expect(two).toMatchObject({ gates: 0, sentBack: 2 });
    const show = ["show", "--format=%s", "HEAD", "--", "one.txt", "a.txt"];
    const { stdout } = await run("git", show, { cwd: one.worktree });
    expect(stdout).toContain("feat: it's one");
    expect(stdout).toContain("+'1'");
    expect(stdout).toContain("+b");
  });
});

test("a list that the rails refuse starts nobody", { timeout: 120_000 }, async () => {
  const result = await start("/minion just do something\nplease", "default").done;
  expect(result.text).toBe('{"version":1,"tasks":[]}');
  expect(roles).not.toContain("worker");
});

test("a client killed in the middle ends with all that it started", { timeout: 120_000 }, async () => {
  const client = start("/minion Tasks:\n1. One\n", "default");
  const began = setInterval(() => roles.includes("worker") && client.kill(), 20);
  const { code, text } = await client.done;
  clearInterval(began);
  expect(code).toBe(null);
  expect(text).toBe("");
});

const noTerminal = spawnSync("tmux", ["-V"]).status !== 0;
test.skipIf(noTerminal)("a person types the tasks in a terminal", { timeout: 120_000 }, async () => {
  const terminal = await openTerminal({ claude, model: model.url, home, cwd: repo, env: identity });
  try {
    await terminal.see(/auto mode|\? for shortcuts/);
    await terminal.type("/minion Tasks:\n1. One\n2. Two");
    expect(await terminal.see(/task 1: landed.*task 2: failed/s, 90_000)).not.toMatch(/Do you want/);
  } finally {
    await terminal.close();
  }
});
