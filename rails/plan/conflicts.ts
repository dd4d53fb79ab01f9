import { clean, namesOf, overlap, type Pattern, readPattern } from "./glob.ts";
import type { Conflict, Task } from "./task.ts";

/** Is this path, from the repository's root, in what the pattern stands for? Read as for conflicts; false where the
 * pattern cannot be read.
 * @param prefix the folder that the list is for; a pattern that is written from the root counts as well */
export function matches(pattern: string, path: string, prefix = ""): boolean {
  const names = namesOf(clean(path));
  const isInside = prefix !== "" && !/^(?:\/|[a-z]:|~)/.test(clean(pattern));
  const forms = [pattern, ...(isInside ? [`${prefix}/${pattern.trim()}`] : [])];
  return names !== undefined && forms.flatMap((form) => readPattern(form).patterns).some((one) => overlap(one, names));
}

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
