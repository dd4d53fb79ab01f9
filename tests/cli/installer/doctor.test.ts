import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { beforeEach, describe, expect, it, vi } from "vitest";

import { diagnose } from "../../../installer/doctor.ts";
import { MANIFEST } from "../../../installer/manifest.ts";
import { enough } from "../../../rails/program/versions.ts";
import { act, lay, makeAssets, snapshot, temporary } from "../../unit/installer/fixture.ts";

// Many processes one after another: on a busy machine each of them is slow.
vi.setConfig({ testTimeout: 180_000 });

const BLUEPRINT = "skills/minion-blueprint/SKILL.md";
const assets = makeAssets();
let home: string;
let root: string;
let bin: string;
beforeEach(async () => {
  home = temporary();
  root = join(home, ".claude");
  bin = join(home, "bin");
  mkdirSync(bin);
  await act("install", root, assets);
});

/** A stand-in for the client: its version, and what it lists. */
function standIn(
  version = "2.1.332 (Claude Code)",
  list: unknown = [{ id: "minion@skills-dir", version: "0.1.0", enabled: true }],
): void {
  writeFileSync(
    join(bin, "claude"),
    `#!/bin/sh\ncase "$1" in --version) echo '${version}';; *) echo '${typeof list === "string" ? list : JSON.stringify(list)}';; esac\n`,
  );
  chmodSync(join(bin, "claude"), 0o755);
}
const at = (cwd = home) => ({
  env: { HOME: home, PATH: [bin, "/usr/bin", "/bin"].join(delimiter) },
  cwd,
  home,
});
const look = (flags = {}, cwd = home) => diagnose(flags, "0.1.0", at(cwd));
const codes = async (flags = {}, cwd = home): Promise<string[]> =>
  (await look(flags, cwd)).findings.map(({ code }) => code);

describe("doctor", () => {
  it("has nothing to say of a good installation, and writes nothing", async () => {
    standIn();
    const before = snapshot(home);
    expect(await look()).toMatchObject({
      root,
      why: "the default",
      installed: "0.1.0",
      tools: { claude: "2.1.332" },
      findings: [],
    });
    expect(snapshot(home)).toEqual(before);
  });

  it.each([
    ["no client", () => undefined, ["no-claude"]],
    ["a client that wakes nobody", () => standIn("2.1.197"), ["claude"]],
    ["a client that lists nothing", () => standIn(undefined, []), ["not-loaded"]],
    ["a client that does not answer", () => standIn(undefined, "oops"), ["not-asked"]],
    [
      "the plugin disabled",
      () => standIn(undefined, [{ id: "minion@skills-dir", enabled: false }]),
      ["disabled"],
    ],
    [
      "the plugin with errors",
      () => standIn(undefined, [{ id: "minion@skills-dir", enabled: true, errors: ["bad"] }]),
      ["load-errors"],
    ],
  ])("%s", async (_, prepare, expected) => {
    prepare();
    expect(await codes()).toEqual(expected);
  });

  it("says of what came from a marketplace alone that it is installed, and where to", async () => {
    const list = '{"plugins":{"minion@m":[]}}';
    standIn(undefined, [{ id: "minion@m", enabled: true }]);
    rmSync(join(root, "skills"), { recursive: true });
    lay(root, { "plugins/installed_plugins.json": list });
    const { installed, findings } = await look();
    expect(installed).toBe(null);
    expect(findings.map(({ level, code }) => [level, code])).toEqual([["note", "by-marketplace"]]);
    expect(findings[0]?.message).toContain("minion@m is installed, from a marketplace");
  });

  it("takes this package's own program on PATH, as npm links it there, for no other one", async () => {
    standIn();
    const lib = join(home, "lib/node_modules/minion-toolkit");
    lay(lib, { "package.json": '{"name":"minion-toolkit","version":"0.1.0"}' });
    lay(lib, { "assets/bin/minion": "x" });
    symlinkSync(join(lib, "assets/bin/minion"), join(bin, "minion"));
    expect(await codes()).toEqual([]);
    lay(lib, { "package.json": '{"name":"minion-toolkit","version":"0.0.9"}' });
    expect(await codes()).toEqual(["shadowed"]);
  });

  it.each<[string, Record<string, string>, string[]]>([
    ["an edited file", { [`skills/minion/${BLUEPRINT}`]: "mine" }, ["edited", "page"]],
    ["a foreign file", { "skills/minion/mine.md": "mine" }, ["foreign"]],
    ["a broken manifest", { [`skills/minion/${MANIFEST}`]: "{" }, ["manifest"]],
    [
      "rails that do not run",
      { "skills/minion/bin/minion": "process.exit(1)" },
      ["edited", "rails"],
    ],
    ["what a killed run left", { "skills/.minion-toolkit/new/": "" }, ["leftover"]],
    ["a stale command", { "commands/minion.md": "x" }, ["twin-command"]],
    ["a stale agent", { "agents/x.md": "---\nname: minion-worker\n---\n" }, ["twin-agent"]],
    [
      "a marketplace's plugin",
      { "plugins/installed_plugins.json": '{"plugins":{"minion@m":[]}}' },
      ["twin-plugin"],
    ],
    [
      "a marketplace's other plugin",
      { "plugins/installed_plugins.json": '{"plugins":{"minions@m":[]}}' },
      [],
    ],
    ["hooks that are off", { "settings.json": '{"disableAllHooks":true}' }, ["hooks-off"]],
    [
      "hooks that are off after a BOM",
      { "settings.json": '\uFEFF{"disableAllHooks":true}' },
      ["hooks-off"],
    ],
    [
      "managed words in a person's settings",
      { "settings.json": '{"strictKnownMarketplaces":[]}' },
      [],
    ],
  ])("%s", async (_, files, expected) => {
    standIn();
    lay(root, files);
    expect(await codes()).toEqual(expected);
  });

  it("a missing file, nothing at all, another version, another minion on PATH, a literal CLAUDE_CONFIG_DIR", async () => {
    standIn();
    rmSync(join(root, "skills/minion/hooks/guard.sh"));
    expect(await codes()).toEqual(["missing"]);
    await act("update", root, makeAssets("0.2.0"));
    expect(await codes()).toEqual(["version"]);
    await act("update", root, assets);
    lay(bin, { minion: "#!/bin/sh\n" });
    expect(await codes()).toEqual(["shadowed"]);
    rmSync(join(bin, "minion"));
    const literal = { ...at(), env: { ...at().env, CLAUDE_CONFIG_DIR: "~/.claude" } };
    expect((await diagnose({}, "0.1.0", literal)).findings.map(({ code }) => code)).toEqual([
      "config-dir",
    ]);
    await act("uninstall", root, assets);
    expect(await look()).toMatchObject({
      installed: null,
      findings: [{ code: "not-installed", hint: "minion-toolkit install" }],
    });
  });

  it("knows a repository's traps", async () => {
    standIn();
    const repository = join(home, "repository");
    const git = (...args: string[]) =>
      execFileSync("git", args, {
        cwd: repository,
        stdio: "ignore",
        env: { ...at().env, GIT_CONFIG_NOSYSTEM: "1" },
      });
    mkdirSync(repository);
    git("init", "-b", "trunk");
    expect(await codes({}, repository)).toEqual(["no-commits"]);
    lay(repository, {
      ".gitmodules": "",
      ".gitattributes": "*.bin filter=lfs\n",
      ".claude/commands/minion.md": "x",
      ".claude/skills/minion/SKILL.md": "x",
      "src/": "",
    });
    for (const args of [
      ["config", "user.email", "a@b"],
      ["config", "user.name", "a"],
      ["commit", "--allow-empty", "-m", "one"],
      ["update-ref", "refs/remotes/origin/trunk", "HEAD"],
      ["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk"],
    ])
      git(...args);
    git("commit", "--allow-empty", "-m", "two");
    git("config", "core.hooksPath", "my hooks");
    git("config", "commit.gpgsign", "true");
    const found = await codes({}, join(repository, "src"));
    expect(found).toEqual([
      "twin-command",
      "twin-skill",
      "base",
      "hooks-path",
      "submodules",
      "lfs",
      "signing",
    ]);
    expect(await codes({ scope: "project" }, repository)).toContain("not-installed");
  });

  it("says which pages of the person, of the project and of ours are read as less than they say", async () => {
    standIn();
    const repository = join(home, "repository");
    lay(root, {
      "minion/blueprint.md": "\n---\nbounds:\n  workers: 2\n---\n",
      "minion/prices.md": " | a | 1 | 2 | 3 | 4 |\n",
      [`skills/minion/${BLUEPRINT}`]: "---\ngats: []\n---\n",
    });
    lay(repository, { ".git/HEAD": "", ".claude/minion/bluprint.md": "---\n---\n" });
    const { findings } = await look({}, repository);
    const pages = findings.filter(({ code }) => code === "page");
    expect(pages.map(({ file, line }) => `${file.slice(home.length + 1)}:${line}`)).toEqual([
      ".claude/minion/blueprint.md:2",
      ".claude/minion/prices.md:1",
      `.claude/skills/minion/${BLUEPRINT}:2`,
      "repository/.claude/minion/bluprint.md:1",
    ]);
    expect(pages.every(({ level }) => level === "error")).toBe(true);
  });

  it("compares versions by number", () => {
    expect([
      enough("2.1.157", "2.1.157"),
      enough("2.10.0", "2.9"),
      enough("3.0", "2.1.157"),
      enough("2.1.99", "2.1.157"),
      enough("20.12.0", "20.12"),
    ]).toEqual([true, true, true, false, true]);
  });

  it("notes where a person's or a project's page leaves out what a shipped list has", async () => {
    standIn();
    const shipped = "---\nname: minion-blueprint\nallow: [one, two]\n---\n\nSteps.\n";
    await act("update", root, makeAssets("0.1.0", { [BLUEPRINT]: shipped }));
    const repo = join(home, "repo");
    lay(root, { "minion/blueprint.md": "---\nallow: [one, three]\n---\n" });
    lay(repo, {
      ".git/": "",
      ".claude/minion/blueprint.md": "---\nallow+: [four]\n---\n",
    });
    const replaced = async () =>
      (await look({}, repo)).findings.filter(({ code }) => code === "replaced");
    const ofPerson = join(root, "minion/blueprint.md");
    expect((await replaced()).map(({ level, file }) => [level, file])).toEqual([
      ["note", ofPerson],
    ]);
    const ofProject = join(repo, ".claude/minion/blueprint.md");
    lay(repo, { ".claude/minion/blueprint.md": "---\nallow: [three]\n---\n" });
    expect((await replaced()).map(({ file }) => file)).toEqual([ofPerson, ofProject]);
    expect((await replaced())[0]?.hint).toContain("allow+");
  });
});
