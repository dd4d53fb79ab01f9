import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findPlace } from "../../rails/git/repository.ts";
import { Scene, Worker } from "../cli/rails/scene.ts";

let scene: Scene;
beforeEach(() => {
  scene = new Scene();
});
afterEach(() => scene.destroy());

const next = async () => (await scene.minion(["next", "--json"])).json;
const cleaned = async (): Promise<Record<string, string | null>> => {
  type Cleaned = { remove: string[]; keep: { name: string; why: string }[] };
  const { remove, keep } = (await scene.minion(["clean", "--json"])).json as Cleaned;
  const all = [...remove.map((name) => ({ name, why: null })), ...keep];
  return Object.fromEntries(all.map(({ name, why }) => [name.replace(/^\w+ /, ""), why]));
};
const branches = (): string[] => scene.git("branch", "--format=%(refname:short)").split("\n");

describe("where a run may be started", () => {
  test("not outside of a repository, in a bare one, or before the first commit", async () => {
    const place = (name: string, ...init: string[]): string => {
      const path = join(scene.home, name);
      mkdirSync(path);
      if (init.length > 0) scene.gitIn(path, "init", "-q", ...init);
      return path;
    };
    const places = {
      plain: place("plain"),
      bare: place("bare", "--bare"),
      empty: place("empty", "-b", "trunk"),
    };
    mkdirSync(join(places.empty, ".claude/minion"), { recursive: true });
    const blueprint = readFileSync(join(scene.repo, ".claude/minion/blueprint.md"));
    writeFileSync(join(places.empty, ".claude/minion/blueprint.md"), blueprint);
    for (const [cwd, code] of [
      [places.plain, "no-repository"],
      [places.bare, "no-repository"],
      [places.empty, "no-commit"],
    ] as const)
      expect(
        await scene.minion(["start", "-", "--json"], { cwd, input: "1. One\n" }),
      ).toMatchObject({
        code: 2,
        json: { error: { code } },
      });
    expect(readdirSync(places.plain)).toEqual([]);
    expect(existsSync(join(places.bare, "minion"))).toBe(false);
    expect(existsSync(join(places.empty, ".git/minion"))).toBe(false);
  });

  test.each(["a detached HEAD", "--separate-git-dir", "a submodule"])("in %s", async (what) => {
    if (what === "a detached HEAD") scene.git("switch", "-q", "--detach");
    if (what === "--separate-git-dir")
      scene.git("init", "-q", "--separate-git-dir", join(scene.home, "elsewhere"));
    if (what === "a submodule") {
      scene.gitIn(scene.home, "init", "-q");
      scene.gitIn(scene.home, "submodule", "--quiet", "add", "./a repo", "a repo");
      scene.gitIn(scene.home, "submodule", "--quiet", "absorbgitdirs");
      expect(scene.git("rev-parse", "--git-common-dir")).toContain("modules");
    }
    const head = scene.git("rev-parse", "HEAD");
    await scene.start("1. One\n");
    await next();
    const worker = await scene.goodWorker("r1/1.1", { "src/one.txt": "1" });
    expect((await findPlace(worker.path)).main).toBe(
      what === "--separate-git-dir" ? join(scene.home, "elsewhere") : scene.repo,
    );
    expect(await next()).toMatchObject({ done: true, landed: ["1"], fault: null });
    expect(scene.git("rev-parse", "HEAD")).toBe(head);
    expect(scene.git("rev-parse", "minion/r1/line^")).toBe(head);
    expect(Object.values(await cleaned()).filter((keep) => keep !== null)).toEqual([
      "the result: not merged yet",
    ]);
    expect(scene.git("worktree", "list").split("\n")).toHaveLength(1);
    expect(existsSync(join(scene.repo, ".claude/worktrees"))).toBe(false);
  });
});

describe("a worker's branch and worktree", () => {
  test("names with blanks, quotes, tabs and letters of other scripts reach the line as they are", async () => {
    await scene.start("1. One\n");
    await next();
    const id = `ü "q" 'p' $x`;
    const path = join(scene.repo, ".claude/worktrees", `agent-${id}`);
    scene.git("worktree", "add", "-q", "--detach", path);
    const worker = new Worker(scene, id, path, "r1/1.1");
    await worker.begin();
    const names = [
      'src/"quoted".txt',
      "src/tab\there.txt",
      "src/日本 ü.txt",
      "src/-dash",
      "src/:(top)x",
      "src/*",
    ];
    worker.edit(Object.fromEntries(names.map((name) => [name, "1"])));
    await worker.finish();
    expect(await next()).toMatchObject({ done: true, landed: ["1"] });
    const listed = scene
      .git("ls-tree", "-r", "-z", "--name-only", "minion/r1/line", "src/")
      .split("\0");
    expect(listed).toEqual(expect.arrayContaining(names));
    // Nobody told of its launch and it is no agent's branch: whose it is nobody knows.
    expect((await cleaned())[path]).toBeUndefined();
    expect(existsSync(path)).toBe(true);
  });

  test("a branch of that name with other work is nobody's to move", async () => {
    await scene.start("1. One\n2. Two\n");
    await next();
    const theirs = scene.git("commit-tree", "-m", "theirs", "-p", "HEAD", "HEAD^{tree}");
    scene.git("branch", "minion/r1/1-one.1", theirs);
    scene.git("branch", "minion/r1/2-two.1", "HEAD");
    const one = await scene.agent("r1/1.1");
    expect(await one.minion(["begin", "r1/1.1", "--json"])).toMatchObject({
      code: 1,
      json: { error: { code: "branch-exists" } },
    });
    expect(scene.git("rev-parse", "minion/r1/1-one.1")).toBe(theirs);
    expect(scene.gitIn(one.path, "branch", "--show-current")).toBe(`worktree-agent-${one.id}`);
    // One that a begin left which died half way is taken.
    const two = await scene.agent("r1/2.1");
    expect((await two.begin()).code).toBe(0);
    expect(scene.gitIn(two.path, "branch", "--show-current")).toBe("minion/r1/2-two.1");
  });

  test("landing wants the commits, not the worktree: it may be gone, locked or broken", async () => {
    await scene.start("1. One\n2. Two\n3. Three\n");
    await next();
    const one = await scene.goodWorker("r1/1.1", { "src/one.txt": "1" });
    const two = await scene.goodWorker("r1/2.1", { "src/two.txt": "2" });
    const three = await scene.goodWorker("r1/3.1", { "src/three.txt": "3" });
    rmSync(one.path, { recursive: true });
    scene.git("worktree", "lock", two.path, "--reason", "claude agent (pid 1)");
    rmSync(join(three.path, ".git"));
    expect(await next()).toMatchObject({ done: true, landed: ["1", "2", "3"], fault: null });
    expect(scene.show("minion/r1/line")).toEqual(
      expect.arrayContaining(["src/one.txt", "src/two.txt", "src/three.txt"]),
    );
    // Without its `.git` it is a folder with files of which git knows nothing.
    expect(await cleaned()).toMatchObject({
      [one.path]: null,
      [two.path]: null,
      [three.path]: "it lost its .git",
    });
    expect([one, two, three].map(({ path }) => existsSync(path))).toEqual([false, false, true]);
  });

  test("a line that somebody has checked out is not moved under their feet", async () => {
    await scene.start("1. One\n");
    await next();
    await scene.goodWorker("r1/1.1", { "src/one.txt": "1" });
    const base = scene.git("rev-parse", "HEAD");
    scene.git("switch", "-q", "minion/r1/line");
    const held = await next();
    expect(held.done).toBe(false);
    expect(JSON.stringify(held.fault)).toContain("checked out");
    expect(scene.git("rev-parse", "HEAD")).toBe(base);
    expect(scene.git("status", "--porcelain", "--untracked-files=no")).toBe("");
    scene.git("switch", "-q", "trunk");
    expect(await next()).toMatchObject({ done: true, landed: ["1"] });
  });

  test("settings that make git write more than asked write nothing here", async () => {
    const remote = join(scene.home, "remote.git");
    scene.git("clone", "-q", "--bare", ".", remote);
    scene.git("remote", "add", "origin", remote);
    scene.git("fetch", "-q");
    rmSync(join(scene.repo, ".git/FETCH_HEAD"));
    const settings = [
      "branch.autoSetupMerge=always",
      "branch.autoSetupRebase=always",
      "push.autoSetupRemote=true",
    ];
    const odd = [
      "rerere.enabled=true",
      "diff.relative=true",
      "status.showUntrackedFiles=no",
      "log.showSignature=true",
    ];
    for (const each of [...settings, ...odd, "submodule.recurse=true"])
      scene.git("config", ...each.split("="));
    const config = readFileSync(join(scene.repo, ".git/config"), "utf8");
    const files = readdirSync(join(scene.repo, ".git"));
    await scene.start("1. One\n2. Two\n");
    await next();
    for (const attempt of ["r1/1.1", "r1/2.1"]) {
      const path = join(scene.home, attempt.replace("/", "-"));
      scene.git("worktree", "add", "-q", "--detach", path);
      const worker = new Worker(scene, attempt, path, attempt);
      await worker.begin();
      worker.edit({ "src/start.txt": `${attempt}\n` });
      await worker.finish();
    }
    expect(await next()).toMatchObject({ landed: ["1"], dispatch: [{ attempt: "r1/2.2" }] });
    expect(readFileSync(join(scene.repo, ".git/config"), "utf8")).toBe(config);
    const made = readdirSync(join(scene.repo, ".git")).filter((name) => !files.includes(name));
    // The folder is of the workers' own commits; what git would learn from landing's conflict is
    // not in it.
    expect(made.sort()).toEqual(["minion", "rr-cache", "worktrees"]);
    expect(readdirSync(join(scene.repo, ".git/rr-cache"))).toEqual([]);
  });
});

describe("clean", () => {
  test("follows no link out of a worktree, whoever laid it", async () => {
    scene.write(".gitignore", "node_modules\n");
    scene.commit("chore: ignore");
    scene.write("node_modules/dep/index.js", "precious");
    scene.write("coverage/report", "precious");
    await scene.start("1. One\n");
    await next();
    const worker = await scene.goodWorker("r1/1.1", { "src/one.txt": "1" });
    symlinkSync(join(scene.repo, "node_modules"), join(worker.path, "node_modules"));
    await next();
    const landing = join(scene.repo, ".claude/worktrees/minion-r1-landing");
    symlinkSync(join(scene.repo, "node_modules"), join(landing, "node_modules"));
    expect(await cleaned()).toMatchObject({ [worker.path]: null, [landing]: null });
    expect(readdirSync(join(scene.repo, ".claude"))).toEqual(["minion"]);
    expect(readFileSync(join(scene.repo, "node_modules/dep/index.js"), "utf8")).toBe("precious");
  });

  test("removes in a worktree what a gate made there, and through none that lost its .git in the main checkout", async () => {
    const run = "mkdir -p coverage; date +%N > coverage/report";
    scene.write(
      ".claude/minion/blueprint.md",
      `---\ngates:\n  - name: test\n    run: "${run}"\n---\n`,
    );
    scene.commit("chore: a gate that leaves a report");
    scene.write("coverage/report", "the person's own");
    await scene.start("1. One\n2. Two\n");
    await next();
    const one = await scene.agent("r1/1.1");
    const two = await scene.agent("r1/2.1");
    for (const worker of [one, two]) {
      await worker.begin();
      worker.edit({ "src/one.txt": worker.attempt });
      worker.commit();
      expect((await worker.minion(["gate", "test"])).code).toBe(0);
    }
    rmSync(join(two.path, ".git"));
    rmSync(join(one.path, "coverage"), { recursive: true });
    symlinkSync(join(scene.repo, "coverage"), join(one.path, "coverage"));
    await scene.minion(["abort"]);
    await cleaned();
    expect(existsSync(two.path)).toBe(true);
    expect(readFileSync(join(scene.repo, "coverage/report"), "utf8")).toBe("the person's own");
  });

  test("keeps what is dirty or did not land, and whatever somebody else made", async () => {
    scene.git("worktree", "add", "-q", "-b", "feature", join(scene.home, "feature"));
    scene.git("worktree", "add", "-q", "-b", "away", join(scene.home, "away"));
    scene.git("branch", "worktree-agent-theirs");
    await scene.start("1. One\n2. Two\n3. Three\n4. Four\n");
    await next();
    const dirty = await scene.agent("r1/1.1");
    await dirty.begin();
    dirty.edit({ "src/one.txt": "1" });
    const unlanded = await scene.agent("r1/2.1");
    await unlanded.begin();
    unlanded.edit({ "src/two.txt": "2" });
    unlanded.commit();
    // One that never began; its worktree is gone, as the client does it, and only the branch is
    // left.
    const idle = await scene.agent("r1/3.1");
    scene.git("worktree", "remove", idle.path);
    // A worker as a session of its own, in a worktree that a person made.
    const hand = new Worker(scene, "", join(scene.home, "feature"), "r1/4.1");
    await hand.begin();
    await scene.minion(["abort"]);
    // On a disk that is not there just now.
    renameSync(join(scene.home, "away"), join(scene.home, "taken"));
    expect(await cleaned()).toMatchObject({
      [dirty.path]: "not committed: src/one.txt",
      [unlanded.path]: null,
      "minion/r1/2-two.1": "work that did not land",
      [`worktree-agent-${idle.id}`]: null,
    });
    expect(readFileSync(join(dirty.path, "src/one.txt"), "utf8")).toBe("1");
    expect(branches()).toEqual(
      expect.arrayContaining(["worktree-agent-theirs", "feature", "away"]),
    );
    expect(branches()).not.toContain(`worktree-agent-${idle.id}`);
    renameSync(join(scene.home, "taken"), join(scene.home, "away"));
    expect(scene.gitIn(join(scene.home, "away"), "branch", "--show-current")).toBe("away");
    expect(existsSync(join(scene.home, "feature/src/start.txt"))).toBe(true);
  });

  test("removes the rails' own worktree also where what it tried last did not land", async () => {
    const run = "test $(ls src | wc -l) -le 2";
    scene.write(
      ".claude/minion/blueprint.md",
      `---\ngates:\n  - name: test\n    run: "${run}"\n---\n`,
    );
    scene.commit("chore: at most two files");
    await scene.start("1. One\n2. Two\n");
    await next();
    await scene.goodWorker("r1/1.1", { "src/one.txt": "1" });
    await scene.goodWorker("r1/2.1", { "src/two.txt": "2" });
    expect(await next()).toMatchObject({ landed: ["1"] });
    await scene.minion(["abort"]);
    expect(await cleaned()).toMatchObject({
      [join(scene.repo, ".claude/worktrees/minion-r1-landing")]: null,
    });
    expect(scene.show("minion/r1/2-two.1")).toContain("src/two.txt");
  });
});
