import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Edits, makeSample, readEdits } from "../../../demo/sample-repo.ts";
import type { Step } from "../../../demo/worker-script.ts";
import { byNight } from "../../by-night.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../../..");
let temp: string;
let demo: string;
let edits: Edits;

beforeAll(async () => {
  temp = await mkdtemp(join(tmpdir(), "minion-sample-"));
  demo = join(temp, "demo");
  await run(process.execPath, [join(root, "scripts/build-demo.mjs"), demo]);
  edits = await readEdits(join(demo, "edits"));
});
afterAll(() => rm(temp, { recursive: true, force: true }));

async function apply(folder: string, steps: readonly Step[]): Promise<void> {
  for (const step of steps) {
    if ("write" in step) await writeFile(join(folder, step.write), step.content);
    else if ("edit" in step) {
      const text = await readFile(join(folder, step.edit), "utf8");
      expect(text.split(step.from)).toHaveLength(2);
      await writeFile(
        join(folder, step.edit),
        text.replace(step.from, () => step.to),
      );
    } else throw new Error(`the demo runs nothing, yet here is ${step.run}`);
  }
}

/** Runs one of npm's commands with a home of its own and with no registry to ask. */
function npm(cwd: string, ...args: string[]) {
  const env = { PATH: process.env.PATH, HOME: temp, npm_config_registry: "http://127.0.0.1:9/" };
  return run("npm", args, { cwd, env });
}

describe("the sample repository", { timeout: 120_000 }, () => {
  test("is clean on main, and a fresh clone installs without a network", async () => {
    const repo = join(temp, "fresh");
    await makeSample(demo, repo);
    const { stdout: branch } = await run("git", ["status", "--short", "--branch"], { cwd: repo });
    expect(branch.trim()).toBe("## main");
    const clone = join(temp, "clone");
    await run("git", ["clone", "--quiet", repo, clone]);
    await npm(clone, "ci", "--offline");
    await npm(clone, "run", "lint");
    const { stdout } = await npm(clone, "test");
    expect(stdout).toMatch(/# pass [1-9]/);
    const { stdout: after } = await run("git", ["status", "--short"], { cwd: clone });
    expect(after).toBe("");
  });

  test("its linter finds what it is there to find", async () => {
    const repo = join(temp, "dirty");
    await makeSample(demo, repo);
    await writeFile(join(repo, "src/bad.js"), "console.log(1); \nconst = 2;\n\n");
    const lint = await npm(repo, "run", "lint").catch((error: { stdout: string }) => error);
    for (const rule of [
      "no-console",
      "no-trailing-space",
      "one-final-newline",
      "bad.js: parses: Unexpected token",
    ])
      expect(lint.stdout).toContain(rule);
  });

  // By day the one end-to-end run that has npm's gates passes them after each task.
  byNight(
    "passes its own checks after each task, in an order that the graph allows",
    { timeout: 90_000 },
    async () => {
      const repo = join(temp, "edited");
      await makeSample(demo, repo);
      await npm(repo, "ci", "--offline");
      let before = 0;
      for (const id of ["1", "3", "2", "4"]) {
        await apply(repo, edits.tasks[id]?.steps ?? []);
        const [, { stdout }] = await Promise.all([npm(repo, "run", "lint"), npm(repo, "test")]);
        const passed = Number(/# pass (\d+)/.exec(stdout)?.[1]);
        expect(passed).toBeGreaterThan(before);
        before = passed;
      }
    },
  );

  test("tasks 2 and 3 share no file, and each task touches what it says", () => {
    const touched = (id: string) =>
      edits.tasks[id]?.steps.map((step) =>
        "write" in step ? step.write : "edit" in step ? step.edit : "",
      );
    for (const id of Object.keys(edits.tasks))
      expect(touched(id)).toEqual(edits.guesses[id]?.files);
    expect(touched("2")?.filter((file) => touched("3")?.includes(file))).toEqual([]);
  });
});
