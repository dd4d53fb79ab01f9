import { clean, namesOf, overlap, type Pattern, readPattern } from "./glob.ts";
import type { Conflict, Task } from "./task.ts";

/** A pattern of the list, and which task writes it. */
interface Place {
  readonly pattern: Pattern;
  readonly task: number;
  readonly path: string;
  readonly guessed: boolean;
}

/**
 * Is this path (or folder) in what the pattern stands for? The same reading as for conflicts; false for a pattern
 * that cannot be read.
 * @param pattern a path, folder or glob as a list writes it, for `Forbid:` say
 * @param path one path relative to the same folder
 */
export function matches(pattern: string, path: string): boolean {
  const names = namesOf(clean(path));
  const patterns = readPattern(pattern);
  return names !== undefined && typeof patterns !== "string" && patterns.some((one) => overlap(one, names));
}

/**
 * The pairs of tasks that would touch the same place, in the list's order. Left out are pairs that cannot run at the same
 * time anyway, and tasks that are done.
 * @param ordered does one of the two depend on the other, by however many steps?
 */
export function findConflicts(tasks: readonly Task[], ordered: (one: string, other: string) => boolean): Conflict[] {
  const places = tasks.flatMap(({ files, done }, task) =>
    (done ? [] : files).flatMap(({ path, guessed }) => {
      const patterns = readPattern(path);
      return typeof patterns === "string" ? [] : patterns.map((pattern): Place => ({ pattern, task, path, guessed }));
    }),
  );
  // Two patterns can only meet where the plain names that one begins with begin the other: each looks up its own ancestors.
  const byStem = new Map<string, Place[]>();
  for (const place of places) {
    const key = stem(place.pattern).join("/");
    byStem
      .set(key, byStem.get(key) ?? [])
      .get(key)
      ?.push(place);
  }
  const pairs = new Map<number, { one: Task; other: Task; paths: Set<string>; guessed: boolean }>();
  for (const place of places)
    for (const [length] of ["", ...stem(place.pattern)].entries())
      for (const near of byStem.get(stem(place.pattern).slice(0, length).join("/")) ?? []) {
        if (near.task === place.task || !overlap(near.pattern, place.pattern)) continue;
        const [first, second] = near.task < place.task ? [near, place] : [place, near];
        const [one, other] = [tasks[first.task] as Task, tasks[second.task] as Task];
        const key = first.task * tasks.length + second.task;
        const pair = pairs.get(key) ?? { one, other, paths: new Set(), guessed: true };
        pairs.set(key, pair);
        pair.paths.add(first.path);
        pair.guessed &&= first.guessed || second.guessed;
      }
  return [...pairs]
    .sort(([a], [b]) => a - b)
    .filter(([, { one, other }]) => !ordered(one.id, other.id))
    .map(([, { one, other, paths, guessed }]) => ({ tasks: [one.id, other.id], paths: [...paths], guessed }));
}

/** The plain names that a pattern begins with. */
function stem(pattern: Pattern): Pattern {
  const end = pattern.findIndex((name) => /[*?]/.test(name));
  return end < 0 ? pattern : pattern.slice(0, end);
}
