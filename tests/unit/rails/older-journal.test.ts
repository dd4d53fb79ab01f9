import { cpSync, mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Journal } from "../../../rails/journal/journal.ts";

/** Written by version 0.1.0 as it was published, of a run in which one task had landed, one was at
 * work with a red gate, and two had just been dispatched. */
const WRITTEN = join(import.meta.dirname, "journals/0.1.0.jsonl");

test("a journal of version 0.1.0 is read whole, and says what that version said of it", async () => {
  const common = mkdtempSync(join(tmpdir(), "minion-older-"));
  mkdirSync(join(common, "minion/r1"), { recursive: true });
  cpSync(WRITTEN, join(common, "minion/r1/events.jsonl"));
  const { bad, tasks, attempts, tip, landings, left, done } = await new Journal(
    common,
    "r1",
  ).state();
  expect(bad).toEqual([]);
  const states = [...tasks.values()].map(({ id, state, reason }) => [id, state, reason]);
  expect(states).toEqual([
    ["1", "landed", null],
    ["2", "running", null],
    ["3", "running", null],
    ["4", "running", null],
  ]);
  expect([...attempts.values()].map(({ id, failures }) => [id, failures])).toEqual([
    ["r1/1.1", {}],
    ["r1/3.1", { test: 1 }],
    ["r1/4.1", {}],
    ["r1/2.1", {}],
  ]);
  expect(landings.map((landing) => landing.attempts)).toEqual([["r1/1.1"]]);
  expect(tip).toBe(landings[0]?.to);
  expect({ left, done }).toEqual({ left: 6, done: false });
});
