import { vi } from "vitest";
import { next } from "../../../rails/foreman/next.ts";
import { resume } from "../../../rails/foreman/start.ts";
import type { Place } from "../../../rails/git/repository.ts";
import type { Event, EventData } from "../../../rails/journal/events.ts";
import type { Journal } from "../../../rails/journal/journal.ts";
import { reviewIn } from "../../../rails/journal/phases.ts";
import { landed } from "../../../rails/line/land.ts";
import { pick, random } from "../plan/random.ts";
import { FORBIDDEN, type Hands, STYLES, work } from "./random-worker.ts";
import { phasesOf, SHIPPED } from "./run.ts";

/** Red where a line says LINT or FAIL, or where two files say the same `half`: each is green alone.
 */
export const GATES = [
  { name: "lint", run: "! cat src/* | grep LINT" },
  {
    name: "test",
    run: 'red=$(cat src/* | grep FAIL; cat src/* | grep "^half" | sort | uniq -d | sed "s/^/FAIL /"); echo "$red"; test -z "$red"',
  },
];

export interface Scenario {
  readonly list: string;
  readonly files: Record<string, string>; // On the base
  readonly blueprint: typeof SHIPPED;
  readonly halves: Record<string, string>; // The `half` that a task's own file says
  readonly touched: Record<string, string[]>; // What each task's workers really touch
  readonly workflows: EventData["started"]["workflows"];
  readonly reviews: EventData["started"]["reviews"];
}

/** Ways through a task; most are short. */
const WORKFLOWS = [
  ...Array.from({ length: 5 }, () => "- name: implement"),
  "- {name: test, red: [test]}\n- name: implement",
  "- {name: plan, writes: false}\n- name: implement",
  "- name: implement\n- {name: review, writes: false, back: fix}\n- name: fix",
  "- {name: plan, writes: false}\n- name: implement\n- {name: review, writes: false, back: implement}",
  "- name: implement\n- {name: review, writes: false, back: fix, risk: medium}\n- name: fix",
  "- {name: test, gates: [lint]}\n- name: implement\n- {name: review, writes: false, back: fix}\n- name: fix",
].map(phasesOf);
const JUDGED = phasesOf(
  "- name: implement\n- {name: review, writes: false, back: fix}\n- name: fix",
);

const POOL = ["src/a.txt", "src/b.txt", "src/c.txt", "src/d.txt"];

/** A random list of tasks, with files that each says and files that it really touches. */
export function scenarioOf(seed: number, most: number): Scenario {
  const rand = random(seed);
  const whole = (least: number, greatest: number) =>
    least + Math.floor(rand() * (greatest - least + 1));
  const ids = Array.from({ length: whole(2, most) }, (_, index) => String(index + 1));
  const halves: Record<string, string> = {};
  const touched: Record<string, string[]> = {};
  const items = ids.map((id, index) => {
    const depends = ids.slice(0, index).filter(() => rand() < 0.2);
    const said = POOL.filter(() => rand() < 0.3);
    const real = rand() < 0.6 ? said : POOL.filter(() => rand() < 0.3);
    touched[id] = [...real, `src/t${id}.txt`];
    if (rand() < 0.4) halves[id] = "half 1\n";
    const files = rand() < 0.1 ? ["src/"] : said;
    const fields = [
      depends.length > 0 ? `Depends: ${depends.join(", ")}` : "",
      files.length > 0 ? `Files: ${files.join(", ")}` : "",
      `Forbid: ${FORBIDDEN}`,
    ];
    return `### Task ${id}: Do ${id}\n${fields.filter(Boolean).join("\n")}\n`;
  });
  const bounds = {
    failures: whole(1, 3),
    attempts: whole(1, 3),
    send_backs: whole(0, 2),
    workers: whole(1, 4),
    dispatches: whole(1, 3),
    cycles: whole(0, 2),
    lease: 10,
    gate_slots: 0,
  };
  const base = Object.fromEntries(POOL.map((path) => [path, "base\n"]));
  return {
    list: items.join(""),
    files: { ...base, ...(rand() < 0.15 ? { "src/old.txt": "FAIL old\n" } : {}) },
    // What touches one of the files is looked at, where the task goes that way.
    blueprint: {
      ...SHIPPED,
      bounds,
      gates: GATES,
      risks: [{ risk: "medium", words: [], paths: ["src/d.txt"] }],
    },
    halves,
    touched,
    workflows: { "": pick(rand, WORKFLOWS) },
    reviews: { medium: reviewIn(JUDGED, "medium") },
  };
}

const LIMIT = 3000;

/** What a run came to: its journal, and how often a person let a task be tried again. */
export type Outcome = Readonly<{
  journal: Journal;
  events: Event[];
  retries: Record<string, number>;
}>;

/** Drives a run to its end: calls of `next`, workers' steps, passing time, dying sessions and a
 * person's word in any order. @throws where it does not end */
export async function randomRun(seed: number, scenario: Scenario, hands: Hands): Promise<Outcome> {
  const rand = random(seed ^ 0x5bd1e995);
  const { journal } = hands;
  const retries: Record<string, number> = {};
  const live: AsyncGenerator<void>[] = [];
  let skew = 0;
  let sessions = 1;
  let isDone = false;
  let isPaused = false;
  const clock = Date.now;
  const now = vi.spyOn(Date, "now").mockImplementation(() => clock() + skew);
  const step = async (): Promise<void> => {
    const index = Math.floor(rand() * live.length);
    const [worker] = live.splice(index, 1);
    if (worker && !(await worker.next()).done) live.push(worker);
  };
  hands.meanwhile(async () => {
    if (rand() < 0.3) await step();
  });
  const foreman = async (): Promise<void> => {
    const state = await journal.state();
    const answer = await next(journal, clock(), null, async (until) => {
      if (rand() < 0.8) await landed(journal, { main: hands.main } as Place, state, until);
    });
    isDone = answer.done;
    isPaused = answer.attention.some(({ reason }) => reason === "alarm");
    for (const { attempt, task } of answer.dispatch) {
      if (rand() < 0.1) continue;
      await journal.add({ event: "launched", attempt, agent: attempt });
      live.push(work(hands, scenario, { attempt, task }, pick(rand, STYLES), rand));
    }
  };
  const person = async (): Promise<void> => {
    const { tasks } = await journal.state();
    const waiting = [...tasks.values()].filter(({ state }) => state === "needs-human");
    const task = waiting.length > 0 ? pick(rand, waiting).id : "";
    if (task === "" || Object.keys(retries).length >= 2 || retries[task]) return;
    retries[task] = 1;
    isDone = false;
    await journal.add({ event: "retried", task });
  };
  const resumed = async (): Promise<void> => {
    live.length = 0;
    await resume(
      journal,
      { session: `s${++sessions}`, owner: null },
      { take: true, redBase: rand() < 0.7 },
      null,
    );
    [isDone, isPaused] = [false, false];
  };
  const dies = async (): Promise<void> => {
    if (sessions < 3) await resumed();
  };
  try {
    // A result may still come from a worker that was given up.
    const isOver = async () => isDone && live.length === 0 && (await journal.state()).done;
    for (let steps = 0; !(await isOver()); steps++) {
      if (steps > LIMIT)
        throw new Error(`it does not end: ${JSON.stringify(await journal.read())}`);
      skew += 1;
      const chance = rand();
      if (chance < 0.25) await foreman();
      else if (chance < 0.85) await step();
      else if (chance < 0.95) skew += rand() * 6 * 60_000;
      else if (chance < 0.97) await dies();
      else await (isPaused ? resumed : person)();
    }
  } finally {
    now.mockRestore();
  }
  return { journal, events: (await journal.read()).events, retries };
}
