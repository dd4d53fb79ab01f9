import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { FILES, lay, PERSON, snapshot, temporary } from "../../unit/installer/fixture.ts";
import { node, publish, type Result } from "./program.ts";

// Many processes one after another: on a busy machine each of them is slow.
vi.setConfig({ testTimeout: 180_000 });

let program: string;
let home: string;
beforeAll(async () => {
  program = await publish();
});
beforeEach(() => {
  home = temporary();
});
const run = (args: string[], env: NodeJS.ProcessEnv = {}): Promise<Result> =>
  node(program, args, { home, env });
const document = (result: Result) => JSON.parse(result.stdout);

describe("minion-toolkit", () => {
  it("installs, updates nothing, and uninstalls, with the result on stdout", async () => {
    lay(join(home, ".claude"), PERSON);
    const before = snapshot(home);
    const install = await run(["install"]);
    expect([install.code, install.stdout]).toEqual([
      0,
      expect.stringContaining("install 0.1.0 in "),
    ]);
    expect(install.stdout).toContain("then /minion is there");
    expect(existsSync(join(home, ".claude/skills/minion/SKILL.md"))).toBe(true);
    expect((await run(["install"])).stdout).toContain("nothing to do");
    expect((await run(["update", "--json"])).code).toBe(0);
    const uninstall = await run(["uninstall"]);
    expect([uninstall.code, uninstall.stderr]).toEqual([0, ""]);
    expect(snapshot(home)).toEqual(before);
    expect((await run(["uninstall"])).stdout).toContain("nothing is installed");
  });

  it("prints with --json one document, and with --dry-run the same one before", async () => {
    const dry = await run(["install", "--dry-run", "--json"]);
    expect(existsSync(join(home, ".claude"))).toBe(false);
    const wet = await run(["install", "--json"]);
    expect(wet.stderr).toBe("");
    expect({ ...document(dry), applied: true }).toEqual(document(wet));
    expect(document(wet)).toMatchObject({
      version: 1,
      verb: "install",
      before: null,
      after: "0.1.0",
    });
    expect((await run(["uninstall", "--dry-run"])).stdout).toMatch(
      /would write\n {2}remove {4}\.claude-plugin\/plugin\.json/,
    );
  });

  it("reads CLAUDE_CONFIG_DIR, --dir and --scope", async () => {
    mkdirSync(join(home, ".git"));
    for (const [args, env, root] of [
      [[], { CLAUDE_CONFIG_DIR: join(home, "cfg/") }, "cfg"],
      [[], { CLAUDE_CONFIG_DIR: "~/tilde" }, "tilde"],
      [["--dir", "given"], { CLAUDE_CONFIG_DIR: join(home, "cfg/") }, "given"],
      [["--scope", "project"], { CLAUDE_CONFIG_DIR: join(home, "cfg/") }, ".claude"],
    ] as const) {
      expect((await run(["install", ...args], env)).code).toBe(0);
      expect(existsSync(join(home, root, "skills/minion/SKILL.md")), root).toBe(true);
      expect((await run(["uninstall", ...args], env)).code).toBe(0);
      expect(existsSync(join(home, root))).toBe(false);
    }
    expect(existsSync(join(home, "~"))).toBe(false);
  });

  it.each([
    [["frobnicate"], 2, "unknown command 'frobnicate'"],
    [[], 2, "no command"],
    [["install", "--nope"], 2, "unknown option '--nope'"],
    [["install", "extra"], 2, "too many arguments"],
    [["install", "--scope", "galaxy"], 2, "galaxy"],
    [["install", "--dir", ""], 2, "--dir is empty"],
    [["install", "--dir", "x", "--scope", "project"], 2, "--scope project"],
    [["update"], 1, "nothing is installed"],
    [["validate", "nowhere"], 2, "nowhere does not exist"],
    [["validate", "."], 2, "nothing that Claude Code loads"],
  ])("%j ends with %d and one clear line", async (args, code, words) => {
    const plain = await run(args);
    expect(plain.code).toBe(code);
    expect(code === 1 ? plain.stdout : plain.stderr).toContain(words);
    expect(code === 1 ? plain.stderr : plain.stdout).toBe("");
    expect(plain.stderr).not.toMatch(/\n\s+at /);
    // The same road for each: a few of every exit code are enough.
    if (!["frobnicate", "update", "validate"].includes(args[0] ?? "")) return;
    const json = await run([...args, "--json"]);
    expect(json.code).toBe(code);
    const { error, obstacles } = document(json);
    expect(error?.message ?? obstacles[0].message).toContain(words);
    expect(snapshot(home)).toEqual({});
  });

  it("says what is in the way, and that nothing was written", async () => {
    lay(home, { ".claude/skills/minion/SKILL.md": "mine" });
    const { code, stdout, stderr } = await run(["install"]);
    expect([code, stderr]).toEqual([1, ""]);
    expect(stdout).toContain("SKILL.md: is there already and is not ours");
    expect(stdout).toContain("nothing was written");
  });

  it("ends with 3 where writing fails, and nothing changed", async () => {
    lay(home, {
      ".claude/skills/": "",
      ".claude/minion-toolkit-backups": "a file where a folder is needed",
    });
    lay(home, { ".claude/skills/minion/SKILL.md": "mine" });
    const before = snapshot(home);
    const { code, stderr } = await run(["install", "--force"]);
    expect(code).toBe(3);
    expect(stderr).toContain("nothing changed");
    expect(snapshot(home)).toEqual(before);
  });

  it("shows help that fits 80 columns", async () => {
    for (const args of [
      ["--help"],
      ["demo", "--help"],
      ["install", "--help"],
      ["doctor", "--help"],
      ["validate", "--help"],
    ]) {
      const { code, stdout } = await run(args);
      expect(code).toBe(0);
      expect(
        Math.max(...stdout.split("\n").map((line) => line.length)),
        args.join(" "),
      ).toBeLessThanOrEqual(80);
    }
    expect((await run(["--version"])).stdout).toBe("0.1.0\n");
  });

  it("takes --dir, --scope, --dry-run and --json with each verb", async () => {
    mkdirSync(join(home, ".git"));
    await run(["install", "--scope", "project"]);
    for (const verb of ["install", "update", "uninstall", "doctor", "validate"])
      for (const place of [
        ["--dir", join(home, ".claude")],
        ["--scope", "project"],
      ]) {
        const result = await run([verb, ...place, "--dry-run", "--json"]);
        // Only doctor has something to say: there is no client.
        expect([result.code, document(result).version], verb).toEqual([
          verb === "doctor" ? 1 : 0,
          1,
        ]);
      }
    expect(existsSync(join(home, ".claude/skills/minion/SKILL.md"))).toBe(true);
  });

  it("has no colour in a pipe", async () => {
    lay(home, { "p/agents/a.md": "x" });
    for (const args of [["install"], ["validate", "p"], ["doctor"]]) {
      const { stdout, stderr } = await run(args);
      expect(stdout + stderr).not.toContain("\u001b");
    }
  });

  it("says which part of its own package is missing", async () => {
    const broken = await publish();
    writeFileSync(join(broken, "../../assets/.claude-plugin/plugin.json"), "{");
    const { code, stderr } = await node(broken, ["install"], { home });
    expect([code, stderr]).toEqual([2, expect.stringContaining("plugin.json")]);
    expect(readFileSync(join(broken, "../../assets/commands/minion.md"), "utf8")).toBe(
      FILES["commands/minion.md"],
    );
  });
});
