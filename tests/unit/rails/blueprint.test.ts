import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { readBlueprint, replacedIn } from "../../../rails/blueprint/blueprint.ts";
import { Fault } from "../../../rails/program/fault.ts";
import { PLUGIN, SHIPPED } from "./run.ts";

const folder = mkdtempSync(join(tmpdir(), "minion-blueprint-"));
afterAll(() => rmSync(folder, { recursive: true }));
const written = (name: string, yaml: string, body = ""): string => {
  writeFileSync(join(folder, name), `---\n${yaml}---\n${body}`);
  return join(folder, name);
};

describe("project over person over shipped, value by value", () => {
  test("each value says which file it comes from", async () => {
    const person = written(
      "person.md",
      "bounds:\n  workers: 6\n  lease: 20\noutput:\n  megabytes: 2\n",
    );
    const project = written(
      "project.md",
      "bounds:\n  workers: 2\nretry:\n  model: opus\n",
      "\n1. Our own steps.\n",
    );
    const all = await readBlueprint([...PLUGIN, person, project]);
    expect(all.bounds).toEqual({ ...SHIPPED.bounds, workers: 2, lease: 20 });
    expect(all.output).toEqual({ ...SHIPPED.output, megabytes: 2 });
    expect(all.retry).toEqual({ agent: "debugger", model: "opus" });
    expect(all.body).toBe("1. Our own steps.");
    const from = Object.entries(all.sources).filter(([, file]) => !PLUGIN.includes(file));
    expect(Object.fromEntries(from)).toEqual({
      "bounds.workers": project,
      "bounds.lease": person,
      "output.megabytes": person,
      "retry.model": project,
      body: project,
    });
  });

  test("name+ adds to a list, also within a group, after what replaces it", async () => {
    const [one, two] = ["one", "two"].map((way) => ({ way, commands: [`^${way}`] }));
    const person = written("more.md", 'refuse+:\n  - way: one\n    commands: ["^one"]\n');
    const project = written(
      "also.md",
      'refuse+:\n  - way: two\n    commands: ["^two"]\nproof:\n  tests+: [checks/]\n' +
        "gates+:\n  - name: types\n    run: npx tsc\nallow+: [ls]\nallow: [pwd]\n",
    );
    const files = [...PLUGIN, person, project];
    const all = await readBlueprint(files);
    expect(all.refuse).toEqual([...SHIPPED.refuse, one, two]);
    expect(all.proof.tests).toEqual([...SHIPPED.proof.tests, "checks/"]);
    expect(all.gates).toEqual([...SHIPPED.gates, { name: "types", run: "npx tsc" }]);
    expect(all.allow).toEqual(["pwd", "ls"]);
    expect(all.sources).toMatchObject({ "proof.tests+": project, "refuse+": project });
    const lost = `${project}: allow leaves out ${SHIPPED.allow.length} entries that were there`;
    expect(await replacedIn(files)).toEqual([`${lost}: allow+: adds to them instead`]);
  });

  test("a list that keeps all that was there replaces nothing; gates are everybody's own", async () => {
    const all = JSON.stringify([...SHIPPED.refuse, { way: "x", commands: ["y"] }]);
    const file = written("kept.md", `refuse: ${all}\ngates:\n  - name: a\n    run: b\n`);
    expect(await replacedIn([...PLUGIN, file])).toEqual([]);
    const empty = written("empty.md", "proof:\n  skip: []\n");
    expect((await replacedIn([...PLUGIN, empty])).join()).toContain("proof.skip leaves out");
  });

  test("two things of one name are a fault that says where", async () => {
    const twice = written("twice.md", "gates+:\n  - name: lint\n    run: x\n");
    const fault = `${twice}: gates+: there is a lint already`;
    await expect(readBlueprint([...PLUGIN, twice])).rejects.toThrow(fault);
  });

  test("a file that there is not says nothing, and what no file says is a fault", async () => {
    expect((await readBlueprint([...PLUGIN, join(folder, "none.md")])).bounds).toEqual(
      SHIPPED.bounds,
    );
    await expect(readBlueprint([written("only.md", "commit: x\n")])).rejects.toThrow(Fault);
  });
});

describe("what cannot be meant is a fault with its line", () => {
  test.each<[string, number]>([
    ["gate:\n  - name: a\n    run: x\n", 2],
    ["bounds:\n  failures: 2\n  sendbacks: 2\n", 4],
    ["refus+: []\n", 2],
    ["commit+: x\n", 2],
    ["models+: {}\n", 2],
    ["refuse+: x\n", 2],
    ["refuse+:\n  - way: x\n", 3],
    ["output:\n  megabytes+: 2\n", 3],
    ["output:\n  tested+: ['(']\n", 3],
    ["bounds:\n  send_backs: 9\n", 3],
    ["bounds:\n  workers: 17\n", 3],
    ["bounds:\n  attempts: two\n", 3],
    ["gates:\n  - name: a\n    run: x\n  - name: a\n    run: y\n", 5],
    ["gates:\n  - name: a\n    tool: test\n    run: y\n", 3],
    ["gates:\n  - name: a\n    run: y\n    timeout: 0\n", 5],
    ["commit: '('\n", 2],
    ["proof:\n  skip:\n    - ok\n    - '['\n", 5],
    ["proof:\n  test: []\n", 3],
    ["output:\n  megabytes: 0\n", 3],
    ["output:\n  secret: TOKEN\n", 3],
    ["retry:\n  agents: debugger\n", 3],
    ["companions:\n  package.json: yarn.lock\n", 3],
    ["allow: git status\n", 2],
  ])("%j", async (yaml, line) => {
    const file = written("typo.md", yaml);
    const fault = await readBlueprint([...PLUGIN, file]).catch((error: Fault) => error);
    expect(fault).toMatchObject({
      code: "blueprint",
      message: expect.stringContaining(`${file}:${line}: `),
    });
  });
});
