import { execFileSync } from "node:child_process";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parse } from "yaml";
import { Scene } from "./scene.ts";

let scene: Scene;
beforeEach(() => {
  scene = new Scene();
});
afterEach(() => scene.destroy());

const plan = (list: string) => scene.minion(["plan", "-", "--json"], { input: list });
/** Every file below the repository, `.git` and all, with its content. */
const everything = () =>
  execFileSync(
    "sh",
    ["-c", "find . -type f -exec sha1sum {} + | sort -k2; find . -type d | sort"],
    {
      cwd: scene.repo,
      encoding: "utf8",
    },
  );

test("the document has the contract's fields and nothing is written", async () => {
  scene.write("package.json", '{"scripts":{"test":"node --test"}}');
  const before = everything();
  const { code, json } = await plan(
    "1. One\n   Files: src/a.ts, package.json?\n2. Two (depends on: 1)\n3. Three\n   Files: src/*\n",
  );
  expect(code).toBe(0);
  const shape =
    "budget conflicts criticalPath estimate findings gates goal success tasks tools version waves";
  expect(Object.keys(json).sort().join(" ")).toBe(shape);
  expect(json).toMatchObject({
    version: 1,
    waves: [["1", "3"], ["2"]],
    criticalPath: ["1", "2"],
    conflicts: [{ tasks: ["1", "3"], paths: ["src/a.ts"], guessed: false }],
    tools: { test: { run: "npm test", cwd: "", source: "package.json: scripts.test" }, lint: null },
  });
  expect(json.tasks[0]).toEqual({
    id: "1",
    title: "One",
    description: "",
    depends: [],
    files: [
      { path: "src/a.ts", guessed: false },
      { path: "package.json", guessed: true },
    ],
    forbid: [],
    gates: [],
    agent: [],
    done_when: "",
    verify: [],
    ask: "",
    risk: "",
    model: "",
    workflow: "default",
    workflow_why: "no other fits",
    done: false,
    line: 1,
    wave: 1,
  });
  expect(everything()).toBe(before);
});

test("a word that raises the risk and chooses the workflow is named once", async () => {
  const { tasks } = (await plan("1. Add a login route\n")).json;
  expect(tasks[0]).toMatchObject({ risk: "medium", workflow: "secure", workflow_why: "«login»" });
});

test("commands come from the package in which all named files lie, which is said; without files from the list's folder", async () => {
  for (const name of ["a", "b"])
    scene.write(`pkg/${name}/package.json`, '{"scripts":{"test":"node --test"}}');
  scene.write("package.json", '{"scripts":{"lint":"eslint .","test":"npm test --workspaces"}}');
  const cwds = async (list: string) => {
    const { tools, findings } = (await plan(list)).json;
    return [
      tools.lint.cwd,
      tools.test.cwd,
      findings.find(({ code }: { code: string }) => code === "one-package"),
    ];
  };
  const note = {
    level: "note",
    message: expect.stringMatching(/^test run/),
    hint: expect.stringMatching("tools:"),
  };
  expect(await cwds("1. One\n   Files: pkg/a/x.js\n2. Two\n   Files: pkg/a/y.js?\n")).toEqual([
    "",
    "pkg/a",
    expect.objectContaining(note),
  ]);
  expect(await cwds("1. One\n   Files: pkg/a/x.js\n2. Two\n   Files: pkg/b/\n")).toEqual([
    "",
    "",
    undefined,
  ]);
  expect(await cwds("1. One\n   Files: pkg/a/x.js\n2. Two\n")).toEqual(["", "", undefined]);
  const said = "---\ntools:\n  test: npm test\n---\n1. One\n   Files: pkg/a/x.js\n";
  expect(await cwds(said)).toEqual(["", "", undefined]);
});

test("guides are listed and printed; the project's own win over the person's, and those over the shipped ones", async () => {
  scene.write(".claude/minion/guides/own.md", '---\nwhen: "ours"\n---\nOur way.\n');
  scene.write(".claude/minion/guides/Forms.md", "Our forms.\n");
  scene.write(".claude/minion/guides/broken.md", "---\nwhen: [\n---\n");
  scene.write(".claude/minion/guides/own.md", "not this one\n", scene.home);
  scene.write(".claude/agents/expert.md", '---\ndescription: "is expertise, no guide"\n---\n');
  scene.write(".claude/minion/guides/mine.md", "", scene.home);
  const { guides } = (await scene.minion(["guide", "--json"])).json;
  const names = guides.map(({ name }: { name: string }) => name.toLowerCase());
  expect(names.sort()).toEqual([
    "areas",
    "broken",
    "collisions",
    "delivery",
    "forms",
    "mine",
    "own",
    "tickets",
  ]);
  expect(guides).toContainEqual({ name: "own", when: "ours" });
  expect(await scene.minion(["guide", "own"])).toMatchObject({ code: 0, stdout: "Our way.\n" });
  expect(await scene.minion(["guide", "forms"])).toMatchObject({ code: 0, stdout: "Our forms.\n" });
  expect((await scene.minion(["guide", "tickets"])).stdout).toMatch(/^# /);
  expect((await scene.minion(["guide", "own", "forms"])).stdout).toBe("Our way.\n\nOur forms.\n");
  const none = await scene.minion(["guide", "own", "nothing"]);
  expect(none).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/no guide «nothing»\n.*collisions/),
  });
  expect(await scene.minion(["guide", "broken"])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching("broken.md"),
  });
});

test("a list of another form is written out in ours, and gives the same plan", async () => {
  const list =
    "---\ngoal: Events\n---\n## Phase 1\n- [x] T001 Schema in src/a.ts\n- [ ] T002 [P] Endpoint in src/b.ts\n";
  const { stdout, code } = await scene.minion(["plan", "-", "--format", "minion"], { input: list });
  expect([code, stdout]).toEqual([
    0,
    "---\ngoal: Events\n---\n\n### Task T001: Schema in src/a.ts [DONE]\n\nFiles: src/a.ts\n\n### Task T002: Endpoint in src/b.ts\n\nFiles: src/b.ts\n",
  ]);
  const before = await plan(list);
  const after = await plan(stdout);
  const bare = ({ tasks, ...rest }: { tasks: object[] }) => ({
    ...rest,
    tasks: tasks.map((task) => ({ ...task, line: 0 })),
  });
  expect(bare(after.json)).toEqual(bare(before.json));
  const wrong = await scene.minion(["plan", "-", "--format", "minion"], {
    input: "1. a (depends on: 9)\n",
  });
  expect(wrong).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringContaining("line 1: task 1 needs 9"),
  });
});

test("what is counted, and what is not there, in the folder that the list is for", async () => {
  scene.write("packages/a/src/x.ts", "");
  scene.write("README.md", "");
  const list =
    "1. Various fixes\n   Files: src/x.ts, src/y.ts, README.md, packages/a/src/x.ts\n   Done when: x\n";
  const call = (count: string) =>
    scene.minion(["plan", "-", "--expect", count, "--json"], {
      input: list,
      cwd: `${scene.repo}/packages/a`,
    });
  const right = await call("1");
  const wrong = await call("2");
  const none = await call("two");
  expect(right).toMatchObject({
    code: 0,
    json: { findings: [{ code: "vague", line: 1 }, { code: "not-there" }] },
  });
  expect(right.json.findings[1].message).toMatch(/to be made: src\/y\.ts$/);
  expect(wrong).toMatchObject({
    code: 1,
    json: { findings: [{ level: "error", code: "expected" }, {}, {}] },
  });
  expect(none).toMatchObject({ code: 2, json: { error: { code: "usage" } } });
});

test("time, money and what a budget pays for; the project's own prices win", async () => {
  const list = "1. One\n2. Two (depends on: 1)\n   Model: mine\n";
  const args = ["plan", "-", "--budget", "11", "--json"];
  expect((await plan(list)).json).toMatchObject({
    estimate: { dollars: null, unpriced: ["mine"] },
    budget: null,
  });
  expect(await scene.minion(args, { input: list })).toMatchObject({
    code: 2,
    json: { error: { code: "no-price" } },
  });
  const worker = ["minutes", "turns", "context", "fresh"]
    .map((name) => `| ${name} | 1 | 1 | 1 |\n`)
    .join("");
  const prices = `${worker}| output | 1,000,000 | 1,000,000 | 1,000,000 |\n| default | 0 | 0 | 0 | 8 |\n| mine | 0 | 0 | 0 | 4 |\n`;
  scene.write(".claude/minion/prices.md", prices);
  expect((await scene.minion(args, { input: list })).json).toMatchObject({
    estimate: {
      workers: 4,
      basis: "defaults",
      minutes: { likely: 2 },
      oneByOne: 2,
      dollars: { likely: 12 },
    },
    budget: { dollars: 11, fits: ["1"], left: ["2"] },
  });
  const { stdout } = await scene.minion(["plan", "-", "--budget", "12"], { input: list });
  expect(stdout).toContain(
    "about 2 min (2–2) with 4 workers, one after another 2 min (defaults)\n",
  );
  expect(stdout).toContain("$12.00 pay for 2 of these tasks\n");
  scene.write(".claude/minion/prices.md", prices.replace("| 4 |", "| four |"));
  const broken = await plan(list);
  expect(broken).toMatchObject({ code: 2, json: { error: { code: "prices" } } });
  expect(broken.json.error.message).toContain("prices.md:7:");
});

test("what Each: lists is counted and priced when asked to, in the list's folder; else it is not run", async () => {
  scene.write("sub/a.txt", "x\n");
  scene.write("sub/b.txt", "x\n");
  const list =
    "### Task 1: Move\nEach: touch ran; ls *.txt; echo; ls *.txt; echo noise >&2\nFiles: {}\n" +
    "### Task 2: Whole\nDepends: 1\n";
  const of = async (...more: string[]) => {
    const options = { input: list, cwd: `${scene.repo}/sub` };
    return (await scene.minion(["plan", "-", "--json", ...more], options)).json;
  };
  const before = everything();
  const plain = await of();
  expect(everything()).toBe(before);
  expect(plain).not.toHaveProperty("listed");
  const counted = await of("--each");
  expect(counted.listed).toEqual([{ task: "1", count: 2, leftOut: 3, fault: "" }]);
  expect(counted.tasks).toHaveLength(2);
  const dollars = (json: typeof plain) => json.estimate.dollars.likely;
  expect(dollars(counted)).toBeCloseTo(3 * dollars(plain), 1);
  expect(everything()).toContain("./sub/ran");
});

test("an Each: that fails, or an area without a budget, is said", async () => {
  const input = "### Task 1: Move\nEach: exit 3\nFiles: {}\n### Task A: Area\nWorkflow: area\n";
  const { code, json } = await scene.minion(["plan", "-", "--each", "--json"], { input });
  const found = json.findings.map(({ code: name, level }: { code: string; level: string }) => [
    name,
    level,
  ]);
  expect([code, found]).toEqual([
    1,
    expect.arrayContaining([
      ["each", "error"],
      ["no-budget", "warning"],
    ]),
  ]);
  const bound = await scene.minion(["plan", "-", "--budget", "150"], { input });
  expect(bound.stdout).toContain("planned as they go: at most 200 tasks, $150 (A)");
  expect(bound.stdout).not.toContain("with a budget only");
});

test("a flowchart, with the exit of the plan", async () => {
  const draw = (list: string) => scene.minion(["plan", "-", "--mermaid"], { input: list });
  expect(await draw("1. One\n2. Two (depends on: 1)\n")).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^flowchart LR\n[\s\S]*\n {2}t0 --> t1\n$/),
  });
  expect(await draw("1. One (depends on: 9)\n")).toMatchObject({
    code: 1,
    stdout: expect.stringContaining("%% line 1:"),
  });
});

test.each([
  [
    "a cycle",
    "1. One (depends on: 3)\n2. Two (depends on: 1)\n3. Three (depends on: 2)\n",
    "cycle",
  ],
  ["an unknown dependency", "1. One (depends on: 9)\n", "unknown-dependency"],
  ["an empty list", "", "empty-list"],
  ["no such expertise", "1. One\n   Agent: backend-architekt\n", "unknown-agent"],
])("%s: an error with its line, exit 1, and start refuses it", async (_, list, code) => {
  const before = everything();
  const answer = await plan(list);
  expect(answer.code).toBe(1);
  expect(answer.json.findings).toContainEqual(
    expect.objectContaining({
      level: "error",
      code,
      line: expect.any(Number),
      hint: expect.stringMatching(/./),
    }),
  );
  expect(await scene.minion(["start", "-", "--json"], { input: list })).toMatchObject({
    code: 1,
    json: { error: { code: "plan" } },
  });
  expect(everything()).toBe(before);
});

test.each([
  [["plan", "nowhere.md"], 2],
  [["plan"], 2],
  [["plan", "-", "--budget", "0"], 2],
  [["plan", "-", "--budget", "-1"], 2],
  [["plan", "-", "--budget", "much"], 2],
  [["plam", "-"], 2],
  [["plan", "src"], 2],
  [["plan", "-", "--expect", "-1"], 2],
  [["plan", "-", "--format", "yaml"], 2],
  [["next", "--wait", "soon"], 2],
  [["next"], 2],
  [["begin", "1"], 1],
  [["begin", "r9/1.1"], 1],
  [["gate"], 2],
  [["gate", "test"], 1],
  [["board", "--run", "r7"], 2],
  [["clean", "--run", "../.."], 2],
])("minion %s: one clear line with a hint, exit %s", async (args, code) => {
  const answer = await scene.minion(args as string[]);
  expect(answer.code).toBe(code);
  expect(answer.stdout).toBe("");
  expect(answer.stderr).toMatch(/^minion: .+\n {2}→ .+\n$/);
  const asJson = await scene.minion([...(args as string[]), "--json"]);
  expect(asJson.json).toEqual({
    version: 1,
    error: { code: expect.any(String), message: expect.any(String), hint: expect.any(String) },
  });
  expect(asJson.stderr).toBe("");
});

test.each([
  ["no repository", (): string => scene.home, 2],
  [
    "no commit yet",
    (): string => {
      execFileSync("git", ["init", "-q", "empty"], { cwd: scene.home });
      return `${scene.home}/empty`;
    },
    2,
  ],
  [
    "a bare one",
    (): string => {
      execFileSync("git", ["init", "-q", "--bare", "bare"], { cwd: scene.home });
      return `${scene.home}/bare`;
    },
    2,
  ],
])("%s: said, exit 2", async (_, place, code) => {
  const answer = await scene.minion(["start", "-"], { input: "1. One\n", cwd: place() });
  expect(answer).toMatchObject({ code, stderr: expect.stringMatching(/^minion: .+\n {2}→ .+\n$/) });
});

test.each([
  ["gates:\n  - name: lint\n    tool: lnt\n", 4],
  ["bounds:\n  send_backs: 8\n", 3],
])("a typo in the blueprint is an error with its line: %j", async (yaml, line) => {
  scene.write(".claude/minion/blueprint.md", `---\n${yaml}---\n`);
  const answer = await scene.minion(["blueprint"]);
  expect(answer.code).toBe(1);
  expect(answer.stderr).toContain(`.claude/minion/blueprint.md:${line}: `);
});

test("data that has no text of its own is printed as YAML, and steers no terminal", async () => {
  scene.write(".claude/minion/overlays/own.md", `---\nwhen: "red \\e[31m"\n---\nText.\n`);
  const text = await scene.minion(["overlays"]);
  const asJson = await scene.minion(["overlays", "--json"]);
  expect(asJson.json.overlays).toContainEqual({
    name: "own",
    kind: "domain",
    when: "red \u001b[31m",
  });
  expect({ version: 1, ...parse(text.stdout) }).toEqual(asJson.json);
  expect(text.stdout).not.toMatch(/(?!\n)\p{Cc}/u);
});
