import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { byNight } from "../../by-night.ts";
import { Scene, type Worker } from "./scene.ts";

let scene: Scene | undefined;
afterEach(() => scene?.destroy());

async function begun(attempt: string): Promise<Worker> {
  const worker = await (scene as Scene).agent(attempt);
  expect((await worker.begin()).code).toBe(0);
  return worker;
}
const next = async () => (await (scene as Scene).minion(["next", "--json"])).json;

test("a clash sends the second back once, told what the first meant; a deletion that nobody named is flagged", async () => {
  scene = new Scene();
  await scene.start("1. Greet\n2. Part\n   Files: src/start.txt?\n");
  const { dispatch } = await next();
  const [one, two] = await Promise.all(
    dispatch.map(({ attempt }: { attempt: string }) => begun(attempt)),
  );
  const done = async (worker: Worker, text: string) => {
    worker.edit({ "src/start.txt": `${text}\n` });
    await worker.minion(["gate", "--all"]);
    worker.commit(`feat: ${text}`);
    expect((await worker.submit(`it says ${text}, since people arrive.`)).code).toBe(0);
  };
  await done(one as Worker, "hello");
  await done(two as Worker, "goodbye");
  const after = await next();
  expect(after).toMatchObject({ landed: ["1"], dispatch: [{ attempt: "r1/2.2" }] });
  expect(scene.git("show", "minion/r1/line:src/start.txt")).toBe("hello");
  expect(scene.inProgress()).toEqual([]);
  const again = await scene.agent("r1/2.2");
  const brief = (await again.begin()).stdout;
  expect(brief).toContain("## What task 1 left\n\n> What and why: it says hello");
  expect(brief).toContain("conflict. It clashes in src/start.txt");

  rmSync(join(again.path, "src/start.txt"));
  again.edit({ "src/end.txt": "goodbye\n" });
  await again.minion(["gate", "--all"]);
  again.commit("feat: end");
  await again.submit();
  expect(await next()).toMatchObject({ done: true, landed: ["1", "2"] });
  const { report } = (await scene.minion(["report", "--json"])).json;
  expect(report).toMatch(/\*\*2 Part\*\*.*touched though not named: src\/end\.txt/);
  expect(report).not.toContain("deleted though not named");
});

const MANIFEST = (names: string) => `{\n  "dependencies": {\n${names}\n  }\n}\n`;

type Files = Readonly<Record<string, string | null>>;
const TOGETHER: [string, first: Files, second: Files, reason: string][] = [
  [
    "a rename and a new use",
    { "src/names.txt": null, "src/new-names.txt": "old\n" },
    { "src/use.txt": "uses names\n" },
    "line-red",
  ],
  [
    "two new dependencies",
    { "src/package.json": MANIFEST('    "a": "1",\n    "b": "1"') },
    { "src/package.json": MANIFEST('    "a": "1",\n    "c": "1"') },
    "conflict",
  ],
  ["one new file from both", { "src/one.txt": "mine\n" }, { "src/one.txt": "yours\n" }, "conflict"],
];
const neverTogether = async (
  _: string,
  first: Files,
  second: Files,
  reason: string,
): Promise<void> => {
  scene = new Scene(
    "---\ngates:\n  - name: test\n    run: \"! grep -rq 'uses names' src || test -f src/names.txt\"\n---\n",
  );
  scene.write("src/names.txt", "old\n");
  scene.write("src/package.json", MANIFEST('    "a": "1"'));
  scene.commit("chore: more");
  await scene.start("1. One\n2. Two\n");
  const { dispatch } = await next();
  const workers = await Promise.all(
    dispatch.map(({ attempt }: { attempt: string }) => begun(attempt)),
  );
  for (const [at, worker] of (workers as Worker[]).entries()) {
    for (const [path, text] of Object.entries(at === 0 ? first : second)) {
      if (text === null) rmSync(join(worker.path, path));
      else worker.edit({ [path]: text });
    }
    await worker.finish();
  }
  expect(await next()).toMatchObject({ landed: ["1"], dispatch: [{ attempt: "r1/2.2" }] });
  const { events } = (await scene.minion(["events", "--json"])).json;
  expect(events.filter(({ event }: { event: string }) => event === "not-landed")).toMatchObject([
    { reason },
  ]);
  expect(scene.git("rev-list", "--count", "trunk..minion/r1/line")).toBe("1");
  expect(scene.git("status", "--porcelain", "--untracked-files=no")).toBe("");
  expect(scene.inProgress()).toEqual([]);
};
const [meaning, ...lines] = TOGETHER;
const TITLE = "%s: each is green, and what they are together never reaches the line";
test.each([meaning as (typeof TOGETHER)[number]])(TITLE, neverTogether);
// Two that clash are sent apart by day in the test above.
byNight.each(lines)(TITLE, neverTogether);

/** What each of two tasks commits, one after another, in files that say their own names. */
const SERIES: [string, string[], string[], landed: string[], empty: number][] = [
  [
    "some in the middle and the last",
    ["a", "b"],
    ["one", "a", "two", "b"],
    ["two", "one", "b", "a"],
    2,
  ],
  ["all", ["a", "b"], ["b", "a"], ["b", "a"], 2],
];
// Of the first two commits are empty and two are not; one of which all are empty is by night.
for (const [at, series] of SERIES.entries())
  (at === 0 ? test : byNight).each([series])(
    "commits that change nothing on the line are passed over, and that is said: %s",
    async (_, first, second, landed, empty) => {
      scene = new Scene();
      await scene.start("1. One\n2. Two\n");
      const { dispatch } = await next();
      const workers = await Promise.all(
        dispatch.map(({ attempt }: { attempt: string }) => begun(attempt)),
      );
      for (const [at, worker] of (workers as Worker[]).entries()) {
        for (const name of at === 0 ? first : second) {
          worker.edit({ [`src/${name}.txt`]: `${name}\n` });
          worker.commit(`feat: ${name}`);
        }
        await worker.minion(["gate", "--all"]);
        expect((await worker.submit()).code).toBe(0);
      }
      expect(await next()).toMatchObject({ done: true, landed: ["1", "2"] });
      const subjects = scene.git("log", "--format=%s", "trunk..minion/r1/line").split("\n");
      expect(subjects).toEqual(landed.map((name) => `feat: ${name}`));
      const { report } = (await scene.minion(["report", "--json"])).json;
      // Both landed at once; each is known by its own last commit.
      const commits = [...report.matchAll(/^- \*\*\d .*?\*\*: `([0-9a-f]{10}(?:~\d)?)`/gm)].map(
        ([, commit]) => commit,
      );
      const last =
        landed.length > first.length
          ? second.findLast((name) => !first.includes(name))
          : first.at(-1);
      expect(commits.map((commit) => scene?.git("log", "-1", "--format=%s", commit))).toEqual([
        `feat: ${first.at(-1)}`,
        `feat: ${last}`,
      ]);
      expect(report).toMatch(
        new RegExp(
          `\\*\\*2 Two\\*\\*.*${empty} of its ${second.length} commits changed nothing there`,
        ),
      );
      expect(scene.git("status", "--porcelain", "--untracked-files=no")).toBe("");
      expect(scene.inProgress()).toEqual([]);
    },
  );

// By day a clash of one commit leaves nothing of it either, in the first test.
byNight(
  "a clash in the middle of a series, after a commit that changes nothing, leaves nothing of the series",
  async () => {
    scene = new Scene();
    await scene.start("1. One\n2. Two\n");
    const { dispatch } = await next();
    const workers = await Promise.all(
      dispatch.map(({ attempt }: { attempt: string }) => begun(attempt)),
    );
    for (const [at, worker] of (workers as Worker[]).entries()) {
      const files = {
        "src/own.txt": `${at}\n`,
        "src/both.txt": "same\n",
        "src/start.txt": `${at}\n`,
        "src/more.txt": `${at}\n`,
      };
      for (const [path, text] of Object.entries(files)) {
        // What the first puts on the line is the second and the third.
        if (at === 0 && /own|more/.test(path)) continue;
        worker.edit({ [path]: text });
        worker.commit(`feat: ${path}`);
      }
      await worker.minion(["gate", "--all"]);
      expect((await worker.submit()).code).toBe(0);
    }
    expect(await next()).toMatchObject({ landed: ["1"], dispatch: [{ attempt: "r1/2.2" }] });
    const { events } = (await scene.minion(["events", "--json"])).json;
    expect(events.filter(({ event }: { event: string }) => event === "not-landed")).toMatchObject([
      { attempt: "r1/2.1", reason: "conflict", note: "It clashes in src/start.txt." },
    ]);
    expect(scene.show("minion/r1/line")).not.toContain("src/own.txt");
    expect(scene.inProgress()).toEqual([]);
    const landing = join(scene.repo, ".claude/worktrees/minion-r1-landing");
    expect(scene.gitIn(landing, "status", "--porcelain")).toBe("");
  },
);

/** The first time that landing tries a task, the line goes elsewhere behind its back. */
const MOVES = (to: string) => `---
gates:
  - name: test
    run: |
      if test -e src/one.txt && ! test -e ../moved; then
        case "$PWD" in *-landing) touch ../moved; git update-ref refs/heads/minion/r1/line ${to} ;; esac
      fi
---
`;

// By day it moves while nothing is being proven, in `proof.test.ts`.
byNight(
  "a line that moves while a task is being proven is put back where what it stands on is kept, and the task lands",
  async () => {
    scene = new Scene(MOVES("theirs"));
    const theirs = scene.git("commit-tree", "-m", "theirs", "-p", "HEAD", "HEAD^{tree}");
    scene.git("branch", "theirs", theirs);
    await scene.start("1. One\n");
    await scene.goodWorker((await next()).dispatch[0].attempt, { "src/one.txt": "1\n" });
    expect(await next()).toMatchObject({ done: true, landed: ["1"], fault: null });
    expect(scene.git("log", "--format=%s", "trunk..minion/r1/line")).toBe("feat: work");
    expect(scene.git("rev-parse", "theirs")).toBe(theirs);
    expect(scene.inProgress()).toEqual([]);
  },
);

test("one that moves to what is nowhere else stays there until a person says so", async () => {
  scene = new Scene(MOVES("$(git commit-tree -m theirs -p HEAD 'HEAD^{tree}')"));
  await scene.start("1. One\n");
  await scene.goodWorker((await next()).dispatch[0].attempt, { "src/one.txt": "1\n" });
  const { done, landed, fault } = await next();
  expect({ done, landed, fault }).toEqual({
    done: false,
    landed: [],
    fault: expect.stringContaining("somebody moved"),
  });
  expect(scene.git("log", "-1", "--format=%s", "minion/r1/line")).toBe("theirs");
  expect(scene.inProgress()).toEqual([]);
  scene.git("branch", "kept", "minion/r1/line");
  expect(await next()).toMatchObject({ done: true, landed: ["1"], fault: null });
});

test("a deletion that a task does not name is told of with that task", async () => {
  scene = new Scene();
  await scene.start("1. Tidy\n   Files: src/new.txt\n2. Other\n   Files: src/other.txt\n");
  const { dispatch } = await next();
  const [one, two] = await Promise.all(
    dispatch.map(({ attempt }: { attempt: string }) => begun(attempt)),
  );
  rmSync(join((one as Worker).path, "src/start.txt"));
  (one as Worker).edit({ "src/new.txt": "new\n" });
  await (one as Worker).finish();
  (two as Worker).edit({ "src/other.txt": "other\n" });
  await (two as Worker).finish();
  await next();
  const { report } = (await scene.minion(["report", "--json"])).json;
  expect(report).toMatch(/\*\*1 Tidy\*\*.*\*\*deleted though not named: src\/start\.txt\*\*/);
  expect(report.match(/deleted though not named/g)).toHaveLength(1);
});
