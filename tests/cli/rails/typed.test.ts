import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { marked, type Token } from "marked";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { branchRef, pathspecs, word } from "../../../rails/program/typed.ts";
import { MINION, Scene } from "./scene.ts";

const ODD = `it's $HOME "x" \`y\``;
const FILE = "src/my [id] $f.txt";
/** Lint is red where two come together that are green alone. */
const BLUEPRINT = `---
gates:
  - name: test
    run: "! { grep -rq apart src && grep -rq together src; }"
---
`;

let scene: Scene;
beforeAll(async () => {
  scene = new Scene(BLUEPRINT, ODD);
  // Installed where a shell reads more than a name, if nobody quotes it.
  const plugin = join(scene.home, `My home, ${ODD}`);
  cpSync(dirname(dirname(MINION)), plugin, { recursive: true });
  scene.program = join(plugin, "bin/minion");
  scene.git("init", "-q", "--bare", "../remote.git");
  // It is on GitHub, as far as anybody can tell, and what is pushed goes beside.
  scene.git("remote", "add", "origin", "https://github.com/example/shop.git");
  scene.git("remote", "set-url", "--push", "origin", "../remote.git");
  await scene.start(`1. Work\n2. Forbidden work\n   Forbid: \`${FILE}\`\n`);
  const { json } = await scene.minion(["next", "--json"]);
  const [one, two] = json.dispatch.map((each: { attempt: string }) => each.attempt);
  await scene.goodWorker(one, { "src/one.txt": "together\n" });
  const worker = await scene.agent(two);
  await worker.begin();
  worker.edit({ [FILE]: "x\n" });
  await worker.minion(["gate", "--all"]);
  worker.commit();
  await worker.submit();
  await worker.submit();
  expect((await scene.minion(["next", "--json"])).json).toMatchObject({ landed: ["1"] });
  // Tags with the names of the branches, on a commit that has nothing of them.
  for (const branch of scene
    .git("branch", "--format=%(refname:lstrip=2)", "--list", "minion/*")
    .split("\n"))
    scene.git("tag", branch, "trunk");
  scene.keep();
});
afterEach(() => scene.back());
afterAll(() => scene.destroy());

/** Types a command, where a fake `gh` says what it is called with. */
function type(command: string, cwd = scene.repo) {
  const bin = join(scene.home, "bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "gh"), '#!/bin/sh\necho "gh: $*"\n');
  chmodSync(join(bin, "gh"), 0o755);
  const env = { ...scene.env(), PATH: `${bin}:${process.env.PATH}` };
  const { status, stdout, stderr } = spawnSync("sh", ["-c", command], {
    cwd,
    env,
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

const codesIn = (tokens: readonly Token[]): string[] =>
  tokens.flatMap((token) => {
    if (token.type === "codespan") return [(token as unknown as { text: string }).text];
    const { tokens: inner = [], items = [] } = token as { tokens?: Token[]; items?: Token[] };
    return codesIn([...inner, ...items]);
  });
/** The commands that a page offers at the start or end of its bullets. */
const commandsIn = (page: string): string[] =>
  codesIn(marked.lexer(page)).filter((code) => /^(git |gh |'|! minion)/.test(code));

describe("each command that is printed works when it is typed", () => {
  test("in attention", async () => {
    const page = (await scene.minion(["attention"])).stdout;
    const commands = commandsIn(page);
    expect(
      commands.map((each) => each.replace(word(scene.program), "minion").split(" ")[1]),
    ).toEqual(["diff", "land", "retry", "drop"]);
    for (const command of commands) {
      const typed = type(command);
      expect(typed, command).toMatchObject({ status: 0 });
      expect(typed.stderr, command).not.toContain("ambiguous");
      if (command.startsWith("git diff")) expect(typed.stdout).toContain("my [id] $f.txt");
      scene.back();
    }
  });

  test("in the report", async () => {
    const page = (await scene.minion(["report"])).stdout;
    const commands = commandsIn(page.slice(page.indexOf("## What next")));
    expect(commands).toHaveLength(7);
    for (const command of commands) {
      const typed = type(command);
      expect(typed, command).toMatchObject({ status: 0 });
      expect(typed.stderr, command).not.toContain("ambiguous");
      if (command.startsWith("git log")) expect(typed.stdout).toContain("feat: work");
      if (command.startsWith("gh"))
        expect(typed.stdout).toBe("gh: pr create --head minion/r1/line\n");
      if (command.startsWith("git push"))
        expect(scene.git("ls-remote", "../remote.git")).toContain(
          `${scene.git("rev-parse", "refs/heads/minion/r1/line")}\trefs/heads/minion/r1/line`,
        );
      scene.back();
    }
  });

  test("in what merge answers", async () => {
    // Somebody stands on the branch elsewhere.
    scene.git("branch", "release");
    const elsewhere = join(scene.home, `else where's $x`);
    scene.git("worktree", "add", "-q", elsewhere, "release");
    const held = await scene.minion(["merge", "--into", "release"]);
    const command = /: (git -C .*)$/m.exec(held.stderr)?.[1] ?? "";
    expect(type(command), held.stderr).toMatchObject({ status: 0 });
    expect(scene.gitIn(elsewhere, "show", "HEAD:src/one.txt")).toBe("together");
    scene.back();
    scene.write("src/start.txt", "apart\n");
    scene.commit("feat: apart");
    const red = await scene.minion(["merge"]);
    const look = /: (git worktree add .*)$/m.exec(red.stderr)?.[1] ?? "";
    expect(type(look), red.stderr).toMatchObject({ status: 0 });
    const beside = `${scene.repo}-r1-merge`;
    expect(scene.gitIn(beside, "show", "HEAD:src/one.txt")).toBe("together");
    scene.back();
    const merged = await scene.minion(["merge"]);
    const clean = /goes by (.*)$/m.exec(merged.stdout)?.[1] ?? "";
    expect(type(clean), merged.stdout).toMatchObject({ status: 0 });
    expect(scene.git("branch", "--list", "minion/r1/line")).toBe("");
    // The line is gone, and what the report names now is not.
    const page = (await scene.minion(["report"])).stdout;
    const commands = commandsIn(page.slice(page.indexOf("## What next")));
    expect(commands).toHaveLength(5);
    for (const each of commands) expect(type(each), each).toMatchObject({ status: 0 });
  });

  test("in the hints of errors, where no `minion` is on the PATH", async () => {
    for (const [args, verb] of [
      [["land", "9"], ""],
      [["retry", "1"], ""],
      [["abort"], "report --run r1"],
      [["plan", "-", "--workflow", "no such"], ""],
    ] as const) {
      const { stderr } = await scene.minion([...args], { input: "1. One\n" });
      if (verb === "") continue;
      const command = `${word(scene.program)} ${verb}`;
      expect(stderr).toContain(command);
      expect(type(command)).toMatchObject({ status: 0 });
    }
    const session = { env: { CLAUDECODE: "1" } };
    expect((await scene.minion(["abort"], session)).stderr).toContain(
      "→ see minion report --run r1",
    );
  });
});

test("a command of ours is called by its name where a shell finds it so, and by npx where that was asked", async () => {
  const bin = join(scene.home, "own bin");
  mkdirSync(bin);
  symlinkSync(scene.program, join(bin, "minion"));
  const landed = async (env: NodeJS.ProcessEnv) =>
    /land it|then land that: `+ ?(.*?) ?`+$/m.exec(
      (await scene.minion(["attention"], { env })).stdout,
    )?.[1];
  const PATH = `${bin}:${process.env.PATH}`;
  expect(await landed({ PATH })).toMatch(/^minion land 2/);
  expect(await landed({ PATH, npm_command: "exec" })).toMatch(
    /^npx -p minion-toolkit minion land 2/,
  );
  expect(await landed({ CLAUDECODE: "1" })).toMatch(/^! minion land 2/);
  expect(await landed({})).toContain(`${word(scene.program)} land 2`);
});

test("paths are those from the top, wherever one stands and whatever git takes them for", () => {
  const names = ["src/a.txt", FILE, ":odd", "!not", "*", "it's", "-n", "a\nb", "[x]"];
  for (const name of names) scene.write(name, "new\n");
  scene.commit("feat: names");
  const command = `git diff --name-only -z HEAD~ ${branchRef("trunk")} -- ${pathspecs(names)}`;
  const { stdout } = type(command, join(scene.repo, "src"));
  expect(stdout.split("\0").filter(Boolean).sort()).toEqual([...names].sort());
  const one = type(`git diff --name-only -z HEAD~ HEAD -- ${pathspecs(["*"])}`);
  expect(one.stdout).toBe("*\0");
});
