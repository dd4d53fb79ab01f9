import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { handoff } from "../../handoff.ts";
import { Scene } from "./scene.ts";

let scene: Scene;
beforeEach(() => {
  scene = new Scene();
});
afterEach(() => scene.destroy());

const input = "1. One\n";
/** Nobody is known to git, but for whom its configuration names. */
const NOBODY = {
  GIT_AUTHOR_NAME: undefined,
  GIT_AUTHOR_EMAIL: undefined,
  GIT_COMMITTER_NAME: undefined,
  GIT_COMMITTER_EMAIL: undefined,
};

// biome-ignore lint/suspicious/noExplicitAny: a document of the program under test
const found = (json: any): { level: string; message: string }[] =>
  json.findings.filter(({ code }: { code: string }) => code === "preflight");

/** `plan` says it, `start` refuses with it, and nothing is opened or left. */
async function refused(word: RegExp, env: NodeJS.ProcessEnv = {}, verbs = ["plan", "start"]) {
  for (const verb of verbs) {
    const { code, stdout, stderr } = await scene.minion([verb, "-"], { input, env });
    expect(stdout + stderr).toMatch(word);
    expect(stdout + stderr).not.toMatch(/line 0|this is a bug/);
    expect(code).toBe(1);
  }
  expect(scene.git("for-each-ref", "refs/heads/minion/")).toBe("");
  expect(scene.git("worktree", "list").split("\n")).toHaveLength(1);
}

/** Both say it, and the run starts. */
async function told(word: RegExp, env: NodeJS.ProcessEnv = {}) {
  const plan = await scene.minion(["plan", "-", "--json"], { input, env });
  expect(
    found(plan.json)
      .map(({ message }) => message)
      .join("\n"),
  ).toMatch(word);
  const { code, stdout } = await scene.minion(["start", "-", "--json"], { input, env });
  expect(stdout).toMatch(word);
  expect(code).toBe(0);
}

const hook = (name: string, text: string, folder = ".git/hooks") => {
  scene.write(`${folder}/${name}`, `#!/bin/sh\n${text}\n`);
  chmodSync(join(scene.repo, folder, name), 0o755);
};
const gate = (run: string, more = "") =>
  scene.write(
    ".claude/minion/blueprint.md",
    `---\ngates:\n  - name: own\n    run: '${run}'\n${more}---\n`,
  );
/** Each command a gate of its own, `g0` and so on. */
const gates = (runs: readonly string[]) => {
  const each = runs.map((run, at) => `  - name: g${at}\n    run: ${JSON.stringify(run)}\n`);
  scene.write(".claude/minion/blueprint.md", `---\ngates:\n${each.join("")}---\n`);
};
/** A PATH with programs of these names before the others. */
const programs = (...names: string[]): string => {
  for (const name of names) {
    scene.write(`../bin/${name}`, "#!/bin/sh\n");
    chmodSync(join(scene.home, "bin", name), 0o755);
  }
  return `${join(scene.home, "bin")}:${process.env.PATH}`;
};

describe("what would make every worker fail is said before the run", () => {
  test("nobody commits", async () => {
    scene.git("config", "user.useConfigOnly", "true");
    await refused(/who commits.*\n.*git config user\.name/, NOBODY);
  });

  test("what signs cannot", async () => {
    scene.write("../gpg", "#!/bin/sh\necho 'gpg: signing failed: No secret key' >&2\nexit 2\n");
    chmodSync(join(scene.home, "gpg"), 0o755);
    scene.git("config", "gpg.program", join(scene.home, "gpg"));
    scene.git("config", "commit.gpgsign", "yes");
    await refused(/gpgsign is on.*does not work/);
  });

  test.each([
    ["claude-code_2-1-197_agent", "2.1.197"],
    ["claude-code/2.1.157/agent", "2.1.157"],
  ])("a client that wakes nobody: %s", async (AI_AGENT, version) => {
    const words = `Claude Code ${version} wakes no session.*\\n.*claude update`;
    await refused(new RegExp(words), { AI_AGENT });
    const { code } = await scene.minion(["start", "-"], {
      input,
      env: { AI_AGENT: "claude-code_2-1-198_agent" },
    });
    expect(code).toBe(0);
  });

  test("a branch where ours are to be", async () => {
    scene.git("branch", "minion");
    await refused(/branch minion.*\n.*git branch -m 'minion'/);
  });

  test("a gate in a folder that is not there, or not in git", async () => {
    gate("true", "    cwd: web\n");
    await refused(/own \(true\) is to run in web/);
    mkdirSync(join(scene.repo, "web"));
    await refused(/in web, which is no folder at HEAD/);
  });

  test("a program that is not there", async () => {
    gate("CI=1 no-such-program --all");
    await refused(/there is no no-such-program on PATH/);
  });

  test("line ends that are never clean", async () => {
    scene.write("a.txt", "one\r\n");
    scene.commit("chore: a file");
    scene.write(".gitattributes", "*.txt text\n");
    scene.git("add", ".gitattributes");
    scene.git("commit", "-qm", "chore: attributes");
    await refused(/a\.txt: changed as soon as checked out.*\n.*renormalize/);
  });

  test("whole files where a filter keeps pointers", async () => {
    scene.write("a.bin", "whole\n");
    scene.commit("chore: a file");
    scene.write(".gitattributes", "*.bin filter=far\n");
    scene.git("add", ".gitattributes");
    scene.git("commit", "-qm", "chore: attributes");
    scene.git("config", "filter.far.clean", "sed 's/^/pointer /'");
    scene.git("config", "filter.far.smudge", "cat");
    await refused(/a\.bin: changed as soon as checked out/);
  });

  test("a filter whose program is missing", async () => {
    scene.write("a.bin", "pointer\n");
    scene.write(".gitattributes", "*.bin filter=far\n");
    scene.commit("chore: a file");
    scene.git("config", "filter.far.smudge", "no-such-filter %f");
    scene.git("config", "filter.far.required", "true");
    await refused(/HEAD cannot be checked out: .*no-such-filter/);
  });

  test("post-checkout that fails, or leaves something behind", async () => {
    hook("post-checkout", "exit 2");
    await refused(/no worktree as a worker gets one/, {}, ["start"]);
    hook("post-checkout", "echo x > generated.txt");
    await refused(/not clean \(generated\.txt\): post-checkout/, {}, ["start"]);
  });

  test("each gate that does not end", async () => {
    const runs = ["node --test --watch", "cargo watch -x test", "npx nodemon src"];
    runs.push("jest --watchAll", "tsc -w");
    const env = { PATH: programs("cargo", "jest", "tsc") };
    gates(runs);
    const { json } = await scene.minion(["plan", "-", "--json"], { input, env });
    expect(
      found(json).map(({ level, message }) => [level, message.split(" does not end")[0]]),
    ).toEqual(runs.map((run, at) => ["error", `g${at} (${run})`]));
    await refused(/does not end/, env);
  });

  test("a script behind a script, and a target, that watch", async () => {
    const scripts = { test: "npm run unit -- --run", unit: "vitest watch" };
    scene.write("package.json", JSON.stringify({ scripts }));
    gate("npm test");
    await refused(/own \(npm test\) does not end by itself: it runs «vitest watch»/);
    scene.write("Makefile", "test: build\n\t@cargo watch\nbuild:\n\ttrue\n");
    gate('sh -c "make test"');
    await refused(/it runs «cargo watch»/);
  });
});

describe("what a person should know does not stop a run", () => {
  test("what is called with a watch that is off, or only has it in its name, is no watch", async () => {
    gates(["tsc --noEmit --watch=false", "jest --watchAll=false", "sh test/watch.sh"]);
    const env = { PATH: programs("tsc", "jest") };
    const { code, json } = await scene.minion(["plan", "-", "--json"], { input, env });
    expect({ code, found: found(json) }).toEqual({ code: 0, found: [] });
  });

  describe("a command that ends with 0 also where something fails", () => {
    /** The commands among some, each a gate of its own, of which `plan` says so. */
    async function saidOf(runs: readonly string[]): Promise<string[]> {
      gates(runs);
      const { json } = await scene.minion(["plan", "-", "--json"], { input });
      const names = found(json).flatMap(({ level, message }) =>
        level === "warning" ? Number(/^g(\d+) .* ends with 0 also/s.exec(message)?.[1]) : [],
      );
      return names.map((at) => runs[at] as string);
    }

    const HIDES = [
      "node --test | tee out.log",
      "node --test 2>&1 | tee -a out.log",
      "node --test |& tee out.log && npm run lint",
      "node --test | grep -v noise",
      "node --test || true",
      "node --test 2>&1 || true",
      "cd web && node --test || :",
      "(cd web && node --test) || true",
      "rm -rf out; node --test || exit 0",
      "node --test || echo failed",
      'sh -c "node --test || true"',
      "node --test || { echo failed; exit 0; }",
      "node --test; exit 0",
      "node --test; true",
      "node --test\ntrue\n",
      "node --test &",
      "make -i test",
      "make -si test",
      "make --ignore-errors test",
      "ruff check --exit-zero",
      "mvn -Dmaven.test.failure.ignore test",
      "golangci-lint run --issues-exit-code=0",
      "node --test; echo done",
      "node --test >/dev/null; ls",
      "npm run lint\nnode --test\necho done\n",
      "node --test || (exit 0)",
      "node --test || { echo failed; }",
      "if ! node --test; then echo failed; fi",
      "if node --test; then echo fine; fi",
      "for f in *.test.js; do node $f; done",
      "for d in a b; do (cd $d && npm test); done",
      "while read -r f; do node $f; done",
      "find . -name '*.test.js' -exec node {} \\;",
      'trap "exit 0" EXIT; node --test',
      "node --test & wait",
    ];
    const SHOWS = [
      "node --test",
      "bash -c 'set -o pipefail; node --test | tee out.log'",
      "node --test | tee out.log; test $PIPESTATUS -eq 0",
      'test -z "$(gofmt -l . | tee /dev/stderr)"',
      "node --test | npx tap-spec",
      "mkdir out || true",
      "mkdir -p out || true; node --test",
      "docker compose down || true",
      "node --test || exit 1",
      "node --test || { echo failed; exit 1; }",
      "node --test || (echo failed; exit 1)",
      "node --test && echo fine",
      "set -e; node --test; true",
      "true",
      "echo true",
      "node --test > out.log 2>&1",
      "make -k test",
      "make -C web test",
      "make test -j4",
      "cd web; node --test",
      "echo testing; node --test",
      "set -e\nnode --test\necho done",
      "node --test; code=$?; echo done; exit $code",
      "if command -v node; then node --test; fi",
      "if ! node --test; then echo failed; exit 1; fi",
      "for f in *.test.js; do node $f || exit 1; done",
      "for f in a b; do echo $f; done",
      "find . -name '*.test.js' -exec node {} +",
      "find out -name '*.log' -exec rm {} \\;",
      "trap 'rm -rf out' EXIT; node --test",
      "node server.js & wait-on 3000 && node --test",
    ];

    test("is said to be one, and no other", async () => {
      expect(await saidOf([...HIDES, ...SHOWS])).toEqual(HIDES);
    });

    test("also behind scripts, targets and recipes, as these are run", async () => {
      const scripts = {
        test: "npm run unit",
        unit: "vitest run || true",
        lint: "set -o pipefail; eslint . | tee lint.log",
        log: "bash -c 'set -o pipefail'; npm run piped",
        piped: "vitest run | tee out.log",
      };
      scene.write("package.json", JSON.stringify({ scripts }));
      scene.write(
        "Makefile",
        "test-all:\n\t-node --test\ntest:\n\t-rm -rf out\n\t@-node --test\n" +
          "flags:\n\tnode --test \\\n\t  -r x\nclean:\n\t-rm -rf out\n\tnode --test\n",
      );
      scene.write("web/Makefile", ".SHELLFLAGS := -eu -o pipefail -c\nt:\n\tnode --test | tee o\n");
      scene.write("justfile", "test:\n  -node --test\ncheck:\n  node --test\n");
      const runs = ["npm test", "npm run lint", "npm run log", "make test", "make -s test-all"];
      const more = ["make flags", "make clean", "just test", "just check"];
      expect(await saidOf([...runs, ...more])).toEqual([
        "npm test",
        "npm run log",
        "make test",
        "make -s test-all",
        "just test",
      ]);
      gate("make t", "    cwd: web\n");
      scene.commit("chore: make");
      const { json } = await scene.minion(["plan", "-", "--json"], { input });
      expect(found(json)).toEqual([]);
    });

    test("stops no run", async () => {
      gate("node --test | tee out.log");
      await told(/own \(node --test \| tee out.log\) ends with 0 also where something fails/);
    });
  });

  test("what watches unless CI is set", async () => {
    scene.write("package.json", '{"scripts":{"test":"react-scripts test"}}');
    gate("npm test");
    await told(/watches unless CI is set.*react-scripts test/);
  });

  test("what signs", async () => {
    const signature = "-----BEGIN PGP SIGNATURE-----\\nx\\n-----END PGP SIGNATURE-----";
    scene.write(
      "../gpg",
      `#!/bin/sh\ncat > /dev/null\nprintf '%b\\n' '${signature}'\nprintf '\\n[GNUPG:] SIG_CREATED \\n' >&2\n`,
    );
    chmodSync(join(scene.home, "gpg"), 0o755);
    scene.git("config", "gpg.program", join(scene.home, "gpg"));
    scene.git("config", "commit.gpgsign", "true");
    const objects = () => scene.git("count-objects", "-v");
    const before = objects();
    await told(/every commit of the line is signed/);
    expect(objects()).toBe(before);
  });

  test("hooks that run, that cannot, and that lack a file", async () => {
    hook("pre-commit", "exit 0");
    await told(/pre-commit in its \.git\/hooks run|pre-commit in .* run at each commit/);
    await scene.minion(["abort", "--run", "r1"]);
    scene.write(".gitignore", ".husky/_\nlocal.sh\n");
    scene.git("add", ".gitignore");
    scene.git("commit", "-qm", "chore: ignore");
    scene.git("config", "core.hooksPath", ".husky/_");
    hook("commit-msg", "exit 0", ".husky/_");
    await told(/commit-msg in \.husky\/_ do not run for workers/);
    await scene.minion(["abort", "--run", "r2"]);
    hook("pre-commit", '. "$(dirname "$0")/../local.sh"', "hooks");
    scene.write("local.sh", "true\n");
    scene.git("config", "core.hooksPath", "hooks");
    scene.commit("chore: hooks");
    await told(/the hook pre-commit reads local\.sh, which git ignores/);
  });

  test("a repository without a commit inside", async () => {
    mkdirSync(join(scene.repo, "inner"));
    scene.gitIn(join(scene.repo, "inner"), "init", "-q");
    await told(/inner\/ is a repository of its own without a commit/);
    rmSync(join(scene.repo, "inner"), { recursive: true });
  });
});

describe("what git can do", () => {
  test("a bare repository with worktrees beside it", async () => {
    const layout = join(scene.home, "layout");
    mkdirSync(layout);
    scene.gitIn(layout, "clone", "-q", "--bare", scene.repo, ".bare");
    scene.write("../layout/.git", "gitdir: ./.bare\n");
    scene.gitIn(layout, "worktree", "add", "-q", "main", "trunk");
    const cwd = join(layout, "main");
    const said = (words: string[], more = {}) =>
      scene.minion([...words, "--json"], { cwd, ...more });
    expect((await said(["start", "-"], { input })).code).toBe(0);
    expect((await said(["next", "--wait", "60"])).json.dispatch).toMatchObject([{ task: "1" }]);
    const at = join(layout, "agent");
    scene.gitIn(layout, "worktree", "add", "-q", "-b", "worktree-agent-1", at, "trunk");
    const own = (words: string[], more = {}) => scene.minion(words, { cwd: at, ...more });
    expect(await own(["begin", "r1/1.1"])).toMatchObject({ code: 0 });
    scene.write("src/a.txt", "x\n", at);
    expect(await own(["gate", "--all"])).toMatchObject({ code: 0 });
    scene.commit("feat: work", at);
    expect(await own(["submit"], { input: handoff("Did it.") })).toMatchObject({ code: 0 });
    await said(["next", "--wait", "60"]);
    expect(scene.gitIn(cwd, "ls-tree", "-r", "--name-only", "minion/r1/line")).toContain(
      "src/a.txt",
    );
    expect((await said(["merge", "--wait", "60"])).code).toBe(0);
    expect(scene.gitIn(cwd, "log", "--format=%s")).toContain("feat: work");
    const inBare = await scene.minion(["board"], { cwd: join(layout, ".bare") });
    expect(inBare.stderr).toMatch(/bare repository\n.*git worktree list/);
  });

  test("a repository of somebody else's: its own words, and its own way out", async () => {
    const env = { GIT_TEST_ASSUME_DIFFERENT_OWNER: "1" };
    const { code, stderr } = await scene.minion(["plan", "-"], { input, env });
    expect(stderr).toMatch(/dubious ownership.*\n.*git config --global --add safe\.directory '/);
    expect(code).toBe(2);
  });
});
