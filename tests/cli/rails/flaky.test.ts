import { afterEach, describe, expect, test } from "vitest";
import type { Evidence } from "../../../rails/journal/events.ts";
import { Scene } from "./scene.ts";

let scene: Scene;
afterEach(() => scene.destroy());

const gate = (run: string, more = "") =>
  `---\ngates:\n  - name: test\n    run: '${run}'\n${more}---\n`;

/** A gate that counts how often it ran on what the task's worker left, and is red at one count. */
const redAt = (count: number, also = "true") =>
  gate(
    `${also}; test ! -e src/one.txt || { echo x >> ../n; test $(wc -l < ../n) -ne ${count}; } || { echo "✖ adds (3ms)"; exit 1; }`,
  );

const next = async () => (await scene.minion(["next", "--json", "--wait", "60"])).json;
const read = async (verb: string) => (await scene.minion([verb, "--json"])).json;

/** Whose runs of the gate came out how, but for the base's. */
async function runs(): Promise<string[]> {
  const { events } = await read("events");
  const own = events.filter(
    ({ event, attempts }: Evidence & { event: string }) =>
      event === "evidence" && attempts.length > 0,
  );
  return own.map(({ by, code }: Evidence) => `${by} ${code}`);
}

async function begun(blueprint: string): Promise<void> {
  scene = new Scene(blueprint);
  scene.write(".gitignore", "junk\n");
  scene.commit("chore: ignore");
  await scene.start("1. One\n");
  await next();
}

const work = () => scene.goodWorker("r1/1.1", { "src/one.txt": "1" });

describe("a gate that is red where it passed on the very same files", () => {
  test("is run once more at landing; green then, it lands, and is called flaky", async () => {
    await begun(redAt(2));
    await work();
    expect(await next()).toMatchObject({ done: true, landed: ["1"], dispatch: [] });
    expect(await runs()).toEqual(["worker 0", "landing 1", "landing 0"]);
    const { flaky, report } = await read("report");
    expect(flaky).toMatchObject([{ gate: "test", tasks: ["1"], errors: ["✖ adds ()"] }]);
    expect(report).toContain("## Flaky");
    for (const path of [flaky[0].red, flaky[0].green]) expect(report).toContain(path);
    expect((await read("board")).flaky).toEqual(["test"]);
  });

  test("red again, it is refused after two runs; taken by hand, it is not doubted any more", async () => {
    await begun(gate("case $PWD in *-landing) test ! -e src/one.txt;; esac"));
    await work();
    expect((await next()).dispatch).toMatchObject([{ attempt: "r1/1.2" }]);
    expect(await runs()).toEqual(["worker 0", "landing 1", "landing 1"]);
    expect((await read("report")).flaky).toEqual([]);
    expect((await scene.minion(["land", "1", "--json"])).json.error.code).toBe("not-landed");
    expect(await runs()).toEqual(["worker 0", "landing 1", "landing 1", "landing 1"]);
  });

  test("is run once more by a merge", async () => {
    await begun(redAt(3));
    await work();
    expect(await next()).toMatchObject({ done: true, landed: ["1"] });
    expect((await scene.minion(["merge", "--wait", "60"])).code).toBe(0);
    expect(await runs()).toEqual(["worker 0", "landing 0", "landing 1", "landing 0"]);
    expect(scene.show("trunk")).toContain("src/one.txt");
  });

  test("is run once more at the end, on the floor of a fresh clone: nobody is set to mend it", async () => {
    await begun(redAt(3, "echo > junk"));
    await work();
    expect(await next()).toMatchObject({ done: true, landed: ["1"], dispatch: [] });
    expect(await runs()).toEqual(["worker 0", "landing 0", "landing 1", "landing 0"]);
    expect((await read("board")).tasks).toHaveLength(1);
    expect((await read("report")).flaky).toHaveLength(1);
  });

  test("but not where it ran out of time", async () => {
    const slow = "case $PWD in *-landing) test ! -e src/one.txt || sleep 20;; esac";
    await begun(gate(slow, "    timeout: 1\n"));
    await work();
    await next();
    expect(await runs()).toEqual(["worker 0", "landing null"]);
  });
});

test("what is red on files that nobody saw pass is run once", async () => {
  scene = new Scene(gate("test ! -e src/one.txt || test ! -e src/two.txt"));
  await scene.start("1. One\n2. Two\n");
  await next();
  await work();
  const two = await scene.agent("r1/2.1");
  await two.begin();
  expect(await next()).toMatchObject({ landed: ["1"] });
  two.edit({ "src/two.txt": "2" });
  await two.finish();
  await next();
  expect(await runs()).toEqual(["worker 0", "landing 0", "worker 0", "landing 1"]);
});
