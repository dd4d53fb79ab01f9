import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { roleOf } from "../../demo/talk.ts";
import type { Behaviour } from "../../demo/worker-script.ts";
import { type Mode, World } from "./world.ts";

/** A run with one gate that takes its time; the gate itself writes down how often it ran. */
export async function slowGate(seconds: number, mode: Mode, behaviour?: Behaviour): Promise<void> {
  const gate = `
  - name: slow
    run: "echo ran >> \\"$(git rev-parse --git-common-dir)/ran\\"; sleep ${seconds}"`;
  const world = World.small({ 1: { "src/one.txt": "one\n" } }, gate);
  try {
    const list = world.list("### Task 1: One\nFiles: src/one.txt\n");
    const result = await world.run(`/minion ${list}`, mode, behaviour ? { 1: behaviour } : {});
    expect(result.code).toBe(0);
    expect(world.states()).toEqual({ 1: "landed" });
    // Once on the base, once for the worker, and once for landing, which takes nobody's word.
    expect(readFileSync(join(world.repo, ".git/ran"), "utf8")).toBe("ran\nran\nran\n");
    const ran = world.named("evidence");
    expect(ran.map(({ by, code }) => [by, code])).toEqual([
      ["landing", 0],
      ["worker", 0],
      ["landing", 0],
    ]);
    for (const { ms } of ran) expect(ms).toBeGreaterThan(seconds * 1000 - 100);
    const jobs = world.named("job").map(({ name }) => name);
    expect(jobs).toEqual(["land r1", "gate r1/1.1 slow", "land r1"]);
    expect(world.named("sent-back")).toEqual([]);
    // The worker was told that it still runs, and asked again.
    const last = world.requests.findLast((request) => roleOf(request) === "worker");
    expect(JSON.stringify(last?.messages).match(/Exit code 75/g)?.length).toBeGreaterThanOrEqual(1);
  } finally {
    await world.close();
  }
}
