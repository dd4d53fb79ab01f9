import { setTimeout } from "node:timers/promises";
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
  type Step,
  submit,
  type Worker,
} from "../../demo/worker-script.ts";
import { handoff } from "../handoff.ts";
import { type JournalEvent, type Mode, QUICK_GATES, World } from "./world.ts";

// What is more than one pass over a list, in the real client. Where a run is killed, workers of
// before are lost and others come in their place, so nothing here goes by the number of an attempt.

let world: World;
afterEach(() => world.close());

/** Something after which the session is killed, and taken up by a new one. */
type Moment = (event: JournalEvent) => boolean;

type Case = Readonly<{
  mode: Mode;
  list: string;
  behaviours: Readonly<Record<string, Behaviour>>;
  rails?: string;
  scripts?: Readonly<Record<string, string>>;
  kills: readonly Moment[];
}>;

/** Runs a list to its end, and kills its session on the way. */
async function runs({ mode, list, behaviours, rails = QUICK_GATES, scripts = {}, kills }: Case) {
  world = World.small({}, `${rails}\nbounds:\n  workers: 6\nalarms: []\nallow+:\n  - sh`);
  for (const [name, text] of Object.entries(scripts)) world.write(name, text);
  world.write("README.md", "A place for parts.\n");
  world.git("add", "--all");
  world.git("commit", "--quiet", "-m", "chore: scripts");
  const none = { steps: [], commit: "feat: work", handoff: handoff("did it") };
  const tasks = Object.fromEntries(Object.keys(behaviours).map((id) => [id, none]));
  world.edits = { tasks, guesses: {} };
  let client = await world.start(`/minion ${world.list(list)} --budget 50`, mode, behaviours);
  for (const moment of kills) {
    await world.until(client, moment);
    client.kill();
    await client.done;
    client = await world.start("/minion --resume", mode, behaviours);
  }
  const done = await client.done;
  expect(done.code).toBe(0);
  // In auto mode that is how one whose gates are red is sent back.
  const denied = done.denials.map((each) => (each as { tool_name: string }).tool_name);
  expect(denied.filter((tool) => tool !== "SubagentHandback")).toEqual([]);
}

const taskOf = ({ attempt }: JournalEvent): string => `${attempt}`.replace(/^r1\/|\.\d+$/g, "");

/** The first event of a name about a task, whichever attempt of it. */
const first =
  (name: string, task: string): Moment =>
  (event) =>
    event.event === name && (event.task === task || taskOf(event) === task);

const landedFor =
  (task: string): Moment =>
  ({ event, landed }) =>
    event === "proven" && JSON.stringify(landed).includes(`"r1/${task}.`);

const doing = (worker: Worker, ...steps: readonly Step[]): Worker => ({
  ...worker,
  edits: { ...worker.edits, steps },
});

const writes =
  (path: string, content = "there\n"): Behaviour =>
  (worker) =>
    good(doing(worker, { write: path, content }));

/** Proves and hands in what it has, whatever its gates say. */
async function* handsOver(worker: Worker): ReturnType<Behaviour> {
  yield* apply(worker, worker.edits.steps);
  yield* gates();
  yield* commit(worker);
  yield* submit(worker);
  for (;;) yield* end(worker, `${worker.attempt} handed in`);
}

const handsIn = (run: string): Behaviour =>
  async function* (worker) {
    yield* begin(worker);
    yield* handsOver(doing(worker, { run }));
  };

/** Hands in once something has happened so often. */
async function* after(
  worker: Worker,
  moment: Moment,
  times: number,
  step: Step,
): ReturnType<Behaviour> {
  yield* begin(worker);
  while (world.events().filter(moment).length < times) await setTimeout(50);
  yield* handsOver(doing(worker, step));
}

/** Ends with what it wrote, which no gate passes. */
const fails: Behaviour = async function* (worker) {
  const own = doing(worker, { write: "src/broken.txt", content: "FAIL\n" });
  yield* begin(own);
  yield* apply(own, own.edits.steps);
  yield* gates();
  yield* commit(own);
  for (;;) yield* end(own, "it cannot be done");
};

/** Names ways, builds the one with its number, or chooses.
 * @param build what is built, by number; 0 where one worker is alone at it */
const ways = (build: (variant: number, worker: Worker) => ReturnType<Behaviour>): Behaviour =>
  async function* (worker) {
    const [dispatched] = world.named("dispatched", worker.attempt);
    if (dispatched?.phase === "implement") {
      yield* build(Number(dispatched.variant ?? 0), worker);
      return;
    }
    yield* begin(worker);
    const said =
      dispatched?.phase === "choose"
        ? `minion verdict ${worker.attempt} A <<'WHY'\nThe smallest.\nWHY`
        : "minion submit <<'WAYS'\n1 long, 2 short, 3 wrong\nWAYS";
    yield* bash(said);
    for (;;) yield* end(worker, `${worker.attempt} handed in`);
  };

const CHOICES = `### Task 1: Three lines
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

### Task 4: Judged
Workflow: variants
Files: src/judged.txt

### Task 5: Picked, and red on the line
Workflow: variants
Files: src/five.txt

### Task 6: Meanwhile
Files: src/six.txt
`;

/** Two that are green alone, and red together. */
const CLASHING = `${QUICK_GATES}
  - name: together
    run: "! { grep -rq apart src && grep -rq together src; }"`;

/** Loops and choices, to the end that each has. Killed, nobody waits for anybody: who was waited for
 * may be lost. */
export function choices(mode: Mode, isKilled = false): void {
  test(`loops and choices in ${mode} mode${killed(isKilled)}: each to its own end`, async () => {
    const isBuilding: Moment = (event) =>
      event.event === "begun" && taskOf(event) === "5" && !`${event.attempt}`.endsWith(".1");
    const six = { write: "src/six.txt", content: isKilled ? "six\n" : "together\n" };
    await runs({
      mode,
      list: CHOICES,
      rails: CLASHING,
      scripts: {
        "lines.sh": 'test "$(grep -c line src/lines.txt)" -ge "$1"\n',
        "never.sh": 'echo "not ok 1 - never"; exit 1\n',
        "size.sh": "wc -c < src/small.txt\n",
      },
      behaviours: {
        1: handsIn("echo line >> src/lines.txt"),
        2: handsIn("echo try >> src/never.txt"),
        3: ways((variant, worker) => {
          const content = { 2: "x".repeat(4), 3: "FAIL" }[variant] ?? "x".repeat(40);
          return good(doing(worker, { write: "src/small.txt", content: `${content}\n` }));
        }),
        4: ways((variant, worker) =>
          good(doing(worker, { write: "src/judged.txt", content: `way ${variant}\n` })),
        ),
        // Who builds it alone in the end knows what is on the line by then.
        5: ways((variant, worker) => {
          const content = variant === 0 ? "alone\n" : "apart\n";
          const own = { write: "src/five.txt", content };
          return variant === 0 || isKilled
            ? good(doing(worker, own))
            : after(worker, landedFor("6"), 1, own);
        }),
        // It lands once all three are being built, and before one of them is handed in.
        6: (worker) => (isKilled ? good(doing(worker, six)) : after(worker, isBuilding, 3, six)),
      },
      kills: isKilled
        ? [first("submitted", "1"), first("picked", "3"), first("submitted", "5")]
        : [],
    });
    expect(world.states()).toEqual({
      1: "landed",
      2: "needs-human",
      3: "landed",
      4: "landed",
      5: "landed",
      6: "landed",
    });
    const line = world.files("minion/r1/line");
    expect(line["src/lines.txt"]).toBe("line\nline\nline");
    expect(line["src/small.txt"]).toBe("xxxx");
    expect(line["src/judged.txt"]).toMatch(/^way [123]$/);
    expect(line["src/never.txt"]).toBeUndefined();
    if (!isKilled) expect(line["src/five.txt"]).toBe("alone");
    const by = (id: string) =>
      world.named("picked").flatMap((each) => (each.task === id ? [each.by] : []));
    expect([by("3"), by("4")]).toEqual([["measure"], ["judge"]]);
    const rounds = (id: string) => world.named("submitted").filter((each) => taskOf(each) === id);
    expect([rounds("1").length, rounds("2").length]).toEqual([3, 3]);
  });
}

const AREA = `### Task A: Service
Workflow: area
Files: src/part/

### Task Z: After
Depends: A
Files: src/after.txt
`;

/** Tasks that write a file each, as a planner leaves them. */
const tasksIn = (folder: string, numbers: readonly number[]): string =>
  numbers.map((id) => `### Task ${id}: Part ${id}\nFiles: ${folder}${id}.txt\n`).join("\n");

/** What the planners leave, visit by visit. */
const PLANS: Readonly<Record<string, readonly string[]>> = {
  A: [
    "### Task 1: Storage\nWorkflow: area\nFiles: src/part/s/\n\n### Task 2: Api\nWorkflow: area\nFiles: src/part/a/\n",
  ],
  "A/1": [
    `${tasksIn("src/part/s/", [1, 2, 3, 4])}\n### Task 5: Ids are numbers\nDepends: 4\nFiles: src/part/s/5.txt\n`,
    tasksIn("src/part/s/", [6]),
  ],
  "A/2": [tasksIn("src/part/a/", [1, 2, 3, 4]), tasksIn("src/part/a/", [5, 6])],
};

/** Leaves what its plan says for this visit, and in the second one rewords what a worker's handoff
 * contradicts, where nobody has begun it. */
const plans = (area: string): Behaviour =>
  async function* (worker) {
    yield* begin(worker);
    const visits = world.named("submitted").filter((each) => taskOf(each) === area).length;
    const tasks = PLANS[area]?.[visits];
    if (tasks) yield* bash(`minion change - <<'TASKS'\n${tasks}\nTASKS`);
    if (area === "A/1" && visits === 1)
      yield* bash("minion change - <<'TASKS'\n### Task 5: Ids are texts\nThey are texts.\nTASKS");
    yield* bash("minion submit <<'PAGE'\nDecided, failed, open.\nPAGE");
    for (;;) yield* end(worker, `${worker.attempt} handed in`);
  };

/** Two areas in one, in which a finding changes the plan and a task fails for good. */
export function areas(mode: Mode, isKilled = false): void {
  test(`areas in an area in ${mode} mode${killed(isKilled)}: planned as they go, round what fails`, async () => {
    const own = (area: string, folder: string) =>
      Object.fromEntries(
        [1, 2, 3, 4, 5, 6].map((id) => [`${area}/${id}`, writes(`${folder}${id}.txt`)]),
      );
    const finds: Behaviour = (worker) => {
      const said = handoff("did it").replace(
        "Findings for others: none",
        "Findings for others: ids are texts, not numbers",
      );
      const steps = [{ write: "src/part/s/1.txt", content: "there\n" }];
      return good({ ...worker, edits: { ...worker.edits, steps, handoff: said } });
    };
    // So that the planner has come by then, and reworded what hangs on it.
    const isReworded: Moment = ({ event, tasks }) =>
      event === "changed" && JSON.stringify(tasks).includes("Ids are texts");
    await runs({
      mode,
      list: AREA,
      behaviours: {
        A: plans("A"),
        "A/1": plans("A/1"),
        "A/2": plans("A/2"),
        ...own("A/1", "src/part/s/"),
        "A/1/1": finds,
        "A/1/4": (worker) => {
          const step = { write: "src/part/s/4.txt", content: "there\n" };
          return isKilled ? good(doing(worker, step)) : after(worker, isReworded, 1, step);
        },
        ...own("A/2", "src/part/a/"),
        "A/2/3": fails,
        Z: writes("src/after.txt"),
      },
      kills: isKilled
        ? [({ event }) => event === "changed", first("submitted", "A/1"), landedFor("A/2/1")]
        : [],
    });
    expect(world.states()).toMatchObject({
      A: "needs-human",
      "A/1": "landed",
      "A/1/5": "landed",
      "A/1/6": "landed",
      "A/2": "needs-human",
      "A/2/3": "needs-human",
      "A/2/5": "landed",
      "A/2/6": "landed",
      Z: "blocked",
    });
    const asked = world.asked("worker").map(({ messages }) => JSON.stringify(messages));
    expect(asked.some((text) => text.includes("ids are texts, not numbers"))).toBe(true);
    if (!isKilled) expect(asked.some((text) => text.includes("Ids are texts"))).toBe(true);
    // What failed is the person's; without it the area is done, and what hangs on that begins.
    world.minion("drop", "A/2/3");
    const last = await world.run("/minion --resume", mode, { Z: writes("src/after.txt") });
    expect(last.code).toBe(0);
    expect(world.states()).toMatchObject({
      A: "landed",
      "A/2": "landed",
      "A/2/3": "dropped",
      Z: "landed",
    });
    const line = Object.keys(world.files("minion/r1/line"));
    expect(line.filter((path) => path.startsWith("src/part/"))).toHaveLength(11);
  });
}

const SIXTY = 60;

/** As many items as a command lists: none skipped, none twice. */
export function items(mode: Mode, isKilled = false): void {
  test(`${SIXTY} items in ${mode} mode${killed(isKilled)}: none is skipped, and none comes twice`, async () => {
    const ids = Array.from({ length: SIXTY }, (_, at) => at + 1);
    await runs({
      mode,
      list: "### Task 1: Each of them\nEach: sh list.sh\nFiles: src/items/{}.txt\nVerify: sh there.sh {}\n",
      scripts: {
        "list.sh": `seq ${SIXTY}; echo; echo 7\n`,
        "there.sh": 'test -f "src/items/$1.txt"\n',
      },
      behaviours: Object.fromEntries(ids.map((id) => [`1/${id}`, writes(`src/items/${id}.txt`)])),
      kills: isKilled ? [landedFor("1/3"), landedFor("1/30")] : [],
    });
    expect(Object.values(world.states())).toEqual(Array(SIXTY + 1).fill("landed"));
    const landed = world
      .named("proven")
      .flatMap(({ landed }) =>
        (landed as { attempt: string }[]).map((each) => taskOf(each as never)),
      );
    expect(landed.sort()).toEqual(ids.map((id) => `1/${id}`).sort());
  });
}

const killed = (isKilled: boolean): string => (isKilled ? ", killed in between" : "");
