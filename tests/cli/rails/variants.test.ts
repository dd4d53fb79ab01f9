import { setTimeout } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { attemptsOf, Scene, type Worker } from "./scene.ts";

let scene: Scene;
beforeEach(() => {
  scene = new Scene();
});
afterEach(() => scene.destroy());

const list = (measure: string) =>
  `### Task 1: Small\nWorkflow: variants\n${measure}Files: src/v.txt\n`;

/** The first phase names the ways, then three workers build one each. */
async function build(measure: string, sizes: readonly string[]): Promise<Worker[]> {
  await scene.start(list(measure));
  const [first = ""] = attemptsOf(await scene.next());
  const planner = await scene.agent(first);
  await planner.begin();
  await planner.submit("1 short, 2 middle, 3 long");
  const attempts = attemptsOf(await scene.next());
  expect(attempts).toEqual(["r1/1.2", "r1/1.3", "r1/1.4"]);
  const workers: Worker[] = [];
  for (const [at, attempt] of attempts.entries()) {
    const worker = await scene.agent(attempt);
    const { stdout } = await worker.begin();
    expect(stdout).toContain(`Your number is ${at + 1} of 3.`);
    expect(stdout).toContain("1 short, 2 middle, 3 long");
    expect(stdout).not.toContain("Measure");
    workers.push(worker);
    if (sizes[at] === undefined) continue;
    worker.edit({ "src/v.txt": `${sizes[at]}\n` });
    await worker.finish();
  }
  return workers;
}

test("the best by its measure lands; one that is red is out; the others' branches stay until clean", async () => {
  const workers = await build("Measure: lowest `wc -c < src/v.txt`\n", ["aaaaaa", "aaa"]);
  const [, , third] = workers;
  third?.edit({ "src/v.txt": "FAIL\n" });
  for (const _ of [1, 2]) {
    await third?.minion(["gate", "--all"]);
    third?.edit({ "src/v.txt": "FAIL again\n" });
  }
  await scene.next();
  await scene.untilState("1", "landed");
  expect(scene.eventsNamed("measured").map(({ attempt, value }) => [attempt, value])).toEqual([
    ["r1/1.2", 7],
    ["r1/1.3", 4],
  ]);
  expect(scene.eventsNamed("picked")).toMatchObject([{ attempt: "r1/1.3", by: "measure" }]);
  expect(scene.git("show", "minion/r1/line:src/v.txt")).toBe("aaa");
  const bases = scene
    .eventsNamed("begun")
    .slice(1)
    .map(({ base }) => base);
  expect(new Set(bases).size).toBe(1);
  const branches = scene.git("branch", "--list", "minion/r1/1*", "--format=%(refname:short)");
  expect(branches.split("\n")).toHaveLength(4);
});

test("a judge chooses by letters, in an order that the journal names; land of another one overrides", async () => {
  await build("", ["one", "two", "three"]);
  const { dispatch } = await scene.next();
  expect(dispatch).toMatchObject([{ attempt: "r1/1.5", agent: "minion:minion-verifier" }]);
  const judge = await scene.agent("r1/1.5");
  const { stdout } = await judge.begin();
  const { order } = scene.eventsNamed("dispatched").at(-1);
  expect([...order].sort()).toEqual(["r1/1.2", "r1/1.3", "r1/1.4"]);
  for (const [at, letter] of ["A", "B", "C"].entries()) {
    const { head } = scene.eventsNamed("submitted").find(({ attempt }) => attempt === order[at]);
    expect(stdout).toMatch(new RegExp(`\\*\\*${letter}\\*\\*: .*${head.slice(0, 10)}`));
  }
  // Nothing says whose is whose.
  for (const attempt of order) expect(stdout).not.toContain(attempt);
  expect((await judge.minion(["verdict", "r1/1.5", "D"], "none")).code).toBe(2);
  expect((await judge.minion(["verdict", "r1/1.5", "B"], "")).code).toBe(1);
  expect((await judge.minion(["verdict", "r1/1.5", "B"], "The smallest.")).code).toBe(0);
  await scene.next();
  await scene.untilState("1", "landed");
  expect(scene.eventsNamed("picked")).toMatchObject([{ attempt: order[1], by: "judge" }]);
});

test("what was picked and does not land is redone by one worker", async () => {
  await scene.start(
    `${list("Measure: lowest `wc -c < src/v.txt`\n")}### Task 2: Two\nFiles: src/w.txt\n`,
  );
  const answer = await scene.next();
  const [first = ""] = attemptsOf(answer).filter((id) => id.startsWith("r1/1."));
  const other = "r1/2.1";
  const planner = await scene.agent(first);
  await planner.begin();
  await planner.submit("1 short, 2 middle, 3 long");
  const attempts = attemptsOf(await scene.next()).filter((id) => id.startsWith("r1/1."));
  for (const [at, attempt] of attempts.entries()) {
    const worker = await scene.agent(attempt);
    await worker.begin();
    worker.edit({ "src/v.txt": "x".repeat(3 + at), "src/w.txt": "mine\n" });
    if (at === 0) {
      // The other task lands on the same file meanwhile.
      await scene.goodWorker(other, { "src/w.txt": "theirs\n" });
      await scene.next();
      await scene.untilState("2", "landed");
    }
    await worker.finish();
  }
  await scene.next();
  for (let looks = 0; looks < 300 && scene.eventsNamed("not-landed").length === 0; looks++)
    await setTimeout(100);
  expect(scene.eventsNamed("not-landed")).toMatchObject([
    { attempt: "r1/1.2", reason: "conflict" },
  ]);
  const { dispatch } = await scene.next();
  expect(dispatch.map((each: { attempt: string }) => each.attempt)).toEqual(["r1/1.5"]);
  expect(scene.eventsNamed("dispatched").at(-1).variant).toBeUndefined();
});

test("once one has landed, landing another one says that it is to be dropped first, and then does it", async () => {
  await build("Measure: lowest wc -c < src/v.txt\n", ["xxx", "x", "xx"]);
  await scene.next();
  await scene.untilState("1", "landed");
  const refused = await scene.minion(["land", "r1/1.2", "--json"]);
  expect([refused.code, refused.json.error]).toMatchObject([1, { code: "landed" }]);
  expect((await scene.minion(["land", "r1/1.3"])).code).toBe(0);
  expect((await scene.minion(["drop", "1"])).code).toBe(0);
  await scene.untilState("1", "dropped");
  expect((await scene.minion(["land", "r1/1.2"])).code).toBe(0);
  expect(scene.git("show", "minion/r1/line:src/v.txt")).toBe("xxx");
  expect((await scene.next()).dispatch).toEqual([]);
});
