import { overlap, type Pattern, readPattern } from "./glob.ts";
import type { Conflict, Task } from "./task.ts";

/** A pattern of the list, once however often it is written, and who writes it. */
interface Place {
  readonly pattern: Pattern;
  readonly users: { readonly task: number; readonly path: string; readonly guessed: boolean }[];
}

/**
 * Is this path (or folder) in what the pattern stands for? The same reading as for conflicts; false for a pattern
 * that cannot be read.
 * @param pattern a path, folder or glob as a list writes it, for `Forbid:` say
 * @param path one path relative to the same folder, taken by the letter
 */
export function matches(pattern: string, path: string): boolean {
  const names = path.replaceAll("\\", "/").normalize("NFC").toLowerCase().split("/");
  const letter: Pattern = names.filter((name) => name !== "" && name !== ".");
  return readPattern(pattern).some((one) => overlap(one, letter));
}

/**
 * The pairs of tasks that would touch the same place, in the list's order. Left out are pairs that cannot run at the same
 * time anyway, and tasks that are done.
 * @param ordered does one of the two depend on the other, by however many steps?
 */
export function findConflicts(tasks: readonly Task[], ordered: (one: string, other: string) => boolean): Conflict[] {
  const places = new Map<string, Place>();
  for (const [task, { files, done }] of tasks.entries())
    for (const { path, guessed } of done ? [] : files)
      for (const pattern of readPattern(path)) {
        const key = JSON.stringify(pattern);
        const place = places.get(key) ?? { pattern, users: [] };
        places.set(key, place);
        place.users.push({ task, path, guessed });
      }

  const pairs = new Map<number, { paths: Set<string>; guessed: boolean }>();
  const add = (one: Place["users"][number], other: Place["users"][number]) => {
    if (one.task === other.task) return;
    const [first, second] = one.task < other.task ? [one, other] : [other, one];
    const key = first.task * tasks.length + second.task;
    const pair = pairs.get(key) ?? { paths: new Set(), guessed: true };
    pairs.set(key, pair);
    pair.paths.add(first.path);
    pair.guessed &&= first.guessed || second.guessed;
  };
  // Two patterns can only meet where the plain names that one begins with begin the other: each looks up its own ancestors.
  const seen = new Map<string, Place[]>();
  for (const place of [...places.values()].sort((a, b) => stem(a).length - stem(b).length)) {
    for (const [index, one] of place.users.entries()) for (const other of place.users.slice(index + 1)) add(one, other);
    const names = stem(place);
    for (let length = 0; length <= names.length; length++)
      for (const other of seen.get(names.slice(0, length).join("/")) ?? [])
        if (overlap(place.pattern, other.pattern))
          for (const one of place.users) for (const another of other.users) add(one, another);
    const key = names.join("/");
    const same = seen.get(key);
    if (same) same.push(place);
    else seen.set(key, [place]);
  }

  return [...pairs]
    .sort(([a], [b]) => a - b)
    .flatMap(([key, { paths, guessed }]) => {
      const one = tasks[Math.floor(key / tasks.length)]?.id ?? "";
      const other = tasks[key % tasks.length]?.id ?? "";
      return ordered(one, other) ? [] : [{ tasks: [one, other], paths: [...paths], guessed }];
    });
}

/** The plain names that a pattern begins with. */
function stem({ pattern }: Place): string[] {
  const end = pattern.findIndex((segment) => typeof segment !== "string" || segment === "**");
  return pattern.slice(0, end < 0 ? pattern.length : end) as string[];
}
