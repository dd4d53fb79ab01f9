import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { bash } from "../../demo/talk.ts";
import {
  apply,
  type Behaviour,
  commit,
  end,
  gates,
  submit,
  type Worker,
} from "../../demo/worker-script.ts";
import type { Cost } from "../../rails/money/cost.ts";
import { dollarsFor, priceOf } from "../../rails/money/estimate.ts";
import { readPrices } from "../../rails/money/prices.ts";
import { usageIn } from "../../rails/money/usage.ts";
import { handoff } from "../handoff.ts";
import { QUICK_GATES, World } from "./world.ts";

const PRICES = join(import.meta.dirname, "../../assets/skills/minion-blueprint/prices.md");
const ALWAYS = { since: 0, until: Number.POSITIVE_INFINITY };

let world: World | undefined;
afterEach(() => world?.close());

/** What each attempt's worker was given: what `begin` printed, the model that was asked, and the
 * tools that it had. */
const given = new Map<string, { text: string; model: string; tools: readonly string[] }>();

const LIST = ["1", "2"]
  .map(
    (id) =>
      `### Task ${id}: Count ${id}\nFiles: src/${id}.txt, src/${id}.test.txt\nAgent: backend-architect\n`,
  )
  .map((task, at) => `${task}Workflow: tdd\nRisk: medium\n${at === 0 ? "Model: sonnet\n" : ""}`)
  .join("\n");

/** One worker of each phase; whoever judges finds something in task 1 at the first look. */
const phases: Behaviour = async function* (worker) {
  const { attempt, task, turn } = worker;
  const { output } = yield* bash(`minion begin ${attempt}`);
  given.set(attempt, { text: output, model: turn.request.model, tools: turn.request.tools });
  const [, phase = ""] = /its phase (\w+)/.exec(output) ?? [];
  if (phase === "review") {
    const isFirst = task === "1" && !output.includes("src/1.txt:1:");
    const verdict = isFirst ? "fail" : "pass";
    const said = isFirst ? "src/1.txt:1: one is missing; count 0" : "Looked at both files.";
    // It must not hand in as a worker does, nor change anything.
    expect((yield* bash("minion submit <<'X'\nfine\nX")).code).not.toBe(0);
    yield* bash(`minion verdict ${attempt} ${verdict} <<'FINDINGS'\n${said}\nFINDINGS`);
  } else {
    const [file, content] =
      phase === "test" ? [`src/${task}.test.txt`, "FAIL: nothing counts\n"] : ["", ""];
    const steps = file ? [{ write: file, content }] : made(worker, phase);
    yield* apply(worker, steps);
    yield* gates();
    yield* commit(worker);
    yield* submit({
      ...worker,
      edits: { ...worker.edits, handoff: handoff(`the ${phase} story of ${task}`) },
    });
  }
  for (;;) yield* end(worker, `${attempt} ${phase} done`);
};

const made = ({ task }: Worker, phase: string) => [
  { write: `src/${task}.test.txt`, content: "counted\n" },
  { write: `src/${task}.txt`, content: `${phase}\n` },
];

test("test first, with a judge: each phase's worker gets its role, its model, and what the one before left", async () => {
  const models = "\nmodels:\n  tdd-developer: haiku\n  code-reviewer: opus";
  world = World.small({ 1: {}, 2: {} }, QUICK_GATES + models);
  const { code, costUsd } = await world.run(`/minion ${world.list(LIST)}`, "default", {
    1: phases,
    2: phases,
  });
  expect(code).toBe(0);
  expect(world.states()).toEqual({ 1: "landed", 2: "landed" });
  const order = (task: string) =>
    world
      ?.named("dispatched")
      .flatMap((each) => (each.task === task ? [`${each.attempt} ${each.phase}`] : []));
  expect(order("2")).toEqual(["r1/2.1 test", "r1/2.2 implement", "r1/2.3 review"]);
  expect(order("1")?.slice(2)).toEqual(["r1/1.3 review", "r1/1.4 fix", "r1/1.5 review"]);

  const of = (attempt: string) => given.get(attempt) ?? { text: "", model: "", tools: [] };
  const [first, second, judge, fix, again] = [1, 2, 3, 4, 5].map((n) => of(`r1/1.${n}`));
  // A phase's own role takes the place of none here, and comes beside the task's domain.
  for (const each of [first, second, judge]) expect(each?.text).toContain("## Backend");
  expect(first?.text).toContain("## Test first");
  expect(judge?.text).toContain("## Review");
  expect([second?.text.includes("## Test first"), second?.text.includes("## Review")]).toEqual([
    false,
    false,
  ]);
  // The task's own model wins over that of a role.
  for (const each of [first, second, judge, fix]) expect(each?.model).toContain("sonnet");
  expect([of("r1/2.1").model, of("r1/2.3").model]).toEqual([
    expect.stringContaining("haiku"),
    expect.stringContaining("opus"),
  ]);
  // What a phase left is read by the next, by whoever judges only what it found itself.
  expect(second?.text).toContain("the test story of 1");
  expect(fix?.text).toContain("src/1.txt:1: one is missing");
  expect(again?.text).toContain("src/1.txt:1: one is missing");
  const judges = world.requests.filter(
    (request) => !request.tools.includes("Edit") && request.agent !== "",
  );
  expect(judges.length).toBeGreaterThan(3);
  expect(JSON.stringify(judges)).not.toMatch(/the (test|implement|fix) story/);
  for (const each of [judge, again])
    expect(each?.tools).not.toEqual(expect.arrayContaining(["Write"]));
  // The test was red before it was made to pass, and the line holds what the last phase made.
  const red = world
    .named("evidence")
    .find(({ attempts }) => JSON.stringify(attempts).includes("r1/1.1"));
  expect(red).toMatchObject({ gate: "test", code: 1 });
  expect(world.files("minion/r1/line")).toMatchObject({
    "src/1.txt": "fix",
    "src/2.txt": "implement",
  });

  // Whatever was asked of a model is somebody's cost: by task, phase and model what its workers'
  // transcripts say, and in all what the client itself reckons.
  const { cost } = JSON.parse(world.minion("report", "--json"));
  const rows = (cost as Cost).rows.filter(({ task }) => task !== null);
  expect(rows.map(({ task, phase }) => `${task} ${phase}`).sort()).toEqual([
    "1 fix",
    "1 implement",
    "1 review",
    "1 test",
    "2 implement",
    "2 review",
    "2 test",
  ]);
  expect([cost.unknown, cost.unpriced]).toEqual([[], []]);
  const asked = (agent: boolean) =>
    world?.requests.filter((request) => (request.agent !== "") === agent).length;
  expect(rows.reduce((sum, { requests }) => sum + requests, 0)).toBe(asked(true));
  const transcripts = world
    .transcripts()
    .map((text) => usageIn(text, text.includes('"isSidechain":false') ? ALWAYS : null));
  const prices = readPrices(readFileSync(PRICES, "utf8"), PRICES).models;
  const total = transcripts
    .flat()
    .reduce((sum, used) => sum + (dollarsFor(priceOf(prices, used.model), used) ?? NaN), 0);
  expect(total).toBeCloseTo(costUsd, 4);
});
