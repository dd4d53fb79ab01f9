import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { MINION, Scene } from "./scene.ts";

let scene: Scene;
beforeEach(() => {
  scene = new Scene();
});
afterEach(() => scene.destroy());

const pasted = (text: string, before = "\n\n") =>
  `${before}<pasted_content id="490c">\n${text}\n</pasted_content id="490c">\n`;
/** The hook of a prompt as the client calls it: through the filter in `sh`, which starts the program. */
function prompted(prompt: string, more: object = {}) {
  const said = { session_id: "s7", cwd: scene.repo, hook_event_name: "UserPromptSubmit", prompt };
  const filter = join(MINION, "../../hooks/filter.sh");
  const { status, stdout, stderr } = spawnSync("sh", [filter, "UserPromptSubmit"], {
    cwd: scene.repo,
    env: scene.env(),
    input: JSON.stringify({ ...said, ...more }),
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}
const TASKS = "Tasks:\n1. One\n2. Two\n3. Three\n4. Four";

test("a pasted /minion is answered with the command's page, and nothing else that is pasted or typed is", () => {
  for (const command of ["/minion", "/minion:minion"]) {
    const { status, stdout } = prompted(pasted(`${command} ${TASKS}`));
    expect(status).toBe(0);
    expect(stdout).toMatch(/^The person called the command \/minion; /);
    expect(stdout).toContain("# Foreman");
    expect(stdout).toContain("/tmp/minion-s7/tasks.md");
    expect(stdout).not.toMatch(/\$ARGUMENTS|CLAUDE_SESSION_ID|^---$|allowed-tools/m);
    // More than this the client does not hand on whole.
    expect(stdout.length).toBeLessThan(9000);
  }
  for (const prompt of [
    pasted(`See how /minion does it:\n${TASKS}`),
    pasted(`/minions ${TASKS}`),
    pasted(`/minion-toolkit ${TASKS}`),
    pasted(`/minion ${TASKS}`, "Explain this: "),
    `/minion ${TASKS}`,
    pasted("minion board\n/minion\nx\ny"),
  ])
    expect(prompted(prompt), prompt).toEqual({ status: 0, stdout: "", stderr: "" });
  expect(prompted(pasted(`/minion ${TASKS}`), { agent_type: "minion:minion-worker" }).stdout).toBe(
    "",
  );
});

test("a board without a run answers in a line, and a watched one waits for one", async () => {
  expect(await scene.minion(["board"])).toEqual({
    code: 0,
    stdout: "There is no run here yet: /minion starts one.\n",
    stderr: "",
    json: null,
  });
  expect((await scene.minion(["board", "--json"])).json).toEqual({
    version: 1,
    run: null,
    tasks: [],
  });
  expect((await scene.minion(["board", "--run", "r1"])).code).toBe(2);
  const watched = scene.minion(["board", "--watch"]);
  await scene.start("1. One\n");
  await new Promise((resolve) => setTimeout(resolve, 1500));
  await scene.minion(["abort"]);
  const { code, stdout, stderr } = await watched;
  expect(code).toBe(0);
  expect(stderr).toBe("There is no run here yet: waiting for one.\n");
  expect(stdout).toContain("run r1: aborted");
});

test("a board that is watched after a run waits for the next one; of a run that is named it ends", async () => {
  await scene.start("1. One\n");
  await scene.minion(["abort"]);
  expect((await scene.minion(["board", "--watch", "--run", "r1"])).stderr).toBe("");
  const watched = scene.minion(["board", "--watch"]);
  await new Promise((resolve) => setTimeout(resolve, 700));
  await scene.start("1. Other\n");
  await new Promise((resolve) => setTimeout(resolve, 1500));
  await scene.minion(["abort"]);
  const { code, stdout, stderr } = await watched;
  expect(code).toBe(0);
  expect(stderr).toBe("Run r1 is over: waiting for the next one.\n");
  expect(stdout.match(/^run r\d: aborted/gm)).toEqual(["run r1: aborted", "run r2: aborted"]);
});

test("the help fits 80 columns", async () => {
  const { stdout } = await scene.minion(["--help"]);
  for (const line of stdout.split("\n")) expect(line.length, line).toBeLessThanOrEqual(80);
  expect(stdout).toContain("  verdict <attempt> <pass|fail>  ");
});

test("a report as it is printed names the file with its pictures", async () => {
  await scene.start("1. One\n");
  const { file, report } = (await scene.minion(["report", "--json"])).json;
  const { stdout } = await scene.minion(["report", "--full"]);
  expect(report).toContain("```mermaid");
  expect(readFileSync(file, "utf8")).toContain("```mermaid");
  expect(stdout).not.toContain("mermaid");
  expect(stdout).toContain(file);
});

test("a task landed by hand that frees others says how the run goes on", async () => {
  await scene.start("1. One\n   Forbid: `src/b.txt`\n2. Two (depends on: 1)\n");
  const { json } = await scene.minion(["next", "--json"]);
  const worker = await scene.agent(json.dispatch[0].attempt);
  await worker.begin();
  worker.edit({ "src/b.txt": "x\n" });
  await worker.minion(["gate", "--all"]);
  worker.commit();
  await worker.submit();
  await worker.submit();
  await scene.minion(["next", "--json"]);
  expect((await scene.minion(["land", "1"])).stdout).toBe(
    "task 1 is on minion/r1/line\n/minion --resume goes on with the run: task 2 can start now\n",
  );
});

test("clean and events say it in lines for people", async () => {
  await scene.start("1. One\n");
  const { json } = await scene.minion(["next", "--json"]);
  await scene.goodWorker(json.dispatch[0].attempt, { "src/a.txt": "a\n" });
  await scene.minion(["next", "--json"]);
  const events = (await scene.minion(["events"])).stdout;
  expect(events).toMatch(
    /^\d\d:\d\d:\d\d {2}submitted {5}head=[0-9a-f]{10} .*paths=\["src\/a\.txt"\] attempt=r1\/1\.1/m,
  );
  for (const line of events.split("\n")) expect(line).not.toMatch(/^\s*- |^\S+:$/);
  const dry = (await scene.minion(["clean", "--dry-run"])).stdout;
  expect(dry).toMatch(/^would remove worktree .*minion-r1-landing$/m);
  expect(dry).toMatch(/^kept branch minion\/r1\/line: the result: not merged yet$/m);
  await scene.minion(["merge"]);
  expect((await scene.minion(["clean"])).stdout).toMatch(/^removed branch minion\/r1\/line$/m);
  expect((await scene.minion(["clean"])).stdout).toBe("There is nothing to remove.\n");
});

test("the package has a program called minion, which runs through a link as npm lays it", () => {
  const { bin } = JSON.parse(readFileSync(join(MINION, "../../../package.json"), "utf8"));
  const folder = join(scene.home, "node_modules/.bin");
  mkdirSync(folder, { recursive: true });
  symlinkSync(join(MINION, "../../..", bin.minion), join(folder, "minion"));
  const env = { ...scene.env(), PATH: `${folder}:${process.env.PATH}`, npm_command: "exec" };
  const call = (...args: string[]) =>
    spawnSync("minion", args, { cwd: scene.repo, env, encoding: "utf8", input: "1. One\n" });
  expect(call("plan", "-")).toMatchObject({ status: 0, stderr: "" });
  expect(call("retry").stderr).toContain("see npx -p minion-toolkit minion --help");
  // A person starts a run in a session, wherever they ask for one.
  expect(call("retry", "1").stderr).toContain("/minion");
});

test("a project's own agents serve as expertise as the client reads them, quoted or not", async () => {
  const agents = { beta: "[BETA] x", star: "*x", at: "@x", percent: "%x", colon: "Use when: a" };
  for (const [name, description] of Object.entries(agents))
    scene.write(
      `.claude/agents/${name}.md`,
      `---\nname: ${name}\ndescription: ${description}\n---\nDo.\n`,
    );
  const { overlays } = (await scene.minion(["overlays", "--json"])).json;
  for (const [name, when] of Object.entries(agents))
    expect(overlays).toContainEqual({ name, kind: "domain", when });
  const list = "### Task 1: One\nIt.\nFiles: src/a.txt\nAgent: beta\nDone when: it is\n";
  expect(await scene.minion(["plan", "-"], { input: list })).toMatchObject({ code: 0 });
});
