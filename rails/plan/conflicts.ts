import { clean, namesOf, overlap, readPattern } from "./glob.ts";
import type { Conflict, Task, TaskFile } from "./task.ts";

/** Is this path, from the repository's root, in what the pattern stands for? Read as for conflicts; false where the
 * pattern cannot be read.
 * @param prefix the folder that the list is for; a pattern that is written from the root counts as well */
export function matches(pattern: string, path: string, prefix = ""): boolean {
  // A star in a file's name stands for nothing but itself.
  const names = namesOf(clean(path).replace(/[*?]/g, "\0"));
  const isInside = prefix !== "" && !/^(?:\/|[a-z]:|~)/.test(clean(pattern));
  const forms = [pattern, ...(isInside ? [`${prefix}/${pattern.trim()}`] : [])];
  return names !== undefined && forms.flatMap((form) => readPattern(form).patterns).some((one) => overlap(one, names));
}

/** A pattern of the blueprint: a name without a folder is meant in every folder. */
export const anywhere = (pattern: string): string =>
  pattern.replace(/\/$/, "").includes("/") ? pattern : `**/${pattern}`;

/** The pairs of tasks that would touch the same place, in the list's order. Left out are tasks that are done, and pairs
 * of which one depends on the other, by however many steps. */
export function findConflicts(tasks: readonly Task[], ordered: (one: string, other: string) => boolean): Conflict[] {
  const open = tasks.filter(({ done }) => !done);
  const all = open.map(({ id, files }) => ({ id, places: files.flatMap(placesOf) }));
  return all.flatMap((one, index) =>
    all.slice(index + 1).flatMap((other): Conflict[] => {
      const pairs = one.places.flatMap((a) => other.places.filter((b) => meet(a, b)).map((b) => [a, b] as const));
      if (pairs.length === 0 || ordered(one.id, other.id)) return [];
      const paths = [...new Set(pairs.map(([{ path }]) => path))].sort();
      return [{ tasks: [one.id, other.id], paths, guessed: pairs.every(([a, b]) => a.guessed || b.guessed) }];
    }),
  );
}

/** What an entry under `Files:` stands for; `stem`: the plain names that it begins with. */
const placesOf = (file: TaskFile) =>
  readPattern(file.path).patterns.map((pattern) => {
    const plain = pattern.slice(
      0,
      pattern.findIndex((name) => /[*?]/.test(name)),
    );
    return { ...file, pattern, stem: plain.map((name) => `${name}/`).join("") };
  });
type Place = ReturnType<typeof placesOf>[number];

/** Two can only meet where the beginning of one begins the other; that is looked at first, since it is quick. */
const meet = (a: Place, b: Place): boolean =>
  (a.stem.startsWith(b.stem) || b.stem.startsWith(a.stem)) && overlap(a.pattern, b.pattern);
