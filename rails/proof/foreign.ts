import { createHash } from "node:crypto";
import { git, gitText } from "../git/git.ts";
import { isAncestor } from "../git/repository.ts";
import type { AttemptState, RunState, TaskState } from "../journal/state.ts";

/** A task's own commits: those above `base`, up to `head`, in the repository around `cwd`; `line`:
 * the folder whose HEAD is the line as it would be below them, where that is not its tip. */
export type Range = Readonly<{ base: string; head: string; cwd: string; line?: string }>;

/** A commit; `change`: the same for all that change the same in the same way; `ref`: by which it
 * was come upon. */
type Commit = Readonly<{ id: string; ref: string; subject: string; change: string }>;

/** What of a task's commits another task's worker made, and what is not on the line: each with
 * whose it is, in words: this task's was reset onto it, or picked, merged or rebased it. Nobody has
 * looked at it yet. What two have typed alike is each one's own. */
export async function othersWork(
  state: RunState,
  task: TaskState,
  { base, head, cwd, line }: Range,
): Promise<string[]> {
  const others = await branchesBeside(state, task, cwd);
  if (others.size === 0) return [];
  const theirs = await commitsIn(cwd, [...others.keys()], [state.tip, base]);
  if (theirs.length === 0) return [];
  const own = await commitsIn(cwd, [head], [state.tip, base]);
  const found: string[] = [];
  const landed = async (): Promise<Set<string>> => {
    const all = await commitsIn(line ?? cwd, [line ? "HEAD" : state.tip], [state.base]);
    return new Set(all.map(({ change }) => change));
  };
  let onLine: Set<string> | undefined;
  for (const commit of own) {
    const alike = theirs.filter(({ id, change }) => id === commit.id || change === commit.change);
    if (alike.length === 0) continue;
    onLine ??= await landed();
    if (onLine.has(commit.change)) continue;
    const maker = await makerOf(commit, alike, { task, others, cwd });
    if (maker) found.push(`${commit.id.slice(0, 10)} «${commit.subject}» is ${maker}'s`);
  }
  return found;
}

/** The branches of the run's attempts at other tasks that are there, by their full names. */
async function branchesBeside(
  { attempts, run }: RunState,
  task: TaskState,
  cwd: string,
): Promise<Map<string, AttemptState>> {
  const refs = await gitText(
    cwd,
    "for-each-ref",
    "--format=%(refname)",
    `refs/heads/minion/${run}/`,
  );
  const there = new Set(refs.split("\n"));
  const found = new Map<string, AttemptState>();
  for (const attempt of attempts.values()) {
    const ref = `refs/heads/${attempt.begun?.branch}`;
    if (attempt.task !== task && there.has(ref)) found.set(ref, attempt);
  }
  return found;
}

/** The commits that some names have and others have not, oldest first. */
async function commitsIn(
  cwd: string,
  names: readonly string[],
  without: readonly string[],
): Promise<Commit[]> {
  const form = ["--reverse", "--topo-order", "--no-merges", "--source"];
  const patch = ["--patch", "--binary", "--no-renames", "--no-color", "--no-ext-diff"];
  const plain = ["--no-textconv", "--src-prefix=a/", "--dst-prefix=b/", "--unified=3"];
  const format = "--format=%x00%H%x00%S%x00%s%x00";
  const not = without.map((name) => `^${name}`);
  const text = await gitText(
    cwd,
    "log",
    ...form,
    ...patch,
    ...plain,
    format,
    ...names,
    ...not,
    "--",
  );
  const fields = text.split("\0").slice(1);
  const commits: Commit[] = [];
  while (fields.length > 0) {
    const [id = "", ref = "", subject = "", change = ""] = fields.splice(0, 4);
    commits.push({ id, ref, subject, change: keyOf(change, id) });
  }
  return commits;
}

/** Names what a patch changes, wherever in a file that lies. One without a change is like no other.
 */
function keyOf(patch: string, id: string): string {
  const lines = patch.split("\n").filter((line) => line !== "" && !line.startsWith("index "));
  if (lines.length === 0) return id;
  const said = lines.map((line) => (line.startsWith("@@ ") ? "@@" : line)).join("\n");
  return createHash("sha1").update(said).digest("hex");
}

type Beside = Readonly<{
  task: TaskState;
  others: ReadonlyMap<string, AttemptState>;
  cwd: string;
}>;

/** The attempt at another task that made a commit, or null where the task's own did.
 * @param alike the same commit, or such as change the same, on branches of others */
async function makerOf(
  commit: Commit,
  alike: readonly Commit[],
  { task, others, cwd }: Beside,
): Promise<string | null> {
  const own = await Promise.all(
    task.attempts.flatMap(({ begun }) =>
      begun ? historyOf(`refs/heads/${begun.branch}`, cwd) : [],
    ),
  );
  const ours = Math.max(0, ...own.map((history) => claimTo(history, commit.id)));
  for (const each of alike) {
    const other = others.get(each.ref);
    if (!other) continue;
    const history = await historyOf(each.ref, cwd);
    const theirs = claimTo(history, each.id);
    if (theirs > ours) return other.id;
    // Two may well type the same.
    if (theirs < ours || ours === CLAIMS.made) continue;
    // Both mended it, or nobody can tell how it came: whoever had it first.
    const since = await Promise.all(own.map((steps) => heldSince(steps, commit.id, cwd)));
    if ((await heldSince(history, each.id, cwd)) <= Math.min(...since)) return other.id;
  }
  return null;
}

/** How good a claim an attempt has to a commit on its branch: it made it, it mended what may be
 * another's, or it was only brought there. */
const CLAIMS = { made: 2, mended: 1, brought: 0 } as const;

function claimTo(history: readonly Step[], id: string): number {
  const steps = history.filter((step) => step.id === id);
  if (steps.some(({ how }) => /^commit( \((initial|merge)\))?:/.test(how))) return CLAIMS.made;
  return steps.some(({ how }) => how.startsWith("commit (amend)")) ? CLAIMS.mended : CLAIMS.brought;
}

/** Where a branch has stood, newest first. */
type Step = Readonly<{ id: string; at: number; how: string }>;

async function historyOf(ref: string, cwd: string): Promise<Step[]> {
  const where = { cwd, accept: [128] };
  const format = ["--date=unix", "--format=%H %gd %gs"];
  const { stdout } = await git(where, "log", "--walk-reflogs", ...format, ref, "--");
  return stdout.split("\n").flatMap((line) => {
    const [, id = "", at = "", how = ""] = /^(\w+) \S*@\{(\d+)\} ?(.*)$/.exec(line) ?? [];
    return id ? { id, at: Number(at), how } : [];
  });
}

/** Since when a branch has had a commit, in seconds; Infinity where that is not known. */
async function heldSince(history: readonly Step[], id: string, cwd: string): Promise<number> {
  let since = Number.POSITIVE_INFINITY;
  for (const step of history) if (await isAncestor(id, step.id, cwd)) since = step.at;
  return since;
}
