import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { clientEnv } from "../../demo/client.ts";
import { orchestrator } from "../../demo/orchestrator-script.ts";
import { type ScriptedModel, startModel } from "../../demo/scripted-model.ts";
import { conversations } from "../../demo/talk.ts";
import { worker } from "../../demo/worker-script.ts";
import { handoff } from "../handoff.ts";

const ROOT = join(import.meta.dirname, "../..");
const CASES = readdirSync(join(ROOT, "evals"), { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() && entry.name !== "results" ? [entry.name] : [],
);
const home = realpathSync(mkdtempSync(join(tmpdir(), "minion-evals-home-")));
let model: ScriptedModel;

const does = (name: string) => ({
  steps: [
    { write: `src/${name}.js`, content: `export const ${name} = () => 1;\n` },
    {
      write: `test/${name}.test.js`,
      content: `import assert from "node:assert";\nimport { test } from "node:test";\nimport { ${name} } from "../src/${name}.js";\ntest("${name}", () => assert.equal(${name}(), 1));\n`,
    },
  ],
  commit: `feat: add ${name}`,
  handoff: handoff(name),
});

beforeAll(async () => {
  const speak = orchestrator();
  const script = conversations({
    // A question is answered; what is a command is done as a foreman does it.
    orchestrator: (first) =>
      /<command-name>/.test(first.text) ? speak(first) : says("A worktree each: no shared files."),
    worker: worker({ 1: does("slug"), 2: does("feed") }),
  });
  model = await startModel(script);
});
afterAll(async () => {
  await model.close();
  rmSync(home, { recursive: true, force: true });
});

async function* says(text: string): AsyncGenerator<string[], void> {
  yield [text];
}

/** Runs one of our scripts as a person with a key does; the key's owner is the scripted model. */
function script(name: string, ...args: string[]): Promise<{ code: number; text: string }> {
  const who = {
    GIT_AUTHOR_NAME: "t",
    GIT_AUTHOR_EMAIL: "t@t",
    GIT_COMMITTER_NAME: "t",
    GIT_COMMITTER_EMAIL: "t@t",
  };
  const env = clientEnv({
    home,
    model: model.url,
    env: { ...who, XDG_CACHE_HOME: join(home, ".cache"), TMPDIR: home },
  });
  return new Promise((resolve) =>
    execFile(
      process.execPath,
      [join(ROOT, "scripts", name), ...args],
      { env, cwd: home },
      (error, stdout, stderr) => resolve({ code: Number(error?.code ?? 0), text: stdout + stderr }),
    ),
  );
}

test("each case loads in the client", async () => {
  // None is meant, so none is run; but each is read, and what cannot be is said.
  const { text } = await script("evals.mjs", "--case", "none-of-them");
  expect(text).toContain('No eval cases found matching --case "none-of-them"');
  expect(text).not.toContain("Couldn't load");
  for (const name of CASES) {
    const [, description, trigger] =
      /^description: (.+)$[\s\S]*^tags: \[(.+)\]$/m.exec(prompt(name)) ?? [];
    expect([description, trigger], name).toEqual([expect.any(String), expect.any(String)]);
  }
});

const prompt = (name: string) => readFileSync(join(ROOT, "evals", name, "prompt.md"), "utf8");

test("a case runs against our plugin, and its graders read what was said", async () => {
  const out = join(home, "result.json");
  const once = [
    "--runs",
    "1",
    "--ablation",
    "none",
    "--output-dir",
    join(home, "out"),
    "--json",
    out,
  ];
  await script("evals.mjs", "--case", "silent-on-a-question", "--disallow-tools", "Bash", ...once);
  const { suite, cases } = JSON.parse(readFileSync(out, "utf8"));
  expect(suite.plugins).toEqual([
    expect.objectContaining({ name: "minion", path: join(ROOT, "assets") }),
  ]);
  expect(suite.plugins[0].problem).toBeUndefined();
  expect(
    cases.map(({ name, aggregates }: { name: string; aggregates: { score: number } }) => [
      name,
      aggregates.score,
    ]),
  ).toEqual([["silent-on-a-question", 1]]);
});

// By night, since the day has whole runs enough.
test.runIf(process.env.MINION_NIGHTLY)("the whole run, outside of the harness", async () => {
  const { code, text } = await script("evals-run.mjs");
  expect(text).toContain("2 of 2 landed, the checkout is as it was");
  expect(code).toBe(0);
});

test("the suite is no part of what is packed or installed, and its cost is stated for each case", () => {
  const { files } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  expect(files).not.toContain("evals");
  expect(readdirSync(join(ROOT, "assets"))).not.toContain("evals");
  const page = readFileSync(join(ROOT, "evals/README.md"), "utf8");
  for (const name of CASES)
    expect(page).toMatch(new RegExp(`^\\| \`${name}\` \\|.*\\| \\$[\\d.]+ \\|$`, "m"));
});
