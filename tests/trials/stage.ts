import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { makeSample } from "../../demo/sample-repo.ts";
import { handoff } from "../handoff.ts";
import type { Files, JournalLine } from "./left.ts";

const WHO = {
  GIT_AUTHOR_NAME: "t",
  GIT_AUTHOR_EMAIL: "t@t",
  GIT_COMMITTER_NAME: "t",
  GIT_COMMITTER_EMAIL: "t@t",
};

/** What stands in the control in place of each prompt: that there is a program, and what to begin
 * with. Guides are prompts, too: there are none. */
export const BARE: Files = {
  "SKILL.md": "`minion` lets parallel workers do a task list (`minion --help`).\n\n$ARGUMENTS\n",
  "agents/minion-worker.md": "Your prompt names an attempt: begin with `minion begin <attempt>`.\n",
  "agents/minion-verifier.md":
    "Your prompt names an attempt: begin with `minion begin <attempt>`.\n",
};

/** Two gates that need nothing installed. */
const PROJECT: Files = {
  "package.json": `{ "name": "svc", "type": "module", "scripts": { "lint": "node scripts/lint.mjs", "test": "node --test" } }\n`,
  "scripts/lint.mjs": `// No file of src has console calls.
import { readdirSync, readFileSync } from "node:fs";
const bad = readdirSync("src").filter((name) => /console\\./.test(readFileSync(\`src/\${name}\`, "utf8")));
for (const name of bad) console.error(\`src/\${name}: no console\`);
process.exit(bad.length > 0 ? 1 : 0);
`,
};

/** A repository, a HOME with the plugin installed, and what has happened up to the moment when the
 * model is asked. */
export class Stage {
  readonly temp = realpathSync(mkdtempSync(join(tmpdir(), "svc-")));
  readonly home = join(this.temp, "home");
  readonly repo = join(this.temp, "svc");

  /**
   * @param files the repository, beside two gates; or the demo's
   * @param pages pages of the plugin that are others: a body, or all of the page
   * @param rails what the person's own blueprint says
   */
  static async open(files: Files | "sample", pages: Files, rails: string): Promise<Stage> {
    const stage = new Stage();
    if (pages === BARE)
      rmSync(join(stage.plugin, "skills/minion-blueprint/guides"), { recursive: true });
    for (const [path, text] of Object.entries(pages)) stage.replacePage(path, text);
    if (rails) stage.write({ "minion/blueprint.md": rails }, join(stage.home, ".claude"));
    if (files === "sample") await makeSample(join(process.cwd(), "dist/demo"), stage.repo);
    else {
      stage.write({ ...PROJECT, ...files });
      stage.git("init", "--quiet", "-b", "main");
      stage.git("add", "--all");
      stage.git("commit", "--quiet", "-m", "chore: start");
    }
    return stage;
  }

  private constructor() {
    mkdirSync(this.home, { recursive: true });
    const installer = join(process.cwd(), "dist/minion-toolkit.js");
    this.run(this.temp, process.execPath, [installer, "install"]);
  }

  private replacePage(path: string, text: string): void {
    const file = join(this.plugin, path);
    const head = /^---\n[\s\S]*?\n---\n/.exec(readFileSync(file, "utf8"))?.[0] ?? "";
    writeFileSync(file, text.startsWith("---\n") ? text : `${head}\n${text}`);
  }

  get plugin(): string {
    return join(this.home, ".claude/skills/minion");
  }

  env(): NodeJS.ProcessEnv {
    return { PATH: process.env.PATH, HOME: this.home, ...WHO };
  }

  run(cwd: string, program: string, args: readonly string[], input = "", isTried = false): string {
    try {
      return execFileSync(program, args, {
        cwd,
        env: this.env(),
        input,
        encoding: "utf8",
        stdio: "pipe",
      }).trim();
    } catch (error) {
      if (isTried) return "";
      throw error;
    }
  }

  git(...args: string[]): string {
    return this.run(this.repo, "git", args);
  }

  write(files: Files, top = this.repo): void {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(top, path)), { recursive: true });
      writeFileSync(join(top, path), text);
    }
  }

  /** The files of a commit, in a folder of their own. */
  filesOf(commit: string): string {
    const folder = join(this.temp, "looked-at", commit);
    if (existsSync(folder)) return folder;
    mkdirSync(folder, { recursive: true });
    this.git("archive", "--output", `${folder}.tar`, commit);
    this.run(folder, "tar", ["-xf", `${folder}.tar`]);
    return folder;
  }

  /** Runs a program in the files of a commit. @returns what it prints; empty where it fails */
  runOn(commit: string, ...[program = "", ...args]: string[]): string {
    return this.run(this.filesOf(commit), program, args, "", true);
  }

  /** `minion` outside of any session; `isTried` where it may as well be refused. */
  minion(args: readonly string[], { cwd = this.repo, input = "", isTried = false } = {}): string {
    return this.run(
      cwd,
      process.execPath,
      [join(this.plugin, "bin/minion"), ...args],
      input,
      isTried,
    );
  }

  /**
   * Works a list off up to where nobody can go on, as workers would.
   * @param tries what a worker of each task leaves before each of its calls of the gates, by the task's id
   * @param words its last message, where it hands nothing in
   */
  work(list: string, tries: Readonly<Record<string, readonly Files[]>>, words: Files = {}): void {
    this.minion(["start", "-"], { input: list });
    for (let round = 0; round < 9; round++) {
      const { dispatch, done } = JSON.parse(this.minion(["next", "--json", "--wait", "60"]));
      if (done) return;
      for (const each of dispatch) this.attempt(each, tries[each.task] ?? [], words[each.task]);
    }
  }

  private attempt(
    { attempt, agent, prompt }: Record<string, string>,
    tries: readonly Files[],
    words: string | undefined,
  ): void {
    const id = String(attempt).replaceAll(/\W/g, "");
    const cwd = join(this.repo, ".claude/worktrees", `agent-${id}`);
    this.git("worktree", "add", "--quiet", "-b", `worktree-agent-${id}`, cwd, "HEAD");
    const hook = (event: string, input: object): void => {
      this.minion(["hook", event], {
        input: JSON.stringify({ session_id: "earlier", ...input }),
        isTried: true,
      });
    };
    const call = {
      tool_name: "Agent",
      tool_input: { subagent_type: agent, prompt },
      tool_response: { agentId: id },
    };
    hook("PostToolUse", { cwd: this.repo, ...call });
    this.minion(["begin", String(attempt)], { cwd });
    for (const [number, files] of tries.entries()) {
      this.write(files, cwd);
      // A second red one only counts on other files.
      if (number > 0) this.write({ "src/tried.js": `export const tried = "${attempt}";\n` }, cwd);
      this.minion(["gate", "--all"], { cwd, isTried: true });
    }
    this.run(cwd, "git", ["add", "--all"]);
    this.run(cwd, "git", ["commit", "--quiet", "--allow-empty", "-m", "feat: do it"]);
    // What a person has to agree to is told once, and taken the second time.
    for (let call = 0; call < 2; call++)
      this.minion(["submit"], { cwd, input: handoff("did it"), isTried: true });
    const end = {
      agent_id: id,
      agent_type: agent,
      permission_mode: "default",
      last_assistant_message: words,
    };
    if (words)
      for (let sentBack = 0; sentBack < 3; sentBack++) hook("SubagentStop", { cwd, ...end });
  }

  /** The newest run's journal. */
  events(): JournalLine[] {
    try {
      const text = readFileSync(join(this.repo, ".git/minion/r1/events.jsonl"), "utf8");
      return text
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
    } catch {
      return [];
    }
  }

  named(event: string): JournalLine[] {
    return this.events().filter((each) => each.event === event);
  }

  /** Each branch and worktree with its tip and whether files are changed: what nobody but the rails
   * may have moved. */
  tips(): Record<string, string> {
    const refs = this.git(
      "for-each-ref",
      "--format=%(refname:short) %(objectname:short)",
      "refs/heads",
    );
    const trees = [...this.git("worktree", "list", "--porcelain").matchAll(/^worktree (.*)$/gm)];
    const dirty = trees.map(([, path = ""]) => {
      const status = this.run(path, "git", ["status", "--short", "--", ".", ":!.claude"], "", true);
      return [path.replace(this.temp, ""), status] as const;
    });
    return Object.fromEntries([
      ...refs.split("\n").map((line) => line.split(" ") as [string, string]),
      ...dirty.filter(([, status]) => status !== ""),
    ]);
  }
}
