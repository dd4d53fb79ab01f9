import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Scene } from "./scene.ts";

let scene: Scene;
beforeEach(() => {
  scene = new Scene();
});
afterEach(() => {
  vi.restoreAllMocks();
  return scene.destroy();
});

const next = async () => (await scene.minion(["next", "--json"])).json;
const asked = async (): Promise<number> =>
  (await scene.minion(["stats", "--json"])).json.weeks[0].asked;

/** What a model said at a time, as a line of a transcript. */
const said = (id: string, at: number): string =>
  `${JSON.stringify({
    timestamp: new Date(at).toISOString(),
    message: {
      id,
      model: "claude-opus-4-1",
      usage: { input_tokens: 100_000, output_tokens: 9000 },
    },
  })}\n`;

describe("the numbers of a run that is over", () => {
  test("are the same an hour later, whoever talks on with its workers or its session", async () => {
    await scene.start("1. One\n2. Two\n");
    await next();
    const worker = await scene.goodWorker("r1/1.1", { "src/1.txt": "1\n" });
    const two = await scene.agent("r1/2.1");
    await two.begin();
    const session = join(scene.home, ".claude/projects/p/s1.jsonl");
    const agent = join(scene.home, `.claude/projects/p/s1/subagents/agent-${worker.id}.jsonl`);
    mkdirSync(dirname(agent), { recursive: true });
    const start = Date.now();
    for (const file of [session, agent]) writeFileSync(file, said(`${file}1`, start));
    await next();
    await two.minion(["submit", "--nothing", "It is there."]);
    expect((await next()).done).toBe(true);

    const look = async () => {
      const { money, tasks } = (await scene.minion(["board", "--json"])).json;
      const { cost } = (await scene.minion(["report", "--json"])).json;
      const took = /it took [\d:]+/.exec((await scene.minion(["report"])).stdout)?.[0];
      return { money, tasks, cost, took, head: (await scene.minion(["board"])).stdout };
    };
    const before = await look();
    expect(before.cost.dollars).toBeGreaterThan(0);
    vi.spyOn(Date, "now").mockImplementation(() => start + 3_600_000);
    for (const file of [session, agent]) appendFileSync(file, said(`${file}2`, start + 3_000_000));
    await scene.minion(["merge"]);
    expect(await look()).toEqual(before);
    expect((await scene.minion(["report"])).stdout).toContain("It was merged into `trunk`");
  });
});

describe("how often a person was asked", () => {
  test("never falls: not by going on over a red base, nor by a retry, nor by a late result", async () => {
    scene.write("src/old.txt", "FAIL\n");
    scene.commit("chore: an old failure");
    await scene.start("1. One\n2. Two\n");
    await next();
    expect(await asked()).toBe(1);
    await scene.minion(["resume", "--red-base"]);
    expect(await asked()).toBe(1);
    await next();
    const worker = await scene.agent("r1/1.1");
    await worker.begin();
    await scene.hook("UserPromptSubmit", {
      prompt: `<task-notification>\n<task-id>${worker.id}</task-id>\n<status>killed</status>\n<summary>It was stopped by user</summary>`,
    });
    expect(await asked()).toBe(2);
    await scene.minion(["retry", "1"]);
    expect(await asked()).toBe(2);
  });
});

describe("a fault that keeps a run from landing", () => {
  test.each([
    [
      "moved",
      (line: string) => {
        const work = ["commit-tree", "-m", "feat: by hand", "-p", line, `${line}^{tree}`];
        scene.git("update-ref", line, scene.git(...work));
      },
    ],
    ["deleted", (line: string) => scene.git("update-ref", "-d", line)],
  ])(
    "a line that was %s: board, attention, report and next say it, with the way back",
    async (_, harm) => {
      await scene.start("1. One\n");
      await next();
      await scene.goodWorker("r1/1.1", { "src/1.txt": "1\n" });
      expect((await next()).done).toBe(true);
      const tip = scene.git("rev-parse", "minion/r1/line");
      harm("refs/heads/minion/r1/line");
      const way = `git update-ref refs/heads/minion/r1/line ${tip}`;
      for (const verb of ["attention", "report"])
        expect((await scene.minion([verb])).stdout).toContain(way);
      expect((await scene.minion(["board"])).stdout.replace(/\s+/g, "")).toContain(
        way.replaceAll(" ", ""),
      );
      expect(await next()).toMatchObject({ done: false, fault: expect.any(String) });
      const { attention } = (await scene.minion(["attention", "--json"])).json;
      scene.git(...attention[0].choices[0].command.split(" ").slice(1));
      expect((await scene.minion(["attention"])).stdout).toBe("Nothing waits for you.\n");
      expect(await next()).toMatchObject({ done: true, fault: null });
    },
  );

  test("a journal without its first line: what it was and what it left is said", async () => {
    await scene.start("1. One\n");
    const file = join(scene.repo, ".git/minion/r1/events.jsonl");
    writeFileSync(file, readFileSync(file, "utf8").slice(100));
    for (const verb of ["board", "attention", "report", "next"]) {
      const { code, stderr } = await scene.minion([verb]);
      expect([code, stderr]).toEqual([2, expect.stringContaining("line 1 of")]);
      expect(stderr).toContain("git branch --list 'minion/r1/*'");
    }
  });
});

test("a machine that slept stalls nobody: a worker hands in after it woke", async () => {
  await scene.start("1. One\n");
  await next();
  const worker = await scene.agent("r1/1.1");
  await worker.begin();
  const start = Date.now();
  vi.spyOn(Date, "now").mockImplementation(() => start + 3_600_000);
  scene.slept = 3_590_000;
  expect(await next()).toMatchObject({ running: ["1"], dispatch: [] });
  worker.edit({ "src/1.txt": "1\n" });
  await worker.finish();
  expect((await next()).landed).toEqual(["1"]);
});
