import { afterEach, beforeEach, expect, test } from "vitest";
import { attemptsOf, Scene } from "./scene.ts";

let scene: Scene;
beforeEach(() => {
  scene = new Scene();
});
afterEach(() => scene.destroy());

const stateOf = async (id: string): Promise<string> => {
  const { state, reason } = await scene.taskOf(id);
  return reason ? `${state} ${reason}` : state;
};

/** One round: what its worker writes and says, and whether its check is green then. */
async function round(attempt: string, files: Record<string, string>, said: string) {
  const worker = await scene.agent(attempt);
  const { stdout } = await worker.begin();
  worker.edit(files);
  if (Object.keys(files).length > 0) worker.commit();
  const gates = await worker.minion(["gate", "--all", "--json"]);
  const submitted = await worker.submit(said);
  return { brief: stdout, gates: gates.code, submitted };
}

const LOOP =
  "### Task 1: Three\nWorkflow: loop\nVerify: `test $(cat src/n.txt) -ge 3`\nFiles: src/n.txt\n" +
  "### Task 2: Beside\nFiles: src/b.txt\n";

test("a loop passes in round 3: each round starts on the line with what there is, and is told what was tried", async () => {
  await scene.start(LOOP);
  expect(attemptsOf(await scene.next())).toEqual(["r1/1.1", "r1/2.1"]);
  const one = await round("r1/1.1", { "src/n.txt": "1\n" }, "Wrote one.");
  expect([one.gates, one.submitted.code]).toEqual([1, 0]);
  // The line grows meanwhile.
  await scene.goodWorker("r1/2.1", { "src/b.txt": "b\n" });
  expect(attemptsOf(await scene.next())).toEqual(["r1/1.2"]);
  await scene.untilState("2", "landed");
  const two = await round("r1/1.2", { "src/n.txt": "2\n" }, "Wrote two.");
  expect(two.brief).toContain("This is round 2 of 6");
  expect(two.brief).toContain("Wrote one.");
  const begun = scene.eventsNamed("begun").find(({ attempt }) => attempt === "r1/1.2");
  expect(begun.base).toBe(scene.git("rev-parse", "minion/r1/line"));
  expect(scene.gitIn(begun.worktree, "show", "--stat", "--format=", begun.from)).toContain("n.txt");
  expect(attemptsOf(await scene.next())).toEqual(["r1/1.3"]);
  const three = await round("r1/1.3", { "src/n.txt": "3\n" }, "Wrote three.");
  expect(three.gates).toBe(0);
  await scene.next();
  expect(await stateOf("1")).toBe("landed");
  expect(scene.git("show", "minion/r1/line:src/n.txt")).toBe("3");
  const subjects = scene.git("log", "--format=%s", `trunk..minion/r1/line`).split("\n");
  expect(subjects.filter((subject) => subject === "feat: work")).toHaveLength(4);
});

test("a round whose begin was killed after its branch was made begins on that", async () => {
  await scene.start(LOOP);
  await scene.next();
  await round("r1/1.1", { "src/n.txt": "1\n" }, "Wrote one.");
  await scene.goodWorker("r1/2.1", { "src/b.txt": "b\n" });
  await scene.next();
  await scene.untilState("2", "landed");
  // What that left: the round's commits picked on the line, at another time.
  const [first] = scene.eventsNamed("submitted");
  const branch = "minion/r1/1-three.2";
  const path = `${scene.home}/killed`;
  scene.git("worktree", "add", "-q", "-b", branch, path, "minion/r1/line");
  scene.gitIn(path, "cherry-pick", first.head);
  scene.gitIn(path, "commit", "--amend", "-q", "--no-edit", "--date", "2001-01-01T00:00:00");
  const left = scene.git("rev-parse", branch);
  scene.git("worktree", "remove", path);
  expect((await round("r1/1.2", { "src/n.txt": "2\n" }, "Wrote two.")).submitted.code).toBe(0);
  const begun = scene.eventsNamed("begun").find(({ attempt }) => attempt === "r1/1.2");
  expect([begun.from, begun.branch]).toEqual([left, branch]);
});

test("three alike end it; an answer of the person's gives it all rounds again", async () => {
  await scene.start(LOOP.split("### Task 2")[0] as string);
  for (const n of [1, 2, 3]) {
    expect(attemptsOf(await scene.next())).toEqual([`r1/1.${n}`]);
    const { submitted } = await round(`r1/1.${n}`, { [`src/try${n}.txt`]: "x\n" }, `Try ${n}.`);
    expect(submitted.code).toBe(0);
  }
  expect(scene.eventsNamed("dispatched").map(({ agent }) => agent)).toEqual([
    undefined,
    undefined,
    "debugger",
  ]);
  expect(await stateOf("1")).toBe("needs-human stuck");
  expect((await scene.next()).done).toBe(true);
  await scene.minion(["retry", "1", "-m", "It is about n.txt"]);
  expect(attemptsOf(await scene.next())).toEqual(["r1/1.4"]);
  const last = await round("r1/1.4", { "src/n.txt": "3\n" }, "There.");
  expect(last.brief).toContain("It is about n.txt");
  await scene.next();
  expect(await stateOf("1")).toBe("landed");
});

test("in a round a gate that failed twice ends no attempt, and edits after it may be handed in", async () => {
  await scene.start(LOOP.split("### Task 2")[0] as string);
  await scene.next();
  const worker = await scene.agent("r1/1.1");
  await worker.begin();
  for (const n of ["0", "1"]) {
    worker.edit({ "src/n.txt": `${n}\n` });
    expect((await worker.minion(["gate", "verify"])).code).toBe(1);
  }
  worker.edit({ "src/n.txt": "2\n" });
  const third = await worker.minion(["gate", "--all"]);
  expect(third.stdout).toContain("no try is left in this round");
  worker.commit();
  // It forgot to hand in: it is sent back once, and not for the red.
  const end = await worker.end();
  expect(end.stderr).toContain("minion submit");
  expect((await worker.submit()).code).toBe(0);
  expect(scene.eventsNamed("ended")).toEqual([]);
  expect(scene.eventsNamed("submitted")[0].red).toEqual(["verify"]);
});

test("a round without anything seen red is not taken, nor --nothing while something is", async () => {
  await scene.start(LOOP.split("### Task 2")[0] as string);
  await scene.next();
  const worker = await scene.agent("r1/1.1");
  await worker.begin();
  worker.edit({ "src/n.txt": "0\n" });
  worker.commit();
  const early = await worker.submit();
  expect([early.code, early.json.error.code]).toEqual([1, "unproven"]);
  scene.gitIn(worker.path, "reset", "-q", "--hard", "HEAD~1");
  await worker.minion(["gate", "--all"]);
  const none = await worker.minion(["submit", "--nothing", "cannot", "--json"]);
  expect(none.json.error.code).toBe("not-nothing");
  // What it tried in vain is worth handing in, without a commit.
  expect((await worker.submit("Tried in vain.")).code).toBe(0);
  expect(attemptsOf(await scene.next())).toEqual(["r1/1.2"]);
});

test("what the rounds before left lands, though the last one has nothing to add", async () => {
  await scene.start(LOOP.replace(/`.*`/, "`test -e src/b.txt`"));
  await scene.next();
  await round("r1/1.1", { "src/n.txt": "1\n" }, "Wrote one.");
  await scene.goodWorker("r1/2.1", { "src/b.txt": "b\n" });
  await scene.next();
  await scene.untilState("2", "landed");
  const worker = await scene.agent("r1/1.2");
  await worker.begin();
  await worker.minion(["gate", "--all"]);
  const none = await worker.minion(["submit", "--nothing", "all green", "--json"]);
  expect(none.json.error.code).toBe("not-nothing");
  expect((await worker.submit("It is green now.")).code).toBe(0);
  await scene.next();
  await scene.untilState("1", "landed");
  expect(scene.git("show", "minion/r1/line:src/n.txt")).toBe("1");
});

test.each([
  ["", ""],
  [
    ", also one that a command lists, which has one of the whole only",
    "Each: ls\nVerify: `npm test`\n",
  ],
])("a loop without a Verify: is a fault of the plan%s", async (_, more) => {
  const { code, json } = await scene.minion(["plan", "-", "--json"], {
    input: `### Task 1: One\nWorkflow: loop\n${more}`,
  });
  expect(code).toBe(1);
  expect(json.findings.map((each: { code: string }) => each.code)).toContain("no-verify");
});
