import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { inject } from "vitest";
import { type ClientResult, type ClientRun, startClient } from "../../demo/client.ts";
import { orchestrator, type Replan } from "../../demo/orchestrator-script.ts";
import { type Edits, makeSample, readEdits } from "../../demo/sample-repo.ts";
import {
  type ModelRequest,
  type ScriptedModel,
  startModel,
  type ToolUse,
} from "../../demo/scripted-model.ts";
import { conversations, roleOf, type Speaker } from "../../demo/talk.ts";
import { type Behaviour, worker } from "../../demo/worker-script.ts";
import { handoff } from "../handoff.ts";
import { openTerminal, type Terminal } from "./terminal.ts";

const ROOT = join(import.meta.dirname, "../..");
export const CLAUDE = join(ROOT, "node_modules/.bin/claude");
const IDENTITY = {
  GIT_AUTHOR_NAME: "t",
  GIT_AUTHOR_EMAIL: "t@t",
  GIT_COMMITTER_NAME: "t",
  GIT_COMMITTER_EMAIL: "t@t",
};

/** How tasks are done that are not done well, by the task's id. */
type Behaviours = Readonly<Record<string, Behaviour>>;
export type Mode = "default" | "auto";

/** A journal's line. */
export type JournalEvent = { readonly at: number; readonly event: string } & Readonly<
  Record<string, unknown>
>;

export const MODES = ["default", "auto"] as const;
/** Gates that need no toolchain: lint is red where a source says LINT, test where one says FAIL. */
export const QUICK_GATES = `
  - name: lint
    run: "! grep -rn LINT src"
  - name: test
    run: "! grep -rn FAIL src"`;

/** A temporary HOME with the plugin from the packed tarball, a repository, and a scripted model. */
export class World {
  readonly temp = realpathSync(mkdtempSync(join(tmpdir(), "minion world-")));
  readonly home = join(this.temp, "home");
  readonly repo = join(this.temp, "sample");
  readonly requests: ModelRequest[] = [];
  edits: Edits = { tasks: {}, guesses: {} };
  /** What the orchestrator makes of what workers find. */
  replan: Replan = () => "";
  /** What the orchestrator is made to be. */
  as: (usual: Speaker) => Speaker = (usual) => usual;
  private model: ScriptedModel | undefined;
  private client: ClientRun | undefined;
  private terminal: Terminal | undefined;

  /**
   * A world whose repository is small and whose gates are shell lines.
   * @param files what each task's worker writes, by the task's id and the file's path
   * @param gates YAML of the project's blueprint
   */
  static small(
    files: Readonly<Record<string, Readonly<Record<string, string>>>>,
    gates = QUICK_GATES,
  ): World {
    const world = new World();
    world.installer("install");
    world.write(".claude/minion/blueprint.md", `---\ngates:${gates}\n---\n`);
    world.write("src/start.txt", "fine\n");
    world.git("init", "--quiet", "-b", "main");
    world.git("add", "--all");
    world.git("commit", "--quiet", "-m", "chore: start");
    // As a person does it who has nobody to ask: with -p a question is a refusal.
    world.minion("blueprint", "--agree");
    const tasks = Object.entries(files).map(([id, written]) => {
      const steps = Object.entries(written).map(([path, content]) => ({ write: path, content }));
      return [id, { steps, commit: `feat: task ${id}`, handoff: handoff(`task ${id}`) }] as const;
    });
    world.edits = { tasks: Object.fromEntries(tasks), guesses: {} };
    return world;
  }

  /** A world with the demo's sample. */
  static async open(): Promise<World> {
    const world = new World();
    world.installer("install");
    await makeSample(join(inject("unpacked"), "dist/demo"), world.repo);
    world.edits = await readEdits(join(inject("unpacked"), "dist/demo/edits"));
    return world;
  }

  env(): NodeJS.ProcessEnv {
    return { PATH: process.env.PATH, HOME: this.home, ...IDENTITY };
  }

  installer(...args: string[]): string {
    const program = join(inject("unpacked"), "dist/minion-toolkit.js");
    return execFileSync(process.execPath, [program, ...args], {
      env: this.env(),
      encoding: "utf8",
      stdio: "pipe",
    });
  }

  write(path: string, text: string): string {
    const file = join(this.repo, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  }

  /** Writes a task list beside the repository. */
  list(text: string): string {
    const file = join(this.temp, "tasks.md");
    writeFileSync(file, text);
    return file;
  }

  git(...args: string[]): string {
    return execFileSync("git", args, { cwd: this.repo, env: this.env(), encoding: "utf8" }).trim();
  }

  sh(command: string, cwd = "."): string {
    return execFileSync("sh", ["-c", command], {
      cwd: join(this.repo, cwd),
      env: this.env(),
      encoding: "utf8",
    });
  }

  /** `minion` outside of any session, of the packed plugin. */
  plugin(...args: string[]): string {
    const program = join(inject("unpacked"), "assets/bin/minion");
    return execFileSync(program, args, { cwd: this.repo, env: this.env(), encoding: "utf8" });
  }

  /** `minion` outside of any session, as installed. */
  minion(...args: string[]): string {
    const program = join(this.home, ".claude/skills/minion/bin/minion");
    return execFileSync(program, args, { cwd: this.repo, env: this.env(), encoding: "utf8" });
  }

  /** Starts the real client on a prompt; tasks are done as the edits say, or as a behaviour does.
   */
  async start(
    prompt: string,
    mode: Mode | "plan",
    behaviours: Behaviours = {},
    args: string[] = [],
    isTalk = false,
  ): Promise<ClientRun> {
    const model = await this.script(behaviours);
    const { repo: cwd, home } = this;
    const options = { prompt, model, home, cwd, permissionMode: mode, args, isTalk };
    this.client = startClient({ claude: CLAUDE, ...options, env: IDENTITY });
    return this.client;
  }

  /** Opens the client in a terminal, as a person does. */
  async open(behaviours: Behaviours = {}): Promise<Terminal> {
    const model = await this.script(behaviours);
    this.terminal = await openTerminal({
      claude: CLAUDE,
      model,
      home: this.home,
      cwd: this.repo,
      env: IDENTITY,
    });
    return this.terminal;
  }

  private async script(behaviours: Behaviours): Promise<string> {
    await this.model?.close();
    const { tasks, guesses } = this.edits;
    const script = conversations({
      orchestrator: this.as(orchestrator(guesses, this.replan)),
      worker: worker(tasks, behaviours),
    });
    this.model = await startModel(script, (request) => this.requests.push(request));
    return this.model.url;
  }

  async run(
    prompt: string,
    mode: Mode | "plan",
    behaviours: Behaviours = {},
    args: string[] = [],
  ): Promise<ClientResult> {
    return (await this.start(prompt, mode, behaviours, args)).done;
  }

  /** The journal so far; a last line that is torn is none yet. */
  events(run = "r1"): JournalEvent[] {
    let text: string;
    try {
      text = readFileSync(join(this.repo, ".git/minion", run, "events.jsonl"), "utf8");
    } catch {
      return [];
    }
    return text
      .split("\n")
      .slice(0, -1)
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  }

  /** The events of one name, of one attempt where that is said. */
  named(name: string, attempt?: string): JournalEvent[] {
    return this.events().filter(
      (each) => each.event === name && (attempt ?? each.attempt) === each.attempt,
    );
  }

  /** Waits until the journal holds an event, and fails where the client ends before that. */
  async until(client: ClientRun, what: (event: JournalEvent) => boolean): Promise<void> {
    let over = false;
    void client.done.then(() => {
      over = true;
    });
    while (!this.events().some(what)) {
      if (over) throw new Error("the client ended before that happened");
      await setTimeout(20);
    }
  }

  /** What the client keeps of the session and of its agents, each as a text. */
  transcripts(): string[] {
    const folder = join(this.home, ".claude/projects");
    const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
    return names
      .filter((name) => name.endsWith(".jsonl"))
      .map((name) => readFileSync(join(folder, name), "utf8"));
  }

  /** What is on a branch: each file with its content. */
  files(ref: string): Record<string, string> {
    const names = this.git("ls-tree", "-r", "-z", "--name-only", ref).split("\0").filter(Boolean);
    return Object.fromEntries(names.map((name) => [name, this.git("show", `${ref}:${name}`)]));
  }

  branches(): string[] {
    return this.git("for-each-ref", "--format=%(refname:short)", "refs/heads").split("\n");
  }

  states(): Record<string, string> {
    const { tasks } = JSON.parse(this.minion("board", "--json"));
    return Object.fromEntries(
      tasks.map(({ task, state }: { task: string; state: string }) => [task, state]),
    );
  }

  /** Everything of the person's that a run must leave as it is. */
  theirs(): Record<string, string> {
    return {
      head: this.git("symbolic-ref", "HEAD"),
      refs: this.git("for-each-ref", "--format=%(refname) %(objectname)")
        .replaceAll(/^refs\/heads\/(minion\/r\d+\/|worktree-agent-).*\n?/gm, "")
        .trim(),
      index: this.git("ls-files", "--stage"),
      stash: this.git("stash", "list"),
      config: readFileSync(join(this.repo, ".git/config"), "utf8"),
      exclude: readFileSync(join(this.repo, ".git/info/exclude"), "utf8"),
      files: execFileSync(
        "sh",
        [
          "-c",
          "find . -path ./.git -prune -o -path ./.claude/worktrees -prune -o -type f -exec sha1sum {} + | sort -k2",
        ],
        { cwd: this.repo, encoding: "utf8" },
      ),
    };
  }

  /** The requests that an orchestrator or a worker made. */
  asked(role: "orchestrator" | "worker"): ModelRequest[] {
    return this.requests.filter((request) => roleOf(request) === role);
  }

  /**
   * What the orchestrator's conversation gained from the first `minion next` to the last answer, in tokens of four
   * characters: what it and the rails said, and what the client says by itself to each launch and each end.
   */
  gained(): { own: number; client: number } {
    const asked = this.asked("orchestrator");
    const started = asked.find((request) =>
      callBefore(request)?.input.command?.toString().startsWith("minion start"),
    );
    const reported = asked.find(
      (request) => callBefore(request)?.input.command === "minion report",
    );
    if (!started || !reported) throw new Error("the run has no beginning or no end");
    const shells = new Set<string>();
    const characters = { own: 0, client: 0 };
    for (const { role, content } of reported.messages.slice(
      started.messages.length,
      lastReply(reported),
    ))
      for (const block of typeof content === "string"
        ? [{ type: "text" as const, text: content }]
        : content) {
        if (block.type === "tool_use" && block.name === "Bash") shells.add(block.id);
        const own =
          role === "assistant" || (block.type === "tool_result" && shells.has(block.tool_use_id));
        const said =
          block.type === "text"
            ? block.text
            : block.type === "tool_use"
              ? block.input
              : block.content;
        characters[own ? "own" : "client"] +=
          typeof said === "string" ? said.length : JSON.stringify(said).length;
      }
    return { own: characters.own / 4, client: characters.client / 4 };
  }

  /** So many characters the rails said to the orchestrator up to its last request: what `minion`
   * printed and what hooks answered, the report apart. */
  saidByRails(): { said: number; reported: number } {
    const characters = { said: 0, reported: 0 };
    const commands = new Map<string, string>();
    for (const { role, content } of this.asked("orchestrator").at(-1)?.messages ?? [])
      for (const block of typeof content === "string"
        ? [{ type: "text" as const, text: content }]
        : content) {
        if (block.type === "tool_use") commands.set(block.id, String(block.input.command));
        else if (block.type === "tool_result") {
          const command = commands.get(block.tool_use_id) ?? "";
          if (!command.startsWith("minion ")) continue;
          const { content: said = "" } = block;
          const text = typeof said === "string" ? said : said.map((each) => each.text).join("");
          characters[command.startsWith("minion report") ? "reported" : "said"] += text.length;
        } else if (role !== "assistant")
          // Around it stand words of the client's own.
          for (const [answer] of block.text.matchAll(WOKEN)) characters.said += answer.length;
      }
    return characters;
  }

  async close(): Promise<void> {
    this.client?.kill();
    await this.terminal?.close();
    await this.model?.close();
    // Jobs outlive the session by design, and would write into the folder that is about to go.
    const ended = new Set(this.named("job-ended").map(({ name }) => name));
    for (const { name, process: job } of this.named("job"))
      if (!ended.has(name)) endProcess((job as { pid: number }).pid);
    rmSync(this.temp, { recursive: true, force: true, maxRetries: 20 });
  }
}

/** What a hook says to a session that it wakes, or that has lost what it knew. */
const WOKEN = /What `minion next --json --run r\d+` says now: .*\n\{.*\}$/gm;

const lastReply = ({ messages }: ModelRequest): number =>
  messages.findLastIndex(({ role }) => role === "assistant");

/** The call whose result a request brings. */
function callBefore(request: ModelRequest): ToolUse | undefined {
  const content = request.messages[lastReply(request)]?.content ?? [];
  return typeof content === "string"
    ? undefined
    : content.find((block) => block.type === "tool_use");
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, "SIGTERM");
  } catch {
    // It has ended by itself.
  }
}
