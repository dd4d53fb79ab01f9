import { spawn } from "node:child_process";
import { cpSync, existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { FILES, lay, makeAssets, snapshot, temporary } from "../../unit/installer/fixture.ts";
import { CLAUDE_BIN, call, node, publish, QUIET } from "./program.ts";

// Many processes one after another: on a busy machine each of them is slow.
vi.setConfig({ testTimeout: 180_000 });

let program: string;
const assets = makeAssets();
beforeAll(async () => {
  program = await publish("0.1.0", assets);
});
const CLAUDE = join(CLAUDE_BIN, "claude");
const names = (list: unknown): string[] =>
  (list as string[]).filter((name) => name.includes("minion")).sort();

/** What a new session of the real client has under our names. No model is needed: it says so before
 * its first request. */
function session(
  home: string,
  args: string[] = [],
): Promise<{ commands: string[]; agents: string[] }> {
  return new Promise((done, fail) => {
    const child = spawn(
      CLAUDE,
      [...args, "-p", "hello", "--output-format", "stream-json", "--verbose"],
      {
        cwd: home,
        env: {
          ...QUIET,
          HOME: home,
          PATH: `${CLAUDE_BIN}${delimiter}${process.env.PATH}`,
          ANTHROPIC_BASE_URL: "http://127.0.0.1:9",
          ANTHROPIC_API_KEY: "none",
        },
        stdio: ["ignore", "pipe", "ignore"],
      },
    );
    let text = "";
    child.stdout.on("data", (data) => {
      text += data;
      for (const line of text.split("\n").slice(0, -1)) {
        const event = JSON.parse(line);
        if (event.subtype !== "init") continue;
        child.kill("SIGKILL");
        done({ commands: names(event.slash_commands), agents: names(event.agents) });
      }
    });
    child.on("close", () => fail(new Error(`no session: ${text}`)));
  });
}
const listed = async (home: string): Promise<{ id: string; version: string; enabled: boolean }[]> =>
  JSON.parse((await call(CLAUDE, ["plugin", "list", "--json"], { home })).stdout).filter(
    ({ id }: { id: string }) => id.startsWith("minion"),
  );

describe("the real client", () => {
  it("loads what install laid: a bare /minion, once, and doctor agrees", async () => {
    const home = temporary();
    await node(program, ["install"], { home });
    expect(await listed(home)).toMatchObject([
      { id: "minion@skills-dir", version: "0.1.0", enabled: true },
    ]);
    expect(await session(home)).toEqual({
      commands: ["minion", "minion:board", "minion:minion-blueprint", "minion:minion-overlays"],
      agents: ["minion:minion-worker"],
    });
    const doctor = await node(program, ["doctor", "--json"], { home, claude: true });
    expect([doctor.code, JSON.parse(doctor.stdout).findings]).toEqual([0, []]);
    await call(CLAUDE, ["plugin", "disable", "minion@skills-dir"], { home });
    const disabled = await node(program, ["doctor", "--json"], { home, claude: true });
    expect([disabled.code, JSON.parse(disabled.stdout).findings]).toEqual([
      1,
      [expect.objectContaining({ code: "disabled" })],
    ]);
    await node(program, ["uninstall"], { home });
    expect(await listed(home)).toEqual([]);
  });

  it("is asked about --dir without a trace in it", async () => {
    const home = temporary();
    await node(program, ["install", "--dir", "other"], { home });
    const before = snapshot(join(home, "other"));
    const { code, stdout } = await node(program, ["doctor", "--dir", "other", "--json"], {
      home,
      claude: true,
    });
    expect([code, JSON.parse(stdout).findings]).toEqual([0, []]);
    expect(snapshot(join(home, "other"))).toEqual(before);
  });

  it("loads it from a project once that is trusted", async () => {
    const home = temporary();
    lay(home, { "project/.git/": "" });
    await node(program, ["install", "--scope", "project"], { home, cwd: join(home, "project") });
    const { code, stdout } = await node(program, ["doctor", "--scope", "project", "--json"], {
      home,
      cwd: join(home, "project"),
      claude: true,
    });
    expect([code, JSON.parse(stdout).installed]).toEqual([0, "0.1.0"]);
  });

  it("never loads what lies in the installer's own room", async () => {
    const home = temporary();
    for (const room of ["new", "old", "gone"])
      cpSync(assets, join(home, ".claude/skills/.minion-toolkit", room), { recursive: true });
    expect(await listed(home)).toEqual([]);
  });

  it("adds its own findings to validate's, and not those twice that are ours too", async () => {
    const home = temporary();
    lay(home, {
      ...Object.fromEntries(Object.entries(FILES).map(([path, text]) => [`p/${path}`, text])),
      "p/agents/b.md": "---\nname: b\ndescription: [x]\n---\n",
      "p/hooks/hooks.json": '{"hooks":{"Nope":[]}}',
    });
    const { code, stdout } = await node(program, ["validate", "p", "--json"], {
      home,
      claude: true,
    });
    const { claude, findings } = JSON.parse(stdout);
    expect([code, claude]).toEqual([1, true]);
    const found = findings.map(
      (finding: { code: string; file: string; field: string }) =>
        `${finding.file.replace(/^.*\bp\//, "")} ${finding.code} ${finding.field}`,
    );
    expect(found).toContain("hooks/hooks.json claude-warning hooks");
    expect(found).toContain(".claude-plugin/plugin.json claude-warning author");
    expect(found.filter((line: string) => line.startsWith("agents/b.md"))).toEqual([
      "agents/b.md not-text description",
    ]);
  });
});

describe("the other roads in", () => {
  it("the repository as a marketplace: /minion:minion; install and doctor see that it is there", async () => {
    const home = temporary();
    cpSync(assets, join(home, "repository/assets"), { recursive: true });
    lay(home, {
      "repository/.claude-plugin/marketplace.json": readFileSync(
        ".claude-plugin/marketplace.json",
        "utf8",
      ),
    });
    for (const args of [
      ["marketplace", "add", "./repository"],
      ["install", "minion@minion-toolkit"],
    ])
      expect((await call(CLAUDE, ["plugin", ...args], { home })).code).toBe(0);
    expect(await session(home)).toEqual({
      commands: [
        "minion:board",
        "minion:minion",
        "minion:minion-blueprint",
        "minion:minion-overlays",
      ],
      agents: ["minion:minion-worker"],
    });
    const { code, stdout } = await node(program, ["install"], { home });
    expect([code, stdout]).toEqual([
      1,
      expect.stringContaining("claude plugin uninstall minion@minion-toolkit"),
    ]);
    expect(existsSync(join(home, ".claude/skills"))).toBe(false);
    expect(
      (await call(CLAUDE, ["plugin", "uninstall", "minion@minion-toolkit"], { home })).code,
    ).toBe(0);
    expect((await node(program, ["install"], { home })).code).toBe(0);
  });

  it("--plugin-dir assets, for one session: /minion:minion", async () => {
    const home = temporary();
    expect(await session(home, ["--plugin-dir", assets])).toEqual({
      commands: [
        "minion:board",
        "minion:minion",
        "minion:minion-blueprint",
        "minion:minion-overlays",
      ],
      agents: ["minion:minion-worker"],
    });
  });
});
