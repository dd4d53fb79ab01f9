import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { Scene } from "./scene.ts";

let scene: Scene;
afterEach(() => scene.destroy());

const MINUTE = 60_000;

/** Rails that write down each call of the person, one a line. */
const rails = (command = "cat >> ../calls.jsonl", more = ""): string => `---
notify: '${command}'
gates:
  - name: test
    run: "! grep -rn FAIL src"
${more}---
`;

const calls = (): { news: { kind: string; task: string | null; text: string }[] }[] => {
  const file = join(scene.home, "calls.jsonl");
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line));
};
const kinds = (): [string, string | null][][] =>
  calls().map(({ news }) => news.map(({ kind, task }) => [kind, task]));
const next = async () => (await scene.minion(["next", "--json", "--wait", "30"])).json;
const journal = (): string => join(scene.repo, ".git/minion/r1/events.jsonl");
const count = (event: string): number =>
  readFileSync(journal(), "utf8").split(`"event":"${event}"`).length - 1;

/** Lets the last call of the person be so long ago. */
function later(by: number): void {
  const lines = readFileSync(journal(), "utf8").split("\n");
  const earlier = lines.map((line) => {
    if (!line.includes('"event":"notified"')) return line;
    const event = JSON.parse(line);
    return JSON.stringify({ ...event, at: event.at - by });
  });
  writeFileSync(journal(), earlier.join("\n"));
}

const until = (condition: () => void): Promise<void> =>
  vi.waitFor(condition, { timeout: 20_000, interval: 50 });

describe("the person is called", () => {
  test("where a task waits and where all is done, each once and never twice within five minutes", async () => {
    scene = new Scene(rails());
    await scene.start("### Task 1: One\n\n### Task 2: Two\nAsk: In cents?\n");
    const { dispatch } = await next();
    await until(() => expect(kinds()).toEqual([[["waits", "2"]]]));
    expect(calls()[0]).toMatchObject({
      version: 1,
      run: "r1",
      line: "minion/r1/line",
      repository: scene.repo,
      news: [{ text: "Task 2 (Two): question. In cents?" }],
      look: expect.stringContaining("minion attention --run r1"),
    });
    await next();
    await scene.goodWorker(dispatch[0].attempt, { "src/one.txt": "x\n" });
    await scene.minion(["drop", "2"]);
    expect((await next()).done).toBe(true);
    // It is done, and that is said once the five minutes are over.
    expect(kinds()).toHaveLength(1);
    later(5 * MINUTE);
    await until(() => expect(kinds()).toEqual([[["waits", "2"]], [["done", null]]]));
    await until(() => expect(count("job-ended")).toBe(count("job")));
    later(5 * MINUTE);
    await next();
    expect(kinds()).toHaveLength(2);
  });

  test("where several have something in common, and where the money is spent", async () => {
    const alarms = `alarms:
  - {when: base-red, count: 1, pause: false, likely: "the project itself fails", way: "mend that first"}
`;
    scene = new Scene(rails(undefined, alarms));
    scene.write("src/old.txt", "FAIL\n");
    scene.commit("feat: red");
    await scene.start("### Task 1: One\n");
    await next();
    await until(() =>
      expect(kinds()).toEqual([
        [
          ["alarm", null],
          ["waits", "1"],
        ],
      ]),
    );
  });

  test("by nobody in a run in which nothing waits, and by the terminal where no command is named", async () => {
    scene = new Scene(rails(""));
    await scene.start("### Task 1: One\n\n### Task 2: Two\nAsk: In cents?\n");
    await next();
    const stop = () => scene.hook("Stop", { background_tasks: [{ id: "a" }] });
    expect((await stop()).json).toEqual({ terminalSequence: "\u0007" });
    expect((await stop()).stdout).toBe("");
    expect(calls()).toEqual([]);
  });

  test("and a command that fails, or never reads, harms nothing and is said", async () => {
    scene = new Scene(rails("exit 3"));
    await scene.start("### Task 1: One\nAsk: In cents?\n");
    await next();
    await until(() => expect(count("notified")).toBe(1));
    await until(() => expect(count("job-ended")).toBe(count("job")));
    const { code, stdout } = await scene.minion(["board"]);
    expect(code).toBe(0);
    expect(stdout).toContain("nobody is called: what notify: names ended with 3");
  });

  test("by a command of the project's only once it was agreed to, and it is shown first", async () => {
    scene = new Scene(rails("curl -d @- https://example.com"));
    const asked = await scene.hook("PreToolUse", {
      tool_name: "Bash",
      tool_input: { command: "minion start list.md" },
    });
    const { permissionDecision, permissionDecisionReason } = asked.json.hookSpecificOutput;
    expect(permissionDecision).toBe("ask");
    expect(permissionDecisionReason).toContain(
      "where you are wanted: curl -d @- https://example.com",
    );
  });
});
