import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { NewEvent } from "../../../rails/journal/events.ts";
import { Journal } from "../../../rails/journal/journal.ts";
import type { Reason } from "../../../rails/journal/shapes.ts";
import { casesOf } from "../../by-night.ts";
import { Scene, type Worker } from "./scene.ts";

let scene: Scene;
/** One task is dispatched, and another waits for it; most tests begin with it. */
let dispatched: Scene;
beforeAll(async () => {
  scene = dispatched = new Scene();
  await scene.start("1. One\n2. Two (depends on: 1)\n");
  await next();
  scene.keep();
});
beforeEach(() => {
  scene = dispatched;
  scene.back();
});
afterEach(async () => {
  if (scene !== dispatched) await scene.destroy();
});
afterAll(() => dispatched.destroy());

type Choice = Readonly<{ label: string; command: string }>;
type Waits = Readonly<{ task: string; reason: Reason; note: string; choices: Choice[] }>;

const add = (...events: NewEvent[]) => new Journal(`${scene.repo}/.git`, "r1").add(...events);
const next = async () => (await scene.minion(["next", "--json"])).json;
const attention = async (): Promise<Waits[]> =>
  (await scene.minion(["attention", "--json"])).json.attention;

/** Types a printed command: ours in this process, any other in a shell. */
async function type({ command }: Choice): Promise<string> {
  if (!command.includes("minion "))
    return execFileSync("sh", ["-c", command], {
      cwd: scene.repo,
      env: scene.env(),
      encoding: "utf8",
    });
  const words = command.slice(command.indexOf("minion ") + "minion ".length).split(" ");
  const { code, stdout, stderr } = await scene.minion(words);
  expect([command, code, stderr]).toEqual([command, 0, ""]);
  return stdout;
}

/** A worker that begins and commits something. */
async function works(attempt: string): Promise<Worker> {
  const worker = await scene.agent(attempt);
  await worker.begin();
  worker.edit({ [`src/${attempt.replace(/\W/g, "-")}.txt`]: "work\n" });
  worker.commit();
  return worker;
}

/** What has to be true once a choice of this label was typed. */
async function expectDone({ label }: Choice, said: string, task: string): Promise<void> {
  if (label.startsWith("see what there is")) expect(said).toContain("+work");
  else if (/land (it|that)$|^land variant/.test(label))
    expect((await next()).landed).toContain(task);
  else if (/^leave it undone/.test(label)) {
    const { tasks } = (await scene.minion(["board", "--json"])).json;
    expect(tasks.find((each: { task: string }) => each.task === task).state).toBe("dropped");
  } else if (/(try again|go on)$|^answer it/.test(label)) {
    const { dispatch } = await next();
    expect(dispatch.map((each: { task: string }) => each.task)).toContain(task);
  } else if (/^(go on|try again now)/.test(label)) expect((await next()).dispatch).not.toEqual([]);
  else if (label.startsWith("end it here")) expect((await next()).done).toBe(true);
  else if (label.includes("merge its branch"))
    expect(scene.git("log", "-1", "--format=%s")).toBe("feat: work");
  else expect(label).toMatch(/^mend the base/);
}

/** Types each choice of a state, each from that very state. */
async function typeAll(reason: Reason): Promise<void> {
  const waits = await attention();
  expect(waits.map((each) => each.reason)).toContain(reason);
  scene.keep("typed");
  for (const { task, choices } of waits)
    for (const choice of choices) {
      if (choice.command === "/minion") continue;
      await expectDone(choice, await type(choice), task);
      // What is only looked at is as it was.
      if (!choice.label.startsWith("see what there is")) scene.back("typed");
    }
}

describe("each choice that is printed does what it says when it is typed", () => {
  test.each<[number, [Reason, ...Reason[]]]>([
    [1, ["stopped", "forbidden", "proof-changed", "others-work"]],
    [
      2,
      [
        "gate-failed",
        "stuck",
        "unproven",
        "cut-off",
        "stalled",
        "permission",
        "setup-failed",
        "line-red",
        "conflict",
      ],
    ],
  ])("where a person is asked after %i: the same for whatever reason", async (times, reasons) => {
    const [first, ...others] = reasons;
    for (let n = 1; n <= times; n++) {
      if (n > 1) await next();
      await works(`r1/1.${n}`);
      await add({ event: "ended", attempt: `r1/1.${n}`, reason: first, note: "So it ended." });
    }
    const asked = await attention();
    const journal = ".git/minion/r1/events.jsonl";
    const events = readFileSync(join(scene.repo, journal), "utf8");
    // Each is typed for one reason by day; of the others it is the same that is printed, and the
    // task is free again.
    const typed = casesOf([first], others);
    for (const reason of reasons) {
      scene.write(journal, events.replaceAll(`"reason":"${first}"`, `"reason":"${reason}"`));
      if (typed.includes(reason)) await typeAll(reason);
      expect(await attention()).toEqual(asked.map((each) => ({ ...each, reason })));
      expect((await scene.minion(["retry", "1"])).code).toBe(0);
      const { tasks } = (await scene.minion(["board", "--json"])).json;
      expect(["ready", "verify-failed"]).toContain(tasks[0].state);
    }
  });

  test("never-began", async () => {
    for (const n of [1, 2]) {
      if (n > 1) await next();
      await scene.agent(`r1/1.${n}`);
      await add({ event: "ended", attempt: `r1/1.${n}`, reason: "never-began", note: "" });
    }
    await typeAll("never-began");
  });

  test("base-red", async () => {
    scene = new Scene();
    scene.write("src/start.txt", "FAIL\n");
    scene.commit("chore: red");
    await scene.start("1. One\n");
    await next();
    await typeAll("base-red");
    const { code, stderr } = await scene.minion(["retry", "1"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("resume --run r1 --red-base")]);
  });

  test("high-risk and findings: what a judge passed, and what it found twice", async () => {
    scene = new Scene();
    await scene.start("### Task 1: Door\nFiles: src/door.txt\nRisk: high\nWorkflow: default\n");
    /** An author hands in, and a judge begins. */
    const judged = async (n: number): Promise<Worker> => {
      await next();
      const author = await works(`r1/1.${n}`);
      await author.minion(["gate", "--all"]);
      expect((await author.submit()).code).toBe(0);
      await next();
      const judge = await scene.agent(`r1/1.${n + 1}`);
      await judge.begin();
      return judge;
    };
    const say = async (judge: Worker, said: "pass" | "fail") => {
      await judge.minion(["verdict", judge.attempt, said], "src/door.txt:1: look here");
    };
    const judge = await judged(1);
    scene.keep();
    await say(judge, "pass");
    await next();
    await typeAll("high-risk");
    scene.back();
    await say(judge, "fail");
    await say(await judged(3), "fail");
    await next();
    await typeAll("findings");
  });

  test("dispatches: the bound of the run is spent, and called so", async () => {
    scene = new Scene(
      "---\ngates:\n  - name: test\n    run: 'true'\nbounds:\n  dispatches: 1\n---\n",
    );
    await scene.start("1. One\n2. Two\n");
    await next();
    await works("r1/1.1");
    await add({ event: "ended", attempt: "r1/1.1", reason: "unproven", note: "" });
    // Named and never launched: that is nobody's try.
    await next();
    const { waiting, dispatch } = await next();
    expect(dispatch).toMatchObject([{ task: "2" }]);
    expect(waiting).toEqual({ dispatches: 1 });
    await works("r1/2.1");
    await typeAll("dispatches");
  });

  test("alarm and budget: the run as a whole", async () => {
    scene = new Scene();
    await scene.start("1. One\n2. Two\n3. Three\n4. Four\n");
    await next();
    for (const task of [1, 2, 3]) {
      await scene.agent(`r1/${task}.1`);
      await add({ event: "ended", attempt: `r1/${task}.1`, reason: "never-began", note: "" });
    }
    const { waiting } = await next();
    expect(waiting).toHaveProperty("later");
    const { stdout } = await scene.minion(["board"]);
    expect(stdout).toContain("never-began");
    await typeAll("alarm");
  });

  test("rate-limit: nothing is started before its end, which is said, or a person's word", async () => {
    const worker = await works("r1/1.1");
    await scene.hook("StopFailure", {
      agent_id: worker.id,
      agent_type: "minion:minion-worker",
      cwd: worker.path,
      error: "billing_error",
      last_assistant_message: "You've hit your session limit · resets in 2 hours",
    });
    const { waiting, dispatch } = await next();
    expect(dispatch).toEqual([]);
    expect(waiting).toHaveProperty("later");
    expect((await attention())[0]?.note).toMatch(/until \d{4}-\d\d-\d\d \d\d:\d\d/);
    await typeAll("rate-limit");
  });

  test("an aborted run: what there is can be seen and merged, and nothing else is offered", async () => {
    scene = new Scene();
    await scene.start("1. One\n2. Two\n");
    await next();
    await works("r1/1.1");
    await add({ event: "ended", attempt: "r1/1.1", reason: "stopped", note: "" });
    expect((await scene.minion(["abort"])).code).toBe(0);
    await typeAll("stopped");
    for (const verb of ["land", "retry"])
      expect((await scene.minion([verb, "1"])).stderr).toContain("run r1 was aborted");
  });
});

describe("several variants, and what an area is made of", () => {
  test("each variant can be seen and landed by its own name, and clean names the others", async () => {
    scene = new Scene();
    await scene.start("### Task V: Cache\nWorkflow: variants\n");
    await next();
    const researcher = await scene.agent("r1/V.1");
    await researcher.begin();
    expect((await researcher.submit()).code).toBe(0);
    await next();
    for (const n of [2, 3, 4]) {
      const worker = await works(`r1/V.${n}`);
      await worker.minion(["gate", "--all"]);
      expect((await worker.submit()).code).toBe(0);
    }
    await add({ event: "stopped", task: "V", question: "" });
    const [{ choices } = { choices: [] }] = await attention();
    const landing = choices.filter(({ label }) => label.startsWith("land variant"));
    expect(landing.map(({ label }) => label)).toEqual([
      "land variant 3",
      "land variant 2",
      "land variant 1",
    ]);
    for (const choice of choices) {
      scene.keep("typed");
      const said = await type(choice);
      if (/^(see|land|leave)/.test(choice.label)) await expectDone(choice, said, "V");
      else expect((await next()).dispatch).toMatchObject([{ task: "V" }]);
      scene.back("typed");
    }
    await type(landing[1] as Choice);
    expect(scene.show("minion/r1/line")).toContain("src/r1-V-3.txt");
    const { keep } = (await scene.minion(["clean", "--json"])).json;
    const named = keep.filter(({ why }: { why: string }) => why.includes("not picked"));
    expect(named).toMatchObject([
      { why: expect.stringContaining("variant 1 of task V") },
      { why: expect.stringContaining("variant 3 of task V") },
    ]);
    const again = (await scene.minion(["clean", "--variants", "--json"])).json;
    expect(again.remove).toEqual(named.map(({ name }: { name: string }) => name));
  });

  test("a task of an area, and a planner that comes to nothing", async () => {
    scene = new Scene();
    const list = "### Task A: Area\nWorkflow: area\nFiles: src/\n";
    await scene.minion(["start", "-", "--budget", "9"], { input: list });
    await next();
    const planner = await scene.agent("r1/A.1");
    await planner.begin();
    const left = "### Task 1: One\nFiles: src/r1-A-1-1.txt\n";
    expect((await planner.minion(["change", "-"], left)).code).toBe(0);
    expect((await planner.submit()).code).toBe(0);
    await next();
    await works("r1/A/1.1");
    await add({ event: "ended", attempt: "r1/A/1.1", reason: "stopped", note: "" });
    expect((await attention()).map(({ task }) => task)).toEqual(["A/1"]);
    await typeAll("stopped");
  });
});

describe("landing by hand", () => {
  test("takes the branch that has the work, where a later attempt ended empty, and names both", async () => {
    await works("r1/1.1");
    await add({ event: "ended", attempt: "r1/1.1", reason: "unproven", note: "" });
    await next();
    await (await scene.agent("r1/1.2")).begin();
    await add({ event: "ended", attempt: "r1/1.2", reason: "unproven", note: "" });
    const [{ choices } = { choices: [] }] = await attention();
    expect(choices.map(({ label }) => label).join()).toMatch(/1-one\.2.*1-one\.1/);
    const { code, stdout } = await scene.minion(["land", "1"]);
    expect([code, stdout]).toEqual([0, expect.stringContaining("1-one.2 has no commit")]);
    expect(stdout).toContain("It is from minion/r1/1-one.1");
    expect(scene.show("minion/r1/line")).toContain("src/r1-1-1.txt");
  });

  test("says so where there is nothing on any branch", async () => {
    await (await scene.agent("r1/1.1")).begin();
    await add({ event: "ended", attempt: "r1/1.1", reason: "stopped", note: "" });
    const { code, stderr } = await scene.minion(["land", "1"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("1-one.1 has no commit")]);
    expect(stderr).toContain("minion retry 1 --run r1");
    expect((await scene.minion(["land", "9"])).stderr).toContain("run r1 has no task 9");
  });
});

describe("a worker that a person stopped", () => {
  const notice = (id: string, by: string) =>
    `<task-notification>\n<task-id>${id}</task-id>\n<status>killed</status>\n<summary>Agent "1 One" was stopped by ${by}</summary>\n</task-notification>`;

  test("is seen at once, in the list of agents or by a key, and started again only by retry", async () => {
    scene = new Scene();
    await scene.start("1. One\n2. Two\n");
    await next();
    const worker = await works("r1/1.1");
    await works("r1/2.1");
    scene.keep();
    for (const prompt of [
      notice(worker.id, "user"),
      'Background agent "1 One" was stopped by the user.',
    ]) {
      scene.back();
      await scene.hook("UserPromptSubmit", { prompt });
      const { tasks } = (await scene.minion(["board", "--json"])).json;
      expect(tasks).toMatchObject([
        { state: "needs-human", reason: "stopped" },
        { state: "running" },
      ]);
      expect(await attention()).toMatchObject([{ task: "1", reason: "stopped" }]);
      expect((await next()).dispatch).toEqual([]);
      expect((await scene.minion(["retry", "1"])).code).toBe(0);
      expect((await next()).dispatch).toMatchObject([{ attempt: "r1/1.2" }]);
    }
  });

  test("not one that the session itself stopped", async () => {
    const worker = await works("r1/1.1");
    await scene.hook("UserPromptSubmit", { prompt: notice(worker.id, "Claude") });
    expect((await next()).dispatch).toMatchObject([{ attempt: "r1/1.2" }]);
  });
});
