import type { Task } from "./task.ts";

/** What waits for what, and how long each takes, in minutes or in whatever unit all of them share.
 */
export type Job = Readonly<{ id: string; depends: readonly string[]; minutes: number }>;
type Lists = ReadonlyMap<string, readonly string[]>;
/** How urgent each id is; nothing said is 0. */
export type Priority = ReadonlyMap<string, number>;
/** When each job starts, in the order in which they start, and when the last one ends. */
export type Schedule = Readonly<{ makespan: number; starts: ReadonlyMap<string, number> }>;

/** The one place that decides what is dispatched now (list scheduling): as many as there are free
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
  const minutes = new Map(jobs.map((job) => [job.id, job.minutes]));
  const missing = new Map(
    jobs.map(({ id, depends }) => [id, depends.filter((one) => minutes.has(one)).length]),
  );
  const after = followers(jobs);
  const order = byPriority(minutes.keys(), priority);
  const rank = new Map(order.map((id, index) => [id, index]));
  const ready = order.filter((id) => missing.get(id) === 0);
  const starts = new Map<string, number>();
  const ends = new Map<string, number>(); // `ends`: of what is under way
  for (let now = 0; ; now = Math.min(...ends.values())) {
    for (const [id] of [...ends].filter(([, end]) => end <= now)) {
      ends.delete(id);
      for (const one of after.get(id) ?? []) {
        missing.set(one, (missing.get(one) ?? 0) - 1);
        const isLater = (other: string) => (rank.get(other) ?? 0) > (rank.get(one) ?? 0);
        if (missing.get(one) === 0) ready.splice(lowest(ready, isLater), 0, one);
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
  const minutes = new Map(jobs.map((job) => [job.id, job.minutes]));
  const sum = (ids: readonly string[] = []): number =>
    ids.reduce((all, id) => all + (minutes.get(id) ?? 0), 0);
  const ends = ({ starts }: Schedule): Priority =>
    new Map([...starts].map(([id, at]) => [id, at + sum([id])]));
  const after = followers(jobs);
  const chains = new Map<string, number>();
  for (const id of [...simulate(jobs, rivals, workers, chains).starts.keys()].reverse())
    chains.set(
      id,
      sum([id]) + Math.max(0, ...(after.get(id) ?? []).map((one) => chains.get(one) ?? 0)),
    );
  let best: Priority = new Map(
    [...chains].map(([id, chain]) => [id, chain + RIVALS * sum(rivals.get(id))]),
  );
  let schedule = simulate(jobs, rivals, workers, best);
  const reversed = jobs.map((job) => ({ ...job, depends: after.get(job.id) ?? [] }));
  for (let round = 0, shortest = schedule.makespan; round < ROUNDS; round++) {
    const priority = ends(simulate(reversed, rivals, workers, ends(schedule)));
    schedule = simulate(jobs, rivals, workers, priority);
    if (schedule.makespan < shortest) [best, shortest] = [priority, schedule.makespan];
  }
  return best;
}

const followers = (jobs: readonly Job[]): Lists =>
  grouped(jobs.flatMap(({ id, depends }) => depends.map((one) => [one, id] as const)));

/** The second ones by the first. */
export function grouped(pairs: readonly (readonly [string, string])[]): Lists {
  const groups = new Map<string, string[]>();
  for (const [key, value] of pairs)
    if (groups.get(key)?.push(value) === undefined) groups.set(key, [value]);
  return groups;
}

/** The first place in a list at which this holds; from there on it does. */
export function lowest<T>(list: readonly T[], holds: (one: T) => boolean): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(list[middle] as T)) high = middle;
    else low = middle + 1;
  }
  return low;
}
