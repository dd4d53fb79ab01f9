import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { attemptsOf, Scene, type Worker } from "./scene.ts";

let scene: Scene;
beforeEach(() => {
  scene = new Scene();
});
afterEach(() => scene.destroy());

const start = async (list: string, ...more: string[]) => {
  const { code, json, stdout, stderr } = await scene.minion(["start", "-", "--json", ...more], {
    input: list,
  });
  if (code !== 0) throw new Error(stdout + stderr);
  return json.run;
};

const AREA = `### Task A: Part
Workflow: area
Files: src/
Forbid: src/start.txt
Risk: low
Done when: both are there, as \`ls\` says

### Task 2: After
Depends: A
`;

/** A planner at its place. */
async function planner(attempt: string): Promise<{ worker: Worker; brief: string }> {
  const worker = await scene.agent(attempt);
  const { stdout } = await worker.begin();
  return { worker, brief: stdout };
}
const leave = (worker: Worker, list: string) => worker.minion(["change", "-", "--json"], list);

describe("an area", () => {
  test("is planned by visits until its planner leaves none; what it leaves lands like any task", async () => {
    await start(AREA, "--budget", "5");
    expect(attemptsOf(await scene.next())).toEqual(["r1/A.1"]);
    const first = await planner("r1/A.1");
    expect(first.brief).toContain("Visit 1 of 12; you may leave 12 tasks.");
    const left = await leave(
      first.worker,
      "### Task 1: One\nFiles: src/one.txt\n### Task 2: Two\nDepends: 1\nFiles: src/two.txt\n",
    );
    expect([left.code, left.json.added]).toEqual([0, ["A/1", "A/2"]]);
    expect((await first.worker.submit("Two steps.")).code).toBe(0);

    expect(attemptsOf(await scene.next())).toEqual(["r1/A/1.1"]);
    const one = await scene.agent("r1/A/1.1");
    expect((await one.begin()).stdout).toContain("Do not touch: src/start.txt");
    one.edit({ "src/one.txt": "1\n" });
    await one.finish();
    await scene.next();
    await scene.untilState("A/1", "landed");
    // It comes while the second one is at work: what ended is news to it.
    expect(attemptsOf(await scene.next())).toEqual(["r1/A/2.1", "r1/A.2"]);
    const early = await planner("r1/A.2");
    expect(early.brief).toContain("Two steps.");
    expect(early.brief).toContain("A/2 Two: running");
    expect(early.brief).toContain("What task A/1 left");
    expect(early.brief).toContain("- Done when: both are there, as `ls` says");
    await early.worker.submit("One is there, the other comes.");
    await scene.goodWorker("r1/A/2.1", { "src/two.txt": "2\n" });
    await scene.next();
    await scene.untilState("A/2", "landed");

    expect(attemptsOf(await scene.next())).toEqual(["r1/A.3"]);
    const second = await planner("r1/A.3");
    expect(second.brief).toContain("the other comes");
    expect(second.brief).toContain("A/2 Two: landed");
    expect((await second.worker.submit("Both are there.")).code).toBe(0);
    expect(attemptsOf(await scene.next())).toEqual(["r1/2.1"]);
    expect((await scene.taskOf("A")).state).toBe("landed");
    expect(scene.show("minion/r1/line")).toEqual(
      expect.arrayContaining(["src/one.txt", "src/two.txt"]),
    );
  });

  test.each([
    ["a file outside of it", "### Task 1: O\nFiles: lib/x.ts\n", /not area A's/],
    ["thirteen tasks", manyTasks(13), /13 tasks at one visit, where 12 may be/],
    ["what a gate stands on", "### Task 1: O\nFiles: src/o\nGates: src/o\n", /a person's to say/],
    ["a task of others", "### Task A/9/1: O\nFiles: src/o\n", /task A\/9\/1 is not of area A/],
    ["an area too deep", "### Task 1: O\nWorkflow: area\n", null],
  ])("its planner leaves %s", async (_, list, message) => {
    await start(AREA, "--budget", "5");
    await scene.next();
    const { worker } = await planner("r1/A.1");
    const { code, json } = await leave(worker, list);
    if (message === null) {
      expect([code, json.added]).toEqual([0, ["A/1"]]);
      return;
    }
    expect(code).toBe(1);
    expect(json.error.message).toMatch(message);
    expect(scene.eventsNamed("changed")).toEqual([]);
  });

  test("its planner changes no file, and takes out only what it left and nobody began", async () => {
    await start(AREA, "--budget", "5");
    await scene.next();
    const { worker } = await planner("r1/A.1");
    await leave(worker, "### Task 1: One\nFiles: src/one.txt\n### Task 2: Two\nFiles: src/2\n");
    expect((await worker.minion(["drop", "2"])).code).toBe(0);
    expect((await worker.minion(["drop", "A"])).code).toBe(1);
    worker.edit({ "src/one.txt": "mine\n" });
    worker.commit();
    const wrote = await worker.submit("Wrote.");
    expect([wrote.code, wrote.json.error.code]).toEqual([1, "wrote"]);
    expect((await scene.taskOf("A/2")).state).toBe("dropped");
  });

  test("without a budget it is not started", async () => {
    const { code, json } = await scene.minion(["start", "-", "--json"], { input: AREA });
    expect([code, json.error.code]).toEqual([2, "no-budget"]);
  });
});

function manyTasks(count: number): string {
  const all = Array.from({ length: count }, (_, at) => `### Task ${at + 1}: T\nFiles: src/${at}\n`);
  return all.join("");
}

describe("a task for each line", () => {
  const LIST = `### Task 1: Move
Each: grep -l moment src/*.js
Files: {}
Verify: \`! grep -q moment {}\`

### Task 2: Whole
Depends: 1
`;
  beforeEach(() => {
    scene.write("src/a.js", "moment\n");
    scene.write("src/it's b.js", "moment\n");
    scene.write("src/c.js", "fine\n");
    scene.commit("chore: files");
  });

  test("each is done, none twice, none left out; then what depends on all of them", async () => {
    await start(LIST);
    await scene.next();
    await scene.untilState("1/2", "running");
    expect(attemptsOf(await scene.next())).toEqual(["r1/1/1.1", "r1/1/2.1"]);
    expect((await scene.taskOf("1/1")).title).toBe("Move: src/a.js");
    await scene.goodWorker("r1/1/1.1", { "src/a.js": "luxon\n" });
    const second = await scene.agent("r1/1/2.1");
    expect((await second.begin()).stdout).toContain("! grep -q moment 'src/it'\\''s b.js'");
    // Not done: its check is red.
    expect((await second.minion(["gate", "--all"])).code).toBe(1);
    second.edit({ "src/it's b.js": "luxon\n" });
    await second.finish();
    await scene.next();
    await scene.untilState("1", "landed");
    expect(attemptsOf(await scene.next())).toEqual(["r1/2.1"]);
  });

  test("a command that prints nothing skips it; one that fails waits for a person", async () => {
    await start(LIST.replace("moment src", "nowhere src"));
    await scene.next();
    await scene.untilState("1", "skipped");
    expect(attemptsOf(await scene.next())).toEqual(["r1/2.1"]);
    await scene.destroy();
    scene = new Scene();
    await start(LIST.replace("grep -l moment src/*.js", "no-such-program-here x"));
    await scene.next();
    await scene.untilState("1", "needs-human");
    expect(scene.eventsNamed("not-listed")[0].note).toContain("ended with 127");
    // grep says nothing where it finds nothing; what breaks off in the middle says why.
    await scene.destroy();
    scene = new Scene();
    const broken = "sh -c 'echo src/a.js; echo broken >&2; exit 1'";
    await start(LIST.replace("grep -l moment src/*.js", broken));
    const { stdout } = await scene.minion(["plan", "-", "--each"], {
      input: LIST.replace("grep -l moment src/*.js", broken),
    });
    expect(stdout).toContain("ended with 1, and said why on standard error");
    await scene.next();
    await scene.untilState("1", "needs-human");
    expect(scene.eventsNamed("not-listed")[0].note).toContain("and said why on standard error");
  });
});
