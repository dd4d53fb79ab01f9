import { greenBefore } from "../journal/checks.ts";
import { flakyIn } from "../journal/flaky.ts";
import type { AttemptState, RunState, TaskState } from "../journal/state.ts";
import { anywhere, matches, matchesAny } from "../plan/conflicts.ts";
import { code, listed } from "../program/shown.ts";
import { landingOf } from "./landed.ts";

/** Why what a task left is worth a person's look, and how much: a number that only orders. */
const WORTH = {
  deleted: 8, // Files went that it does not name
  idle: 8, // Its own check passed before anything was done
  untouched: 6, // It touched none of the files that it names
  "high-risk": 6,
  unnamed: 4, // It touched files that it does not name
  "by-hand": 4, // A person's word landed it
  flaky: 3, // A gate of it was red and green on the same files
  empty: 2, // Commits of it changed nothing on the line
  unshown: 2, // No command shows what is done when it is
  again: 1, // It took more than one worker
  unread: 1, // Nobody but its author read it
} as const;

export type MarkKind = keyof typeof WORTH;

/** One of them. `words` are ours, `names` are others': paths, commands, gates. */
export type Mark = Readonly<{ kind: MarkKind; words: string; names: readonly string[] }>;

/** Marks that most tasks of a run may have: said once for all of them. */
export const COMMON: readonly MarkKind[] = ["unshown", "unread"];

/** How much a task is worth a look: 0 where nothing speaks for one. */
export const worthOf = (marks: readonly Mark[]): number =>
  marks.reduce((sum, { kind }) => sum + WORTH[kind], 0);

/** Does a mark alone make a look worth it? */
export const isStrong = ({ kind }: Mark): boolean => WORTH[kind] >= WORTH.untouched;

/** What speaks for a look at what a task left, the strongest first; nothing where it left nothing.
 */
export function marksOf(state: RunState, task: TaskState): Mark[] {
  const { result, risk, doneWhen, checks, attempts, phases } = task;
  if (!result?.submitted) return [];
  const { byHand } = result.submitted;
  const marks = touchedMarks(state, task, result);
  const add = (kind: MarkKind, words: string, names: readonly string[] = []): void =>
    void marks.push({ kind, words, names });
  const idle = greenBefore(state, task);
  if (idle.length > 0) add("idle", "passed before anything was done, and so shows nothing", idle);
  if (risk === "high") add("high-risk", "of high risk");
  if (byHand) add("by-hand", "landed by a person's word");
  const flaky = flakyIn(state).filter(({ tasks }) => tasks.includes(task.id));
  if (flaky.length > 0)
    add("flaky", "red and then green on the same files", [
      ...new Set(flaky.map(({ gate }) => gate)),
    ]);
  const { skipped = 0, commits = 0 } = landingOf(state, task) ?? {};
  if (skipped > 0) add("empty", `${skipped} of its ${commits} commits changed nothing there`);
  if (doneWhen !== "" && (checks ?? []).length === 0)
    add("unshown", "no command shows what it is done by");
  const tries = attempts.filter(({ phase }) => phase === result.phase).length;
  if (tries > 1 && !phases.some(({ rounds, variants }) => rounds ?? variants))
    add("again", `attempt ${tries}`);
  if (!attempts.some(({ submitted }) => submitted?.verdict === "pass"))
    add("unread", "nobody but its author read it");
  return marks.sort((a, b) => WORTH[b.kind] - WORTH[a.kind]);
}

/** Where what a task touched is not what it names. What may come along with a named file counts as
 * named. */
function touchedMarks(state: RunState, { files }: TaskState, { submitted }: AttemptState): Mark[] {
  const paths = submitted?.paths ?? [];
  const isNamed = (path: string): boolean =>
    files.some((each) => matches(each.path, path, state.prefix));
  const named = paths.filter(isNamed);
  const along: string[] = [];
  for (const [pattern, companions] of Object.entries(state.blueprint.companions))
    if (named.some((path) => matches(anywhere(pattern), path)))
      along.push(...companions.map(anywhere));
  const deleted = (submitted?.deleted ?? []).filter((path) => !isNamed(path));
  const others = paths.filter(
    (path) => !isNamed(path) && !deleted.includes(path) && !matchesAny(along, path),
  );
  const marks: Mark[] = [];
  if (files.length > 0 && named.length === 0)
    marks.push({
      kind: "untouched",
      words: "none of the files that it names was touched",
      names: [],
    });
  if (files.length > 0 && others.length > 0)
    marks.push({ kind: "unnamed", words: "touched though not named", names: others });
  if (deleted.length > 0)
    marks.push({ kind: "deleted", words: "deleted though not named", names: deleted });
  return marks;
}

/** A mark within a line of Markdown. @param most how many names are said */
export function markText(mark: Mark, most = Number.POSITIVE_INFINITY): string {
  const { kind, words, names } = mark;
  const shown = names.slice(0, most);
  const more = names.length > shown.length ? ` and ${names.length - shown.length} more` : "";
  const text =
    kind === "idle"
      ? `${shown.map(code).join(", ")}${more} ${words}`
      : `${words}${shown.length > 0 ? `: ${listed(shown)}${more}` : ""}`;
  return isStrong(mark) ? `**${text}**` : text;
}
