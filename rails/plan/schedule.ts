import { grouped, type Lists, lowest } from "./collections.ts";
import { dependentsOf, longestChains } from "./dependencies.ts";
import type { Task } from "./task.ts";

/** What waits for what, and how long each takes, in minutes or in whatever unit all of them share.
 */
export type Job = Readonly<{ id: string; depends: readonly string[]; minutes: number }>;
/** How urgent each id is; nothing said is 0. */
export type Priority = ReadonlyMap<string, number>;
/** When each job starts, in the order in which they start, and when the last one ends. */
export type Schedule = Readonly<{ makespan: number; starts: ReadonlyMap<string, number> }>;

/** Of tasks in an order, which start now (list scheduling; `choose` of `foreman/dispatch.ts` says in
 * which order, of which tasks): as many as there are free
 * slots, the first ones that conflict neither with what is under way nor with one another.
 * @param ready ids of what could be dispatched, by priority
 * @param busy ids of what is under way; what waits for landing counts, though it takes no slot */
export function startNow(
  ready: readonly string[],
  busy: Iterable<string>,
  rivals: Lists,
  slots: number,
): string[] {
  const taken = new Set(busy);
  const chosen = [] as string[];
  for (const id of ready) {
    if (chosen.length >= slots) break;
    if (rivals.get(id)?.some((rival) => taken.has(rival))) continue;
    chosen.push(id);
    taken.add(id);
  }
  return chosen;
}

/** What is left of a list; each counts alike where no minutes are given. */
export const jobsOf = (
  tasks: readonly Pick<Task, "id" | "depends" | "done">[],
  minutes = (_: string) => 1,
): Job[] =>
  tasks
    .filter(({ done }) => !done)
    .map(({ id, depends }) => ({ id, depends, minutes: minutes(id) }));

/** The most urgent first; of equals the one that is listed first. */
export const byPriority = (ids: Iterable<string>, priority: Priority): string[] =>
  [...ids].sort((a, b) => (priority.get(b) ?? 0) - (priority.get(a) ?? 0));

/** For each task those that it conflicts with. */
export const rivalsOf = (conflicts: readonly (readonly [string, string])[]): Lists =>
  grouped(conflicts.flatMap(([one, other]) => [[one, other] as const, [other, one] as const]));

/** Plays a run through by that decision, where nothing fails. Dependencies that are no job are
 * there already; jobs in a cycle are left out. */
export function simulate(
  jobs: readonly Job[],
  rivals: Lists,
  workers: number,
  priority: Priority,
): Schedule {
  const minutes = minutesOf(jobs);
  const queue = queueOf(jobs, priority);
  const starts = new Map<string, number>();
  const ends = new Map<string, number>(); // Of what is under way
  let now = 0;
  while (true) {
    for (const id of startNow(queue.ready, ends.keys(), rivals, workers - ends.size)) {
      queue.start(id);
      starts.set(id, now);
      ends.set(id, now + (minutes.get(id) ?? 0));
    }
    if (ends.size === 0) return { makespan: now, starts };
    now = Math.min(...ends.values());
    for (const [id, end] of [...ends]) {
      if (end > now) continue;
      ends.delete(id);
      queue.end(id);
    }
  }
}

/** The jobs of which all that they depend on has ended, the most urgent first.
 * @returns `start` takes one out, `end` says that one has ended */
function queueOf(jobs: readonly Job[], priority: Priority) {
  const known = new Set(jobs.map(({ id }) => id));
  const missing = new Map(
    jobs.map(({ id, depends }) => [id, depends.filter((one) => known.has(one)).length]),
  );
  const dependents = dependentsOf(jobs);
  const order = byPriority(known, priority);
  const ranks = new Map(order.map((id, index) => [id, index]));
  const rank = (id: string): number => ranks.get(id) ?? 0;
  const ready = order.filter((id) => missing.get(id) === 0);
  return {
    ready: ready as readonly string[],
    start(id: string): void {
      ready.splice(ready.indexOf(id), 1);
    },
    end(id: string): void {
      for (const dependent of dependents.get(id) ?? []) {
        const left = (missing.get(dependent) ?? 0) - 1;
        missing.set(dependent, left);
        if (left !== 0) continue; // Below it: a list at fault names an id twice
        const place = lowest(ready, (other) => rank(other) > rank(dependent));
        ready.splice(place, 0, dependent);
      }
    },
  };
}

const minutesOf = (jobs: readonly Job[]): ReadonlyMap<string, number> =>
  new Map(jobs.map(({ id, minutes }) => [id, minutes]));

/** How much of the work that a job keeps from running counts: of 0 to 1 within 0.1 % of the best
 * for each kind of graph in `npm run bench`. */
const RIVALS = 0.3;
/** Improvements beyond the third were rare there. */
const ROUNDS = 3;

/** How urgent each job is: the minutes of the longest chain that starts with it, and part of what
 * it conflicts with. That is then improved forward and backward, as known from project scheduling:
 * the run played from its end, where what ended last starts first, tells how long before the end
 * each job has to start. Kept where the makespan is shorter. */
export function prioritise(jobs: readonly Job[], rivals: Lists, workers: number): Priority {
  const minutes = minutesOf(jobs);
  const dependents = dependentsOf(jobs);
  const play = (priority: Priority): Schedule => simulate(jobs, rivals, workers, priority);
  const reversed = jobs.map((job) => ({ ...job, depends: dependents.get(job.id) ?? [] }));
  const playBack = (priority: Priority): Schedule => simulate(reversed, rivals, workers, priority);

  let best = firstPriority(jobs, dependents, rivals, [...play(new Map()).starts.keys()]);
  let schedule = play(best);
  let shortest = schedule.makespan;
  for (let round = 0; round < ROUNDS; round++) {
    const back = playBack(endsOf(schedule, minutes));
    const priority = endsOf(back, minutes);
    schedule = play(priority);
    if (schedule.makespan >= shortest) continue;
    best = priority;
    shortest = schedule.makespan;
  }
  return best;
}

/** By the longest chain that starts with each job, and part of what it conflicts with.
 * @param order the jobs, each after what it depends on */
function firstPriority(
  jobs: readonly Job[],
  dependents: Lists,
  rivals: Lists,
  order: readonly string[],
): Priority {
  const minutes = minutesOf(jobs);
  const minutesFor = (id: string): number => minutes.get(id) ?? 0;
  const chains = longestChains(order.toReversed(), (id) => dependents.get(id) ?? [], minutesFor);
  const priority = new Map<string, number>();
  for (const [id, { length }] of chains) {
    const barred = (rivals.get(id) ?? []).reduce((sum, rival) => sum + minutesFor(rival), 0);
    priority.set(id, length + RIVALS * barred);
  }
  return priority;
}

/** When each job ends. */
const endsOf = ({ starts }: Schedule, minutes: ReadonlyMap<string, number>): Priority =>
  new Map([...starts].map(([id, start]) => [id, start + (minutes.get(id) ?? 0)]));
