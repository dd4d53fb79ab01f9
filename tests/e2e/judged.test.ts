import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ClientResult } from "../../demo/client.ts";
import type { ModelRequest } from "../../demo/scripted-model.ts";
import { bash, type Talk } from "../../demo/talk.ts";
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
import { readPrices } from "../../rails/money/price-table.ts";
import { dollarsFor, priceOf } from "../../rails/money/prices.ts";
import { usageIn } from "../../rails/money/usage.ts";
import { handoff } from "../handoff.ts";
import { World } from "./world.ts";

const PRICES = join(import.meta.dirname, "../../assets/skills/minion-blueprint/prices.md");
const ALWAYS = { since: 0, until: Number.POSITIVE_INFINITY };

/** One session whose list has a task in phases, and three of which a verifier sees two. */
let world: World;
let result: ClientResult;

/** Knows nothing of sums, and bears no two halves beside each other. */
const GATES = `
  - name: test
    run: "! grep -rn FAIL src && { ! test -e src/two.txt || ! test -e src/three.txt; }"
bounds:
  attempts: 1
models:
  tdd-developer: haiku
  code-reviewer: opus`;

/** What each attempt's worker was given: what `begin` printed, the model that was asked, and the
 * tools that it had. */
const given = new Map<string, { text: string; model: string; tools: readonly string[] }>();

const TEST_FIRST = `
### Task 1: Count
Files: src/1.txt, src/1.test.txt
Agent: backend-architect
Workflow: tdd
Risk: medium
`;

/** One worker of each phase. */
const phases: Behaviour = async function* (worker) {
  const { attempt, task, turn } = worker;
  const { output } = yield* bash(`minion begin ${attempt}`);
  given.set(attempt, { text: output, model: turn.request.model, tools: turn.request.tools });
  const [, phase = ""] = /its phase (\w+)/.exec(output) ?? [];
  if (phase === "review") {
    // It must not hand in as a worker does, nor change anything.
    expect((yield* bash("minion submit <<'X'\nfine\nX")).code).not.toBe(0);
    yield* bash(`minion verdict ${attempt} pass <<'FINDINGS'\nLooked at both files.\nFINDINGS`);
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

const HALVES = `
### Task 3: Add
Files: src/sum.txt
Done when: src/sum.txt says what 2 and 2 are
Risk: medium
### Task 4: Second half
Files: src/two.txt
Risk: medium
Model: sonnet
### Task 5: Third half
Files: src/three.txt
Risk: low
`;

/** What a worker says to itself. */
const thought = (attempt: string): string => `The thoughts of ${attempt}.`;

/** Waits for something of an attempt in the journal, or of any attempt at a task. */
async function until(name: string, attempt: string): Promise<void> {
  while (!JSON.stringify(world.named(name)).includes(`"${attempt}`)) await setTimeout(50);
}

/** Whoever makes something: the sum is wrong, and the fix is as well. */
async function* makes(worker: Worker, phase: string): Talk {
  const { task, edits } = worker;
  const [path, content] = { 3: ["sum", phase === "fix" ? "6" : "5"], 4: ["two", "2"] }[task] ?? [
    "three",
    "3",
  ];
  yield* apply(worker, [{ write: `src/${path}.txt`, content: `${content}\n` }]);
  yield* gates();
  yield* commit(worker);
  // So that neither half has seen the other where it was made.
  if (task === "5") await until("begun", "r1/4.1");
  yield* submit({
    ...worker,
    edits: { ...edits, handoff: handoff(`the story of ${worker.attempt}`) },
  });
}

/** Whoever judges does the sum of task 3 on the change itself; of the second half it says once it
 * is too late that all is well. */
async function* judges({ attempt, task }: Worker, brief: string): Talk {
  const [, diff = ""] = /`(git diff \w+ \w+)`/.exec(brief) ?? [];
  const [, sum = ""] = /^\+(\d+)$/m.exec((yield* bash(diff)).output) ?? [];
  if (task === "4") for (const other of ["5", "1"]) await until("proven", `r1/${other}.`);
  const isGood = task === "4" || Number(sum) === 2 + 2;
  const said = isGood ? "Looked at the change." : `src/sum.txt:1: 2 and 2 are 4; it says ${sum}`;
  yield* bash(
    `minion verdict ${attempt} ${isGood ? "pass" : "fail"} <<'FINDINGS'\n${said}\nFINDINGS`,
  );
}

const judged: Behaviour = async function* (self) {
  const { attempt } = self;
  const begin = {
    tool: "Bash",
    input: { command: `minion begin ${attempt}`, description: "begin" },
  };
  const brief = (yield [thought(attempt), begin]).outcomes[0]?.output ?? "";
  given.set(attempt, {
    text: brief,
    model: self.turn.request.model,
    tools: self.turn.request.tools,
  });
  const [, phase = ""] = /its phase (\w+)/.exec(brief) ?? [];
  yield* phase === "review" ? judges(self, brief) : makes(self, phase);
  for (;;) yield* end(self, thought(attempt));
};

beforeAll(async () => {
  world = World.small({ 1: {}, 3: {}, 4: {}, 5: {} }, GATES);
  const scripts = { 1: phases, 3: judged, 4: judged, 5: judged };
  result = await world.run(`/minion ${world.list(TEST_FIRST + HALVES)}`, "default", scripts);
});
afterAll(() => world?.close());

test("the run ends by itself, nobody asked, and says of each task how it ended", () => {
  expect(result).toMatchObject({ code: 0, denials: [] });
  expect(world.states()).toEqual({
    1: "landed",
    3: "needs-human",
    4: "needs-human",
    5: "landed",
  });
});

test("test first, with a judge: each phase's worker gets its role, its model, and what the one before left", () => {
  const order = (task: string) =>
    world
      .named("dispatched")
      .flatMap((each) => (each.task === task ? [`${each.attempt} ${each.phase}`] : []));
  expect(order("1")).toEqual(["r1/1.1 test", "r1/1.2 implement", "r1/1.3 review"]);
  expect(order("3").slice(1)).toEqual(["r1/3.2 review", "r1/3.3 fix", "r1/3.4 review"]);

  const of = (attempt: string) => given.get(attempt) ?? { text: "", model: "", tools: [] };
  const [first, second, judge] = [1, 2, 3].map((n) => of(`r1/1.${n}`));
  // A phase's own role takes the place of none here, and comes beside the task's domain.
  for (const each of [first, second, judge]) expect(each?.text).toContain("## Backend");
  expect(first?.text).toContain("## Test first");
  expect(judge?.text).toContain("## Review");
  expect([second?.text.includes("## Test first"), second?.text.includes("## Review")]).toEqual([
    false,
    false,
  ]);
  // The task's own model wins over that of a role.
  expect([first?.model, judge?.model]).toEqual([
    expect.stringContaining("haiku"),
    expect.stringContaining("opus"),
  ]);
  for (const attempt of ["r1/4.1", "r1/4.2"]) expect(of(attempt).model).toContain("sonnet");
  // What a phase left is read by the next, by whoever judges only what it found itself.
  expect(second?.text).toContain("the test story of 1");
  for (const attempt of ["r1/3.3", "r1/3.4"])
    expect(of(attempt).text).toContain("src/sum.txt:1: 2 and 2 are 4; it says 5");
  const judges = world.requests.filter(
    (request) => !request.tools.includes("Edit") && request.agent !== "",
  );
  expect(judges.length).toBeGreaterThan(3);
  expect(JSON.stringify(judges)).not.toMatch(/the (test|implement) story/);
  for (const attempt of ["r1/1.3", "r1/3.2", "r1/3.4"])
    expect(of(attempt).tools).not.toEqual(expect.arrayContaining(["Write"]));
  // The test was red before it was made to pass, and the line holds what the last phase made.
  const red = world
    .named("evidence")
    .find(({ attempts }) => JSON.stringify(attempts).includes("r1/1.1"));
  expect(red).toMatchObject({ gate: "test", code: 1 });
  expect(world.files("minion/r1/line")).toMatchObject({
    "src/1.txt": "implement",
  });

  // Whatever was asked of a model is somebody's cost: by task, phase and model what its workers'
  // transcripts say, and in all what the client itself reckons.
  const { cost } = JSON.parse(world.minion("report", "--json"));
  const rows = (cost as Cost).rows.filter(({ task }) => task !== null);
  expect(rows.map(({ task, phase }) => `${task} ${phase}`).sort()).toEqual([
    "1 implement",
    "1 review",
    "1 test",
    "3 fix",
    "3 implement",
    "3 review",
    "4 implement",
    "4 review",
    "5 implement",
  ]);
  expect([cost.unknown, cost.unpriced]).toEqual([[], []]);
  const asked = (agent: boolean) =>
    world.requests.filter((request) => (request.agent !== "") === agent).length;
  expect(rows.reduce((sum, { requests }) => sum + requests, 0)).toBe(asked(true));
  const transcripts = world
    .transcripts()
    .map((text) => usageIn(text, text.includes('"isSidechain":false') ? ALWAYS : null));
  const prices = readPrices(readFileSync(PRICES, "utf8"), PRICES).models;
  const total = transcripts
    .flat()
    .reduce((sum, used) => sum + (dollarsFor(priceOf(prices, used.model), used) ?? NaN), 0);
  expect(total).toBeCloseTo(result.costUsd, 4);
});

test("a verifier catches what no gate does, opens no gate that is shut, and knows nothing of the author", () => {
  // Wrong and green: found twice, the second time a person's; right and red beside the other: a
  // pass does not help.
  const { attention } = JSON.parse(world.minion("attention", "--json"));
  expect(attention).toMatchObject([
    { task: "3", reason: "findings", note: "src/sum.txt:1: 2 and 2 are 4; it says 6" },
    { task: "4", reason: "line-red" },
  ]);
  const events = world.events();
  const of = (attempt: string) =>
    events.filter((each) => each.event === "evidence" && String(each.attempts) === attempt);
  expect(of("r1/3.1")).toMatchObject([{ code: 0, by: "worker" }]);
  expect(world.named("submitted", "r1/4.2")).toMatchObject([{ verdict: "pass" }]);
  expect(of("r1/4.1")).toMatchObject([
    { code: 0, by: "worker" },
    { code: 1, by: "landing" },
  ]);
  expect(world.files("minion/r1/line")).toEqual({
    ...world.files("main"),
    "src/1.test.txt": "counted",
    "src/1.txt": "implement",
    "src/three.txt": "3",
  });

  // Author, verifier, whoever mends, and the verifier again: each a context of its own, by what was
  // asked of the model.
  const { requests } = world;
  const attempts = [1, 2, 3, 4].map((n) => `r1/3.${n}`);
  const heard = attempts.map((attempt) => {
    const agent = requests.find(
      (each) => each.agent && JSON.stringify(each.messages).includes(`begin ${attempt}\``),
    )?.agent;
    return requests.filter((each) => each.agent === agent);
  });
  expect(new Set(heard.map(([first]) => first?.agent)).size).toBe(4);
  const text = (own?: ModelRequest[]) => JSON.stringify(own?.map(({ messages }) => messages));
  for (const [at, own] of heard.entries()) {
    const known = attempts.filter((attempt) => text(own).includes(thought(attempt)));
    expect(known).toEqual(attempts.slice(at, at + 1));
    expect(text(own)).not.toMatch(/Second half|Third half|Count\b/);
  }
  const [author, judge, mender, again] = heard;
  for (const own of [judge, again]) {
    expect(text(own)).not.toContain("the story of");
    expect(own?.[0]?.system).toContain("You judge one change");
  }
  expect(author?.[0]?.system).not.toContain("You judge one change");
  expect(text(mender)).toContain("it says 5");
  expect(text(again)).toContain("it says 5");
});
