import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { build } from "esbuild";
import { expect } from "vitest";
import { isOfRun, type Point } from "./crash-point.ts";
import { type Answer, Scene } from "./scene.ts";

const ASSETS = join(import.meta.dirname, "../../../assets");
const BLUEPRINT =
  '---\ngates:\n  - name: test\n    run: "echo testing; ! grep -rn FAIL src"\n---\n';

/** 3 and 4 touch the same file, which neither says; the first worker at 5 fails. */
const LIST = `### Task 1: One
Files: src/one.txt, src/more.txt
### Task 2: Two
Depends: 1
Files: src/two.txt
### Task 3: Three
### Task 4: Four
### Task 5: Five
Files: src/five.txt
`;

/** The plugin with a `minion` that can be killed at an event. @returns its path */
export async function crashable(): Promise<string> {
  const plugin = mkdtempSync(join(tmpdir(), "minion-crash-"));
  cpSync(join(ASSETS, "skills"), join(plugin, "skills"), { recursive: true });
  cpSync(join(ASSETS, "bin/package.json"), join(plugin, "bin/package.json"));
  await build({
    entryPoints: [join(import.meta.dirname, "crash-driver.ts")],
    outfile: join(plugin, "bin/minion"),
    bundle: true,
    platform: "node",
    target: "node20",
    format: "cjs",
    minify: true,
    define: { __VERSION__: '"0"' },
    logLevel: "error",
  });
  return join(plugin, "bin/minion");
}

const PATIENCE_MS = 180_000;

class Killed extends Error {}

/** What a run comes to, whatever happened on the way. */
export type End = Readonly<{
  files: Record<string, string>;
  states: Record<string, string>;
  subjects: string[];
}>;

/** What that is where nobody interrupts it. */
export const END: End = {
  files: {
    "src/five.txt": "five",
    "src/more.txt": "more",
    "src/one.txt": "one",
    "src/start.txt": "3\n4\nfine",
    "src/two.txt": "two after one",
  },
  states: { 1: "landed", 2: "landed", 3: "landed", 4: "landed", 5: "landed" },
  subjects: [
    "feat: one",
    "feat: task 1",
    "feat: task 2",
    "feat: task 3",
    "feat: task 4",
    "feat: task 5",
  ],
};
// biome-ignore lint/suspicious/noExplicitAny: lines of the journal under test
type Line = Record<string, any>;

/** One run of the list, with workers that do the same every time, killed at the given points one
 * after another. */
class CrashScene extends Scene {
  readonly mark = join(this.home, "killed");
  private at = "";

  constructor(override readonly program: string) {
    super(BLUEPRINT);
  }

  override env(): NodeJS.ProcessEnv {
    const own = {
      MINION_CRASH_RUN: this.home,
      MINION_CRASH_AT: this.at,
      MINION_CRASH_MARK: this.mark,
    };
    return { ...super.env(), ...own };
  }

  override async minion(...call: Parameters<Scene["minion"]>): Promise<Answer> {
    const answer = await this.spawned(...call);
    this.notKilled();
    return answer;
  }

  /** @returns the journal's lines */
  async run(points: readonly Point[]): Promise<Line[]> {
    for (const [index, point] of [...points, null].entries()) {
      this.at = point ? `${point.moment} ${point.kind} ${point.nth}` : "";
      try {
        if (index === 0) await this.start(LIST);
        else await this.resume(index);
        await this.drive();
      } catch (error) {
        if (!(error instanceof Killed)) throw error;
        await this.afterKill();
        continue;
      }
      if (point) throw new Error(`never came to ${this.at}`);
    }
    return this.events();
  }

  events(): Line[] {
    const file = join(this.repo, ".git/minion/r1/events.jsonl");
    const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
    return lines.flatMap((line) => {
      try {
        return [JSON.parse(line)];
      } catch {
        return [];
      }
    });
  }

  async end(): Promise<End> {
    const board = (await this.minion(["board", "--json"])).json;
    const files = this.show("minion/r1/line").filter((path) => path.startsWith("src/"));
    return {
      files: Object.fromEntries(
        files.map((path) => [path, this.git("show", `minion/r1/line:${path}`)]),
      ),
      states: Object.fromEntries(board.tasks.map(({ task, state }: Line) => [task, state])),
      subjects: this.git("log", "--format=%s", "trunk..minion/r1/line").split("\n").sort(),
    };
  }

  /** What is left once `clean` has run and is neither kept for a reason that it gives, nor the
   * person's. */
  async leftovers(): Promise<string[]> {
    const { keep } = (await this.minion(["clean", "--json"])).json;
    const worktrees =
      this.git("worktree", "list", "--porcelain").match(/(?<=^worktree ).*/gm) ?? [];
    const branches = this.git("for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads").split(
      "\n",
    );
    const things = [
      ...worktrees.filter((path) => path !== this.repo).map((path) => `worktree ${path}`),
      ...branches.filter((name) => name !== "trunk").map((name) => `branch ${name}`),
    ];
    return [
      ...things.filter((thing) => !keep.some(({ name }: Line) => name === thing)),
      ...this.locks(),
    ];
  }

  private locks(): string[] {
    const all = readdirSync(join(this.repo, ".git"), { recursive: true, encoding: "utf8" });
    return all
      .filter((path) => path.endsWith(".lock"))
      .map((path) => join(this.repo, ".git", path));
  }

  private notKilled(): void {
    if (existsSync(this.mark)) throw new Killed();
  }

  private async until(isSo: () => boolean): Promise<void> {
    const end = Date.now() + PATIENCE_MS;
    while (!isSo()) {
      if (Date.now() > end)
        throw new Error(`still waiting at ${this.at}: ${JSON.stringify(this.events().at(-1))}`);
      await setTimeout(10);
    }
  }

  private async afterKill(): Promise<void> {
    await this.until(() => !readdirSync("/proc").some((pid) => isOfRun(Number(pid), this.home)));
    rmSync(this.mark);
    // A killed holder's lock is taken over after a while: let that while be over.
    for (const lock of this.locks()) utimesSync(lock, 0, 0);
    // An agent that was never told of is the client's own to take away.
    const known = JSON.stringify(this.events());
    const agents = readdirSync(join(this.repo, ".claude"), { recursive: true, encoding: "utf8" });
    for (const [path, id = ""] of agents.flatMap((name) => [
      ...name.matchAll(/^worktrees\/agent-(\w+)$/g),
    ]))
      if (!known.includes(id)) {
        this.git("worktree", "remove", join(this.repo, ".claude", path));
        this.git("branch", "-q", "-D", `worktree-agent-${id}`);
      }
  }

  private async resume(nth: number): Promise<void> {
    this.session = `s${nth + 1}`;
    // Killed before there was a run: the person types the same again.
    if (this.events().length === 0) await this.start(LIST);
    else
      expect(await this.minion(["resume", "--json"])).toMatchObject({
        code: 0,
        json: { run: "r1" },
      });
  }

  private async drive(): Promise<void> {
    for (let round = 0; round < 30; round++) {
      const { code, json, stderr } = await this.minion(["next", "--json"]);
      expect([code, json?.fault, stderr]).toEqual([0, null, ""]);
      // Landing goes on while workers start; for the same order every time it is waited for.
      await this.until(() => {
        const last = this.events().findLast(
          ({ event, name }) => event.startsWith("job") && name === "land r1",
        );
        return last?.event !== "job" || !isOfRun(last.process.pid, this.home);
      });
      this.notKilled();
      if (json.done) return;
      for (const { attempt, task } of json.dispatch) await this.work(attempt, task);
    }
    throw new Error("it does not end");
  }

  private async work(attempt: string, task: string): Promise<void> {
    const before = this.events();
    const worker = await this.agent(attempt);
    const { stdout: brief } = await worker.begin();
    for (const { branch } of before.filter(
      (line) => line.event === "begun" && line.attempt.startsWith(`r1/${task}.`),
    ))
      expect(brief).toContain(`Its work is on ${branch};`);
    const read = (path: string): string => readFileSync(join(worker.path, path), "utf8");
    const hasFailed = before.some(
      ({ event, reason }) => event === "ended" && /gate-failed|stuck/.test(reason),
    );
    if (task === "1") {
      worker.edit({ "src/one.txt": "one\n" });
      worker.commit("feat: one");
      worker.edit({ "src/more.txt": "more\n" });
    } else if (task === "2") worker.edit({ "src/two.txt": `two after ${read("src/one.txt")}` });
    else if (task === "5" && !hasFailed) {
      for (const text of ["FAIL\n", "FAIL again\n"]) {
        worker.edit({ "src/five.txt": text });
        await worker.minion(["gate", "--all"]);
      }
      worker.commit("feat: what there is");
      await worker.end();
      return;
    } else if (task === "5") worker.edit({ "src/five.txt": "five\n" });
    else {
      const lines = new Set([...read("src/start.txt").trim().split("\n"), task]);
      worker.edit({ "src/start.txt": `${[...lines].sort().join("\n")}\n` });
    }
    expect(await worker.minion(["gate", "--all"])).toMatchObject({ code: 0 });
    worker.commit(`feat: task ${task}`);
    expect(await worker.submit()).toMatchObject({ code: 0 });
  }
}

/** Runs the list with a kill at each of the points, and looks at what it comes to. */
export async function comesTo(program: string, points: readonly Point[], end: End): Promise<void> {
  const scene = new CrashScene(program);
  try {
    await scene.run(points);
    expect(await scene.end()).toEqual(end);
    const { bad } = (await scene.minion(["events", "--json"])).json;
    expect(bad.length).toBe(points.filter(({ moment }) => moment === "torn").length);
    expect((await scene.minion(["report"])).code).toBe(0);
    expect(await scene.leftovers()).toEqual([]);
  } finally {
    await scene.destroy();
  }
}

/** What the run comes to when nobody interrupts it, and the kinds of its events in order. */
export async function uninterrupted(program: string): Promise<{ end: End; kinds: string[] }> {
  const scene = new CrashScene(program);
  try {
    const kinds = (await scene.run([])).map(({ event }) => event);
    const end = await scene.end();
    expect(await scene.leftovers()).toEqual([]);
    return { end, kinds };
  } finally {
    await scene.destroy();
  }
}
