import { clean, namesOf, overlap, type Pattern, readPattern } from "./glob.ts";
import type { Conflict, Task } from "./task.ts";

/** Is this path, from the repository's root, in what the pattern stands for? Read as for conflicts, from the folder
 * `prefix` or from the root; false where the pattern cannot be read. */
export function matches(pattern: string, path: string, prefix = ""): boolean {
  const names = namesOf(clean(path));
  const ways = prefix === "" ? [pattern] : [pattern, `${prefix}/${pattern}`];
  const patterns = ways.flatMap((way) => readPattern(way).patterns);
  return names !== undefined && patterns.some((one) => overlap(one, names));
}

/** A pattern of the blueprint: a name without a folder is meant in every folder. */
export const anywhere = (pattern: string): string =>
  pattern.replace(/\/$/, "").includes("/") ? pattern : `**/${pattern}`;

/** The pairs of tasks that would touch the same place, in the list's order. Left out are tasks that are done, and pairs
 * of which one depends on the other, by however many steps. */
export function findConflicts(tasks: readonly Task[], ordered: (one: string, other: string) => boolean): Conflict[] {
  const places = tasks.flatMap(({ files, done }, task) =>
    (done ? [] : files).flatMap(({ path, guessed }) =>
      readPattern(path).patterns.map((pattern) => ({ pattern, stem: stem(pattern), task, path, guessed })),
    ),
  );
  // Two patterns can only meet where the plain names that one begins with begin the other: each looks up its own ancestors.
  const byStem = new Map<string, typeof places>();
  for (const place of places) {
    const key = place.stem.join("/");
    const same = byStem.get(key) ?? [];
    same.push(place);
    byStem.set(key, same);
  }
  const pairs = new Map<number, Conflict & { paths: string[]; guessed: boolean }>();
  for (const place of places)
    for (let length = place.stem.length; length >= 0; length--)
      for (const near of byStem.get(place.stem.slice(0, length).join("/")) ?? []) {
        if (near.task === place.task || !overlap(near.pattern, place.pattern)) continue;
        const [first, second] = near.task < place.task ? [near, place] : [place, near];
        const ids = [tasks[first.task]?.id ?? "", tasks[second.task]?.id ?? ""] as const;
        const key = first.task * tasks.length + second.task;
        const pair = pairs.get(key) ?? { tasks: ids, paths: [], guessed: true };
        pairs.set(key, pair);
        if (!pair.paths.includes(first.path)) pair.paths.push(first.path);
        pair.guessed &&= first.guessed || second.guessed;
      }
  const sorted = [...pairs].sort(([a], [b]) => a - b).map(([, pair]) => pair);
  return sorted.filter(({ tasks: [one, other] }) => !ordered(one, other));
}

/** The plain names that a pattern begins with. */
function stem(pattern: Pattern): Pattern {
  const end = pattern.findIndex((name) => /[*?]/.test(name));
  return end < 0 ? pattern : pattern.slice(0, end);
}
