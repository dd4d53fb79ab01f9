import { vi } from "vitest";
import { changeWith, writeChange } from "../../../rails/foreman/change.ts";
import { next } from "../../../rails/foreman/next.ts";
import { resume } from "../../../rails/foreman/resume.ts";
import type { Place } from "../../../rails/git/repository.ts";
import { END } from "../../../rails/journal/end-task.ts";
import type { Event } from "../../../rails/journal/events.ts";
import { withParts } from "../../../rails/journal/family.ts";
import type { Journal } from "../../../rails/journal/journal.ts";
import {
  activeOf,
  dependentsLeft,
  type RunState,
  type TaskState,
} from "../../../rails/journal/state.ts";
import { drop } from "../../../rails/line/drop.ts";
import { landed } from "../../../rails/line/land.ts";
import { parentOf } from "../../../rails/plan/task.ts";
import { Fault } from "../../../rails/program/fault.ts";
import { pick, random } from "../plan/random.ts";
import { POOL, railsOf, type Scenario } from "./random-scenario.ts";
import { type Hands, STYLES, work } from "./random-worker.ts";

const LIMIT = 3000;

/** What a person does may be refused, in words: nothing has changed then. Or it is killed: it is gone
 * on with at the next call. */
function expected(error: unknown): void {
  if (!(error instanceof Fault) && !/^killed /.test(`${(error as Error).message}`)) throw error;
}

/** What a run came to: its journal, and how often a person let a task be tried again, or begin anew.
 */
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
  let steered = 0;
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
    const { answer, given } = await next(journal, clock(), null, async (until) => {
      if (rand() < 0.8) await landed(journal, { main: hands.main } as Place, state, until);
    });
    if (rand() < 0.9) await given();
    isDone = answer.done;
    isPaused ||= answer.attention.some(({ reason }) => reason === "alarm");
    for (const { attempt, task } of answer.dispatch) {
      if (rand() < 0.1) continue;
      await journal.add({ event: "launched", attempt, agent: attempt.replace(/\W/g, "") });
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
    await journal.add({ event: "retried", task, words: "" });
  };
  /** A person who changes their mind: stops, drops, frees again, rewords, adds. */
  const steers = async (): Promise<void> => {
    if (steered >= 6) return;
    steered++;
    const state = await journal.state();
    const all = [...state.tasks.values()].filter(({ id }) => id !== END);
    const task = pick(rand, all);
    const chance = rand();
    if (chance < 0.25) await stops(task);
    else if (chance < 0.5) await drops(state, task.id);
    else if (chance < 0.7) await frees(task);
    else await changes(task);
  };
  const stops = async (task: TaskState): Promise<void> => {
    const { id, state } = task;
    if (/landed|skipped|dropped/.test(state)) return;
    for (const { id: attempt } of activeOf(task))
      await journal.add({ event: "ended", attempt, reason: "stopped", note: "" });
    await journal.add({ event: "stopped", task: id, question: "" });
  };
  const drops = async (state: RunState, id: string): Promise<void> => {
    const at = { journal, place: { main: hands.main } as Place, state };
    const all = [id, ...dependentsLeft(state, withParts(state, [id]))].filter((one) => one !== END);
    await drop(at, all, clock()).catch(expected);
    isDone = false;
  };
  const frees = async ({ id, isDropped, stop }: TaskState): Promise<void> => {
    const { tasks } = await journal.state();
    const { depends = [] } = tasks.get(id) ?? {};
    if (!isDropped && stop === null) return;
    const above = parentOf(id);
    if ([...depends, above ?? ""].some((one) => tasks.get(one)?.isDropped)) return;
    retries[id] = (retries[id] ?? 0) + 1;
    isDone = false;
    await journal.add({ event: "retried", task: id, words: "go on" });
  };
  const changes = async ({ id }: TaskState): Promise<void> => {
    const fresh = `9${steered}`;
    const text = pick(rand, [
      `### Task ${id}: Other words\nFiles: ${pick(rand, POOL)}\n`,
      `### Task ${fresh}: More\nDepends: ${id}\nFiles: ${pick(rand, POOL)}\n`,
      `### Task ${id}: After\nDepends: ${fresh}\n\n### Task ${fresh}: Before\n`,
    ]);
    await writeChange(journal, (now) =>
      changeWith(text, "it", now, railsOf(scenario), () => true),
    ).then(() => {
      isDone = false;
    }, expected);
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
      else if (chance < 0.96) await dies();
      else if (chance < 0.98) await steers();
      else await (isPaused ? resumed : person)();
    }
  } finally {
    now.mockRestore();
  }
  return { journal, events: (await journal.read()).events, retries };
}
