import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { MANIFEST } from "../../../installer/manifest.ts";
import { findRoot } from "../../../installer/paths.ts";
import { act, FILES, lay, makeAssets, PERSON, snapshot, temporary } from "./fixture.ts";

const assets = makeAssets();
const BLUEPRINT = "skills/minion-blueprint/SKILL.md";
let root: string;
beforeEach(() => {
  root = join(temporary(), ".claude");
  lay(root, PERSON);
});
const target = (path = ""): string => join(root, "skills/minion", path);
const read = (path: string): string => readFileSync(target(path), "utf8");
const done = (plan: { actions: readonly { do: string; path: string }[] }, what: string): string[] =>
  plan.actions.filter((action) => action.do === what).map(({ path }) => path);

describe("install", () => {
  it("lays one folder, with the entry command as its root skill and programs that may be run", async () => {
    const before = snapshot(root);
    const { plan, applied } = await act("install", root, assets);
    expect(applied).toBe(true);
    expect(plan.obstacles).toEqual([]);
    const after = snapshot(root);
    const ours = Object.keys(after).filter((path) => before[path] === undefined);
    expect(
      ours.every((path) => path === "skills/minion" || path.startsWith("skills/minion/")),
    ).toBe(true);
    expect(read("SKILL.md")).toBe(FILES["commands/minion.md"]);
    expect(readdirSync(target("commands"))).toEqual(["board.md"]);
    for (const path of ["bin/minion", "hooks/guard.sh"])
      expect(lstatSync(target(path)).mode & 0o111, path).toBe(0o111);
    expect(lstatSync(target("bin/package.json")).mode & 0o111).toBe(0);
  });

  it("writes nothing the second time", async () => {
    await act("install", root, assets);
    const before = snapshot(root);
    const inode = lstatSync(target()).ino;
    const { applied, plan } = await act("install", root, assets);
    expect([applied, plan.changes]).toEqual([false, false]);
    expect(snapshot(root)).toEqual(before);
    expect(lstatSync(target()).ino).toBe(inode);
  });

  it("prints with --dry-run the plan that is then carried out, and writes nothing", async () => {
    const before = snapshot(root);
    const dry = await act("install", root, assets, { dryRun: true });
    expect(snapshot(root)).toEqual(before);
    const wet = await act("install", root, assets);
    expect(dry.plan).toEqual(wet.plan);
    expect(JSON.parse(JSON.stringify(dry.plan))).toEqual(dry.plan);
  });

  it("refuses a package with a part missing", async () => {
    for (const changes of [
      { "bin/minion": undefined },
      { "commands/minion.md": undefined },
      { ".claude-plugin/plugin.json": "{" },
      { ".claude-plugin/plugin.json": "{}" },
    ])
      await expect(act("install", root, makeAssets("0.1.0", changes))).rejects.toMatchObject({
        code: "package-broken",
        exit: 2,
      });
    expect(existsSync(target())).toBe(false);
  });
});

describe("I1: settings that strict parsing cannot read", () => {
  it.each([
    ["comments", '{ // mine\n "a": 1, }'],
    ["a BOM", '\uFEFF{"a":1}'],
    ["cut off", '{"hooks": {"Pre'],
    ["empty", ""],
    ["an array", "[]"],
  ])("with %s stay byte for byte", async (_, text) => {
    writeFileSync(join(root, "settings.json"), text);
    await act("install", root, assets);
    await act("update", root, makeAssets("0.2.0"));
    expect(readFileSync(join(root, "settings.json"), "utf8")).toBe(text);
    await act("uninstall", root, assets);
    expect(readFileSync(join(root, "settings.json"), "utf8")).toBe(text);
  });
});

describe("I2: links", () => {
  /** Puts a link where `path` was, and what was there elsewhere. */
  const relink = (path: string): string => {
    const dotfiles = join(temporary(), "dotfiles");
    mkdirSync(dotfiles);
    rmSync(path, { recursive: true, force: true });
    symlinkSync(dotfiles, path);
    return dotfiles;
  };

  it.each(["root", "skills", "skills/minion"])(
    "%s as a link: what is written goes to the real folder, the link stays",
    async (which) => {
      const path = which === "root" ? root : join(root, which);
      const real = relink(path);
      const before = snapshot(real);
      await act("install", root, assets);
      expect(lstatSync(path).isSymbolicLink()).toBe(true);
      expect(existsSync(target("SKILL.md"))).toBe(true);
      await act("update", root, makeAssets("0.2.0"));
      await act("uninstall", root, assets);
      expect(readlinkSync(path)).toBe(real);
      expect(snapshot(real)).toEqual(before);
    },
  );

  it.each(["root", "skills", "skills/minion"])(
    "%s as a dangling link is refused with its path",
    async (which) => {
      const path = which === "root" ? root : join(root, which);
      rmSync(relink(path), { recursive: true });
      for (const verb of ["install", "update", "uninstall"] as const)
        await expect(act(verb, root, assets)).rejects.toMatchObject({
          code: "dangling-link",
          message: expect.stringContaining(path),
        });
      expect(lstatSync(path).isSymbolicLink()).toBe(true);
    },
  );

  it("a file of ours that was moved into dotfiles and linked is kept, and its target is not written to", async () => {
    await act("install", root, assets);
    const elsewhere = join(temporary(), "blueprint.md");
    writeFileSync(elsewhere, "mine");
    rmSync(target(BLUEPRINT));
    symlinkSync(elsewhere, target(BLUEPRINT));
    const { plan } = await act(
      "update",
      root,
      makeAssets("0.2.0", { [BLUEPRINT]: `${FILES[BLUEPRINT]}New.\n` }),
    );
    expect(done(plan, "edited")).toEqual([BLUEPRINT]);
    expect(readlinkSync(target(BLUEPRINT))).toBe(elsewhere);
    expect(readFileSync(elsewhere, "utf8")).toBe("mine");
    await act("uninstall", root, assets);
    expect(readlinkSync(target(BLUEPRINT))).toBe(elsewhere);
  });

  it("a folder of ours that became a link stops an update, and nothing is written through it", async () => {
    await act("install", root, assets);
    const elsewhere = relink(target("skills"));
    const { plan } = await act("update", root, makeAssets("0.2.0"));
    expect(plan.obstacles).toMatchObject([{ code: "in-the-way", file: target("skills") }]);
    expect(snapshot(elsewhere)).toEqual({});
  });
});

describe("I3: uninstall", () => {
  it("leaves byte for byte the tree from before", async () => {
    const before = snapshot(root);
    await act("install", root, assets);
    await act(
      "update",
      root,
      makeAssets("0.2.0", {
        "skills/more/SKILL.md": '---\nname: more\ndescription: "More."\n---\nx\n',
      }),
    );
    await act("uninstall", root, assets);
    expect(snapshot(root)).toEqual(before);
  });

  it("removes the folders that install made, and no other", async () => {
    for (const had of [
      [],
      ["skills/"],
      ["skills/minion/"],
      ["skills/minion/agents/", "skills/minion/notes/"],
    ]) {
      const home = temporary();
      lay(home, Object.fromEntries(had.map((path) => [`a/.claude/${path}`, ""])));
      const before = snapshot(home);
      await act("install", join(home, "a/.claude"), assets);
      await act("uninstall", join(home, "a/.claude"), assets);
      expect(snapshot(home), had.join()).toEqual(before);
    }
  });

  it("does not need the package, and does nothing where nothing is installed", async () => {
    const before = snapshot(root);
    const { applied, plan } = await act("uninstall", root, "/nonexistent");
    expect([applied, plan.obstacles]).toEqual([false, []]);
    expect(snapshot(root)).toEqual(before);
  });
});

describe("I4: what a person edited or added", () => {
  const newer = makeAssets("0.2.0", {
    [BLUEPRINT]: `${FILES[BLUEPRINT]}Newer.\n`,
    "skills/minion-overlays/domains/backend.md": undefined,
  });

  it("unchanged is replaced, edited is kept with the new one beside it, unknown is untouched", async () => {
    await act("install", root, assets);
    writeFileSync(target(BLUEPRINT), "mine");
    lay(target(), {
      "agents/mine.md": "mine",
      "skills/minion-overlays/domains/payments.md": "mine",
      "empty/": "",
    });
    const inode = lstatSync(target("agents/mine.md")).ino;
    const { plan } = await act("update", root, newer);
    expect(read(BLUEPRINT)).toBe("mine");
    expect(read(`${BLUEPRINT}.new`)).toContain("Newer.");
    expect(plan.notes).toMatchObject([
      { code: "beside", hint: expect.stringContaining("git diff --no-index") },
    ]);
    expect(read("agents/mine.md")).toBe("mine");
    expect(lstatSync(target("agents/mine.md")).ino).toBe(inode);
    expect(read("skills/minion-overlays/domains/payments.md")).toBe("mine");
    expect(existsSync(target("empty"))).toBe(true);
    expect(existsSync(target("skills/minion-overlays/domains/backend.md"))).toBe(false);
    expect(read(".claude-plugin/plugin.json")).toContain("0.2.0");
    expect((await act("update", root, newer)).applied).toBe(false);
  });

  it("the offered file goes once the edit equals it, and is not laid again once it was removed", async () => {
    await act("install", root, assets);
    writeFileSync(target(BLUEPRINT), "mine");
    await act("update", root, newer);
    rmSync(target(`${BLUEPRINT}.new`));
    await act("update", root, newer);
    expect(existsSync(target(`${BLUEPRINT}.new`))).toBe(false);
    await act("update", root, assets);
    expect(read(`${BLUEPRINT}.new`)).toBe(FILES[BLUEPRINT]);
    writeFileSync(target(BLUEPRINT), FILES[BLUEPRINT] ?? "");
    await act("update", root, assets);
    expect(existsSync(target(`${BLUEPRINT}.new`))).toBe(false);
  });

  it("an edited offer is the person's: the next one is laid under another name", async () => {
    await act("install", root, assets);
    writeFileSync(target(BLUEPRINT), "mine");
    await act("update", root, newer);
    writeFileSync(target(`${BLUEPRINT}.new`), "half merged");
    await act("update", root, makeAssets("0.3.0", { [BLUEPRINT]: `${FILES[BLUEPRINT]}Newest.\n` }));
    expect(read(`${BLUEPRINT}.new`)).toBe("half merged");
    expect(read(`${BLUEPRINT}.new2`)).toContain("Newest.");
  });

  it("a missing file of ours comes back", async () => {
    await act("install", root, assets);
    rmSync(target("agents"), { recursive: true });
    chmodSync(target("bin/minion"), 0o644);
    const { plan } = await act("install", root, assets);
    expect(done(plan, "restore")).toEqual(["agents/minion-worker.md", "bin/minion"]);
    expect(lstatSync(target("bin/minion")).mode & 0o111).toBe(0o111);
  });

  it("uninstall keeps edited and foreign files where they are", async () => {
    await act("install", root, assets);
    writeFileSync(target(BLUEPRINT), "mine");
    lay(target(), { "mine.txt": "mine" });
    const { plan } = await act("uninstall", root, assets);
    expect(plan.notes).toMatchObject([{ code: "kept", file: target(BLUEPRINT) }]);
    expect(Object.keys(snapshot(target())).sort()).toEqual([
      "mine.txt",
      "skills",
      "skills/minion-blueprint",
      BLUEPRINT,
    ]);
  });

  it("what was there before is in the way; --force backs it up and replaces it", async () => {
    lay(target(), { "SKILL.md": "my own minion", "notes.txt": "mine", skills: "a file" });
    const before = snapshot(root);
    const refused = await act("install", root, assets);
    expect(refused.applied).toBe(false);
    expect(refused.plan.obstacles).toMatchObject([
      { code: "in-the-way", file: target("SKILL.md") },
      { code: "in-the-way", file: target("skills") },
    ]);
    expect(snapshot(root)).toEqual(before);
    const { plan } = await act("install", root, assets, { force: true });
    expect(read("SKILL.md")).toBe(FILES["commands/minion.md"]);
    expect(read("notes.txt")).toBe("mine");
    expect(snapshot(plan.backup ?? "")).toEqual({
      "SKILL.md": before["skills/minion/SKILL.md"],
      skills: before["skills/minion/skills"],
    });
  });

  it("--force replaces edited files and a whole file or broken manifest in the way, each after a backup", async () => {
    lay(root, { "skills/minion": "a file" });
    expect((await act("install", root, assets)).plan.obstacles).toMatchObject([
      { code: "in-the-way", file: target() },
    ]);
    const first = await act("install", root, assets, { force: true });
    expect(readFileSync(join(first.plan.backup ?? "", "minion"), "utf8")).toBe("a file");
    writeFileSync(target(BLUEPRINT), "mine");
    writeFileSync(target(MANIFEST), "{");
    for (const verb of ["install", "update", "uninstall"] as const)
      expect((await act(verb, root, assets)).plan.obstacles, verb).toMatchObject([
        { code: "manifest" },
        ...(verb === "uninstall" ? [] : Object.keys(FILES).map(() => ({ code: "in-the-way" }))),
      ]);
    const { plan } = await act("install", root, makeAssets("0.2.0"), { force: true });
    expect(readFileSync(join(plan.backup ?? "", BLUEPRINT), "utf8")).toBe("mine");
    expect(read(BLUEPRINT)).toBe(FILES[BLUEPRINT]);
  });

  it("a name that differs in case only is in the way: a case-insensitive disk has one of them", async () => {
    for (const [path, ours] of [
      ["skill.md", "SKILL.md"],
      ["Agents/x.md", "agents/minion-worker.md"],
    ] as const) {
      const home = join(temporary(), ".claude");
      lay(home, { [`skills/minion/${path}`]: "mine" });
      const { plan } = await act("install", home, assets);
      expect(plan.obstacles).toMatchObject([
        { code: "case", message: expect.stringContaining(ours) },
      ]);
    }
  });
});

describe("I6: where it is installed", () => {
  const at = (env: NodeJS.ProcessEnv) => ({ env, cwd: "/at/here", home: "/home/ann" });
  it.each([
    [{}, {}, "/home/ann/.claude", undefined],
    [{}, { CLAUDE_CONFIG_DIR: "/cfg/" }, "/cfg", undefined],
    [{}, { CLAUDE_CONFIG_DIR: "cfg" }, "/at/here/cfg", undefined],
    [{}, { CLAUDE_CONFIG_DIR: "" }, "/home/ann/.claude", ""],
    [{}, { CLAUDE_CONFIG_DIR: "  " }, "/home/ann/.claude", "  "],
    [{}, { CLAUDE_CONFIG_DIR: "~/cfg" }, "/home/ann/cfg", "~/cfg"],
    [{}, { CLAUDE_CONFIG_DIR: "~" }, "/home/ann", "~"],
    [{ dir: "~/x" }, { CLAUDE_CONFIG_DIR: "/cfg" }, "/home/ann/x", undefined],
    [{ dir: "x" }, {}, "/at/here/x", undefined],
    [{ scope: "project" }, { CLAUDE_CONFIG_DIR: "/cfg" }, "/at/here/.claude", undefined],
    [{ scope: "user" }, { CLAUDE_CONFIG_DIR: "/cfg" }, "/cfg", undefined],
  ] as const)("%j with %j: %s", (flags, env, root, literal) => {
    const place = findRoot(flags, at(env));
    expect([place.root, place.literal]).toEqual([root, literal]);
  });

  it("refuses flags that contradict each other or are empty", () => {
    for (const flags of [{ dir: "/x", scope: "project" }, { dir: " " }] as const)
      expect(() => findRoot(flags, at({}))).toThrow(
        expect.objectContaining({ code: "usage", exit: 2 }),
      );
  });

  it("--scope project is the repository's folder, also from below", async () => {
    const repository = temporary();
    lay(repository, { ".git/": "", "src/deep/": "" });
    const place = findRoot(
      { scope: "project" },
      { env: {}, cwd: join(repository, "src/deep"), home: "/home/ann" },
    );
    expect(place.root).toBe(join(repository, ".claude"));
  });
});

describe("I7, I8: the same twice", () => {
  it("refuses beside a marketplace's plugin, and says so beside loose copies", async () => {
    lay(root, {
      "plugins/installed_plugins.json": JSON.stringify({
        version: 2,
        plugins: { "minion@market": [{ installPath: "/cache/minion" }] },
      }),
    });
    expect((await act("install", root, assets)).plan.obstacles).toMatchObject([
      { code: "twin-plugin", message: expect.stringContaining("minion@market") },
    ]);
    expect((await act("install", root, assets, { force: true })).applied).toBe(true);
  });

  it("says so beside loose copies, found by file or by frontmatter name", async () => {
    lay(root, {
      "commands/minion.md": "stale",
      "agents/other.md": "---\nname: minion-worker\ndescription: x\n---\n",
    });
    const { plan, applied } = await act("install", root, assets);
    expect(applied).toBe(true);
    expect(plan.notes.map(({ code, file }) => [code, file])).toEqual([
      ["twin-command", join(root, "commands/minion.md")],
      ["twin-agent", join(root, "agents/other.md")],
    ]);
  });
});

describe("I10: odd paths", () => {
  it.each(["with space", "Größe-日本", "quote'\"s", "a$b`c", "-dash"])("%s", async (name) => {
    const home = join(temporary(), name);
    const from = join(temporary(), name);
    lay(home, PERSON);
    lay(from, FILES);
    const before = snapshot(home);
    await act("install", home, from);
    expect(readFileSync(join(home, "skills/minion/SKILL.md"), "utf8")).toBe(
      FILES["commands/minion.md"],
    );
    await act("update", home, makeAssets("0.2.0"));
    await act("uninstall", home, from);
    expect(snapshot(home)).toEqual(before);
  });
});
