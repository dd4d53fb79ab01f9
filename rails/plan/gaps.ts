import { matches } from "./conflicts.ts";
import { clean, namesOf } from "./glob.ts";
import type { Read } from "./item.ts";
import { withoutCode } from "./lines.ts";
import type { Finding, Level } from "./task.ts";

/** What a list is held against, as far as it is known. */
export interface Known {
  readonly vague?: readonly string[]; // Patterns of words that leave open what is meant
  readonly exists?: (path: string) => boolean; // Is there such a file or folder now?
  readonly expected?: number; // How many tasks there should be
}

/** What tasks that are not done leave open: one finding of a kind for all whom it concerns. */
export function findGaps(tasks: readonly Read[], where: string, { vague = [], exists, expected }: Known): Finding[] {
  const open = tasks.filter(({ done }) => !done);
  const findings: Finding[] = [];
  const add = (level: Level, code: string, line: number, what: string, all: readonly string[], hint: string): void => {
    const some = all.length > 10 ? [...all.slice(0, 10), `${all.length - 10} more`] : all;
    if (all.length > 0) findings.push({ level, code, line, message: `${where} ${what} ${some.join(", ")}`, hint });
  };
  const idsOf = (is: (task: Read) => boolean): string[] => open.filter(is).map(({ id }) => id);

  const read = expected === undefined || expected === tasks.length ? [] : [`${tasks.length} tasks, not ${expected}`];
  add("error", "expected", 1, "was read as", read, "look for what was lost, or taken for a task");
  const unproven = idsOf(({ doneWhen, verify }) => doneWhen === "" && verify === "");
  add("warning", "no-verification", 0, "does not say how to prove", unproven, "add «Done when:» or «Verify:»");
  const unclear = vagueIn(open, vague);
  const first = unclear[0]?.number ?? 0;
  const phrases = unclear.map(({ number, phrase }) => `«${phrase}» on line ${number}`);
  add("warning", "vague", first, "leaves open what is meant by", phrases, "say all of it, or leave it out");
  const silent = idsOf(({ files }) => files.length === 0);
  add("note", "no-files", 0, "names no files, so conflicts cannot be predicted, for", silent, "add «Files:»");
  const bare = idsOf((task) => task.files.length === 0 && task.description + task.doneWhen + task.verify === "");
  add("note", "empty-body", 0, "has nothing but a title for", bare, "say what is to be done");
  const missing = exists ? missingFrom(open, exists) : [];
  add("note", "not-there", 0, "names what is not there yet, so to be made:", missing, "if it should be, mend the path");

  for (const { id, line, files } of open)
    if (files.some(({ path }) => matches(".claude", path.replace(/[*?].*/, "")))) {
      const message = `task ${id} is about files under .claude/: the client refuses workers' writes there`;
      findings.push({ level: "warning", code: "claude-folder", line, message, hint: "do it by hand" });
    }
  return findings;
}

/** The first vague phrase of each line of what tasks say in words. */
function vagueIn(tasks: readonly Read[], patterns: readonly string[]) {
  const all = patterns.map((pattern) => new RegExp(pattern, "i"));
  const phraseIn = (text: string) => all.map((one) => one.exec(withoutCode(text))?.[0].trim()).find(Boolean);
  const lines = tasks.flatMap(({ words }) => words.map(({ number, text }) => ({ number, phrase: phraseIn(text) })));
  return lines.filter(({ phrase }) => phrase !== undefined);
}

/** The declared paths that are not there, unless an earlier task names them or a folder that they are in. */
function missingFrom(tasks: readonly Read[], exists: (path: string) => boolean): string[] {
  const made = new Set<string>();
  const namesIn = (path: string) => namesOf(clean(path)) ?? [];
  return tasks.flatMap(({ files }) => {
    const declared = files.filter(({ path, guessed }) => !guessed && !/[*?{]/.test(path)).map(({ path }) => path);
    const isMade = (path: string) => namesIn(path).some((_, at, names) => made.has(names.slice(0, at + 1).join("/")));
    const missing = declared.filter((path) => !isMade(path) && !exists(path));
    for (const { path } of files) made.add(namesIn(path.replace(/(?<=\/)\*{1,2}$/, "")).join("/"));
    return [...new Set(missing)];
  });
}
