import { matches } from "./conflicts.ts";
import { clean, namesOf } from "./glob.ts";
import type { ListedTask } from "./item.ts";
import { withoutCode } from "./lines.ts";
import { type Finding, finding, type Level } from "./task.ts";

/** What a list is held against: patterns of words that leave open what is meant, which files and
 * folders there are, and how many tasks there should be. */
export type Known = Partial<{
  vague: readonly string[];
  exists: (path: string) => boolean;
  expected: number | null;
}>;

/** One kind of gap, and all that has it: tasks, phrases or paths. */
type Gap = Readonly<{
  level: Level;
  code: string;
  line?: number | undefined; // None: it is about the list as a whole
  what: string; // Goes on after the list's name
  all: readonly string[];
  hint: string;
}>;

/** So many of those that have a gap are named. */
const MOST_NAMED = 10;

/** What tasks that are not done leave open: one finding of a kind for all whom it concerns.
 * @param where what to call the list in a message */
export function findGaps(tasks: readonly ListedTask[], where: string, known: Known): Finding[] {
  const { vague = [], exists = () => true, expected = null } = known;
  const open = tasks.filter(({ done }) => !done);
  const gaps = [
    miscounted(tasks, expected),
    unproven(open),
    vagueWords(open, vague),
    withoutFiles(open),
    withoutBody(open),
    notThere(open, exists),
    doneEarly(tasks),
    inClientsFolder(open),
  ];
  return gaps
    .filter(({ all }) => all.length > 0)
    .map(({ level, code, line = 0, what, all, hint }) => {
      const some = all.slice(0, MOST_NAMED);
      if (all.length > MOST_NAMED) some.push(`${all.length - MOST_NAMED} more`);
      return finding(code, line, `${where} ${what} ${some.join(", ")}`, hint, level);
    });
}

const idsOf = (tasks: readonly ListedTask[]): string[] => tasks.map(({ id }) => id);

function miscounted(tasks: readonly ListedTask[], expected: number | null): Gap {
  const isRight = expected === null || expected === tasks.length;
  return {
    level: "error",
    code: "expected",
    line: 1,
    what: "was read as",
    all: isRight ? [] : [`${tasks.length} tasks, not ${expected}`],
    hint: "look for what was lost, or taken for a task",
  };
}

function unproven(open: readonly ListedTask[]): Gap {
  const found = open.filter(({ doneWhen, verify }) => doneWhen === "" && verify === "");
  return {
    level: "warning",
    code: "no-verification",
    what: "does not say how to prove",
    all: idsOf(found),
    hint: "add «Done when:» or «Verify:»",
  };
}

function vagueWords(open: readonly ListedTask[], vague: readonly string[]): Gap {
  const patterns = vague.map((pattern) => new RegExp(pattern, "i"));
  const phraseIn = (text: string): string | undefined => {
    const plain = withoutCode(text);
    return patterns.map((pattern) => pattern.exec(plain)?.[0].trim()).find(Boolean);
  };
  const found: { line: number; phrase: string }[] = [];
  for (const { number, text } of open.flatMap(({ words }) => words)) {
    const phrase = phraseIn(text);
    if (phrase !== undefined) found.push({ line: number, phrase });
  }
  return {
    level: "warning",
    code: "vague",
    line: found[0]?.line,
    what: "leaves open what is meant by",
    all: found.map(({ line, phrase }) => `«${phrase}» on line ${line}`),
    hint: "say all of it, or leave it out",
  };
}

function withoutFiles(open: readonly ListedTask[]): Gap {
  return {
    level: "note",
    code: "no-files",
    what: "names no files, so conflicts cannot be predicted, for",
    all: idsOf(open.filter(({ files }) => files.length === 0)),
    hint: "add «Files:»",
  };
}

function withoutBody(open: readonly ListedTask[]): Gap {
  const found = open.filter(
    ({ files, description, doneWhen, verify }) =>
      files.length === 0 && description === "" && doneWhen === "" && verify === "",
  );
  return {
    level: "note",
    code: "empty-body",
    what: "has nothing but a title for",
    all: idsOf(found),
    hint: "say what is to be done",
  };
}

function notThere(open: readonly ListedTask[], exists: (path: string) => boolean): Gap {
  const missing: string[] = [];
  const made = new Set<string>(); // By what stands above in the list, wildcards and guesses too
  for (const { path, guessed } of open.flatMap(({ files }) => files)) {
    const names = namesOf(clean(path.replace(/(?<=\/)\*{1,2}$/, ""))) ?? [];
    const isMade = names.some((_, at) => made.has(names.slice(0, at + 1).join("/")));
    made.add(names.join("/"));
    if (!isMade && !guessed && !/[*?{]/.test(path) && !exists(path)) missing.push(path);
  }
  return {
    level: "note",
    code: "not-there",
    what: "names what is not there yet, so to be made:",
    all: missing,
    hint: "if it should be, mend the path",
  };
}

function doneEarly(tasks: readonly ListedTask[]): Gap {
  const isDone = new Map(tasks.map(({ id, done }) => [id, done]));
  const found = tasks.filter(
    ({ done, depends }) => done && depends.some((id) => isDone.get(id) === false),
  );
  return {
    level: "warning",
    code: "done-early",
    line: found[0]?.line,
    what: "has as done, while what they depend on is not, so that nothing waits for it:",
    all: idsOf(found),
    hint: "look again at what is done",
  };
}

/** Claude Code keeps its own settings there. */
function inClientsFolder(open: readonly ListedTask[]): Gap {
  const isThere = (path: string): boolean => matches(".claude", path.replace(/[*?].*/, ""));
  const found = open.filter(({ files }) => files.some(({ path }) => isThere(path)));
  return {
    level: "warning",
    code: "claude-folder",
    line: found[0]?.line,
    what: "has files under .claude/, where the client refuses workers' writes, in",
    all: idsOf(found),
    hint: "do it by hand",
  };
}
