import { execFileSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { casesOf } from "../../by-night.ts";
import { Scene } from "./scene.ts";

let scene: Scene;
beforeAll(async () => {
  scene = new Scene(GATES);
  scene.write("src/names.txt", "old\n");
  scene.commit("chore: names");
  await scene.start("1. Use a name\n");
  const { json } = await scene.minion(["next", "--json"]);
  await scene.goodWorker(json.dispatch[0].attempt, { "src/use.txt": "uses names\n" });
  expect((await scene.minion(["next", "--json"])).json.done).toBe(true);
  scene.keep();
});
afterEach(() => scene.back());
afterAll(() => scene.destroy());

/** What uses the names needs them; something may happen while it runs. */
const GATES = `---
gates:
  - name: test
    run: "test ! -e ~/during || sh ~/during; ! grep -rq 'uses names' src || test -f src/names.txt"
---
`;
/** Something that happens on the branch meanwhile. */
const meanwhile = (message: string) => {
  scene.git("add", "--all", "--", "src");
  scene.git("commit", "-qm", message);
};
const merge = (...args: string[]) => scene.minion(["merge", "--json", ...args]);
const code = (answer: { json: { error?: { code: string; hint: string } } }) =>
  answer.json.error?.code;
const tip = (ref: string) => scene.git("rev-parse", ref);
/** Nothing of git's own is in progress, here or in any worktree. */
const isQuiet = () => {
  expect(scene.git("status", "--porcelain", "--untracked-files=no")).toBe("");
  expect(scene.inProgress()).toEqual([]);
};

test("a branch that has not moved goes forward to the line, where one stands and where nobody does", async () => {
  scene.git("branch", "release");
  expect((await merge("--into", "release")).json).toMatchObject({
    into: "release",
    to: tip("minion/r1/line"),
  });
  expect(tip("release")).toBe(tip("minion/r1/line"));
  expect(tip("trunk")).not.toBe(tip("minion/r1/line"));
  expect((await merge()).json).toMatchObject({ into: "trunk" });
  expect(tip("trunk")).toBe(tip("minion/r1/line"));
  expect(scene.git("show", "HEAD:src/use.txt")).toBe("uses names");
  isQuiet();
  expect(await merge()).toMatchObject({ code: 0 });
  await scene.minion(["clean"]);
  expect(scene.git("worktree", "list").split("\n")).toHaveLength(1);
  expect(scene.git("branch", "--format=%(refname:short)").split("\n")).toEqual([
    "release",
    "trunk",
  ]);
});

test("one that has moved gets a merge that passed the gates as it is", async () => {
  scene.write("src/other.txt", "meanwhile\n");
  meanwhile("feat: other");
  const before = tip("trunk");
  expect((await merge()).code).toBe(0);
  expect(scene.git("rev-list", "--parents", "-1", "trunk").split(" ").slice(1)).toEqual([
    before,
    tip("minion/r1/line"),
  ]);
  expect(scene.git("ls-tree", "--name-only", "trunk", "src/").split("\n")).toContain(
    "src/other.txt",
  );
  isQuiet();
});

test.each([
  [
    "green on both sides and red together",
    () => scene.git("mv", "src/names.txt", "src/new-names.txt"),
    "test ended with",
  ],
  ["a clash", () => scene.write("src/use.txt", "another\n"), "clashes in src/use.txt"],
])("%s is not merged, and leaves nothing behind", async (_, change, why) => {
  change();
  meanwhile("feat: another");
  const before = tip("trunk");
  const answer = await merge();
  expect([code(answer), answer.json.error.message]).toEqual([
    "merge-red",
    expect.stringContaining(why),
  ]);
  expect(tip("trunk")).toBe(before);
  isQuiet();
});

test("a person's changes stay, and the command for later is named", async () => {
  scene.write("src/start.txt", "mine\n");
  const before = tip("trunk");
  const answer = await merge();
  expect([code(answer), tip("trunk")]).toEqual(["dirty", before]);
  const [, command = ""] = /: (git merge --ff-only [-\w ]+)$/.exec(answer.json.error.hint) ?? [];
  scene.git("checkout", "-q", "--", "src/start.txt");
  scene.git(...command.split(" ").slice(1));
  expect(tip("trunk")).toBe(tip("minion/r1/line"));
});

test.each([
  ["here", []],
  ["and nobody stands on", ["--into", "release"]],
])("a branch that moves while the gates run is left where it went: one %s", async (_, into) => {
  scene.git("branch", "release");
  const branch = into.at(-1) ?? "trunk";
  const move =
    into.length > 0
      ? "update-ref refs/heads/release trunk"
      : "commit -q --allow-empty -m meanwhile";
  scene.git("commit", "-q", "--allow-empty", "-m", "feat: theirs");
  scene.write("../during", `git -C '${scene.repo}' ${move}\n`);
  const answer = await merge(...into);
  expect([code(answer), answer.json.error.hint]).toEqual(["moved", "call the same again"]);
  expect(scene.git("log", "-1", "--format=%s", branch)).toBe(
    into.length > 0 ? "feat: theirs" : "meanwhile",
  );
  expect(scene.show(branch)).not.toContain("src/use.txt");
  isQuiet();
  rmSync(join(scene.home, "during"));
  expect((await merge(...into)).json).toMatchObject({ into: branch, to: tip(branch) });
  expect(scene.show(branch)).toContain("src/use.txt");
  isQuiet();
});

test.each([
  ["not tracked, in the way of the merge", "src/use.txt", "in-the-way"],
  ["staged", "src/staged.txt", "dirty"],
])("a person's file stays: %s", async (_, path, why) => {
  scene.write(path, "mine\n");
  if (why === "dirty") scene.git("add", path);
  const before = [tip("trunk"), scene.git("ls-files", "--stage")];
  const answer = await merge();
  expect([code(answer), answer.json.error.hint]).toEqual([
    why,
    expect.stringContaining("git merge --ff-only "),
  ]);
  expect([tip("trunk"), scene.git("ls-files", "--stage")]).toEqual(before);
  expect(readFileSync(join(scene.repo, path), "utf8")).toBe("mine\n");
  expect(scene.inProgress()).toEqual([]);
});

// By day a HEAD that leaves its branch and one that comes onto ours; to another is as to none.
type Switched = [name: string, way: string, into: string[], to: string];
const SWITCHED = casesOf<Switched>(
  [
    ["a detached HEAD", "git checkout -q --detach", [], "trunk"],
    ["the branch that is merged into", "git checkout -q release", ["--into", "release"], "release"],
  ],
  [["another branch, made from it", "git checkout -q -b wip", [], "trunk"]],
);

test.each(SWITCHED)(
  "whoever switches while the gates run keeps what they are on: to %s",
  async (_, way, into, to) => {
    scene.git("branch", "release");
    scene.write("../during", `cd '${scene.repo}' && { ${way} 2>&1 || true; }\n`);
    const before = tip("trunk");
    expect((await merge(...into)).json).toMatchObject({ into: to, to: tip("minion/r1/line") });
    expect(tip(to)).toBe(tip("minion/r1/line"));
    if (way.includes("wip")) expect(tip("wip")).toBe(before);
    if (way.includes("detach")) expect(tip("HEAD")).toBe(before);
    if (to === "release") expect(scene.git("symbolic-ref", "HEAD")).toBe("refs/heads/release");
    isQuiet();
  },
);

// By day a rebase, during which git names no branch of that worktree; a bisection is as that. One
// that is just checked out: by day without the meanwhile, in the last but one test.
const ELSEWHERE = casesOf<[name: string, way: string]>(
  [
    [
      "rebased elsewhere",
      "worktree add -q ../there release && git -C ../there rebase -q -x false HEAD~",
    ],
  ],
  [
    ["checked out elsewhere", "worktree add -q ../there release"],
    [
      "bisected elsewhere",
      "worktree add -q ../there release && git -C ../there bisect start HEAD HEAD~",
    ],
  ],
);

test.each(ELSEWHERE)(
  "a branch that is %s meanwhile is left to whoever is there",
  async (_, way) => {
    scene.git("branch", "release");
    scene.write(
      "../during",
      `rm ~/during; cd '${scene.repo}' && git ${way} >/dev/null 2>&1 || true\n`,
    );
    const before = tip("release");
    const answer = await merge("--into", "release");
    expect([code(answer), tip("release")]).toEqual(["checked-out", before]);
    const there = join(scene.home, "there");
    expect(answer.json.error.hint).toContain(`git -C ${there} merge --ff-only`);
    expect(scene.gitIn(there, "status", "--porcelain")).toBe("");
  },
);

// By day one setting of the branch and one of all merges.
const SETTINGS = casesOf(
  [
    ["branch.trunk.mergeOptions", "--squash"],
    ["merge.ff", "false"],
  ],
  [
    ["branch.trunk.mergeOptions", "--strategy=ours --no-ff"],
    ["merge.verifySignatures", "true"],
    ["merge.autoStash", "true"],
  ],
) as [string, string][];

test.each(SETTINGS)(
  "a person's setting for merges makes nothing else of it: %s=%s",
  async (key, value) => {
    scene.git("config", key, value);
    for (const isApart of [false, true]) {
      if (isApart) {
        scene.git("reset", "-q", "--hard", "HEAD~");
        scene.write("src/other.txt", "meanwhile\n");
        meanwhile("feat: other");
      }
      const { json } = await merge();
      expect(json).toMatchObject({ into: "trunk", to: tip("trunk") });
      expect(scene.git("merge-base", "trunk", "minion/r1/line")).toBe(tip("minion/r1/line"));
      expect(scene.show("trunk")).toContain("src/use.txt");
      isQuiet();
    }
  },
);

test("two at once merge it once", async () => {
  scene.write("../during", "sleep 0.3\n");
  const both = await Promise.all([merge(), merge()]);
  const to = tip("minion/r1/line");
  expect(both.map(({ json }) => json)).toMatchObject([{ to }, { to }]);
  expect(tip("trunk")).toBe(to);
  expect(scene.git("reflog", "show", "--format=%h", "trunk").split("\n")).toHaveLength(3);
  isQuiet();
});

test("a branch that stands for another one that is checked out moves with its files", async () => {
  scene.git("symbolic-ref", "refs/heads/main", "refs/heads/trunk");
  expect((await merge("--into", "main")).json).toMatchObject({ into: "trunk" });
  expect(tip("trunk")).toBe(tip("minion/r1/line"));
  isQuiet();
});

test("what is ignored here is not overwritten, by us nor by what is printed", async () => {
  scene.write(".git/info/exclude", "src/use.txt\n");
  scene.write("src/use.txt", "mine\n");
  const { json } = await merge();
  expect([json.error.code, json.error.message]).toEqual([
    "in-the-way",
    expect.stringContaining("src/use.txt"),
  ]);
  const [, command = ""] = /: (git .*)$/.exec(json.error.hint) ?? [];
  expect(() => execFileSync("sh", ["-c", command], { cwd: scene.repo, stdio: "pipe" })).toThrow();
  expect(readFileSync(join(scene.repo, "src/use.txt"), "utf8")).toBe("mine\n");
});

test("what is printed for a merge that is red works, beside what is ignored here", async () => {
  scene.git("mv", "src/names.txt", "src/new-names.txt");
  meanwhile("feat: another");
  scene.write(".git/info/exclude", "src/use.txt\n");
  scene.write("src/use.txt", "mine\n");
  const { hint } = (await merge()).json.error;
  const [, command = ""] = /look at it: (.*)$/.exec(hint) ?? [];
  execFileSync("sh", ["-c", command], { cwd: scene.repo, env: scene.env(), stdio: "pipe" });
  expect(readFileSync(join(scene.repo, "src/use.txt"), "utf8")).toBe("mine\n");
  const [, beside = ""] = /add --detach '([^']*)'/.exec(command) ?? [];
  expect(readFileSync(join(beside, "src/use.txt"), "utf8")).toBe("uses names\n");
});

test("a branch that is checked out elsewhere is left to whoever is there", async () => {
  scene.git("branch", "theirs");
  const there = join(scene.home, "there");
  scene.git("worktree", "add", "-q", there, "theirs");
  const answer = await merge("--into", "theirs");
  expect([code(answer), answer.json.error.hint]).toEqual([
    "checked-out",
    expect.stringContaining(`git -C ${there}`),
  ]);
  expect(code(await merge("--into", "nowhere"))).toBe("no-branch");
  scene.git("switch", "-q", "--detach");
  expect(code(await merge())).toBe("no-branch");
  expect((await scene.minion(["merge", "--run", "r9"])).code).toBe(2);
});

test("what a person mends after the line was merged and cleaned away lands on a line that goes on from there", async () => {
  await scene.start("1. One\n2. Two\n");
  const next = async () => (await scene.minion(["next", "--json"])).json;
  for (let round = 0; round < 2; round++)
    for (const { attempt, task } of (await next()).dispatch) {
      if (task === "1") await scene.goodWorker(attempt, { "src/one.txt": "1\n" });
      else {
        const worker = await scene.agent(attempt);
        await worker.begin();
        worker.edit({ "src/two.txt": "2\n" });
        worker.commit();
        for (const _ of [1, 2]) await worker.end();
      }
    }
  expect(await next()).toMatchObject({ done: true, landed: ["1"], attention: [{ task: "2" }] });
  expect((await merge("--run", "r2")).code).toBe(0);
  expect((await scene.minion(["clean", "--run", "r2", "--json"])).code).toBe(0);
  expect(scene.git("branch", "--list", "minion/r2/line")).toBe("");
  expect((await scene.minion(["land", "2", "--run", "r2", "--json"])).json).toMatchObject({
    landed: true,
  });
  expect((await merge("--run", "r2")).code).toBe(0);
  expect(scene.show("HEAD")).toEqual(expect.arrayContaining(["src/one.txt", "src/two.txt"]));
  isQuiet();
});

test("where no branch is checked out, the command that is named names one that there is", async () => {
  scene.git("checkout", "--quiet", "--detach");
  const answer = await merge();
  expect(code(answer)).toBe("no-branch");
  expect(answer.json.error.hint).toMatch(/--into trunk$/);
});
