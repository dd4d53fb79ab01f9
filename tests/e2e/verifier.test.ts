import { setTimeout } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
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
import { handoff } from "../handoff.ts";
import { World } from "./world.ts";

let world: World | undefined;
afterEach(() => world?.close());

/** Knows nothing of sums, and bears no two halves beside each other. */
const GATES = `
  - name: test
    run: "! test -e src/two.txt || ! test -e src/three.txt"
bounds:
  attempts: 1`;

const LIST = `
### Task 1: Add
Files: src/sum.txt
Done when: src/sum.txt says what 2 and 2 are
Risk: medium
### Task 2: Second half
Files: src/two.txt
Risk: medium
### Task 3: Third half
Files: src/three.txt
Risk: low
`;

/** What a worker says to itself. */
const thought = (attempt: string): string => `The thoughts of ${attempt}.`;

/** Waits for something in the journal. */
async function until(name: string, attempt: string): Promise<void> {
  while (!JSON.stringify(world?.named(name)).includes(`"${attempt}"`)) await setTimeout(50);
}

/** Whoever makes something: the sum is wrong, and the fix is as well. */
async function* makes(worker: Worker, phase: string): Talk {
  const { task, edits } = worker;
  const [path, content] = { 1: ["sum", phase === "fix" ? "6" : "5"], 2: ["two", "2"] }[task] ?? [
    "three",
    "3",
  ];
  yield* apply(worker, [{ write: `src/${path}.txt`, content: `${content}\n` }]);
  yield* gates();
  yield* commit(worker);
  // So that neither half has seen the other where it was made.
  if (task === "3") await until("begun", "r1/2.1");
  yield* submit({
    ...worker,
    edits: { ...edits, handoff: handoff(`the story of ${worker.attempt}`) },
  });
}

/** Whoever judges does the sum of task 1 on the change itself; of the second half it says once it
 * is too late that all is well. */
async function* judges({ attempt, task }: Worker, brief: string): Talk {
  const [, diff = ""] = /`(git diff \w+ \w+)`/.exec(brief) ?? [];
  const [, sum = ""] = /^\+(\d+)$/m.exec((yield* bash(diff)).output) ?? [];
  if (task === "2") await until("proven", "r1/3.1");
  const isGood = task === "2" || Number(sum) === 2 + 2;
  const said = isGood ? "Looked at the change." : `src/sum.txt:1: 2 and 2 are 4; it says ${sum}`;
  yield* bash(
    `minion verdict ${attempt} ${isGood ? "pass" : "fail"} <<'FINDINGS'\n${said}\nFINDINGS`,
  );
}

const worker: Behaviour = async function* (self) {
  const { attempt } = self;
  const begin = {
    tool: "Bash",
    input: { command: `minion begin ${attempt}`, description: "begin" },
  };
  const brief = (yield [thought(attempt), begin]).outcomes[0]?.output ?? "";
  const [, phase = ""] = /its phase (\w+)/.exec(brief) ?? [];
  yield* phase === "review" ? judges(self, brief) : makes(self, phase);
  for (;;) yield* end(self, thought(attempt));
};

test("a verifier catches what no gate does, opens no gate that is shut, and knows nothing of the author", async () => {
  world = World.small({ 1: {}, 2: {}, 3: {} }, GATES);
  const { code, denials } = await world.run(`/minion ${world.list(LIST)}`, "default", {
    1: worker,
    2: worker,
    3: worker,
  });
  expect({ code, denials }).toEqual({ code: 0, denials: [] });

  // Wrong and green: found twice, the second time a person's; right and red beside the other: a
  // pass does not help.
  const { attention } = JSON.parse(world.minion("attention", "--json"));
  expect(attention).toMatchObject([
    { task: "1", reason: "findings", note: "src/sum.txt:1: 2 and 2 are 4; it says 6" },
    { task: "2", reason: "line-red" },
  ]);
  const events = world.events();
  const of = (attempt: string) =>
    events.filter((each) => each.event === "evidence" && String(each.attempts) === attempt);
  expect(of("r1/1.1")).toMatchObject([{ code: 0, by: "worker" }]);
  expect(world.named("submitted", "r1/2.2")).toMatchObject([{ verdict: "pass" }]);
  expect(of("r1/2.1")).toMatchObject([
    { code: 0, by: "worker" },
    { code: 1, by: "landing" },
  ]);
  expect(world.files("minion/r1/line")).toEqual({ ...world.files("main"), "src/three.txt": "3" });

  // Author, verifier, whoever mends, and the verifier again: each a context of its own, by what was
  // asked of the model.
  const { requests } = world;
  const attempts = [1, 2, 3, 4].map((n) => `r1/1.${n}`);
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
    expect(text(own)).not.toMatch(/Second half|Third half/);
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
