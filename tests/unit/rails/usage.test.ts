import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { NewEvent } from "../../../rails/journal/events.ts";
import type { Usage } from "../../../rails/journal/shapes.ts";
import { costOf } from "../../../rails/money/cost.ts";
import { usageIn, usageNow } from "../../../rails/money/usage.ts";
import { runAfter } from "./run.ts";

const folder = mkdtempSync(join(tmpdir(), "minion-usage-"));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A line as the client writes it: one block of a message, with what the whole message used up to
 * then. */
function line(id: string, model: string, tokens: readonly number[], more: object = {}): string {
  const [input = 0, write = 0, hour = 0, read = 0, output = 0] = tokens;
  const cache = { ephemeral_5m_input_tokens: write, ephemeral_1h_input_tokens: hour };
  const usage = {
    input_tokens: input,
    cache_creation_input_tokens: write + hour,
    cache_read_input_tokens: read,
    output_tokens: output,
    cache_creation: cache,
    service_tier: "standard",
  };
  const message = {
    id,
    model,
    role: "assistant",
    type: "message",
    content: [{ type: "text", text: "x" }],
    usage,
  };
  const about = {
    type: "assistant",
    isSidechain: true,
    timestamp: "2026-11-30T10:00:00.000Z",
    requestId: `req_${id}`,
  };
  return JSON.stringify({ ...about, message, ...more });
}

const used = (model: string, requests: number, tokens: readonly number[]): Usage => {
  const [input = 0, write = 0, writeHour = 0, read = 0, output = 0] = tokens;
  return { model, requests, input, write, writeHour, read, output };
};

const begun = (task: string): NewEvent[] => [
  { event: "dispatched", task, attempt: `r1/${task}.1`, phase: "implement" },
  {
    event: "begun",
    attempt: `r1/${task}.1`,
    worktree: "w",
    branch: "b",
    base: "b",
    foundBranch: "f",
  },
];

test("a message counts once, with what its last line says, and each model by itself", () => {
  const lines = [
    JSON.stringify({ type: "user", message: { role: "user", content: 'they said "usage" {' } }),
    line("m1", "claude-opus-5-5", [3, 100, 20, 0, 1]),
    line("m1", "claude-opus-5-5", [3, 100, 20, 0, 57]),
    line("m2", "claude-haiku-5-5", [2, 0, 0, 120, 9]),
    line("m3", "claude-opus-5-5", [1, 7, 0, 120, 11]),
    line("m4", "<synthetic>", [0, 0, 0, 0, 0]),
    JSON.stringify({
      type: "assistant",
      message: { id: "m5", model: "claude-opus-5-5", usage: null },
    }),
    line("m6", "claude-opus-5-5", [9, 9, 9, 9, 9]).slice(0, -30),
  ];
  expect(usageIn(lines.join("\n"))).toEqual([
    used("claude-opus-5-5", 2, [4, 107, 20, 120, 68]),
    used("claude-haiku-5-5", 1, [2, 0, 0, 120, 9]),
  ]);
  expect(usageIn("")).toEqual([]);
});

test("of a session counts what it said itself while the run was on", () => {
  const [before, on, after] = ["09:59:59", "10:00:00", "10:30:01"].map((at, index) =>
    line(`m${index}`, "claude-opus-5-5", [1, 0, 0, 0, 1], {
      isSidechain: false,
      timestamp: `2026-11-30T${at}.000Z`,
    }),
  );
  const agents = line("m9", "claude-opus-5-5", [5, 0, 0, 0, 5]);
  const span = {
    since: Date.parse("2026-11-30T10:00:00Z"),
    until: Date.parse("2026-11-30T10:30:00Z"),
  };
  expect(usageIn([before, on, after, agents].join("\n"), span)).toEqual([
    used("claude-opus-5-5", 1, [1, 0, 0, 0, 1]),
  ]);
});

test("what a run cost: its workers' transcripts, what the journal has of those that are gone, and no price made up", async () => {
  const session = join(folder, "s1.jsonl");
  mkdirSync(join(folder, "s1/subagents"), { recursive: true });
  writeFileSync(
    join(folder, "s1/subagents/agent-a1.jsonl"),
    line("m1", "claude-opus-5-5", [1000, 2000, 3000, 4000, 5000]),
  );
  const gone = { transcript: join(folder, "s1/subagents/agent-a2.jsonl"), size: 99 };
  const state = runAfter(
    "1. One\n2. Two\n3. Three\n",
    ...begun("1"),
    { event: "launched", attempt: "r1/1.1", agent: "a1", transcript: session } as const,
    // A second worker for the same, which found the attempt begun.
    { event: "launched", attempt: "r1/1.1", agent: "a0", transcript: session } as const,
    ...begun("2"),
    { event: "launched", attempt: "r1/2.1", agent: "a2", transcript: session } as const,
    ...begun("3"),
    { event: "spent", attempt: "r1/2.1", ...gone, usage: [used("some-model", 2, [1, 2, 3, 4, 5])] },
  );
  const models = new Map([
    ["claude-opus-5-5", { input: 4, cacheWrite: 5, cacheRead: 0.2, output: 20 }],
  ]);
  const { rows, dollars, unpriced, unknown } = costOf(state, await usageNow(state), models);
  expect(
    rows.map(({ task, model, requests, dollars }) => [task, model, requests, dollars]),
  ).toEqual([
    ["1", "claude-opus-5-5", 1, expect.closeTo(0.1388, 10)],
    ["2", "some-model", 2, null],
  ]);
  // 1,000 × 4 + 2,000 × 5 + 3,000 × 8 + 4,000 × 0.2 + 5,000 × 20, in millionths.
  expect(dollars).toBeCloseTo(0.1388, 10);
  expect([unpriced, unknown]).toEqual([["some-model"], ["r1/3.1"]]);
});
