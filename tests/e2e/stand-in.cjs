// A stand-in for the rails, for tests of the scripted model alone: it keeps the contract's words and proves nothing.
const { execFileSync } = require("node:child_process");
const { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");

const [verb, ...rest] = process.argv.slice(2);
const input = verb === "hook" ? JSON.parse(readFileSync(0, "utf8")) : {};
const common = execFileSync("git", ["rev-parse", "--path-format=absolute", "--git-common-dir"], {
  cwd: input.cwd,
  encoding: "utf8",
});
const folder = join(common.trim(), "minion");
const file = join(folder, "state.json");
const lock = join(folder, "lock");
mkdirSync(folder, { recursive: true });
// Two workers call at the same time: one holds the state until it has written it.
for (;;) {
  try {
    mkdirSync(lock);
    break;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
  }
}
process.on("exit", () => rmdirSync(lock));
const state = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : { tasks: [] };
const print = (value) => process.stdout.write(typeof value === "string" ? value : `${JSON.stringify(value)}\n`);
const taskOf = (attempt) => state.tasks.find(({ id }) => id === attempt.split("/")[1].split(".")[0]);
const here = () => state.tasks.find(({ worktree }) => worktree === (input.cwd ?? process.cwd()));

function hook() {
  const allow = { hookEventName: "PreToolUse", permissionDecision: "allow", permissionDecisionReason: "rails" };
  const isEnd = input.tool_name === "SubagentHandback" || input.hook_event_name === "SubagentStop";
  if (!isEnd) return input.hook_event_name === "PreToolUse" && print({ hookSpecificOutput: allow });
  const task = here();
  if (!task || task.state === "landed" || task.state === "failed") return;
  const sendBack = task.sentBack < 2;
  if (sendBack) task.sentBack++;
  else task.state = "failed";
  if (!sendBack) return;
  const reason = "no evidence for this tree: run minion gate --all";
  if (input.hook_event_name === "PreToolUse")
    print({ hookSpecificOutput: { ...allow, permissionDecision: "deny", permissionDecisionReason: reason } });
  else {
    process.stderr.write(reason);
    process.exitCode = 2;
  }
}

const verbs = {
  hook,
  plan: () => {
    const tasks = [...readFileSync(rest[0], "utf8").matchAll(/^### Task (\w+): (.*)$/gm)];
    if (tasks.length === 0) process.exitCode = 1;
    print({ version: 1, tasks: tasks.map(([, id, title]) => ({ id, title })) });
    return tasks;
  },
  start: () => {
    const tasks = verbs.plan();
    state.tasks = tasks.map(([, id, title]) => ({ id, title, state: "ready", sentBack: 0, gates: 0 }));
  },
  next: () => {
    const ready = state.tasks.filter((task) => task.state === "ready");
    for (const task of ready) task.state = "running";
    const dispatch = ready.map(({ id, title }) => ({
      attempt: `r/${id}.1`,
      task: id,
      agent: "minion-worker",
      description: title,
      prompt: `Run \`minion begin r/${id}.1\` and do what it prints.`,
    }));
    const done = !state.tasks.some((task) => task.state === "running");
    print({ version: 1, run: "r", done, landed: [], dispatch, waiting: [], attention: [] });
  },
  begin: () => {
    const task = taskOf(rest[0]);
    task.worktree = process.cwd();
    print(`${task.title}\n`);
  },
  gate: () => {
    process.exitCode = here().gates++ === 0 ? 75 : 0;
  },
  submit: () => {
    const task = here();
    task.handoff = readFileSync(0, "utf8");
    task.state = "landed";
  },
  report: () => print(state.tasks.map(({ id, state }) => `task ${id}: ${state}\n`).join("")),
};
verbs[verb]();
if (verb !== "plan") writeFileSync(file, JSON.stringify(state));
