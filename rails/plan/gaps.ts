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

/** What tasks that are not done leave open: one finding of a kind for all whom it concerns. */
export function findGaps(tasks: readonly ListedTask[], where: string, known: Known): Finding[] {
  const { vague = [], exists = () => true, expected = null } = known;
  const open = tasks.filter(({ done }) => !done);
  const findings: Finding[] = [];
  const add = (
    level: Level,
    code: string,
    line: number,
    what: string,
    all: readonly string[],
    hint: string,
  ): void => {
    const some = all.length > 10 ? [...all.slice(0, 10), `${all.length - 10} more`] : all;
    if (all.length > 0)
      findings.push(finding(code, line, `${where} ${what} ${some.join(", ")}`, hint, level));
  };
  const idsOf = (is: (task: ListedTask) => boolean): string[] =>
    open.filter(is).map(({ id }) => id);

  const read =
    expected === null || expected === tasks.length
      ? []
      : [`${tasks.length} tasks, not ${expected}`];
  add("error", "expected", 1, "was read as", read, "look for what was lost, or taken for a task");
  const unproven = idsOf(({ doneWhen, verify }) => doneWhen === "" && verify === "");
  add(
    "warning",
    "no-verification",
    0,
    "does not say how to prove",
    unproven,
    "add «Done when:» or «Verify:»",
  );
  const patterns = vague.map((pattern) => new RegExp(pattern, "i"));
  const unclear = open.flatMap(({ words }) =>
    words.flatMap(({ number, text }) => {
      const plain = withoutCode(text);
      const phrase = patterns.map((one) => one.exec(plain)?.[0].trim()).find(Boolean);
      return phrase ? [{ number, phrase }] : [];
    }),
  );
  const phrases = unclear.map(({ number, phrase }) => `«${phrase}» on line ${number}`);
  const meant = "leaves open what is meant by";
  add(
    "warning",
    "vague",
    unclear[0]?.number ?? 0,
    meant,
    phrases,
    "say all of it, or leave it out",
  );
  const silent = idsOf(({ files }) => files.length === 0);
  add(
    "note",
    "no-files",
    0,
    "names no files, so conflicts cannot be predicted, for",
    silent,
    "add «Files:»",
  );
  const bare = idsOf(
    (task) => task.files.length === 0 && task.description + task.doneWhen + task.verify === "",
  );
  add("note", "empty-body", 0, "has nothing but a title for", bare, "say what is to be done");
  const made = new Set<string>();
  const missing = open.flatMap(({ files }) =>
    files.flatMap(({ path, guessed }) => {
      const names = namesOf(clean(path.replace(/(?<=\/)\*{1,2}$/, ""))) ?? [];
      const isMade = names.some((_, at) => made.has(names.slice(0, at + 1).join("/")));
      made.add(names.join("/"));
      return isMade || guessed || /[*?{]/.test(path) || exists(path) ? [] : [path];
    }),
  );
  add(
    "note",
    "not-there",
    0,
    "names what is not there yet, so to be made:",
    missing,
    "if it should be, mend the path",
  );
  const isDone = new Map(tasks.map(({ id, done }) => [id, done]));
  const early = tasks.filter(
    ({ done, depends }) => done && depends.some((id) => isDone.get(id) === false),
  );
  const before = "has as done, while what they depend on is not, so that nothing waits for it:";
  const undone = early.map(({ id }) => id);
  add("warning", "done-early", early[0]?.line ?? 0, before, undone, "look again at what is done");
  const client = open.filter(({ files }) =>
    files.some(({ path }) => matches(".claude", path.replace(/[*?].*/, ""))),
  );
  const refused = "has files under .claude/, where the client refuses workers' writes, in";
  const ids = client.map(({ id }) => id);
  add("warning", "claude-folder", client[0]?.line ?? 0, refused, ids, "do it by hand");
  return findings;
}
