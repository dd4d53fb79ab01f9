import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Scene } from "./scene.ts";

let scene: Scene;
beforeEach(() => {
  scene = new Scene();
});
afterEach(() => scene.destroy());

const LIST = `### Task 1: One
Files: src/one.txt

### Task 2: Two
Do two.
Depends: 1
Files: src/two.txt

### Task 3: Three
Depends: 2
Files: src/three.txt
`;

const next = async (...more: string[]) => (await scene.minion(["next", "--json", ...more])).json;
const board = async () => (await scene.minion(["board", "--json"])).json;
const stateOf = async (id: string): Promise<string> => {
  const { tasks } = await board();
  const { state, reason } = tasks.find((each: { task: string }) => each.task === id) ?? {};
  return reason ? `${state} ${reason}` : state;
};
const change = (text: string, ...more: string[]) =>
  scene.minion(["change", "-", "--json", ...more], { input: text });
const bash = async (command: string) =>
  (await scene.hook("PreToolUse", { tool_name: "Bash", tool_input: { command } })).json
    ?.hookSpecificOutput;
const journal = () => readFileSync(join(scene.repo, ".git/minion/r1/events.jsonl"), "utf8");

/** Lands a task with a file of its own. */
async function land(id: string, files: Record<string, string>): Promise<void> {
  const { dispatch } = await next();
  const { attempt } = dispatch.find((each: { task: string }) => each.task === id);
  await scene.goodWorker(attempt, files);
  await next();
  expect(await stateOf(id)).toBe("landed");
}

describe("minion change", () => {
  test("rewords what has not begun and adds a task; what it leaves out stays", async () => {
    await scene.start(LIST);
    await land("1", { "src/one.txt": "1\n" });
    const { json, code } = await change(
      "### Task 3: Three, in cents\nIn cents.\n\n### Task 4: Four\nDepends: 1\nFiles: src/two.txt\n",
    );
    expect([code, json.added, json.changed, json.loosened]).toEqual([0, ["4"], ["3"], []]);
    const { dispatch, waiting } = await next();
    // 4 touches what 2 does: it waits for that.
    expect(dispatch.map((each: { task: string }) => each.task)).toEqual(["2"]);
    expect(waiting).toEqual({ conflict: 1, dependency: 1 });
    await scene.goodWorker("r1/2.1", { "src/two.txt": "2\n" });
    await next();
    const worker = await scene.agent("r1/3.1");
    const { stdout } = await worker.begin();
    expect(stdout).toContain("# r1/3.1: Three, in cents");
    expect(stdout).toContain("In cents.");
    expect(stdout).toContain("Files: src/three.txt");
    expect(readFileSync(join(scene.repo, ".git/minion/r1/change-1.md"), "utf8")).toContain("Four");
    expect(readFileSync(join(scene.repo, ".git/minion/r1/tasks-now.md"), "utf8")).toContain(
      "### Task 4: Four",
    );
  });

  test("says of no gap that is filled by what a task keeps", async () => {
    await scene.start("### Task 1: One\nFiles: src/one.txt\nDone when: it is there\n");
    const { code, json } = await change("### Task 1: One\nIn cents.\n");
    expect([code, json.changed, json.findings]).toEqual([0, ["1"], []]);
  });

  test.each([
    ["a task that has landed", "### Task 1: Other\n", /task 1 has landed/],
    ["a task that is at work", "### Task 2: Other\n", /task 2 is being worked at/],
    ["a cycle", "### Task 3: T\nDepends: 4\n\n### Task 4: F\nDepends: 3\n", /→/],
    ["an id that is not there", "### Task 4: F\nDepends: 9\n", /needs 9: no such task/],
    ["a list without ids", "- [ ] Something\n", /names no task by its id/],
    ["commands for all", "---\ntools:\n  test: x\n---\n### Task 4: F\n", /those of the run/],
    ["a task that is done", "### Task 3: Three [done]\n", /task 3 is marked as done/],
    ["nothing", "", /names no task/],
  ])("%s changes nothing", async (_, text, why) => {
    await scene.start(LIST);
    await land("1", { "src/one.txt": "1\n" });
    await next();
    await (await scene.agent("r1/2.1")).begin();
    const before = journal();
    const { code, json } = await change(text);
    expect([code, json.error.message]).toEqual([
      expect.toBeOneOf([1, 2]),
      expect.stringMatching(why),
    ]);
    expect(journal()).toBe(before);
  });

  test("a session may narrow and add within bounds; the rest is asked for", async () => {
    await scene.start(LIST);
    const answer = async (text: string) => bash(`minion change - <<'T'\n${text}\nT`);
    expect(await answer("### Task 3: T\nForbid: src/a.txt\nRisk: high")).toMatchObject({
      permissionDecision: "allow",
    });
    for (const [text, why] of [
      ["### Task 3: T\nDepends: none", /loses 2 under Depends/],
      ["### Task 3: T\nFiles: src/three.txt, src/more.txt", /gets src\/more.txt under Files/],
      ["### Task 3: T\nFiles: none", /names no files/],
      ["### Task 3: T\nGates: test/", /under Gates/],
      ["### Task 9: N\nGates: test/", /may change what gates stand on/],
      ["### Task 3: T\nModel: opus", /model/],
      ["### Task 3: T\nWorkflow: tdd", /workflow/],
      ["### Task 4: F\n\n### Task 5: F\n\n### Task 6: F\n\n### Task 7: F", /3 may be/],
    ] as const)
      expect([text, await answer(text)]).toEqual([
        text,
        expect.objectContaining({
          permissionDecision: "ask",
          permissionDecisionReason: expect.stringMatching(why),
        }),
      ]);
    expect(await answer("### Task 4: F\n\n### Task 5: F\n\n### Task 6: F")).toMatchObject({
      permissionDecision: "allow",
    });
    // A list that nobody can see before it is taken in.
    scene.write("loose.md", "### Task 3: T\nDepends: none\n");
    const narrow = "\n### Task 3: T\nForbid: src/a.txt\nT";
    for (const call of [
      "minion change later.md && true",
      `minion change /dev/stdin <<'T'${narrow}`,
      `minion change - <<'T' < loose.md${narrow}`,
      `minion change - 3<<'T'${narrow}`,
      `cat <<'T' > /dev/null; minion change - < loose.md${narrow}`,
      `cat - <<'T'; cat loose.md | minion change -${narrow}`,
    ])
      expect([call, await bash(call)]).toEqual([
        call,
        expect.objectContaining({ permissionDecision: "ask" }),
      ]);
    // What a new task must not bring, one that the session added must not come to.
    await change("### Task 4: F\nFiles: src/four.txt\n");
    expect(await answer("### Task 4: F\nGates: test/**")).toMatchObject({
      permissionDecision: "ask",
    });
  });

  test("a dispatch that is not begun is named anew where more than its words changed", async () => {
    await scene.start(LIST);
    expect((await next()).dispatch[0].attempt).toBe("r1/1.1");
    await change("### Task 1: One, said better\n");
    expect((await next()).dispatch[0]).toMatchObject({
      attempt: "r1/1.1",
      description: "1 One, said better",
    });
    const worker = await scene.agent("r1/1.1");
    await change("### Task 1: One\nFiles: src/other.txt\n");
    expect((await worker.begin()).stderr).toContain("r1/1.1 is over already");
    expect((await next()).dispatch[0].attempt).toBe("r1/1.2");
  });

  test("--undo takes the last change back until something of it has begun", async () => {
    await scene.start(LIST);
    await change("### Task 1: Uno\n\n### Task 4: Four\n");
    expect((await board()).tasks.map((each: { title: string }) => each.title)).toEqual([
      "Uno",
      "Two",
      "Three",
      "Four",
    ]);
    await scene.minion(["change", "--undo"]);
    expect((await board()).tasks.map((each: { title: string }) => each.title)).toEqual([
      "One",
      "Two",
      "Three",
    ]);
    expect((await scene.minion(["change", "--undo"])).stderr).toContain("was not changed");
    await change("### Task 1: Uno\n");
    await next();
    await (await scene.agent("r1/1.1")).begin();
    expect((await scene.minion(["change", "--undo"])).stderr).toContain("has begun since");
  });

  test("--undo takes back what a change asked, and asks nothing that was answered", async () => {
    await scene.start(`${LIST}\n### Task 4: Four\nFiles: src/four.txt\nAsk: cents?\n`);
    await scene.minion(["retry", "4", "-m", "cents"]);
    await change("### Task 1: One\nAsk: which?\n\n### Task 4: Fourth\n");
    expect([await stateOf("1"), await stateOf("4")]).toEqual(["needs-human question", "ready"]);
    await scene.minion(["change", "--undo"]);
    expect([await stateOf("1"), await stateOf("4")]).toEqual(["ready", "ready"]);
  });

  test("a task that comes back under its id after --undo is begun", async () => {
    await scene.start(LIST);
    const four = "### Task 4: Four\nFiles: src/four.txt\n";
    await change(four);
    await next();
    await scene.minion(["change", "--undo"]);
    await change(four);
    const { dispatch } = await next();
    const { attempt } = dispatch.find((each: { task: string }) => each.task === "4");
    expect((await (await scene.agent(attempt)).begin()).code).toBe(0);
  });

  test("--rails leaves out nothing of the list, wherever it is called", async () => {
    scene.write("package.json", '{"scripts":{"test":"node --test"}}');
    scene.write("sub/package.json", '{"scripts":{"test":"node --test sub"}}');
    scene.write(
      ".claude/minion/blueprint.md",
      "---\ngates:\n  - name: test\n    tool: test\n---\n",
    );
    scene.commit("chore: a package");
    await scene.start(`---\nsuccess: test -f src/all.txt\n---\n${LIST}`);
    const cwd = join(scene.repo, "sub");
    const { json } = await scene.minion(["change", "--rails", "--json"], { cwd });
    expect(json.changed).toEqual([]);
  });

  test("--rails takes the rails as they are now, and the base is looked at with them", async () => {
    await scene.start(LIST);
    await land("1", { "src/one.txt": "1\n" });
    scene.write(
      ".claude/minion/blueprint.md",
      '---\ngates:\n  - name: lint\n    run: "! grep -rn LINT src"\n    timeout: 60\n---\n',
    );
    expect(await bash("minion change --rails")).toMatchObject({
      permissionDecision: "ask",
      permissionDecisionReason: expect.stringContaining("lint: ! grep -rn LINT src, at most 60"),
    });
    const { json } = await scene.minion(["change", "--rails", "--json"]);
    expect(json.changed).toContain("test: no more");
    await next();
    const { gates, setup } = JSON.parse(
      journal()
        .split("\n")
        .find((line) => line.includes('"rails-changed"')) ?? "",
    );
    expect([gates.length, setup]).toEqual([1, null]);
    expect(journal().match(/"base-checked"/g)).toHaveLength(2);
    expect((await scene.minion(["change", "--rails"])).stdout).toContain("already");
  });

  test("says in one line what it cannot be called with", async () => {
    await scene.start(LIST);
    for (const args of [[], ["a.md", "--undo"], ["--undo", "--rails"], ["missing.md"]]) {
      const { code, stderr } = await scene.minion(["change", ...args]);
      expect([code, stderr.split("\n").length]).toEqual([2, 3]);
    }
  });
});

describe("what is not to be worked at", () => {
  test("Ask: starts stopped; the answer frees it and reaches the worker", async () => {
    await scene.start(`${LIST}\n### Task 4: Four\nFiles: src/four.txt\nAsk: cents or euros?\n`);
    expect(await stateOf("4")).toBe("needs-human question");
    const { attention, dispatch } = await next();
    expect(dispatch.map((each: { task: string }) => each.task)).toEqual(["1"]);
    expect(attention).toMatchObject([{ task: "4", reason: "question", note: "cents or euros?" }]);
    expect((await next()).attention).toEqual([]);
    expect((await next("--all")).attention).toHaveLength(1);
    await scene.minion(["retry", "4", "-m", "cents"]);
    expect((await next()).dispatch.map((each: { task: string }) => each.task)).toContain("4");
    const worker = await scene.agent("r1/4.1");
    const { stdout } = await worker.begin();
    expect(stdout).toContain("They were asked: cents or euros?\n\n> cents");
    // Reworded later, it does not ask again.
    await worker.minion(["submit", "--nothing", "there is none"]);
  });

  test("stop ends an attempt at its worker's next call; its work stays, retry goes on", async () => {
    await scene.start(LIST);
    await next();
    const worker = await scene.agent("r1/1.1");
    await worker.begin();
    worker.edit({ "src/one.txt": "half\n" });
    expect((await scene.minion(["stop", "1", "-m", "which one?"])).stdout).toContain("retry 1");
    const call = await scene.hook("PreToolUse", {
      agent_id: worker.id,
      agent_type: "minion:minion-worker",
      cwd: worker.path,
      tool_name: "Bash",
      tool_input: { command: "ls" },
    });
    expect(call.json.hookSpecificOutput).toMatchObject({
      permissionDecision: "deny",
      permissionDecisionReason: expect.stringContaining("is over"),
    });
    expect((await worker.submit()).json.error.code).toBe("over");
    expect(existsSync(join(worker.path, "src/one.txt"))).toBe(true);
    expect(await stateOf("1")).toBe("needs-human question");
    expect((await next()).dispatch).toEqual([]);
    await scene.minion(["retry", "1", "-m", "the first"]);
    expect((await next()).dispatch[0].attempt).toBe("r1/1.2");
  });

  test("what was handed in does not land past what a person says of it", async () => {
    await scene.start(LIST);
    await next();
    await scene.goodWorker("r1/1.1", { "src/one.txt": "1\n" });
    await scene.minion(["stop", "1", "-m", "cents?"]);
    await scene.minion(["retry", "1", "-m", "in cents"]);
    expect((await next()).dispatch).toMatchObject([{ attempt: "r1/1.2" }]);
    expect((await (await scene.agent("r1/1.2")).begin()).stdout).toContain("> in cents");
    // With nothing said it goes on as it is.
    await scene.minion(["stop", "1"]);
    expect(await stateOf("1")).toBe("needs-human stopped");
  });

  test("whoever judges the whole is stopped as any other", async () => {
    await scene.start("---\nsuccess: the team is happy\n---\n### Task 1: One\n");
    await land("1", { "src/one.txt": "1\n" });
    expect(await stateOf("success")).toBe("running");
    await scene.minion(["stop", "success"]);
    expect(await stateOf("success")).toBe("needs-human stopped");
    expect((await next()).dispatch).toEqual([]);
    await scene.minion(["retry", "success"]);
    expect((await next()).dispatch).toMatchObject([{ attempt: "r1/success.2" }]);
  });

  test("drop is refused while others stand on it, and takes back what landed, together", async () => {
    await scene.start(LIST);
    await land("1", { "src/one.txt": "1\n", "src/start.txt": "fine\nmore\n" });
    await land("2", { "src/two.txt": "2\n" });
    const refused = await scene.minion(["drop", "1"]);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("2, 3 stand on")]);
    const { code } = await scene.minion(["drop", "3", "2", "1"]);
    expect(code).toBe(0);
    expect(scene.show("minion/r1/line")).toEqual([".claude/minion/blueprint.md", "src/start.txt"]);
    expect(scene.git("show", "minion/r1/line:src/start.txt")).toBe("fine");
    expect((await next()).done).toBe(true);
    expect((await board()).tasks.map((each: { state: string }) => each.state)).toEqual([
      "dropped",
      "dropped",
      "dropped",
    ]);
    // Anew, from the start, after what it depends on.
    expect((await scene.minion(["retry", "2"])).stderr).toContain("needs 1, dropped as well");
    await scene.minion(["retry", "1"]);
    expect((await next()).dispatch).toMatchObject([{ attempt: "r1/1.2" }]);
    await scene.goodWorker("r1/1.2", { "src/one.txt": "again\n" });
    await next();
    expect(scene.git("show", "minion/r1/line:src/one.txt")).toBe("again");
  });

  test("what others were built on is not taken back where it clashes, and nothing changes", async () => {
    await scene.start(
      "### Task 1: One\nFiles: src/one.txt\n\n### Task 2: Two\nFiles: src/two.txt\n",
    );
    const { dispatch } = await next();
    expect(dispatch).toHaveLength(2);
    await scene.goodWorker("r1/1.1", { "src/one.txt": "1\n" });
    await next();
    const worker = await scene.agent("r1/2.1");
    await worker.begin();
    worker.edit({ "src/one.txt": "2\n" });
    await worker.finish();
    await next();
    const tip = scene.git("rev-parse", "minion/r1/line");
    const { code, stderr } = await scene.minion(["drop", "1"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("src/one.txt")]);
    expect(scene.git("rev-parse", "minion/r1/line")).toBe(tip);
    expect(await stateOf("1")).toBe("landed");
    expect(scene.inProgress()).toEqual([]);
  });

  test("after a merge drop names the commands instead", async () => {
    await scene.start("### Task 1: One\nFiles: src/one.txt\n");
    await land("1", { "src/one.txt": "1\n" });
    await scene.minion(["merge"]);
    const { code, stderr } = await scene.minion(["drop", "1"]);
    expect(code).toBe(1);
    const [, command = ""] = /(git revert .*)/.exec(stderr) ?? [];
    scene.git(...command.split(" ").slice(1));
    expect(existsSync(join(scene.repo, "src/one.txt"))).toBe(false);
  });

  test("a session drops unasked only what it added itself and nobody began", async () => {
    await scene.start(LIST);
    await change("### Task 4: Four\nFiles: src/four.txt\n");
    expect(await bash("minion drop 4")).toMatchObject({ permissionDecision: "allow" });
    expect(await bash("minion drop 3")).toMatchObject({ permissionDecision: "ask" });
    expect(await bash("minion drop 4 3")).toMatchObject({ permissionDecision: "ask" });
    expect(await bash('minion stop 2 -m "which?"')).toMatchObject({ permissionDecision: "allow" });
    expect(await bash("minion retry 2 -m x")).toMatchObject({ permissionDecision: "ask" });
    await next();
    await (await scene.agent("r1/4.1")).begin();
    expect(await bash("minion drop 4")).toMatchObject({ permissionDecision: "ask" });
  });
});

describe("what is taken back", () => {
  test("what was done before the run is not dropped", async () => {
    await scene.start("### Task 1: One [DONE]\n### Task 2: Two\n");
    const { code, json } = await scene.minion(["drop", "1", "--json"]);
    expect([code, json.error.code]).toEqual([1, "done-before"]);
  });

  test("after a merge of several landings, the commands that drop names take all of them back", async () => {
    await scene.start("### Task 1: One\nFiles: src/one.txt\n### Task 2: Two\nDepends: 1\n");
    await land("1", { "src/one.txt": "1\n" });
    await land("2", { "src/one.txt": "2\n" });
    await scene.minion(["merge"]);
    const { json } = await scene.minion(["drop", "2", "1", "--json"]);
    const [, command = ""] = /take it back there: (git .*)$/.exec(json.error.hint) ?? [];
    scene.gitIn(scene.repo, ...command.split(" ").slice(1));
    expect(scene.show("trunk")).not.toContain("src/one.txt");
  });
});

describe("what workers find", () => {
  test("is told once, and reaches whoever works on the same files", async () => {
    await scene.start(
      "### Task 1: One\nFiles: src/one.txt\n\n### Task 2: Two\nDepends: 1\nFiles: src/two.txt\n\n" +
        "### Task 3: Three\nDepends: 2\nFiles: src/three.txt\n",
    );
    await next();
    const one = await scene.agent("r1/1.1");
    await one.begin();
    one.edit({ "src/one.txt": "1\n" });
    await one.minion(["gate", "--all"]);
    one.commit();
    const said = [
      "What and why: did it",
      "Concerns: none",
      "Deviations from the task: none",
      "Findings for others: three multiplies money",
      "Risks and how to roll back: none",
    ].join("\n");
    await one.minion(["submit"], said);
    expect((await next()).findings).toEqual([
      { task: "1", slot: "Findings for others", text: "three multiplies money" },
    ]);
    expect((await next()).findings).toEqual([]);
    expect((await next("--all")).findings).toHaveLength(1);
    await scene.goodWorker("r1/2.1", { "src/two.txt": "2\n" });
    await next();
    const three = await scene.agent("r1/3.1");
    expect((await three.begin()).stdout).toContain("> three multiplies money");
    // A session that goes on with it in place of another is told all.
    scene.session = "s2";
    await scene.minion(["resume", "--take"]);
    expect((await next()).findings).toHaveLength(1);
  });
});
