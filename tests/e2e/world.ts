import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject } from "vitest";
import { type ClientResult, type ClientRun, startClient } from "../../demo/client.ts";
import { orchestrator } from "../../demo/orchestrator-script.ts";
import { type Edits, makeSample, readEdits } from "../../demo/sample-repo.ts";
import { type ModelRequest, type ScriptedModel, startModel } from "../../demo/scripted-model.ts";
import { conversations, roleOf } from "../../demo/talk.ts";
import { type Behaviour, worker } from "../../demo/worker-script.ts";

const ROOT = join(import.meta.dirname, "../..");
export const CLAUDE = join(ROOT, "node_modules/.bin/claude");
const IDENTITY = { GIT_AUTHOR_NAME: "t", GIT_AUTHOR_EMAIL: "t@t", GIT_COMMITTER_NAME: "t", GIT_COMMITTER_EMAIL: "t@t" };

export type Mode = "default" | "auto";

/** A journal's line. */
export type JournalEvent = { readonly at: number; readonly event: string } & Readonly<Record<string, unknown>>;

/** A temporary HOME with the plugin from the packed tarball, the demo's sample repository, and a scripted model. */
export class World {
  readonly temp = realpathSync(mkdtempSync(join(tmpdir(), "minion world-")));
  readonly home = join(this.temp, "home");
  readonly repo = join(this.temp, "sample");
  readonly requests: ModelRequest[] = [];
  edits: Edits = { tasks: {}, guesses: {} };
  private model: ScriptedModel | undefined;
  private client: ClientRun | undefined;

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
    return execFileSync(process.execPath, [program, ...args], { env: this.env(), encoding: "utf8", stdio: "pipe" });
  }

  git(...args: string[]): string {
    return execFileSync("git", args, { cwd: this.repo, env: this.env(), encoding: "utf8" }).trim();
  }

  /** `minion` outside of any session, as installed. */
  minion(...args: string[]): string {
    const program = join(this.home, ".claude/skills/minion/bin/minion");
    return execFileSync(program, args, { cwd: this.repo, env: this.env(), encoding: "utf8" });
  }

  /** Starts the real client on a prompt; tasks are done as the sample's edits say, or as a behaviour does. */
  async start(prompt: string, mode: Mode, behaviours: Readonly<Record<string, Behaviour>> = {}): Promise<ClientRun> {
    await this.model?.close();
    const { tasks, guesses } = this.edits;
    const script = conversations({ orchestrator: orchestrator(guesses), worker: worker(tasks, behaviours) });
    this.model = await startModel(script, (request) => this.requests.push(request));
    const { repo: cwd, home } = this;
    this.client = startClient({
      claude: CLAUDE,
      prompt,
      model: this.model.url,
      home,
      cwd,
      permissionMode: mode,
      env: IDENTITY,
    });
    return this.client;
  }

  async run(prompt: string, mode: Mode, behaviours: Readonly<Record<string, Behaviour>> = {}): Promise<ClientResult> {
    return (await this.start(prompt, mode, behaviours)).done;
  }

  events(run = "r1"): JournalEvent[] {
    const text = readFileSync(join(this.repo, ".git/minion", run, "events.jsonl"), "utf8");
    return text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  }

  states(): Record<string, string> {
    const { tasks } = JSON.parse(this.minion("board", "--json"));
    return Object.fromEntries(tasks.map(({ task, state }: { task: string; state: string }) => [task, state]));
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

  async close(): Promise<void> {
    this.client?.kill();
    await this.model?.close();
    rmSync(this.temp, { recursive: true, force: true, maxRetries: 5 });
  }
}
