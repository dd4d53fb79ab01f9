// What the rails cost, each against the least that could do anything of the kind.
import { appendFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { execPath } from "node:process";
import { assets, HANDOFF, repository } from "./repository.mjs";
import { against, rowsOf, run, timed } from "./times.mjs";

/** What each tool use of a session without minions pays, and each end of its turns. */
export async function hook(folder) {
  const repo = join(folder, "repo/src/deep");
  await mkdir(join(folder, "repo/.git"), { recursive: true });
  await mkdir(repo, { recursive: true });
  const call = { session_id: "s", cwd: "/repo", hook_event_name: "PreToolUse", tool_name: "Edit" };
  const input = JSON.stringify({
    ...call,
    tool_input: { file_path: "/repo/a.ts", new_string: "x".repeat(4000) },
  });
  const rows = [];
  for (const [event, what] of [
    ["PreToolUse", "hook in a session without minions"],
    ["Wait", "hook at the end of its turn"],
  ]) {
    const filter = () => run("sh", [join(assets, "hooks/filter.sh"), event], { cwd: repo, input });
    rows.push(
      ...(await against(
        [what, filter],
        ["sh -c true", () => run("sh", ["-c", "true"], { input })],
        60,
      )),
    );
  }
  return rows;
}

export async function board(folder) {
  const { minion } = await dispatched(folder, 5);
  return against(
    ["minion board", () => minion(["board"])],
    ["node -e 0", () => run(execPath, ["-e", "0"])],
    15,
  );
}

/** A journal as a long run leaves it, looked at once. */
export async function fold(folder) {
  const { minion, repo } = await dispatched(folder, 20);
  const file = join(repo, ".git/minion/r1/events.jsonl");
  const events = (await readFile(file, "utf8")).trim().split("\n").length;
  await appendFile(file, longJournal(10_000 - events));
  const parse =
    "for (const line of fs.readFileSync(process.argv[1], 'utf8').trim().split('\\n')) JSON.parse(line)";
  const bare = ["node that parses their lines", () => run(execPath, ["-e", parse, file])];
  return against(["minion board of 10,000 events", () => minion(["board"])], bare, 15);
}

function longJournal(length) {
  const lines = [];
  for (let at = 0; lines.length < length; at++) {
    const attempt = `r1/${(at % 20) + 1}.1`;
    const name = `gate ${attempt} test`;
    const evidence = {
      gate: "test",
      by: "worker",
      attempts: [attempt],
      changed: [],
      made: [],
      command: "true",
      cwd: "",
    };
    lines.push(
      { event: "job", name, attempt, process: { pid: 1, started: "1" } },
      {
        event: "evidence",
        ...evidence,
        tree: at.toString(16).padStart(40, "0"),
        setup: "",
        code: 0,
        ms: 5,
        output: "o",
      },
      { event: "job-ended", name, attempt, error: null },
      { event: "alive", attempt },
    );
  }
  const at = Date.now();
  return lines
    .slice(0, length)
    .map((event) => `${JSON.stringify({ at, ...event })}\n`)
    .join("");
}

/** Ten tasks, each landed by a call of its own with a gate that does nothing, and the same ten
 * commits picked by hand. */
export async function land(folder) {
  const { minion, git, repo } = await dispatched(folder, 10);
  const bare = join(folder, "bare");
  await git(["worktree", "add", "--quiet", "--detach", bare]);
  let ours = 0;
  let theirs = 0;
  for (let task = 1; task <= 10; task++) {
    const path = await worker({ minion, git, repo }, task);
    await minion(["submit"], { cwd: path, input: HANDOFF });
    const commit = (await git(["rev-parse", "HEAD"], { cwd: path })).trim();
    theirs += await timed(() => git(["cherry-pick", commit], { cwd: bare }));
    ours += await timed(() => minion(["land", String(task)]));
  }
  return rowsOf(["ten minion land", ours], ["ten git cherry-pick", theirs]);
}

/** The programs that a gate starts whose evidence is there, counted where Node starts any. */
export async function gate(folder) {
  const { minion, git, repo } = await dispatched(folder, 1);
  const path = await worker({ minion, git, repo }, 1);
  const counted = join(folder, "started");
  const spy = join(folder, "spy.cjs");
  await writeFile(counted, "");
  await writeFile(
    spy,
    `const { ChildProcess } = require("node:child_process");
    const { spawn } = ChildProcess.prototype;
    ChildProcess.prototype.spawn = function (options) {
      require("node:fs").appendFileSync(${JSON.stringify(counted)}, options.file + "\\n");
      return spawn.call(this, options);
    };`,
  );
  const ran = async () => (await readFile(join(folder, "ran"), "utf8")).trim().split("\n").length;
  const before = await ran();
  await minion(["gate", "test"], { cwd: path, env: { NODE_OPTIONS: `--require "${spy}"` } });
  const started = (await readFile(counted, "utf8")).trim().split("\n");
  return [
    ["gate with evidence: runs of its command", (await ran()) - before],
    ["gate with evidence: programs but git", started.filter((file) => file !== "git").length],
    ["gate with evidence: git, for the tree", started.filter((file) => file === "git").length],
  ];
}

/** A worker that has done a task, with the evidence for it. @returns its worktree */
async function worker({ minion, git, repo }, task) {
  const path = join(repo, ".claude/worktrees", `agent-${task}`);
  await git(["worktree", "add", "--quiet", "-b", `worktree-agent-${task}`, path]);
  await minion(["begin", `r1/${task}.1`], { cwd: path });
  await writeFile(join(path, `${task}.txt`), "done\n");
  await git(["add", "."], { cwd: path });
  await git(["commit", "--quiet", "-m", `feat: task ${task}`], { cwd: path });
  await minion(["gate", "--all"], { cwd: path });
  return path;
}

/** A repository with a run whose tasks are dispatched. Its one gate writes down that it ran. */
async function dispatched(folder, tasks) {
  const made = await repository(folder, tasks, `echo ran >> "${join(folder, "ran")}"`);
  await made.minion(["next"]);
  return made;
}
