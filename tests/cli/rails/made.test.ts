import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { Scene } from "./scene.ts";

let scene: Scene;
afterEach(() => scene.destroy());

const blueprint = (...runs: string[]) =>
  `---\ngates:\n${runs.map((run, index) => `  - name: g${index}\n    run: '${run}'\n`).join("")}---\n`;

async function begun(): Promise<Awaited<ReturnType<Scene["agent"]>>> {
  await scene.start("1. One\n");
  await scene.minion(["next"]);
  const worker = await scene.agent("r1/1.1");
  await worker.begin();
  worker.edit({ "src/one.txt": "1" });
  return worker;
}

test("what gates make beside the files is in nobody's way and on no line", async () => {
  // Another content at each run, as a report with a date has.
  scene = new Scene(
    blueprint(
      "mkdir -p coverage; date +%N > coverage/report",
      "date +%N > build.log; test -f coverage/report",
    ),
  );
  const worker = await begun();
  expect((await worker.minion(["gate", "--all"])).code).toBe(0);
  expect((await worker.minion(["gate", "g0", "--json"])).json.gates[0]).toMatchObject({
    result: "pass",
    reused: true,
  });
  scene.gitIn(worker.path, "add", "src");
  scene.gitIn(worker.path, "commit", "-qm", "feat: one");
  expect(await worker.submit()).toMatchObject({ code: 0 });
  expect((await scene.minion(["next", "--json"])).json).toMatchObject({
    done: true,
    landed: ["1"],
  });
  expect(scene.show("minion/r1/line")).not.toContain("coverage/report");
  expect(existsSync(join(worker.path, "coverage/report"))).toBe(true);
  expect((await scene.minion(["clean"])).code).toBe(0);
  expect(existsSync(worker.path)).toBe(false);
});

test("a file that a gate made and the worker then takes as its own counts like any other", async () => {
  scene = new Scene(blueprint("test -f snapshot || echo made > snapshot"));
  const worker = await begun();
  expect((await worker.minion(["gate", "--all"])).code).toBe(0);
  worker.commit("feat: one");
  expect((await worker.submit()).json.error.code).toBe("unproven");
  expect((await worker.minion(["gate", "--all"])).code).toBe(0);
  expect((await worker.submit()).code).toBe(0);
});

test("a gate that changes what was there has not passed", async () => {
  scene = new Scene(blueprint("echo formatted > src/one.txt"));
  const worker = await begun();
  expect((await worker.minion(["gate", "g0", "--json"])).json.gates[0]).toMatchObject({
    result: "changed-files",
    failures: 0,
  });
  expect((await worker.minion(["gate", "g0", "--json"])).json.gates[0]).toMatchObject({
    result: "pass",
  });
});

test("a setup that makes files of its own is done once for a worktree, and lands nothing", async () => {
  scene = new Scene(blueprint("test -f lock"));
  scene.write(
    ".claude/minion/toolchains.md",
    "| Tool | Command | When |\n|---|---|---|\n| setup | `date +%N > lock` | `src/start.txt` |\n",
  );
  scene.commit("chore: set up");
  const worker = await begun();
  expect((await worker.minion(["gate", "--all"])).code).toBe(0);
  scene.gitIn(worker.path, "add", "src");
  scene.gitIn(worker.path, "commit", "-qm", "feat: one");
  expect((await worker.submit()).code).toBe(0);
  expect((await scene.minion(["next", "--json"])).json).toMatchObject({
    done: true,
    landed: ["1"],
  });
  expect(scene.show("minion/r1/line")).not.toContain("lock");
});

test("clean copes with a worktree whose folder somebody removed, and keeps what was on its branch", async () => {
  scene = new Scene(blueprint("true"));
  const worker = await begun();
  worker.commit("feat: half");
  await scene.minion(["abort"]);
  rmSync(worker.path, { recursive: true });
  const dry = await scene.minion(["clean", "--dry-run", "--json"]);
  const { remove, keep } = (await scene.minion(["clean", "--json"])).json;
  expect(dry.json).toMatchObject({ dryRun: true, remove, keep });
  expect(remove).toContain(`worktree ${worker.path}`);
  expect(keep).toEqual([{ name: "branch minion/r1/1-one.1", why: "work that did not land" }]);
  expect(scene.git("worktree", "list").split("\n")).toHaveLength(1);
  expect(scene.show("minion/r1/1-one.1")).toContain("src/one.txt");
});
