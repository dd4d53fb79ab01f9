import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { hasRiskyOption, isListed, wordsOf, wordsOfFed } from "../../../rails/guard/command.ts";
import { foremanCommand, foremanWrite, workerCommand, workerWrite } from "../../../rails/guard/tool.ts";

describe("a single plain command", () => {
  test.each([
    ["git add -A", ["git", "add", "-A"]],
    ["  git   commit -m 'feat: a b'  ", ["git", "commit", "-m", "feat: a b"]],
    ['git commit -m "it\'s"', ["git", "commit", "-m", "it's"]],
    ["git add 'a b'/c", ["git", "add", "a b/c"]],
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
    "FOO=1 git add a",
    "(git add a)",
    "git add a # b",
    "",
  ])("%j cannot be judged", (command) => expect(wordsOf(command)).toBeNull());
  test("fed by one quoted here-document, and nothing after it", () => {
    expect(wordsOfFed("minion submit <<'EOF'\na $(b) `c`\nEOF")).toEqual(["minion", "submit"]);
    expect(wordsOfFed("minion submit <<'EOF'\na\nEOF\nrm b")).toBeNull();
    expect(wordsOfFed("minion submit <<'EOF'\na\nEOF\nrm b\nEOF")).toBeNull();
    expect(wordsOfFed("minion submit <<EOF\n$(rm b)\nEOF")).toBeNull();
    expect(wordsOfFed("minion submit; rm b <<'EOF'\na\nEOF")).toBeNull();
  });
  test("a list of allowed commands, and options that do more", () => {
    expect(isListed(["git", "add", "x"], ["git add"])).toBe(true);
    expect(isListed(["git", "-C", "/x", "add"], ["git add"])).toBe(false);
    expect(isListed(["git"], ["git add"])).toBe(false);
    for (const option of ["--no-verify", "--output=/x", "-n", "--ext-diff"])
      expect(hasRiskyOption(["git", option])).toBe(true);
  });
});

describe("who may run which command of minion", () => {
  const decision = (answer: { permissionDecision: string } | null) => answer?.permissionDecision ?? null;
  test.each([
    ["minion next --json", "allow"],
    ["minion plan /tmp/x.md", "allow"],
    ["minion clean --dry-run", "allow"],
    ["minion clean", "ask"],
    ["minion merge", "ask"],
    ["minion retry 2", "ask"],
    ["minion land 2", "ask"],
    ["minion abort", "ask"],
    ["minion resume", "allow"],
    ["minion resume --take", "ask"],
    ["minion start x.md --new", "ask"],
    ["minion next && rm -rf x", null],
    ["minion job land r1", null],
    ["npm test", null],
  ])("the foreman: %s → %s", (command, expected) => expect(decision(foremanCommand(command))).toBe(expected));
  test.each([
    ["minion begin r1/1.1", "allow"],
    ["minion submit <<'EOF'\nx\nEOF", "allow"],
    ["minion next", "deny"],
    ["minion land 1", "deny"],
    ["minion retry 1", "deny"],
    ["minion gate test && true", null],
    ["bash <<'EOF'\nminion land 1\nEOF", null],
  ])("a worker: %j → %s", (command, expected) => expect(decision(workerCommand(command, null))).toBe(expected));
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
    const answer = await workerWrite(path.startsWith("/") ? path : join(tree, path), tree);
    expect(answer?.permissionDecision === "allow").toBe(allowed);
  });
  test.each([
    ["/tmp/minion-abc/tasks.md", "abc", true],
    ["/tmp/minion-abc/x.sh", "abc", false],
    ["/tmp/minion-other/tasks.md", "abc", false],
    ["/tmp/minion-abc/../x.md", "abc", false],
    ["/tmp/minion-/tasks.md", "", false],
    ["/tmp/minion-a/b/tasks.md", "a/b", false],
  ])("the foreman: %s of session %j → %s", async (path, session, allowed) => {
    expect((await foremanWrite(path, session))?.permissionDecision === "allow").toBe(allowed);
  });
});
