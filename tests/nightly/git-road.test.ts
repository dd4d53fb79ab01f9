import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Scene } from "../cli/rails/scene.ts";

let scene: Scene;
beforeEach(() => {
  scene = new Scene();
});
afterEach(() => scene.destroy());

const next = async () => (await scene.minion(["next", "--json"])).json;

test("where git can make no worktree for landing, a clone proves and the line holds what it made", async () => {
  const clones = () =>
    readdirSync(scene.env().TMPDIR as string).filter((name) => name.startsWith("minion-clone-"));
  await scene.start("1. One\n2. Two\n");
  await next();
  const config = readFileSync(join(scene.repo, ".git/config"), "utf8");
  await scene.goodWorker("r1/1.1", { "src/one.txt": "1" });
  await scene.goodWorker("r1/2.1", { "src/two.txt": "2" });
  for (const path of scene
    .git("worktree", "list", "--porcelain")
    .matchAll(/^worktree (.*agent-.*)$/gm))
    scene.git("worktree", "remove", path[1] as string);
  rmSync(join(scene.repo, ".claude/worktrees"), { recursive: true, force: true });
  writeFileSync(join(scene.repo, ".claude/worktrees"), "a file");
  expect(await next()).toMatchObject({ done: true, landed: ["1", "2"], fault: null });
  expect(scene.show("minion/r1/line")).toEqual(
    expect.arrayContaining(["src/one.txt", "src/two.txt"]),
  );
  expect(readFileSync(join(scene.repo, ".git/config"), "utf8")).toBe(config);
  expect(clones()).toHaveLength(1);
  expect((await scene.minion(["clean"])).code).toBe(0);
  expect(clones()).toEqual([]);
  expect(existsSync(join(scene.repo, ".claude/worktrees"))).toBe(true);
});

test("a worker finds the submodules filled; one that it moves to a commit of its own does not land", async () => {
  const lib = join(scene.home, "lib");
  const file = ["-c", "protocol.file.allow=always"];
  scene.write("lib.txt", "lib", lib);
  scene.gitIn(lib, "init", "-q");
  scene.commit("chore: lib", lib);
  scene.git(...file, "submodule", "--quiet", "add", "../lib", "lib");
  scene.write(
    ".claude/minion/blueprint.md",
    "---\ngates:\n  - name: test\n    run: test -f lib/lib.txt\n---\n",
  );
  scene.commit("chore: submodule");
  await scene.start("1. One\n2. Two\n");
  await next();
  const one = await scene.agent("r1/1.1");
  await one.begin();
  expect(readFileSync(join(one.path, "lib/lib.txt"), "utf8")).toBe("lib");
  one.edit({ "src/one.txt": "1" });
  await one.finish();
  const two = await scene.agent("r1/2.1");
  await two.begin();
  two.edit({ "lib/more.txt": "more" });
  scene.commit("feat: more", join(two.path, "lib"));
  await two.finish();
  const answer = await next();
  expect(answer).toMatchObject({ landed: ["1"], fault: null });
  const { events } = (await scene.minion(["events", "--json"])).json;
  expect(events).toContainEqual(
    expect.objectContaining({ event: "not-landed", reason: "setup-failed" }),
  );
  await scene.minion(["abort"]);
  await scene.minion(["clean"]);
  expect(existsSync(one.path)).toBe(false);
  // The only place that has the commit.
  expect(existsSync(join(two.path, "lib/more.txt"))).toBe(true);
});
