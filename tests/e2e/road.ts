import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, inject, test } from "vitest";
import { readEdits } from "../../demo/sample-repo.ts";
import { type Mode, World } from "./world.ts";

let world: World;
afterEach(() => world.close());

const DEMO = () => join(inject("unpacked"), "dist/demo");
const typed = () => readFileSync(join(DEMO(), "tasks-typed.txt"), "utf8");

/** The commands that a clone of the line must pass. */
const NPM = ["npm ci", "npm run lint", "npm test"];
const SHELL = ["! grep -rn LINT src", "! grep -rn FAIL src"];

/** The same tasks on the same files, in a repository whose gates are shell lines. */
async function shellGates(): Promise<World> {
  const { guesses } = await readEdits(join(DEMO(), "edits"));
  const files = Object.entries(guesses).map(([id, { files = [] }]) => [
    id,
    Object.fromEntries(files.map((path) => [path, `${id}\n`])),
  ]);
  const made = World.small(Object.fromEntries(files));
  made.edits = { ...made.edits, guesses };
  return made;
}

/** The four tasks of the sample, from what is typed to what clean leaves. */
export function fourTasks(
  mode: Mode,
  how: "typed inline" | "from a file",
  gates: "npm" | "shell" = "npm",
): void {
  test(`four tasks ${how} in ${mode} mode, ${gates} gates: one green branch, nobody asked`, async () => {
    world = await (gates === "npm" ? World.open() : shellGates());
    const claude = () =>
      existsSync(join(world.repo, ".claude")) && readdirSync(join(world.repo, ".claude"));
    const own = claude();
    writeFileSync(join(world.repo, "notes.txt"), "not tracked\n");
    const before = world.theirs();
    const file = join(world.temp, "tasks.md");
    writeFileSync(file, readFileSync(join(DEMO(), "tasks.md")));
    const result = await world.run(
      how === "from a file" ? `/minion ${file}` : `/minion ${typed()}`,
      mode,
    );

    expect(result).toMatchObject({ code: 0, denials: [] });
    expect(world.states()).toEqual({ 1: "landed", 2: "landed", 3: "landed", 4: "landed" });
    expect(world.theirs()).toEqual(before);
    const events = world.events();
    const at = (name: string, task: string) =>
      events.findIndex(
        (each) => each.event === name && String(each.attempt).startsWith(`r1/${task}.`),
      );
    const landed = (task: string) =>
      events.findIndex(
        (each) => each.event === "proven" && JSON.stringify(each.landed).includes(`r1/${task}.`),
      );
    // In the order of the graph, the two in the middle at the same time, each on top of what landed
    // before it.
    expect(at("dispatched", "2")).toBeGreaterThan(landed("1"));
    expect(at("begun", "3")).toBeLessThan(at("submitted", "2"));
    expect(at("begun", "2")).toBeLessThan(at("submitted", "3"));
    expect(at("dispatched", "4")).toBeGreaterThan(Math.max(landed("2"), landed("3")));
    const begun = events.filter((each) => each.event === "begun");
    expect(new Set(begun.map((each) => each.worktree)).size).toBe(4);
    // Every gate left evidence, the worker's and landing's own, whose raw output is there.
    for (const by of ["worker", "landing"])
      for (const task of ["1", "2", "3", "4"])
        for (const gate of ["lint", "test"]) {
          const evidence = events.find(
            (each) =>
              each.event === "evidence" &&
              each.by === by &&
              each.gate === gate &&
              JSON.stringify(each.attempts).includes(`r1/${task}.`),
          );
          expect(evidence).toMatchObject({ code: 0 });
          expect(existsSync(join(world.repo, ".git/minion/r1", String(evidence?.output)))).toBe(
            true,
          );
        }
    // The line passes its own gates where nothing of the run is.
    const clone = join(world.temp, "clone");
    execFileSync("git", ["clone", "-q", "-b", "minion/r1/line", world.repo, clone]);
    for (const command of gates === "npm" ? NPM : SHELL)
      execFileSync("sh", ["-c", command], { cwd: clone, stdio: "pipe" });
    expect(result.text).toContain("4 of 4 landed");
    // What a task adds to the orchestrator's context. Of that the client's own words at a launch
    // and at an end are about 620 tokens, in auto mode, which tells of each end twice, 950: they
    // cannot be made fewer, nor may they grow by what a worker says last.
    const gained = world.gained();
    expect(gained.own / 4).toBeLessThanOrEqual(250);
    expect(gained.client / 4).toBeLessThanOrEqual(mode === "auto" ? 1150 : 750);
    // Nothing but the line is left, in git and on disk.
    expect(JSON.parse(world.minion("clean", "--json")).keep).toEqual([
      { name: "branch minion/r1/line", why: "the result: not merged yet" },
    ]);
    expect(world.git("for-each-ref", "--format=%(refname:short)", "refs/heads")).toBe(
      "main\nminion/r1/line",
    );
    expect(world.git("worktree", "list").split("\n")).toHaveLength(1);
    expect(claude()).toEqual(own);
    expect(world.theirs()).toEqual(before);
  });
}
