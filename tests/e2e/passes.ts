import { afterEach, expect, test } from "vitest";
import { bash } from "../../demo/talk.ts";
import {
  apply,
  type Behaviour,
  begin,
  commit,
  end,
  gates,
  good,
  submit,
  type Worker,
} from "../../demo/worker-script.ts";
import { handoff } from "../handoff.ts";
import { type Mode, QUICK_GATES, World } from "./world.ts";

let world: World;
afterEach(() => world.close());

/** What is more than one pass over a list, all of it in one run. */
const LIST = `### Task 1: Three lines
Workflow: loop
Verify: sh lines.sh 3
Files: src/lines.txt

### Task 2: Never
Workflow: loop
Verify: sh never.sh
Files: src/never.txt

### Task 3: Small
Workflow: variants
Measure: lowest sh size.sh
Files: src/small.txt

### Task A: Part
Workflow: area
Files: src/part/

### Task 5: Each of them
Each: sh list.sh
Files: src/items/{}.txt
Verify: sh there.sh {}

### Task 6: After
Depends: A, 5
Files: src/after.txt
`;

const SCRIPTS: Readonly<Record<string, string>> = {
  "lines.sh": 'test "$(grep -c line src/lines.txt)" -ge "$1"\n',
  "never.sh": 'echo "not ok 1 - never"; exit 1\n',
  "size.sh": "wc -c < src/small.txt\n",
  "list.sh": "printf 'a\\nb\\n\\nb\\nc d\\n'\n",
  "there.sh": 'test -f "src/items/$1.txt"\n',
};

const work = (worker: Worker, path: string, content: string): Worker => ({
  ...worker,
  edits: { steps: [{ write: path, content }], commit: "feat: work", handoff: handoff("did it") },
});

/** Commits what it has and hands it in, whatever its gates say. */
const handsIn = (path: string, content: (at: number) => string): Behaviour =>
  async function* (worker) {
    const own = work(worker, path, content(worker.try));
    yield* begin(own);
    yield* apply(own, own.edits.steps);
    yield* gates();
    yield* commit(own);
    yield* submit(own);
    for (;;) yield* end(own, `${own.attempt} handed in`);
  };

/** Leaves tasks at its first visit, and none after that. */
const plans: Behaviour = async function* (worker) {
  const own = work(worker, "", "");
  yield* begin(own);
  if (worker.try === 1)
    yield* bash(
      "minion change - <<'TASKS'\n### Task 1: First\nFiles: src/part/1.txt\n" +
        "### Task 2: Second\nDepends: 1\nFiles: src/part/2.txt\nTASKS",
    );
  yield* bash("minion submit <<'PAGE'\nTwo parts, one after the other.\nPAGE");
  for (;;) yield* end(own, `${own.attempt} handed in`);
};

/** Names ways, then builds one of three, of which the second is the smallest and the third red. */
const builds: Behaviour = async function* (worker) {
  if (worker.try === 1) {
    yield* begin(worker);
    yield* bash("minion submit <<'WAYS'\n1 long, 2 short, 3 wrong\nWAYS");
    for (;;) yield* end(worker, `${worker.attempt} handed in`);
  }
  const content = ["x".repeat(40), "x".repeat(4), "FAIL"][worker.try - 2] ?? "";
  yield* good(work(worker, "src/small.txt", `${content}\n`));
};

const writes =
  (path: string): Behaviour =>
  (worker) =>
    good(work(worker, path, "there\n"));

/** A run that repeats, chooses, plans and lists, to its end. */
export function passes(mode: Mode): void {
  test(`a loop, a choice, an area and items in ${mode} mode: each to its own end, one green line`, async () => {
    world = World.small({}, `${QUICK_GATES}\nbounds:\n  workers: 6\nalarms: []\nallow+:\n  - sh`);
    for (const [name, text] of Object.entries(SCRIPTS)) world.write(name, text);
    world.git("add", "--all");
    world.git("commit", "--quiet", "-m", "chore: scripts");
    const ids = ["1", "2", "3", "A", "A/1", "A/2", "5/1", "5/2", "5/3", "6"];
    const none = { steps: [], commit: "feat: work", handoff: handoff("did it") };
    world.edits = { tasks: Object.fromEntries(ids.map((id) => [id, none])), guesses: {} };
    const done = await world.run(`/minion ${world.list(LIST)} --budget 50`, mode, {
      1: handsIn("src/lines.txt", (at) => "line\n".repeat(at)),
      2: handsIn("src/never.txt", (at) => `${at}\n`),
      3: builds,
      A: plans,
      "A/1": writes("src/part/1.txt"),
      "A/2": writes("src/part/2.txt"),
      "5/1": writes("src/items/a.txt"),
      "5/2": writes("src/items/b.txt"),
      "5/3": writes("src/items/c d.txt"),
      6: writes("src/after.txt"),
    });
    expect(done.code).toBe(0);
    // In auto mode that is how the one whose gates are red is sent back.
    const denied = done.denials.map((each) => (each as { tool_name: string }).tool_name);
    expect(denied.filter((tool) => tool !== "SubagentHandback")).toEqual([]);
    expect(world.states()).toEqual({
      1: "landed",
      2: "needs-human",
      3: "landed",
      A: "landed",
      "A/1": "landed",
      "A/2": "landed",
      5: "landed",
      "5/1": "landed",
      "5/2": "landed",
      "5/3": "landed",
      6: "landed",
    });
    const line = world.files("minion/r1/line");
    expect(line["src/lines.txt"]).toBe("line\nline\nline");
    expect(line["src/small.txt"]).toBe("xxxx");
    expect(Object.keys(line)).toEqual(
      expect.arrayContaining(["src/part/2.txt", "src/items/c d.txt", "src/after.txt"]),
    );
    expect(line["src/never.txt"]).toBeUndefined();
    expect(world.named("picked")).toMatchObject([{ task: "3", by: "measure" }]);
    const rounds = (id: string) =>
      world.named("submitted").filter(({ attempt }) => `${attempt}`.startsWith(`r1/${id}.`));
    expect(rounds("1")).toHaveLength(3);
    expect(rounds("2")).toHaveLength(3);
  });
}
