import { git, gitList, gitText } from "../git/git.ts";
import { anywhere, matches } from "../plan/conflicts.ts";
import type { Reason } from "./events.ts";
import { matcher } from "./judge.ts";
import type { RunState, TaskState } from "./state.ts";

/** What a person has to agree to before a task lands, and where. */
export type Objection = Readonly<{ reason: Extract<Reason, "forbidden" | "proof-changed">; what: readonly string[] }>;

/** A path that differs between two commits: where it was and where it is, null where it is not. */
type Change = Readonly<{ from: string | null; to: string | null }>;

/** Looks through what a task changed for what is not its own to decide: files that it must not touch, and what gates
 * stand on (scripts, configuration, tests left out or removed) where the task does not declare that.
 * @param base commit below the task's own
 * @param head its last commit
 * @param cwd any folder of the repository */
export async function objectionTo(
  { blueprint, gates, prefix }: RunState,
  task: TaskState,
  { base, head, cwd }: Readonly<{ base: string; head: string; cwd: string }>,
): Promise<Objection | null> {
  const isIn = (patterns: readonly string[], path: string | null): boolean =>
    path !== null && patterns.some((pattern) => matches(pattern, path, prefix));
  const { proof } = blueprint;
  const isTest = (path: string | null): boolean => isIn(proof.tests.map(anywhere), path);
  const changes = await changesBetween(base, head, cwd);
  const paths = [...new Set(changes.flatMap(({ from, to }) => [from, to]))].filter((path) => path !== null);
  const forbidden = paths.filter((path) => isIn(task.forbid, path));
  if (forbidden.length > 0) return { reason: "forbidden", what: forbidden };

  const declared = task.files.flatMap(({ path, guessed }) => (guessed ? [] : path));
  const what: string[] = [];
  const tests: Change[] = [];
  const parts = proof.files.map((entry) => entry.split("#", 2) as [string, string?]);
  for (const path of paths) {
    if (isIn(task.gates, path)) continue;
    const isGate =
      !isTest(path) && gates.some((gate) => wordsOf(gate.run).some((word) => matches(word, path, gate.cwd)));
    const isWhole = parts.some(([pattern, key]) => key === undefined && matches(anywhere(pattern), path));
    if ((isGate || isWhole) && !isIn(declared, path)) what.push(path);
    for (const [pattern, key] of parts) {
      if (key === undefined || !matches(anywhere(pattern), path) || isIn(task.gates, `${path}#${key}`)) continue;
      const before = await valueIn(base, path, key, cwd);
      // A file that was not there decided nothing.
      if (before !== null && before !== (await valueIn(head, path, key, cwd))) what.push(`${path}#${key}`);
    }
  }
  for (const { from, to } of changes) {
    if (!isTest(from ?? to) || isIn(task.gates, from ?? to)) continue;
    tests.push({ from, to: isTest(to) ? to : null });
  }
  what.push(...(await weakened(tests, base, head, proof, cwd)));
  return what.length > 0 ? { reason: "proof-changed", what } : null;
}

/** The programs that a command starts, such as `check.sh` in `sh check.sh -x`: first or second words. */
const wordsOf = (run: string): string[] =>
  [...run.matchAll(/(?:^|[;&|(]\s*)(?:[\w.-]+\s+)?([\w./-]+\.\w+)/g)].map(([, word = ""]) => word);

async function changesBetween(base: string, head: string, cwd: string): Promise<Change[]> {
  const fields = await gitList(cwd, "diff", "--name-status", "-z", "--find-renames", base, head);
  const changes: Change[] = [];
  while (fields.length > 0) {
    const status = fields.shift() ?? "";
    const from = fields.shift() ?? "";
    const to = /^[RC]/.test(status) ? (fields.shift() ?? "") : from;
    changes.push({ from: status === "A" ? null : from, to: status === "D" ? null : to });
  }
  return changes;
}

/** A part of a JSON file as text; of what is no JSON, the whole; null where there is no such file. */
async function valueIn(commit: string, path: string, key: string, cwd: string): Promise<string | null> {
  const { code, stdout } = await git({ cwd, accept: [128] }, "show", `${commit}:${path}`);
  if (code !== 0) return null;
  try {
    return JSON.stringify(JSON.parse(stdout)[key]) ?? "";
  } catch {
    return stdout;
  }
}

/** Tests that are gone, or that are there and do not run any more. A test that moved, or was given another title, is
 * there still. */
async function weakened(
  changes: readonly Change[],
  base: string,
  head: string,
  rules: Readonly<Record<"case" | "skip", readonly string[]>>,
  cwd: string,
): Promise<string[]> {
  const [isCase, isSkip] = [matcher(rules.case), matcher(rules.skip)];
  const files = await Promise.all(
    changes.map(async ({ from, to }) => {
      const paths = [from, to].filter((path) => path !== null);
      const options = ["--unified=0", "--find-renames", "--text", "--no-ext-diff", "--no-textconv"];
      const patch = await gitText(cwd, "--literal-pathspecs", "diff", ...options, base, head, "--", ...paths);
      const hunks = patch.split(/^@@.*$/m).slice(1);
      const lines = (hunk: string, sign: string): string[] =>
        hunk.split("\n").flatMap((line) => (line.startsWith(sign) ? line.slice(1).trim() : []));
      return {
        name: from ?? to ?? "",
        isGone: to === null,
        hunks: hunks.map((hunk) => [lines(hunk, "-"), lines(hunk, "+")] as const),
      };
    }),
  );
  const added = new Set(files.flatMap(({ hunks }) => hunks.flatMap(([, after]) => after)));
  return files.flatMap(({ name, isGone, hunks }) => {
    const lost = hunks.flatMap(([before, after]) => {
      const gone = before.filter((line) => isCase(line) && !added.has(line)).length;
      return Math.max(0, gone - after.filter((line) => isCase(line)).length);
    });
    const removed = lost.reduce((sum, one) => sum + one, 0);
    const skips = (at: 0 | 1): number => hunks.flatMap((hunk) => hunk[at]).filter(isSkip).length;
    return [
      ...(removed > 0 || isGone ? [`${name} (tests removed)`] : []),
      ...(skips(1) > skips(0) ? [`${name} (tests skipped)`] : []),
    ];
  });
}
