import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { invocationsIn } from "../../assets/invocations.ts";
import { handoff } from "../../handoff.ts";
import { Scene, type Worker } from "../rails/scene.ts";

const ROOT = join(import.meta.dirname, "../../..");
const page = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const README = page("README.md");

let scene: Scene;
beforeEach(() => {
  scene = new Scene();
});
afterEach(() => scene.destroy());

const next = async () => (await scene.minion(["next", "--json"])).json;
const onLine = (path: string): string => scene.git("show", `minion/r1/line:${path}`);

/** The worker of the next dispatch, begun. */
async function begun(): Promise<Worker> {
  const { dispatch } = await next();
  const worker = await scene.agent(dispatch[0].attempt);
  expect((await worker.begin()).code).toBe(0);
  return worker;
}

describe("what the page says of a run", () => {
  test("what is not committed is not part of it, and stays as it is", async () => {
    scene.write("src/start.txt", "in the middle of something\n");
    scene.write("src/new.txt", "not tracked\n");
    const before = scene.git("status", "--porcelain");
    await scene.start("1. One\n");
    const worker = await begun();
    expect(readFileSync(join(worker.path, "src/start.txt"), "utf8")).toBe("fine\n");
    expect(scene.gitIn(worker.path, "status", "--porcelain")).toBe("");
    worker.edit({ "src/one.txt": "1\n" });
    await worker.finish();
    expect((await next()).landed).toEqual(["1"]);
    expect(scene.show("minion/r1/line")).not.toContain("src/new.txt");
    expect(onLine("src/start.txt")).toBe("fine");
    expect(scene.git("status", "--porcelain")).toBe(before);
    expect(readFileSync(join(scene.repo, "src/start.txt"), "utf8")).toMatch(/^in the middle/);
  });

  test("its commands are frozen at the start: neither the checkout nor what lands makes others of them", async () => {
    const WEAK = "---\ngates:\n  - name: weak\n    run: 'true'\n---\n";
    const file = ".claude/minion/blueprint.md";
    await scene.start(`1. Other rails\n   Gates: ${file}\n2. Work (depends on: 1)\n`);
    scene.write(file, WEAK);
    const first = await begun();
    first.edit({ [file]: WEAK });
    await first.finish();
    const second = await begun();
    expect(onLine(file)).toContain("name: weak");
    second.edit({ "src/two.txt": "FAIL\n" });
    second.commit();
    expect((await second.minion(["gate", "--all"])).code).toBe(1);
    expect((await second.submit()).json.error.code).toBe("unproven");
    second.edit({ "src/two.txt": "2\n" });
    await second.finish();
    expect((await next()).landed).toEqual(["1", "2"]);
    const { events } = (await scene.minion(["events", "--json"])).json;
    const gates = events.filter(({ event }: { event: string }) => event === "evidence");
    expect([...new Set(gates.map(({ gate }: { gate: string }) => gate))].sort()).toEqual([
      "lint",
      "test",
    ]);
  });

  test("a merge driver of the person's is used on the line, and where that is merged", async () => {
    scene.git("config", "merge.both.driver", "cat %B >> %A");
    scene.write(".gitattributes", "*.log merge=both\n");
    scene.write("src/all.log", "0\n");
    scene.commit("chore: a driver");
    await scene.start("1. One\n2. Two\n");
    await next();
    const workers: Worker[] = [];
    for (const n of [1, 2]) {
      const worker = await scene.agent(`r1/${n}.1`);
      await worker.begin();
      worker.edit({ "src/all.log": `${n}\n` });
      workers.push(worker);
    }
    for (const worker of workers) await worker.finish();
    expect((await next()).landed.sort()).toEqual(["1", "2"]);
    expect(onLine("src/all.log").split("\n").sort()).toEqual(["1", "2"]);
    scene.write("src/all.log", "3\n");
    scene.commit("feat: three");
    expect((await scene.minion(["merge"])).code).toBe(0);
    expect(scene.git("show", "trunk:src/all.log").split("\n").sort()).toEqual(["1", "2", "3"]);
  });

  test("a review that changed a file is sent back, whatever its verdict", async () => {
    await scene.start("### Task 1: One\nFiles: src/one.txt\nRisk: medium\nWorkflow: default\n");
    const author = await begun();
    author.edit({ "src/one.txt": "1\n" });
    await author.finish();
    const judge = await begun();
    judge.edit({ "src/one.txt": "mine\n" });
    const pass = () => judge.minion(["verdict", judge.attempt, "pass", "--json"], "Looked at it.");
    expect((await pass()).json.error.code).toBe("wrote");
    judge.commit();
    expect((await pass()).json.error.code).toBe("wrote");
    expect((await judge.end()).code).toBe(2);
    expect((await next()).landed).toEqual([]);
  });

  test("a risk that words show is lowered by nobody", async () => {
    const input = "### Task 1: Change the login\nFiles: src/a.txt\nRisk: low\n";
    const { tasks } = (await scene.minion(["plan", "-", "--json"], { input })).json;
    expect(tasks).toMatchObject([{ risk: "medium", workflow: "secure" }]);
  });
});

describe("the commands of the pages", () => {
  /** Those that only look, as they are typed there, each once. */
  const LOOKS = /^minion (plan|board|report|stats|attention|events|blueprint|overlays|guide)\b/;
  const shown = ["README.md", "SECURITY.md", "docs/changing-the-rails.md"].flatMap((path) =>
    invocationsIn(page(path)),
  );
  // `minion plan` alone is its name.
  const looks = [...new Set(shown)].filter(
    (call) => LOOKS.test(call) && !/--watch|--agree|^minion plan$/.test(call),
  );

  test("that look work as they stand there, and change nothing", async () => {
    expect(looks).toEqual(
      expect.arrayContaining(["minion plan tasks.md", "minion guide delivery"]),
    );
    scene.write("tasks.md", "1. One\n2. Two (depends on: 1)\n");
    scene.write("FILE", "1. One\n");
    scene.commit("chore: lists");
    await scene.start("1. One\n");
    const state = () => [
      scene.git("for-each-ref"),
      scene.git("status", "--porcelain"),
      readFileSync(join(scene.repo, ".git/minion/r1/events.jsonl"), "utf8"),
    ];
    const before = state();
    for (const call of looks) {
      const { code, stderr } = await scene.minion(call.split(" ").slice(1));
      expect([call, code, stderr]).toEqual([call, 0, ""]);
    }
    expect(state()).toEqual(before);
  });

  test("around a container bring a clone in and its line out, and nothing else", async () => {
    const [, block = ""] = /```sh\n(git clone [\s\S]*?)```/.exec(README) ?? [];
    const [inside = "", install = "", outside = ""] = block.trim().split("\n");
    expect(install).toContain("minion-toolkit install");
    const type = (line: string) => {
      const { status, stderr } = spawnSync("sh", ["-c", line], {
        cwd: scene.repo,
        env: scene.env(),
        encoding: "utf8",
      });
      expect([status, stderr.match(/^(fatal|error).*/m)]).toEqual([0, null]);
    };
    type(inside);
    const clone = join(scene.repo, "../work");
    const there = (words: string[], more = {}) => scene.minion(words, { cwd: clone, ...more });
    expect((await there(["start", "-"], { input: "1. One\n" })).code).toBe(0);
    await there(["next"]);
    scene.gitIn(clone, "worktree", "add", "-q", join(scene.home, "one"));
    const own = (words: string[], more = {}) =>
      scene.minion(words, { cwd: join(scene.home, "one"), ...more });
    await own(["begin", "r1/1.1"]);
    scene.write("src/one.txt", "1\n", join(scene.home, "one"));
    await own(["gate", "--all"]);
    scene.commit("feat: one", join(scene.home, "one"));
    await own(["submit"], { input: handoff("Did it.") });
    expect(JSON.parse((await there(["next", "--json"])).stdout).landed).toEqual(["1"]);
    const before = scene.git("for-each-ref");
    type(outside);
    expect(scene.git("show", "minion-r1:src/one.txt")).toBe("1");
    scene.git("branch", "-q", "-D", "minion-r1");
    expect(scene.git("for-each-ref")).toBe(before);
  });
});
