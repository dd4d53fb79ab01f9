import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Scene } from "../cli/rails/scene.ts";

let scene: Scene;
let lines: string[];
beforeEach(async () => {
  scene = new Scene();
  await scene.start("1. One\n2. Two\n");
  await scene.minion(["next"]);
  await scene.goodWorker("r1/1.1", { "src/one.txt": "1" });
  lines = readFileSync(join(scene.repo, ".git/minion/r1/events.jsonl"), "utf8")
    .trimEnd()
    .split("\n");
});
afterEach(() => scene.destroy());

const edited = (text: string): void => scene.write(".git/minion/r1/events.jsonl", text);
const at = (event: string): number =>
  lines.findIndex((line) => line.includes(`"event":"${event}"`));
const without = (line: string, field: string): string => {
  const { [field]: _, ...rest } = JSON.parse(line);
  return JSON.stringify(rest);
};

test.each<[string, (line: string) => string]>([
  ["cut off", (line) => line.slice(0, line.length / 2)],
  ["a field is gone", (line) => without(line, "tree")],
  ["a list is a text", (line) => JSON.stringify({ ...JSON.parse(line), attempts: "r1/1.1" })],
  ["not an object", () => "7"],
  ["nothing that JSON knows", () => "# by hand"],
])(
  "a line that was edited so that it says nothing (%s) is named, and the rest is used",
  async (_, edit) => {
    const index = at("evidence");
    edited(`${lines.map((line, each) => (each === index ? edit(line) : line)).join("\n")}\n`);
    const { code, json } = await scene.minion(["board", "--json"]);
    expect({ code, bad: json.bad, tasks: json.tasks.length }).toEqual({
      code: 0,
      bad: [index + 1],
      tasks: 2,
    });
    expect((await scene.minion(["board"])).stdout).toContain(`line ${index + 1}`);
    expect((await scene.minion(["next", "--json"])).json.landed).toEqual(["1"]);
  },
);

test("an event that this version does not know is passed over in silence", async () => {
  edited(`${lines.join("\n")}\n{"at":1,"event":"from-tomorrow","what":1}\n`);
  expect((await scene.minion(["board", "--json"])).json.bad).toEqual([]);
});

test("a run of which the beginning is gone says so, and is in nobody's way", async () => {
  edited(`${["broken", ...lines.slice(1)].join("\n")}\n`);
  const { code, json } = await scene.minion(["board", "--json"]);
  expect({ code, error: json.error.code }).toEqual({ code: 2, error: "no-run" });
  expect(json.error.message).toContain("line 1 of");
  expect((await scene.minion(["start", "-", "--json"], { input: "1. Other\n" })).json.run).toBe(
    "r2",
  );
});
