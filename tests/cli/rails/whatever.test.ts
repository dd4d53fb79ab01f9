import { execFile, execFileSync } from "node:child_process";
import {
  appendFileSync,
  mkdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { casesOf } from "../../by-night.ts";
import { type Answer, MINION, Scene } from "./scene.ts";

// Whatever comes from outside: the program ends, soon, and in words.

const PAGE = ".claude/minion/blueprint.md";
const input = "1. One\n";
let scene: Scene;
beforeEach(() => {
  scene = new Scene();
});
afterEach(() => scene.destroy());

/** No stack trace, no advice to report a bug, in either stream. */
function inWords({ code, stdout, stderr }: Answer, exit: readonly number[], words: RegExp): void {
  expect(stdout + stderr).toMatch(words);
  expect(stdout + stderr).not.toMatch(/\n\s+at |this is a bug|node:internal/);
  expect(exit).toContain(code);
}

/** A line of a shell with `minion` in it as it is built, and what it ends with. */
function shell(line: string): Promise<Answer> {
  const env = { ...scene.env(), MINION };
  return new Promise((resolve) => {
    const words = ["-c", line.replaceAll("minion ", '"$MINION" ')];
    execFile("bash", words, { cwd: scene.repo, env, timeout: 30_000 }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr, json: null }),
    );
  });
}

describe("output that goes nowhere", () => {
  const long = () =>
    scene.write(
      "big.md",
      Array.from({ length: 3000 }, (_, at) => `${at + 1}. Task ${at}\n`).join(""),
    );

  // By day the reader that goes in the midst of a document; the others go at a line, or at once.
  test.each(
    casesOf(
      ["minion plan big.md --json | head -c 5"],
      ["minion plan big.md | head -1", "minion plan big.md | true"],
    ),
  )("%s", async (line) => {
    long();
    const { stderr } = await shell(`set -o pipefail; ${line}`);
    expect(stderr).toBe("");
  });

  // By day what is long and an error; a short answer is written as the error is.
  test
    .runIf(process.platform === "linux")
    .each(casesOf(["plan big.md", "plan nothing.md --json"], ["board", "--help"]))(
    "minion %s > /dev/full",
    async (words) => {
      long();
      await scene.start(input);
      inWords(await shell(`minion ${words} > /dev/full`), [3], /^minion: .*ENOSPC|no space/);
    },
  );

  test("a board that is watched ends when nobody looks any more", async () => {
    await scene.start(input);
    const { code } = await shell(
      "(minion board --watch; echo $? > ended) | head -1; sleep 0.1; for i in $(seq 100); do printf ' ' >> .git/minion/r1/events.jsonl; [ -e ended ] && exit 0; sleep 0.1; done; exit 9",
    );
    expect(code).toBe(0);
  });
});

describe("pages and lists that are no files", () => {
  const places: [string, () => void, RegExp][] = [
    ["a link loop", () => symlinkSync("blueprint.md", join(scene.repo, PAGE)), /back to itself/],
    ["a pipe", () => execFileSync("mkfifo", [join(scene.repo, PAGE)]), /is a pipe/],
    ["a folder", () => mkdirSync(join(scene.repo, PAGE)), /is a folder/],
    ["a device", () => symlinkSync("/dev/zero", join(scene.repo, PAGE)), /is a device/],
    [
      "a gigabyte",
      () => {
        writeFileSync(join(scene.repo, PAGE), "");
        truncateSync(join(scene.repo, PAGE), 2 ** 30);
      },
      /more than 16 MB/,
    ],
  ];
  for (const [name, make, words] of places) {
    test(`the blueprint is ${name}`, async () => {
      rmSync(join(scene.repo, PAGE));
      make();
      for (const verb of [["plan", "-"], ["start", "-"], ["blueprint"]])
        inWords(await scene.minion(verb, { input }), [1, 2], words);
      inWords(await scene.minion(["plan", PAGE]), [1, 2], words);
    });
  }

  test.each(["workflows/x.md", "overlays/x.md", "toolchains.md", "prices.md"])(
    "%s is a pipe",
    async (path) => {
      scene.write(`.claude/minion/${path}`, "");
      rmSync(join(scene.repo, ".claude/minion", path));
      execFileSync("mkfifo", [join(scene.repo, ".claude/minion", path)]);
      inWords(await scene.minion(["plan", "-"], { input }), [1, 2], /is a pipe/);
    },
  );

  test("a file of the project that its tools are told by is a pipe", async () => {
    execFileSync("mkfifo", [join(scene.repo, "Makefile")]);
    expect((await scene.minion(["plan", "-"], { input })).code).toBe(0);
  });

  test("what a shell opens is read", async () => {
    const { code, stdout } = await shell("minion plan <(sleep 0.2; echo '1. One')");
    expect(stdout).toContain("1 task");
    expect(code).toBe(0);
  });
});

describe("words that every object knows", () => {
  // By day a method and what is no method.
  test.each(casesOf(["constructor", "__proto__"], ["toString", "hasOwnProperty"]))(
    "%s",
    async (word) => {
      inWords(await scene.minion(["plan", "-", "--workflow", word], { input }), [1], /no workflow/);
      const list = `1. One\n   Agent: ${word}\n   Workflow: ${word}\n`;
      inWords(await scene.minion(["plan", "-"], { input: list }), [1], /no workflow/);
      inWords(await scene.minion(["guide", word]), [2], /no guide/);
      inWords(await scene.minion([word]), [2], /unknown command/);
      await scene.start(input);
      appendFileSync(
        join(scene.repo, ".git/minion/r1/events.jsonl"),
        `{"at":1,"event":"${word}"}\n`,
      );
      for (const verb of ["board", "report", "attention", "events", "stats"])
        expect((await scene.minion([verb])).code, verb).toBe(0);
      for (const verb of ["land", "retry"]) inWords(await scene.minion([verb, word]), [1, 2], /./);
      inWords(await scene.minion(["board", "--run", word]), [1, 2], /./);
      inWords(await scene.minion(["hook", word], { input: "{}" }), [0], /^/);
    },
  );

  test("a gate that is called so", async () => {
    scene.write(PAGE, "---\ngates:\n  - name: constructor\n    run: '! grep -r FAIL src'\n---\n");
    await scene.start(input);
    await scene.minion(["next", "--wait", "60"]);
    const worker = await scene.agent("r1/1.1");
    await worker.begin();
    worker.edit({ "src/a.txt": "FAIL" });
    inWords(await worker.minion(["gate", "constructor"]), [1], /^constructor: fail, (?!.*over)/);
  });
});

describe("a lock", () => {
  test("that is dated in the future and held by nobody is waited for no longer than another", async () => {
    await scene.start(input);
    const lock = join(scene.repo, ".git/minion/r1/journal.lock");
    mkdirSync(lock);
    const ahead = Date.now() / 1000 + 86_400;
    utimesSync(lock, ahead, ahead);
    expect((await scene.minion(["abort"])).code).toBe(0);
  }, 40_000);
});
