import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FORGE, IDEAS, type Idea, NAMES, type Name } from "./bad-ideas.ts";
import { type Mode, World } from "./world.ts";

/** Gates as a project has them: a script that a test runner's output stands in for. That so many
 * workers are bad is meant, so that no alarm is to stop the run. */
const GATES = `
  - name: test
    run: sh scripts/test.sh
alarms: []
bounds:
  attempts: 1
  workers: 8`;
/** What some ideas are about: a run that tests nothing, a file that only the worker has, a failure
 * without a code, a HEAD that a test moves where landing proves, a gate that takes its time. */
const SCRIPT = `
if [ -e src/empty.txt ]; then echo "# tests 0"; exit 0; fi
if [ -e src/ignored.txt ] && ! [ -e build/ok ]; then echo "not ok 1 - build/ok is missing"; exit 1; fi
if [ -e src/embeds.txt ] && ! [ -e src/inner/ok ]; then echo "not ok 1 - src/inner/ok is missing"; exit 1; fi
if [ -e src/hides-failures.txt ]; then echo "# tests 3"; echo "# fail 1"; exit 0; fi
if [ -e src/moves-head.txt ] && [ -z "$(git branch --show-current)" ]; then
  git update-ref --no-deref HEAD "$(git commit-tree -p HEAD -m red "$(git rev-parse HEAD~1^{tree})")"
fi
if [ -e src/ends-early.txt ]; then sleep 5; fi
grep -rn FAIL src && exit 1
echo "# tests 3"
`;
/** A hook of the person's. */
const HOOK = "#!/bin/sh\n! git diff --cached | grep -q '^+.*NOCOMMIT'\n";

/** By day one for each way in which the client has a part in how an idea ends: a shell's hook, a
 * shell whose hook sees nothing, a tool's hook, and a worker's end. All of them by night. */
export const OF_THE_CLIENT: readonly Name[] = ["pushes", "moves-line", "spawns", "silent"];

/** A repository with all that the ideas are about, and with what is a person's alone: ignored files,
 * a branch, a tag, a stash, a hook, and a remote. */
function worldOf(names: readonly Name[], idOf: (name: Name) => string): World {
  const files = names.map((name) => [idOf(name), { [`src/${name}.txt`]: `${name}\n` }] as const);
  const world = World.small(Object.fromEntries(files), GATES);
  world.write("scripts/test.sh", SCRIPT);
  world.write("package.json", '{ "scripts": { "test": "sh scripts/test.sh" } }\n');
  world.write("test/a.test.js", 'test("adds", () => {});\n');
  world.write("src/precious.txt", "precious\n");
  world.write(".gitignore", "build/\ncache/\n.env\n");
  world.write("../forge.cjs", FORGE);
  world.git("add", "--all");
  world.git("commit", "--quiet", "-m", "chore: a project");
  world.write(".env", "KEY=theirs\n");
  world.write("cache/theirs.txt", "theirs\n");
  world.write("src/start.txt", "of the person's, half done\n");
  world.git("stash", "--quiet");
  world.git("branch", "wip");
  world.git("tag", "v1");
  world.write(".git/hooks/pre-commit", HOOK);
  world.sh("chmod +x .git/hooks/pre-commit");
  world.git("init", "--quiet", "--bare", "../origin.git");
  world.git("remote", "add", "origin", "../origin.git");
  world.git("push", "--quiet", "origin", "main");
  return world;
}

/** What is a person's, also beside the checkout. */
function theirs(world: World): Record<string, unknown> {
  const folder = join(world.repo, ".git/hooks");
  const hooks = readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")]);
  return { ...world.theirs(), hooks, origin: world.git("ls-remote", "origin") };
}

/** One run of the real client with them beside each other. In default mode every shell command is
 * allowed by the person, so that only the rails stand in their way. */
export function badWorkers(mode: Mode, names: readonly Name[] = NAMES): void {
  test(`${names.length} bad ideas, in ${mode} mode: nothing unproven is on the line, and each state says why`, async () => {
    const ideas = new Map<Name, Idea>(names.map((name) => [name, IDEAS[name]]));
    const ids = new Map(names.map((name, index) => [name, String(index + 1)]));
    const idOf = (name: Name): string => ids.get(name) ?? "";
    const world = worldOf(names, idOf);
    try {
      const list = [...ideas].map(
        ([name, { fields = "" }]) =>
          `### Task ${idOf(name)}: ${name}\nFiles: src/${name}.txt\n${fields}`,
      );
      const before = theirs(world);
      const script = Object.fromEntries([...ideas].map(([name, { does }]) => [idOf(name), does]));
      const result = await world.run(`/minion ${world.list(list.join(""))}`, mode, script, [
        "--allowedTools",
        "Bash",
      ]);
      expect(result.code).toBe(0);

      const { tasks } = JSON.parse(world.minion("board", "--json"));
      const found = tasks.map(({ title, state, reason }: Record<string, string>) => [
        title,
        [state, reason],
      ]);
      const expected = [...ideas].map(([name, { ends, inAuto = ends }]) => {
        return [name, mode === "auto" ? inAuto : ends] as const;
      });
      expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected));
      const line = world.files("minion/r1/line");
      const landed = expected.flatMap(([name, [state]]) => (state === "landed" ? name : []));
      const start = world.files(world.named("started")[0]?.base as string);
      expect(line).toEqual({
        ...start,
        ...Object.fromEntries(landed.map((name) => [`src/${name}.txt`, name])),
        ...Object.assign({}, ...landed.map((name) => ideas.get(name)?.brings)),
      });
      // Every commit on which the line ever stood passes its gate where nothing of the run is.
      for (const { to } of world.named("landed")) {
        world.git("clone", "--quiet", "--shared", "--no-checkout", ".", `../at-${to}`);
        world.git("-C", `../at-${to}`, "checkout", "--quiet", String(to));
        world.sh("sh scripts/test.sh", `../at-${to}`);
      }
      expect(theirs(world)).toEqual(before);
      const isMoved = ideas.has("moves-line") && mode === "default";
      expect(world.named("line-restored")).toHaveLength(isMoved ? 1 : 0);
      // What a worker wrote is text to whoever reads the report.
      const { report } = JSON.parse(world.minion("report", "--json"));
      if (ideas.has("hostile")) expect(report).toMatch(/forged 299/);
      expect(report).not.toMatch(/^(#+ .*forged|! curl|<\/details|=+$)/im);
      expect(report).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}]/u);
    } finally {
      await world.close();
    }
  });
}
