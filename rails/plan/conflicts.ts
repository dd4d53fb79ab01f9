import { lowest } from "./collections.ts";
import { clean, namesOf, overlap, type Pattern, readPattern } from "./glob.ts";
import type { Conflict, Task, TaskFile } from "./task.ts";

/** Is this path, from the repository's root, in what the pattern stands for? Read as for conflicts;
 * false where the pattern cannot be read.
 * @param prefix the folder that the list is for; a pattern that is written from the root counts as
 *   well */
export function matches(pattern: string, path: string, prefix = ""): boolean {
  // A star in a file's name stands for nothing but itself.
  const names = namesOf(clean(path).replace(/[*?]/g, "\0"));
  const isInside = prefix !== "" && !/^(?:\/|[a-z]:|~)/.test(clean(pattern));
  const forms = [pattern, ...(isInside ? [`${prefix}/${pattern.trim()}`] : [])];
  return (
    names !== undefined &&
    forms.flatMap((form) => readPattern(form).patterns).some((one) => overlap(one, names))
  );
}

export const matchesAny = (patterns: readonly string[], path: string, prefix = ""): boolean =>
  patterns.some((pattern) => matches(pattern, path, prefix));

/** A pattern of the blueprint: a name without a folder is meant in every folder. */
export const anywhere = (pattern: string): string =>
  pattern.replace(/\/$/, "").includes("/") ? pattern : `**/${pattern}`;

/** The pairs of tasks that would touch the same place, in the list's order. Left out are tasks that
 * are done, and pairs of which one depends on the other, by however many steps. */
export function findConflicts(
  tasks: readonly Task[],
  ordered: (one: string, other: string) => boolean,
): Conflict[] {
  const open = tasks.filter(({ done }) => !done);
  const all = open.flatMap(({ id, files }, task) =>
    files.flatMap(placesOf).map((place) => ({ ...place, id, task })),
  );
  // Two can only meet where the stem of one begins the other's: sorted, such a place and those
  // below it stand in a row.
  const places = all.sort((a, b) => (a.stem < b.stem ? -1 : Number(a.stem > b.stem)));
  const found = new Map<
    number,
    { pair: Conflict["tasks"]; paths: Set<string>; guessed: boolean }
  >();
  for (const [index, one] of places.entries()) {
    let at = index + 1;
    for (let other = places[at]; other?.stem.startsWith(one.stem); other = places[at]) {
      const next = nextStem(one.pattern, other.pattern);
      at = next === "" ? at + 1 : lowest(places, ({ stem }) => stem >= next);
      if (next !== "" || one.task === other.task || ordered(one.id, other.id)) continue;
      if (!overlap(one.pattern, other.pattern)) continue;
      const [first, second] = one.task < other.task ? [one, other] : [other, one];
      const key = first.task * open.length + second.task;
      const { paths = new Set<string>(), guessed = true } = found.get(key) ?? {};
      const isGuess = first.guessed || second.guessed;
      found.set(key, {
        pair: [first.id, second.id],
        paths: paths.add(first.path),
        guessed: guessed && isGuess,
      });
    }
  }
  const sorted = [...found].sort(([a], [b]) => a - b);
  return sorted.map(([, { pair, paths, guessed }]) => ({
    tasks: pair,
    paths: [...paths].sort(),
    guessed,
  }));
}

/** The stem from which on, in sorted places, the first pattern may meet one again, where by its
 * names up to a `**` it does not meet the other; empty where nothing can be said. */
function nextStem(one: Pattern, other: Pattern): string {
  for (const [at, name] of one.entries()) {
    const theirs = other[at] ?? "**";
    if (name === "**" || /[*?]/.test(theirs)) return "";
    if (overlap([name], [theirs])) continue;
    const above = other
      .slice(0, at)
      .map((each) => `${each}/`)
      .join("");
    if (/[*?]/.test(name)) return `${above}${theirs}/\uffff`;
    return `${name}/` > `${theirs}/` ? `${above}${name}/` : `${above}\uffff`;
  }
  return "";
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
