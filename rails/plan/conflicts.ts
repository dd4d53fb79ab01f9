import { lowest } from "./collections.ts";
import {
  clean,
  hasWildcard,
  isAbsolute,
  namesOf,
  overlap,
  type Pattern,
  readPattern,
} from "./glob.ts";
import type { Conflict, Task, TaskFile } from "./task.ts";

/** Is this path, from the repository's root, in what the pattern stands for? Read as for conflicts;
 * false where the pattern cannot be read.
 * @param prefix the folder that the list is for; a pattern that is written from the root counts as
 *   well */
export function matches(pattern: string, path: string, prefix = ""): boolean {
  // A star in a file's name stands for nothing but itself.
  const names = namesOf(clean(path).replace(/[*?]/g, "\0"));
  if (names === undefined) return false;
  const forms = [pattern];
  if (prefix !== "" && !isAbsolute(clean(pattern))) forms.push(`${prefix}/${pattern.trim()}`);
  const patterns = forms.flatMap((form) => readPattern(form).patterns);
  return patterns.some((one) => overlap(one, names));
}

/** What a task names as a pattern: of a path that is meant as it is, each sign that a pattern reads
 * otherwise stands for any one. */
export const patternOf = ({ path, literal }: TaskFile): string =>
  literal ? path.replace(/[*?{}[\]!@+(),]/g, "?") : path;

/** Is this path in what one of the patterns stands for? */
export const matchesAny = (patterns: readonly string[], path: string, prefix = ""): boolean =>
  patterns.some((pattern) => matches(pattern, path, prefix));

/** A pattern of the blueprint: a name without a folder is meant in every folder. */
export const anywhere = (pattern: string): string =>
  pattern.replace(/\/$/, "").includes("/") ? pattern : `**/${pattern}`;

/** The pairs of tasks that would touch the same place, in the list's order. Left out are tasks that
 * are done, and pairs of which one depends on the other, by however many steps.
 * @param ordered whether one of two depends on the other */
export function findConflicts(
  tasks: readonly Task[],
  ordered: (one: string, other: string) => boolean,
): Conflict[] {
  const open = tasks.filter(({ done }) => !done);
  const places = open.flatMap(({ id, files }, task) =>
    files.flatMap(placesOf).map((place) => ({ ...place, id, task })),
  );
  const pairs = new Map<number, Pair>(); // By the numbers of both tasks, so that they can be sorted
  for (const { one, other } of meetings(places)) {
    if (one.task === other.task || ordered(one.id, other.id)) continue;
    if (!overlap(one.pattern, other.pattern)) continue;
    const first = one.task < other.task ? one : other;
    const second = first === one ? other : one;
    const key = first.task * open.length + second.task;
    const pair = pairs.get(key) ?? newPair(first.id, second.id);
    pair.paths.add(first.path);
    pair.guessed &&= first.guessed || second.guessed;
    pairs.set(key, pair);
  }
  const sorted = [...pairs].sort(([a], [b]) => a - b);
  return sorted.map(([, pair]) => ({ ...pair, paths: [...pair.paths].sort() }));
}

/** What an entry under `Files:` stands for; `stem`: the plain names that it begins with. */
type Place = TaskFile & Readonly<{ pattern: Pattern; stem: string }>;
/** A conflict while it is being gathered. */
type Pair = { tasks: Conflict["tasks"]; paths: Set<string>; guessed: boolean };

const newPair = (first: string, second: string): Pair => ({
  tasks: [first, second],
  paths: new Set(),
  guessed: true,
});

/** The places that may be the same by what they begin with, in pairs. */
function* meetings<P extends Place>(places: readonly P[]): Generator<{ one: P; other: P }> {
  // Two can only meet where the stem of one begins the other's: sorted, such a place and those
  // below it stand in a row.
  const sorted = places.toSorted((a, b) => (a.stem < b.stem ? -1 : Number(a.stem > b.stem)));
  for (const [index, one] of sorted.entries()) {
    let at = index + 1;
    for (let other = sorted[at]; other?.stem.startsWith(one.stem); other = sorted[at]) {
      const next = nextStem(one.pattern, other.pattern);
      if (next === "") {
        yield { one, other };
        at++;
      } else at = lowest(sorted, ({ stem }) => stem >= next);
    }
  }
}

/** The stem from which on, in sorted places, the first pattern may meet one again, where by its
 * names up to a `**` it does not meet the other; empty where nothing can be said. */
function nextStem(one: Pattern, other: Pattern): string {
  for (const [at, name] of one.entries()) {
    const theirs = other[at] ?? "**";
    if (name === "**" || hasWildcard(theirs)) return "";
    if (overlap([name], [theirs])) continue;
    const above = stemOf(other.slice(0, at));
    if (hasWildcard(name)) return `${above}${theirs}/\uffff`;
    return `${name}/` > `${theirs}/` ? `${above}${name}/` : `${above}\uffff`;
  }
  return "";
}

function placesOf(file: TaskFile): Place[] {
  return readPattern(patternOf(file)).patterns.map((pattern) => {
    const plain = pattern.slice(0, pattern.findIndex(hasWildcard));
    return { ...file, pattern, stem: stemOf(plain) };
  });
}

const stemOf = (names: Pattern): string => names.map((name) => `${name}/`).join("");
