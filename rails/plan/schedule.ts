import { lowest } from "./sorted.ts";
import type { Task } from "./task.ts";

/** One piece of work: what it waits for, and how long it takes, in minutes or in whatever unit all of them share. */
export type Job = Readonly<{ id: string; depends: readonly string[]; minutes: number }>;
/** For each id those that it conflicts with. */
export type Rivals = ReadonlyMap<string, readonly string[]>;
/** For each id how urgent it is; nothing said is 0. */
export type Priority = ReadonlyMap<string, number>;
/** When each job starts, in the order in which they start, and when the last one ends. */
export type Schedule = Readonly<{ makespan: number; starts: ReadonlyMap<string, number> }>;

/** The one place that decides what is dispatched now (list scheduling): as many as there are free slots, the most urgent
 * first, none that conflicts with what is under way or with another of them.
 * @param ready ids of what could be dispatched, as `byPriority` sorts them
 * @param busy ids of what is under way; what waits for landing counts, though it takes no slot */
export function startNow(ready: readonly string[], busy: Iterable<string>, rivals: Rivals, slots: number): string[] {
  const taken = new Set(busy);
  const chosen: string[] = [];
  for (const id of ready) {
    if (chosen.length >= slots) break;
    if (rivals.get(id)?.some((rival) => taken.has(rival))) continue;
    chosen.push(id);
    taken.add(id);
  }
  return chosen;
}

/** What is left of a list as jobs; minutes may be said, else each counts alike. */
export const jobsOf = (tasks: readonly Pick<Task, "id" | "depends" | "done">[], minutes = (_: string) => 1): Job[] =>
  tasks.filter(({ done }) => !done).map(({ id, depends }) => ({ id, depends, minutes: minutes(id) }));

/** The most urgent first; of equals the one that is listed first. */
export const byPriority = (ids: Iterable<string>, priority: Priority): string[] =>
  [...ids].sort((a, b) => (priority.get(b) ?? 0) - (priority.get(a) ?? 0));

export const rivalsOf = (conflicts: readonly (readonly [string, string])[]): Rivals =>
  grouped(conflicts.flatMap(([one, other]) => [[one, other] as const, [other, one] as const]));

/** Plays a run through by that decision, where each job takes its minutes and nothing fails. Dependencies that are no job
 * are there already; jobs in a cycle are left out. */
export function simulate(jobs: readonly Job[], rivals: Rivals, workers: number, priority: Priority): Schedule {
  const minutes = new Map(jobs.map((job) => [job.id, job.minutes]));
  const after = grouped(edges(jobs, minutes));
  const missing = new Map(jobs.map(({ id, depends }) => [id, depends.filter((one) => minutes.has(one)).length]));
  const order = byPriority(minutes.keys(), priority);
  const rank = new Map(order.map((id, index) => [id, index]));
  const ready = order.filter((id) => missing.get(id) === 0);
  const [starts, ends] = [new Map<string, number>(), new Map<string, number>()]; // `ends`: of what is under way
  for (let now = 0; ; now = Math.min(...ends.values())) {
    for (const [id] of [...ends].filter(([, end]) => end <= now)) {
      ends.delete(id);
      for (const one of after.get(id) ?? []) {
        const left = (missing.get(one) ?? 0) - 1;
        missing.set(one, left);
        if (left === 0)
          ready.splice(
            lowest(ready, (other) => (rank.get(other) ?? 0) > (rank.get(one) ?? 0)),
            0,
            one,
          );
      }
    }
    for (const id of startNow(ready, ends.keys(), rivals, workers - ends.size)) {
      starts.set(id, now);
      ends.set(id, now + (minutes.get(id) ?? 0));
      ready.splice(ready.indexOf(id), 1);
    }
    if (ends.size === 0) return { makespan: now, starts };
  }
}

/** How much of the work that a job conflicts with counts towards its priority. Of 0 to 1 what did best on the graphs of
 * `npm run bench`, with durations known and unknown: such work cannot run beside it, though some of it is done by then. */
const RIVALS = 0.3;
/** Improvements beyond the third were rare there. */
const ROUNDS = 3;

/** How urgent each job is: the minutes of the longest chain that starts with it, and of what it keeps from running. That is
 * made better by forward-backward improvement, as known from project scheduling: the schedule played from its end, where
 * what ended last starts first, tells how long before the end each job has to start. Kept where the makespan is shorter. */
export function prioritise(jobs: readonly Job[], rivals: Rivals, workers: number): Priority {
  const minutes = new Map(jobs.map((job) => [job.id, job.minutes]));
  const sum = (ids: readonly string[] = []): number => ids.reduce((all, id) => all + (minutes.get(id) ?? 0), 0);
  const ends = ({ starts }: Schedule): Priority => new Map([...starts].map(([id, at]) => [id, at + sum([id])]));
  const after = grouped(edges(jobs, minutes));
  let schedule = simulate(jobs, rivals, workers, new Map());
  const chains = new Map<string, number>();
  for (const id of [...schedule.starts.keys()].reverse())
    chains.set(id, sum([id]) + Math.max(0, ...(after.get(id) ?? []).map((one) => chains.get(one) ?? 0)));
  let best: Priority = new Map([...chains].map(([id, chain]) => [id, chain + RIVALS * sum(rivals.get(id))]));
  schedule = simulate(jobs, rivals, workers, best);
  let shortest = schedule.makespan;
  const reversed = jobs.map((job) => ({ ...job, depends: after.get(job.id) ?? [] }));
  for (let round = 0; round < ROUNDS; round++) {
    const priority = ends(simulate(reversed, rivals, workers, ends(schedule)));
    schedule = simulate(jobs, rivals, workers, priority);
    if (schedule.makespan >= shortest) continue;
    [best, shortest] = [priority, schedule.makespan];
  }
  return best;
}

/** What each job comes before. */
const edges = (jobs: readonly Job[], known: ReadonlyMap<string, unknown>) =>
  jobs.flatMap(({ id, depends }) => depends.filter((one) => known.has(one)).map((one) => [one, id] as const));

function grouped(pairs: readonly (readonly [string, string])[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const [key, value] of pairs) {
    const group = groups.get(key);
    if (group) group.push(value);
    else groups.set(key, [value]);
  }
  return groups;
}
