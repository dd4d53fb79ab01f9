import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { run } from "../../../rails/cli.ts";
import type { World } from "../../../rails/program/world.ts";
import { handoff as inForm } from "../../handoff.ts";

export const MINION = join(import.meta.dirname, "../../../assets/bin/minion");

/** Gates that need no toolchain: lint is red where a source says LINT, test where one says FAIL. */
const BLUEPRINT = `---
gates:
  - name: lint
    run: "echo linting; ! grep -rn LINT src"
  - name: test
    run: "echo testing; ! grep -rn FAIL src"
---
`;

export interface Answer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  // biome-ignore lint/suspicious/noExplicitAny: a document of the program under test
  readonly json: any;
}

/** So often `untilState` looks, a tenth of a second apart. */
const LOOKS = 600;

/** The attempts that an answer of `next` names. */
export const attemptsOf = (answer: { dispatch: { attempt: string }[] }): string[] =>
  answer.dispatch.map(({ attempt }) => attempt);

interface CallOptions {
  readonly cwd?: string;
  readonly input?: string;
  readonly env?: NodeJS.ProcessEnv;
}

const answerOf = (args: readonly string[], said: Omit<Answer, "json">): Answer => ({
  ...said,
  json: args.includes("--json") && said.stdout ? JSON.parse(said.stdout) : null,
});

/** A real repository in a temporary folder, with `minion` as built and worktrees made as Claude
 * Code makes them. */
export class Scene {
  readonly home = realpathSync(mkdtempSync(join(tmpdir(), "minion-scene-")));
  readonly repo: string;
  session = "s1";
  program = MINION;
  /** How long the machine has slept, in milliseconds. */
  slept = 0;
  /** What was started beside calls in this process and still runs. */
  private readonly jobs = new Set<Promise<void>>();
  /** Where it was kept. */
  private readonly kept = new Set<string>();

  constructor(blueprint = BLUEPRINT, folder = "a repo") {
    this.repo = join(this.home, folder);
    mkdirSync(this.repo);
    mkdirSync(this.env().TMPDIR as string);
    this.write(".claude/minion/blueprint.md", blueprint);
    this.write("src/start.txt", "fine\n");
    this.git("init", "-q", "-b", "trunk");
    this.commit("chore: start");
  }

  env(): NodeJS.ProcessEnv {
    const who = {
      GIT_AUTHOR_NAME: "t",
      GIT_AUTHOR_EMAIL: "t@t",
      GIT_COMMITTER_NAME: "t",
      GIT_COMMITTER_EMAIL: "t@t",
    };
    return {
      PATH: process.env.PATH,
      HOME: this.home,
      // Its own, so that no gate of another test is waited for.
      TMPDIR: join(this.home, "tmp"),
      GIT_CONFIG_NOSYSTEM: "1",
      CLAUDE_CODE_SESSION_ID: this.session,
      ...who,
    };
  }

  git(...args: string[]): string {
    return this.gitIn(this.repo, ...args);
  }

  gitIn(cwd: string, ...args: string[]): string {
    return execFileSync("git", args, { cwd, env: this.env(), encoding: "utf8" }).trim();
  }

  write(path: string, text: string, top = this.repo): void {
    mkdirSync(dirname(join(top, path)), { recursive: true });
    writeFileSync(join(top, path), text);
  }

  commit(message: string, top = this.repo): void {
    this.gitIn(top, "add", "-A");
    this.gitIn(top, "commit", "-qm", message);
  }

  /** Calls a verb in this process, as fast as a function; with `--json` its document is parsed. What
   * it asks to be done beside it (a gate, a landing) runs in this process as well. */
  async minion(args: string[], options: CallOptions = {}): Promise<Answer> {
    const said = { stdout: "", stderr: "" };
    const code = await run(args, this.world(said, options));
    return answerOf(args, { code, ...said });
  }

  /** Starts the program as it is built, for what is about processes: their pids, signals, pipes. */
  spawned(
    args: string[],
    { cwd = this.repo, input = "", env = {} }: CallOptions = {},
  ): Promise<Answer> {
    return new Promise((resolve) => {
      const child = spawn(process.execPath, [this.program, ...args], {
        cwd,
        env: { ...this.env(), ...env },
      });
      let stdout = "";
      let stderr = "";
      child.stdout.on("data", (chunk) => (stdout += chunk));
      child.stderr.on("data", (chunk) => (stderr += chunk));
      child.on("close", (code) => resolve(answerOf(args, { code: code ?? -1, stdout, stderr })));
      child.stdin.end(input);
    });
  }

  private world(
    said: { stdout: string; stderr: string },
    { cwd = this.repo, input = "", env = {} }: CallOptions,
  ): World {
    const world: World = {
      cwd,
      env: { ...this.env(), ...env },
      stdout: { write: (text) => (said.stdout += text) },
      stderr: { write: (text) => (said.stderr += text) },
      input: async () => input,
      now: () => Date.now(),
      slept: () => this.slept,
      program: this.program,
      again: (argv, where) => {
        const ended: { code?: number } = {};
        const silent = { write: () => true };
        const own = { ...world, cwd: where, stdout: silent, stderr: silent };
        const job = run(argv, own).then((code) => {
          ended.code = code;
        });
        this.jobs.add(job);
        void job.finally(() => this.jobs.delete(job));
        return ended;
      },
    };
    return world;
  }

  /** A hook call as Claude Code makes it; the answer's stdout is parsed where there is one. */
  async hook(event: string, input: object): Promise<Answer> {
    const answer = await this.minion(["hook", event], {
      input: JSON.stringify({ session_id: this.session, cwd: this.repo, ...input }),
    });
    return { ...answer, json: answer.stdout ? JSON.parse(answer.stdout) : null };
  }

  async start(list: string): Promise<string> {
    const answer = await this.minion(["start", "-", "--json"], { input: list });
    if (answer.code !== 0) throw new Error(answer.stdout + answer.stderr);
    return answer.json.run;
  }

  /** What `next --json` answers. */
  async next() {
    return (await this.minion(["next", "--json"])).json;
  }

  /** A task as the board's data has it; undefined where there is none. */
  async taskOf(id: string) {
    const { json } = await this.minion(["board", "--json"]);
    return json.tasks.find((each: { task: string }) => each.task === id);
  }

  /** Waits until a task is in a state. */
  async untilState(id: string, state: string): Promise<void> {
    for (let looks = 0; (await this.taskOf(id))?.state !== state; looks++) {
      if (looks === LOOKS) throw new Error(`task ${id} never was ${state}`);
      await setTimeout(100);
    }
  }

  /** The events of that name in the journal of the first run. */
  // biome-ignore lint/suspicious/noExplicitAny: a line of the journal as it stands there
  eventsNamed(name: string): any[] {
    return readFileSync(join(this.repo, ".git/minion/r1/events.jsonl"), "utf8")
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line))
      .filter(({ event }) => event === name);
  }

  /** A worktree as the client makes one for an agent, and the launch told to the hook. */
  async agent(attempt: string): Promise<Worker> {
    const id = Math.random().toString(16).slice(2, 12);
    const path = join(this.repo, ".claude/worktrees", `agent-${id}`);
    this.git("worktree", "add", "-q", "-b", `worktree-agent-${id}`, path, "HEAD");
    await this.hook("PostToolUse", {
      tool_name: "Agent",
      tool_input: {
        subagent_type: "minion:minion-worker",
        prompt: `Run \`minion begin ${attempt}\` and do what it prints.`,
      },
      tool_response: { agentId: id },
      transcript_path: join(this.home, ".claude/projects/p", `${this.session}.jsonl`),
    });
    return new Worker(this, id, path, attempt);
  }

  /** The whole of a good worker's life. */
  async goodWorker(attempt: string, files: Record<string, string>): Promise<Worker> {
    const worker = await this.agent(attempt);
    await worker.begin();
    worker.edit(files);
    await worker.finish();
    return worker;
  }

  /** What `git status` says of an operation that goes on, or waits for somebody, in any worktree.
   */
  inProgress(): string[] {
    const says =
      /^(You are (currently|in the middle)|All conflicts fixed|You have unmerged|Unmerged paths|.*in progress).*/gm;
    const trees = [...this.git("worktree", "list", "--porcelain").matchAll(/^worktree (.*)$/gm)];
    return trees.flatMap(([, path = ""]) => this.gitIn(path, "status").match(says) ?? []);
  }

  /** What is on a branch, without checking it out. */
  show(ref: string): string[] {
    return this.git("ls-tree", "-r", "--name-only", ref).split("\n");
  }

  /** Keeps the scene as it stands for `back`, under a name: what several tests begin with is made
   * once. */
  keep(name = "kept"): void {
    const kept = `${this.home}.${name}`;
    rmSync(kept, { recursive: true, force: true });
    this.kept.add(kept);
    execFileSync("cp", ["-a", this.home, kept]);
  }

  /** Takes everything back to where it was kept, at the same path, of which git and the journal
   * hold copies. */
  back(name = "kept"): void {
    rmSync(this.home, { recursive: true });
    execFileSync("cp", ["-a", `${this.home}.${name}`, this.home]);
    this.session = "s1";
  }

  async destroy(): Promise<void> {
    await Promise.all(this.jobs);
    for (const path of [this.home, ...this.kept]) rmSync(path, { recursive: true, force: true });
  }
}

export class Worker {
  constructor(
    private readonly scene: Scene,
    readonly id: string,
    readonly path: string,
    readonly attempt: string,
  ) {}

  minion(args: string[], input = ""): Promise<Answer> {
    return this.scene.minion(args, { cwd: this.path, input });
  }

  /** Through the program as it is built. */
  spawned(args: string[]): Promise<Answer> {
    return this.scene.spawned(args, { cwd: this.path });
  }

  begin(): Promise<Answer> {
    return this.minion(["begin", this.attempt]);
  }

  edit(files: Record<string, string>): void {
    for (const [path, text] of Object.entries(files)) this.scene.write(path, text, this.path);
  }

  commit(message = "feat: work"): void {
    this.scene.commit(message, this.path);
  }

  submit(handoff = "Did it."): Promise<Answer> {
    return this.minion(["submit", "--json"], inForm(handoff));
  }

  async finish(): Promise<void> {
    const gates = await this.minion(["gate", "--all"]);
    this.commit();
    const submitted = await this.submit();
    for (const { code, stdout, stderr } of [gates, submitted])
      if (code !== 0) throw new Error(stdout + stderr);
  }

  /** The client's hook at the worker's end. */
  end(mode: "default" | "auto" = "default"): Promise<Answer> {
    const who = {
      agent_id: this.id,
      agent_type: "minion:minion-worker",
      permission_mode: mode,
      cwd: this.path,
    };
    return mode === "auto"
      ? this.scene.hook("PreToolUse", {
          ...who,
          tool_name: "SubagentHandback",
          tool_input: { message: "done" },
        })
      : this.scene.hook("SubagentStop", { ...who, last_assistant_message: "done" });
  }
}
