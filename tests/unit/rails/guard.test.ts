import { copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ToolAnswer } from "../../../rails/guard/answer.ts";
import { isListed, wordsOf } from "../../../rails/guard/command.ts";
import { foremanTool, foremanWrite } from "../../../rails/guard/foreman-tool.ts";
import { workerCommand, workerWrite } from "../../../rails/guard/worker-tool.ts";
import type { EventData, NewEvent } from "../../../rails/journal/events.ts";
import { Journal } from "../../../rails/journal/journal.ts";
import { startedWith } from "./run.ts";

describe("a single plain command", () => {
  test.each([
    ["git add -A", ["git", "add", "-A"]],
    ["  git   commit -m 'feat: a b'  ", ["git", "commit", "-m", "feat: a b"]],
    ['git commit -m "it\'s"', ["git", "commit", "-m", "it's"]],
    ["git add 'a b'/c", ["git", "add", "a b/c"]],
    [
      "git commit -m 'feat: a\n\nwhy; not' -m \"fix!: b\"",
      ["git", "commit", "-m", "feat: a\n\nwhy; not", "-m", "fix!: b"],
    ],
    ["git add 'app/[id]' src/*.ts a\\ b", ["git", "add", "app/[id]", "src/*.ts", "a b"]],
    ["minion submit --nothing 'a; b'", ["minion", "submit", "--nothing", "a; b"]],
  ])("%s", (command, words) => expect(wordsOf(command)).toEqual(words));
  test.each([
    "git add a && rm b",
    "git add a; rm b",
    "git add a | sh",
    "git add $(rm b)",
    "git add `rm b`",
    'git add "$(rm b)"',
    "git add a > b",
    "git add a\nrm b",
    "git add a &",
    "git add 'a",
    'git add "a\\"; rm b',
    "git add $HOME",
    "git add <(rm b)",
    "git add {a,$(rm b)}",
    "git diff {--output=/x,a}",
    "minion submit < b",
    "X=1",
    "FOO=1 git add a",
    "(git add a)",
    "",
  ])("%j cannot be judged", (command) => expect(wordsOf(command)).toBeNull());
  test("fed by one here-document, and nothing after it", () => {
    expect(wordsOf("minion submit <<'EOF'\na $(b) `c`\nEOF")).toEqual(["minion", "submit"]);
    expect(wordsOf("minion submit <<'EOF'\na\nEOF\nrm b")).toBeNull();
    expect(wordsOf("minion submit <<'EOF'\na\nEOF\nrm b\nEOF")).toBeNull();
    expect(wordsOf("minion submit <<EOF\n$(rm b)\nEOF")).toBeNull();
    expect(wordsOf("minion submit; rm b <<'EOF'\na\nEOF")).toBeNull();
  });
  test("a message of several lines as models write it, and nothing that only looks like it", () => {
    const commit = (text: string): string[] | null => wordsOf(`git commit -m "$(${text}\n)"`);
    expect(commit("cat <<'EOF'\nfeat: a (b)\n\nit's `c`\nEOF")?.slice(0, 3)).toEqual([
      "git",
      "commit",
      "-m",
    ]);
    expect(isListed(commit("cat <<'EOF'\nnot --output\nEOF") ?? [], ["git commit"])).toBe(true);
    expect(isListed(commit("cat <<'EOF'\n--output=/x\nEOF") ?? [], ["git commit"])).toBe(false);
    expect(wordsOf("git commit -m $(cat <<'EOF'\na --output=/x\nEOF\n)")).toBeNull();
    expect(commit("cat <<EOF\n$(rm b)\nEOF")).toBeNull();
    expect(commit("cat <<'EOF'\na\nEOF\nrm b\nEOF")).toBeNull();
    expect(commit("cat b <<'EOF'\na\nEOF")).toBeNull();
    expect(commit("sh <<'EOF'\na\nEOF")).toBeNull();
  });
  test("a list of allowed commands, and options that do more", () => {
    expect(isListed(["git", "add", "x"], ["git add"])).toBe(true);
    expect(isListed(["git", "-C", "/x", "add"], ["git add"])).toBe(false);
    expect(isListed(["git"], ["git add"])).toBe(false);
    for (const option of ["--output=/x", "--outp", "--ext-diff", "-Oless"])
      expect(isListed(["git", "add", option], ["git add"])).toBe(false);
  });
});

describe("who may run which command of minion", () => {
  const decision = (answer: ToolAnswer) => answer?.decision ?? null;
  const foreman = async (command: string, permission_mode = "default") =>
    decision(
      await foremanTool(
        { tool_name: "Bash", tool_input: { command }, permission_mode },
        null,
        null,
      ),
    );
  test.each([
    ["minion next --json", "allow"],
    ["minion plan /tmp/x.md", "allow"],
    ["minion plan /tmp/x.md --each", "ask"],
    ["minion plan --each - <<'TASKS'\n1. One\nTASKS", "ask"],
    ["minion clean --dry-run", "allow"],
    ["minion guide", "allow"],
    ["minion guide forms tickets", "allow"],
    ["minion", "allow"],
    ["minion --help", "allow"],
    ["minion merge --help", "allow"],
    ["minion clean", "ask"],
    ["minion merge", "ask"],
    ["minion retry 2", "ask"],
    ["minion land 2", "ask"],
    ["minion abort", "ask"],
    ["minion resume", "allow"],
    ["minion resume --take", "ask"],
    ["minion start x.md --new", "ask"],
    ["minion plan - <<'TASKS'\n1. One\nTASKS", "allow"],
    ["minion plan - <<TASKS\n1. $(rm b)\nTASKS", null],
    ["minion resume --red-base", "ask"],
    ["minion blueprint", "allow"],
    ["minion blueprint --agree", "ask"],
    ["minion next && rm -rf x", null],
    ["minion board; minion retry 3 && minion next", "ask"],
    ["cd . && FOO=1 minion merge | tail -3", "ask"],
    ["sh -c 'minion land 3'", "ask"],
    ["echo minion merge", null],
    ["minion job land r1", null],
    ["npm test", null],
  ])("the foreman: %s → %s", async (command, expected) =>
    expect(await foreman(command)).toBe(expected),
  );
  test.each(["default", "acceptEdits", "auto", "dontAsk", "bypassPermissions", "plan"])(
    "to merge is asked in mode %s, and no worker's",
    async (mode) => {
      for (const command of ["minion merge", "minion merge --into main --json"]) {
        expect(await foreman(command, mode)).toBe("ask");
        expect(decision(await workerCommand(command, null))).toBe("deny");
      }
    },
  );
  test.each([
    ["minion plan x.md", "allow"],
    ["minion board", "allow"],
    ["minion guide forms", "allow"],
    ["minion start x.md", "deny"],
    ["minion next --json", "deny"],
    ["minion resume", "deny"],
  ])("the foreman in plan mode: %s → %s", async (command, expected) =>
    expect(await foreman(command, "plan")).toBe(expected),
  );
  test.each([
    ["minion begin r1/1.1", "allow"],
    ["minion submit <<'EOF'\nx\nEOF", "allow"],
    ["minion next", "deny"],
    ["minion land 1", "deny"],
    ["minion retry 1", "deny"],
    ["minion gate test && true", null],
    ["minion gate test && minion next", "deny"],
    ["cd x; /home/a/.claude/skills/minion/bin/minion land 1", "deny"],
    ['bash -c "minion land 1"', "deny"],
    ["echo minion land", null],
  ])("a worker: %j → %s", async (command, expected) =>
    expect(decision(await workerCommand(command, null))).toBe(expected),
  );
});

describe("a run that stands still, and who may resume it", () => {
  let top: string;
  beforeEach(() => {
    top = realpathSync(mkdtempSync(join(tmpdir(), "minion-guard-")));
  });
  afterEach(() => rmSync(top, { recursive: true }));

  /** Three workers that ended alike, one after another at the same gate. */
  const alarming = ["1", "2", "3"].flatMap((task): NewEvent[] => [
    { event: "dispatched", task, attempt: `r1/${task}.1`, phase: "implement" },
    { event: "ended", attempt: `r1/${task}.1`, reason: "never-began", note: "" },
  ]);
  const open = (more: Partial<EventData["started"]>, ...events: NewEvent[]): Promise<void> => {
    const { at: _, ...started } = startedWith("1. One\n2. Two\n3. Three\n", {
      session: "s",
      ...more,
    });
    return new Journal(top, "r1").add(started, { event: "base-checked", red: [] }, ...events);
  };
  /** At 4 dollars per million tokens of input. */
  const spent = (dollars: number): NewEvent[] => {
    const none = { write: 0, writeHour: 0, read: 0, output: 0 };
    const used = { model: "opus", requests: 1, input: dollars * 250_000, ...none };
    const transcript = join(top, "session.jsonl");
    return [
      { event: "dispatched", task: "1", attempt: "r1/1.1", phase: "implement" },
      { event: "launched", attempt: "r1/1.1", agent: "a", transcript },
      { event: "spent", attempt: null, transcript, size: 1, usage: [used] },
    ];
  };
  const answer = async (command: string, session_id = "s") => {
    mkdirSync(join(top, ".claude/minion"), { recursive: true });
    const prices = join(import.meta.dirname, "../../../assets/skills/minion-blueprint/prices.md");
    copyFileSync(prices, join(top, ".claude/minion/prices.md"));
    const place = { top, main: top, common: top, gitDir: top, prefix: "" };
    const call = { tool_name: "Bash", tool_input: { command }, session_id };
    return foremanTool(call, place, null);
  };

  test("its own session asks after an alarm, and says which; once that is seen it does not", async () => {
    await open({}, ...alarming);
    const why = expect.stringContaining("workers ended with never-began");
    expect(await answer("minion resume --json")).toEqual({ decision: "ask", reason: why });
    expect(await answer("minion resume --run r1")).toMatchObject({ decision: "ask" });
    expect(await answer("minion next --json")).toMatchObject({ decision: "allow" });
    expect(await answer("minion resume --run r2")).toMatchObject({ decision: "allow" });
    expect(await answer("minion resume", "another session")).toMatchObject({ decision: "allow" });
    await new Journal(top, "r1").add({ event: "owner", session: "s", owner: null });
    expect(await answer("minion resume")).toMatchObject({ decision: "allow" });
  });
  test("and where the budget is spent; to raise it is a person's before that, too", async () => {
    await open({ budget: 5 }, ...spent(4.9));
    expect(await answer("minion resume --budget 9")).toMatchObject({ decision: "ask" });
    expect(await answer("minion resume")).toMatchObject({ decision: "allow" });
    const [, , more] = spent(5);
    await new Journal(top, "r1").add(more as NewEvent);
    expect(await answer("minion resume --budget 9")).toEqual({
      decision: "ask",
      reason: expect.stringContaining("$5.00 of $5"),
    });
  });
  test("one whose client has died goes on with what was lost", async () => {
    await open({ owner: { pid: process.pid, started: "before" } }, ...alarming);
    expect(await answer("minion resume")).toMatchObject({ decision: "allow" });
  });
});

describe("what may be written without asking", () => {
  let top: string;
  beforeEach(() => {
    top = realpathSync(mkdtempSync(join(tmpdir(), "minion-guard-")));
    mkdirSync(join(top, "tree/src"), { recursive: true });
    symlinkSync("/etc", join(top, "tree/out"));
  });
  afterEach(() => rmSync(top, { recursive: true }));
  test.each([
    ["src/a.ts", true],
    ["new/folder/a.ts", true],
    ["../a.ts", false],
    ["out/passwd", false],
    [".git", false],
    [".git/config", false],
    [".claude/settings.json", false],
    ["/etc/passwd", false],
    ["", false],
  ])("a worker: %s → %s", async (path, allowed) => {
    const tree = join(top, "tree");
    const answer = await workerWrite(path.startsWith("/") ? path : join(tree, path), tree, null);
    expect(answer?.decision === "allow").toBe(allowed);
  });
  test.each([
    ["/tmp/minion-abc/tasks.md", "abc", true],
    ["/tmp/minion-abc/x.sh", "abc", false],
    ["/tmp/minion-other/tasks.md", "abc", false],
    ["/tmp/minion-abc/../x.md", "abc", false],
    ["/tmp/minion-/tasks.md", "", false],
    ["/tmp/minion-a/b/tasks.md", "a/b", false],
  ])("the foreman: %s of session %j → %s", async (path, session, allowed) => {
    expect((await foremanWrite(path, session))?.decision === "allow").toBe(allowed);
  });
});
