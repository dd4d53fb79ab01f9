import { clean, namesOf, overlap, type Pattern, readPattern } from "./glob.ts";
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
  const open = tasks.flatMap(({ id, files, done }) => (done ? [] : { id, places: files.flatMap(placesOf) }));
  const conflicts: Conflict[] = [];
  for (const [index, one] of open.entries())
    for (const other of open.slice(index + 1)) {
      const shared: TaskFile[] = [];
      for (const a of one.places)
        for (const b of other.places) if (meet(a, b)) shared.push({ path: a.path, guessed: a.guessed || b.guessed });
      if (shared.length === 0 || ordered(one.id, other.id)) continue;
      const paths = [...new Set(shared.map(({ path }) => path))].sort();
      conflicts.push({ tasks: [one.id, other.id], paths, guessed: shared.every(({ guessed }) => guessed) });
    }
  return conflicts;
}

/** What an entry under `Files:` stands for; `stem`: the plain names that it begins with, each with a `/` behind. */
type Place = TaskFile & Readonly<{ pattern: Pattern; stem: string }>;

function placesOf(file: TaskFile): Place[] {
  return readPattern(file.path).patterns.map((pattern) => {
    const end = pattern.findIndex((name) => /[*?]/.test(name));
    const plain = end < 0 ? pattern : pattern.slice(0, end);
    return { ...file, pattern, stem: plain.map((name) => `${name}/`).join("") };
  });
}

/** Two can only meet where the beginning of one begins the other; that is looked at first, since it is quick. */
const meet = (a: Place, b: Place): boolean =>
  (a.stem.startsWith(b.stem) || b.stem.startsWith(a.stem)) && overlap(a.pattern, b.pattern);
