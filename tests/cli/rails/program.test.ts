import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Scene } from "./scene.ts";

// Other tests call verbs in their own process. Here the program as it is built is started, as people,
// hooks and workers start it; whole runs through it are those of crash.test.ts and tests/e2e.

const scene = new Scene();
let verbs: string[] = [];
beforeAll(async () => {
  const { stdout } = await scene.spawned(["--help"]);
  verbs = [...stdout.matchAll(/^ {2}([a-z]+) .*/gm)].map(([, verb = ""]) => verb);
  await scene.start("1. One\n2. Two (depends on: 1)\n");
});
afterAll(() => scene.destroy());

describe("the program as it is built", () => {
  test("knows each verb that its help lists, and says how it is called", async () => {
    expect(verbs.length).toBeGreaterThan(15);
    const helps = await Promise.all(verbs.map((verb) => scene.spawned([verb, "--help"])));
    for (const [at, { code, stdout, stderr }] of helps.entries()) {
      expect({ code, stderr }, verbs[at]).toEqual({ code: 0, stderr: "" });
      expect(stdout).toContain(`Usage: minion ${verbs[at]}`);
    }
  });

  test("ends with what a verb says, the document alone on stdout", async () => {
    const [board, plan, none, wrong, unknown] = await Promise.all([
      scene.spawned(["board", "--json"]),
      scene.spawned(["plan", "-", "--json"], { input: "1. One (depends on: 2)\n" }),
      scene.spawned(["land", "7", "--json"]),
      scene.spawned(["gate"]),
      scene.spawned(["lnd", "1"]),
    ]);
    expect(board).toMatchObject({ code: 0, stderr: "", json: { version: 1, run: "r1" } });
    expect(plan.code).toBe(1);
    expect(plan.json.findings.map(({ code }: { code: string }) => code)).toContain(
      "unknown-dependency",
    );
    expect(none).toMatchObject({ code: 1, stderr: "", json: { error: { code: "no-task" } } });
    expect(wrong).toMatchObject({ code: 2, stdout: "" });
    expect(wrong.stderr).toMatch(/gate wants one name, or --all\n {2}→ .*minion gate test\n/);
    expect(unknown).toMatchObject({ code: 2, stdout: "" });
    expect(unknown.stderr).toContain("Did you mean land?");
  });

  test("answers a hook, and never fails where it cannot", async () => {
    const asked = { session_id: "s1", cwd: scene.repo, tool_name: "Bash" };
    const [merge, broken] = await Promise.all([
      scene.spawned(["hook", "PreToolUse"], {
        input: JSON.stringify({ ...asked, tool_input: { command: "minion merge" } }),
      }),
      scene.spawned(["hook", "PreToolUse"], { input: "{" }),
    ]);
    expect(JSON.parse(merge.stdout).hookSpecificOutput.permissionDecision).toBe("ask");
    expect(broken).toMatchObject({ code: 0, stdout: "" });
  });

  test.runIf(process.platform === "linux").each(["> /dev/full", "2> /dev/full", ">&-"])(
    "breaks no session where a hook's answer cannot be written: %s",
    (where) => {
      const call = `"$0" "$1" hook PreToolUse ${where}`;
      const asked = { session_id: "s1", cwd: scene.repo, tool_name: "Bash" };
      const input = JSON.stringify({ ...asked, tool_input: { command: "minion merge" } });
      const options = { cwd: scene.repo, env: scene.env(), input };
      const ended = spawnSync("sh", ["-c", call, process.execPath, scene.program], options);
      expect(ended.status).toBe(0);
    },
  );

  test("does in the background what takes longer than its caller waits", async () => {
    const first = await scene.spawned(["next", "--json", "--wait", "60"]);
    expect(first.json.dispatch).toMatchObject([{ attempt: "r1/1.1" }]);
    const worker = await scene.agent("r1/1.1");
    expect((await worker.spawned(["begin", "r1/1.1"])).code).toBe(0);
    const { code, json } = await worker.spawned(["gate", "--all", "--json"]);
    expect({ code, gates: json.gates.length }).toEqual({ code: 0, gates: 2 });
  });
});
