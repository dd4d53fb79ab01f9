import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { commitOf, findPlace, listWorktrees, type Place } from "../../rails/git/repository.ts";
import { fillSubmodules, workIn } from "../../rails/git/submodule.ts";
import { bringBack, freshWorktree, removeWorktree } from "../../rails/git/worktree.ts";
import { Scene } from "../cli/rails/scene.ts";

let scene: Scene;
beforeEach(() => {
  scene = new Scene();
});
afterEach(() => scene.destroy());

describe("the rails' own worktree", () => {
  let place: Place;
  let path: string;
  let head: string;
  beforeEach(async () => {
    place = await findPlace(scene.repo);
    path = join(scene.repo, ".claude/worktrees/minion-r1-landing");
    head = scene.git("rev-parse", "HEAD");
  });

  test("is put right, whatever it was left as", async () => {
    expect(await freshWorktree(place, path, head)).toBe(path);
    writeFileSync(join(path, "src/start.txt"), "changed");
    writeFileSync(join(path, "left"), "over");
    // A git that was killed.
    writeFileSync(join(place.common, "worktrees/minion-r1-landing/index.lock"), "");
    await freshWorktree(place, path, head);
    expect(scene.gitIn(path, "status", "--porcelain")).toBe("");
    // A folder that somebody removed, locked or not; one that lost its `.git`.
    scene.git("worktree", "lock", path);
    rmSync(path, { recursive: true });
    await freshWorktree(place, path, head);
    rmSync(join(path, ".git"));
    writeFileSync(join(scene.repo, "src/start.txt"), "the person's own");
    writeFileSync(join(scene.repo, "made"), "the person's own");
    await expect(removeWorktree(place, path, ["made"])).rejects.toMatchObject({ code: "dirty" });
    expect(existsSync(join(scene.repo, "made"))).toBe(true);
    // Whose it is now, nobody can say.
    await expect(freshWorktree(place, path, head)).rejects.toMatchObject({ code: "not-ours" });
    expect(existsSync(join(path, "src/start.txt"))).toBe(true);
    rmSync(path, { recursive: true });
    await freshWorktree(place, path, head);
    expect(scene.gitIn(path, "rev-parse", "--show-toplevel")).toBe(path);
    expect(readFileSync(join(scene.repo, "src/start.txt"), "utf8")).toBe("the person's own");
    await removeWorktree(place, path, []);
    expect(await listWorktrees(scene.repo)).toHaveLength(1);
  });

  test("may lie behind a link", async () => {
    mkdirSync(join(scene.home, "else"));
    symlinkSync(join(scene.home, "else"), dirname(path));
    const at = await freshWorktree(place, path, head);
    expect(at).toBe(join(scene.home, "else/minion-r1-landing"));
    expect(await freshWorktree(place, path, head)).toBe(at);
    expect(await listWorktrees(scene.repo)).toHaveLength(2);
  });

  test("is a private clone where git can make none there, and clean removes that", async () => {
    await scene.start("1. One\n");
    const config = readFileSync(join(scene.repo, ".git/config"), "utf8");
    writeFileSync(dirname(path), "a file");
    process.env.TMPDIR = scene.env().TMPDIR as string;
    try {
      const at = await freshWorktree(place, path, head);
      expect(dirname(at)).toBe(process.env.TMPDIR);
      expect(lstatSync(at).mode & 0o777).toBe(0o700);
      scene.write("src/one.txt", "1", at);
      scene.commit("feat: one", at);
      const made = scene.gitIn(at, "rev-parse", "HEAD");
      expect(await commitOf(made, scene.repo)).toBeNull();
      await bringBack(place, at, made);
      expect(await commitOf(made, scene.repo)).toBe(made);
      expect(existsSync(join(scene.repo, ".git/FETCH_HEAD"))).toBe(false);
      expect(await freshWorktree(place, path, head)).toBe(at);
      expect(scene.gitIn(at, "rev-parse", "HEAD")).toBe(head);
      expect(existsSync(join(at, "src/one.txt"))).toBe(false);
      // Half a clone is made anew; a folder that others can write to is not touched.
      rmSync(join(at, ".git/objects"), { recursive: true });
      expect(await freshWorktree(place, path, head)).toBe(at);
      chmodSync(at, 0o777);
      await expect(freshWorktree(place, path, head)).rejects.toMatchObject({ code: "not-ours" });
      expect(existsSync(join(at, "src/start.txt"))).toBe(true);
      expect(readFileSync(join(scene.repo, ".git/config"), "utf8")).toBe(config);
      await scene.minion(["abort"]);
      await scene.minion(["clean"]);
      expect(readdirSync(process.env.TMPDIR)).toEqual([]);
      expect(readFileSync(dirname(path), "utf8")).toBe("a file");
    } finally {
      delete process.env.TMPDIR;
    }
  });

  test("says which program is missing where a filter wants one", async () => {
    scene.write(".gitattributes", "*.bin filter=big\n");
    scene.write("a.bin", "content");
    scene.commit("chore: a large file");
    scene.git("config", "filter.big.smudge", "no-such-program smudge %f");
    scene.git("config", "filter.big.required", "true");
    const fault = { code: "no-filter", message: expect.stringContaining("no-such-program") };
    await expect(freshWorktree(place, path, scene.git("rev-parse", "HEAD"))).rejects.toMatchObject(
      fault,
    );
  });
});

describe("submodules", () => {
  let place: Place;
  let path: string;
  let config: string;
  const file = ["-c", "protocol.file.allow=always"];
  const odd = "vendor/a 'lib' ü";
  const at = (...parts: string[]): string => join(path, ...parts);

  beforeEach(async () => {
    for (const name of ["deep", "lib", "unused"]) {
      scene.write(`${name}.txt`, name, join(scene.home, name));
      scene.gitIn(join(scene.home, name), "init", "-q", "-b", "trunk");
      scene.commit("chore: start", join(scene.home, name));
    }
    scene.gitIn(
      join(scene.home, "lib"),
      ...file,
      "submodule",
      "--quiet",
      "add",
      "../deep",
      "inner/deep",
    );
    scene.commit("chore: inner", join(scene.home, "lib"));
    const add = (name: string, to: string) =>
      scene.git(
        ...file,
        "submodule",
        "--quiet",
        "add",
        "--name",
        `n.${name}`,
        join(scene.home, name),
        to,
      );
    add("lib", odd);
    add("unused", "unused");
    scene.commit("chore: submodules");
    scene.git(...file, "submodule", "--quiet", "update", "--init", "--recursive", odd);
    scene.git("submodule", "--quiet", "deinit", "--force", "unused");
    // What is upstream must not matter.
    for (const name of ["deep", "lib", "unused"])
      rmSync(join(scene.home, name), { recursive: true });
    config = readFileSync(join(scene.repo, ".git/config"), "utf8");
    place = await findPlace(scene.repo);
    path = join(scene.repo, ".claude/worktrees/minion-r1-landing");
    await freshWorktree(place, path, scene.git("rev-parse", "HEAD"));
  });

  test("are filled as the main checkout has them, inner ones too, and put right again", async () => {
    expect(readFileSync(at(odd, "lib.txt"), "utf8")).toBe("lib");
    expect(readFileSync(at(odd, "inner/deep/deep.txt"), "utf8")).toBe("deep");
    expect(readdirSync(at("unused"))).toEqual([]);
    writeFileSync(at(odd, "inner/deep/deep.txt"), "changed");
    writeFileSync(at(odd, "left"), "over");
    await freshWorktree(place, path, scene.git("rev-parse", "HEAD"));
    expect(scene.gitIn(path, "status", "--porcelain", "--ignore-submodules=none")).toBe("");
    expect(readFileSync(join(scene.repo, ".git/config"), "utf8")).toBe(config);
    expect(scene.git("status", "--porcelain")).toBe("");
    await removeWorktree(place, path, []);
    expect(existsSync(path)).toBe(false);
    expect(readFileSync(join(scene.repo, odd, "lib.txt"), "utf8")).toBe("lib");
    expect(scene.git("submodule", "status", odd)).toMatch(/^[0-9a-f]/);
  });

  test.each(["not committed", "nowhere else"])(
    "with work in them, %s, hold a worktree back",
    async (what) => {
      expect(await workIn(path, place.main)).toBeNull();
      scene.write("inner/deep/new.txt", "new", at(odd));
      if (what === "nowhere else") {
        scene.commit("feat: new", at(odd, "inner/deep"));
        scene.gitIn(at(odd, "inner/deep"), "switch", "-q", "--detach", "HEAD^");
      }
      if (what === "nowhere else") scene.gitIn(at(odd, "inner/deep"), "branch", "mine", "HEAD@{1}");
      expect(await workIn(path, place.main)).toContain(what);
      await expect(removeWorktree(place, path, [])).rejects.toMatchObject({ code: "dirty" });
      expect(existsSync(at(odd, "inner/deep/deep.txt"))).toBe(true);
    },
  );

  test("cost a repository without any no process", async () => {
    const shim = join(scene.home, "shim");
    mkdirSync(shim);
    writeFileSync(join(shim, "git"), `#!/bin/sh\necho "$@" >> "${scene.home}/calls"\nexit 1\n`, {
      mode: 0o755,
    });
    const before = process.env.PATH;
    process.env.PATH = `${shim}:${before}`;
    try {
      rmSync(at(".gitmodules"));
      await fillSubmodules(path, place.main);
      expect(existsSync(join(scene.home, "calls"))).toBe(false);
      writeFileSync(at(".gitmodules"), "[submodule]\n");
      await expect(fillSubmodules(path, place.main)).resolves.toBeUndefined();
      expect(existsSync(join(scene.home, "calls"))).toBe(true);
    } finally {
      process.env.PATH = before;
    }
  });
});
