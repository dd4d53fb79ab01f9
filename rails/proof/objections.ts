import type { Blueprint } from "../blueprint/blueprint.ts";
import { git, gitList, gitText } from "../git/git.ts";
import type { Reason } from "../journal/shapes.ts";
import type { RunState, TaskState } from "../journal/state.ts";
import { anywhere, matches, matchesAny } from "../plan/conflicts.ts";
import { jsonIn } from "../program/files.ts";
import { matcher } from "./failures.ts";
import { othersWork, type Range } from "./foreign.ts";

/** What a person has to agree to before a task lands, and where. */
export type Objection = Readonly<{
  reason: Extract<Reason, "forbidden" | "others-work" | "proof-changed">;
  what: readonly string[];
}>;

/** A path that differs between two commits; `to`: where it is now, null where it is gone. */
type Change = Readonly<{ path: string; to: string | null }>;

/** Looks through what a task changed for what is not its own to decide: files that it must not
 * touch, what another task's worker made, and what gates stand on (scripts, configuration, tests
 * left out or removed) where the task does not declare that. */
export async function objectionTo(
  state: RunState,
  task: TaskState,
  range: Range,
): Promise<Objection | null> {
  const { gates, prefix } = state;
  const { proof } = state.blueprint;
  const isIn = (patterns: readonly string[], path: string): boolean =>
    matchesAny(patterns, path, prefix);
  const isTest = (path: string): boolean => isIn(proof.tests.map(anywhere), path);
  const changes = await changesIn(range);
  const paths = [...new Set(changes.flatMap(({ path, to }) => [path, to ?? path]))];
  const forbidden = paths.filter((path) => isIn(task.forbid, path));
  if (forbidden.length > 0) return { reason: "forbidden", what: forbidden };

  const others = await othersWork(state, task, range);
  if (others.length > 0) return { reason: "others-work", what: others };

  const what: string[] = [];
  const declared = task.files.flatMap(({ path, guessed }) => (guessed ? [] : path));
  const entries = proof.files.map(
    (entry) => entry.split("#", 2) as [pattern: string, key?: string],
  );
  for (const path of paths.filter((path) => !isIn(task.gates, path))) {
    const keys = entries.flatMap(([pattern, key = ""]) =>
      matches(anywhere(pattern), path) ? key : [],
    );
    const isProgram = gates.some(({ run, cwd }) =>
      programsIn(run).some((word) => matches(word, path, cwd)),
    );
    if ((keys.includes("") || (isProgram && !isTest(path))) && !isIn(declared, path))
      what.push(path);
    for (const key of keys.filter((key) => key !== "" && !isIn(task.gates, `${path}#${key}`))) {
      const before = await valueIn(range.base, path, key, range.cwd);
      // A file that was not there decided nothing.
      if (before !== null && before !== (await valueIn(range.head, path, key, range.cwd)))
        what.push(`${path}#${key}`);
    }
  }
  const tests = changes.filter(({ path }) => isTest(path) && !isIn(task.gates, path));
  const moved = tests.map(({ path, to }) => ({ path, to: to !== null && isTest(to) ? to : null }));
  what.push(...(await weakened(moved, proof, range)));
  return what.length > 0 ? { reason: "proof-changed", what } : null;
}

/** The programs that a command starts, such as `check.sh` in `sh check.sh -x`: first or second
 * words. */
const programsIn = (run: string): string[] =>
  [...run.matchAll(/(?:^|[;&|(]\s*)(?:[\w.-]+\s+)?([\w./-]+\.\w+)/g)].map(([, word = ""]) => word);

async function changesIn({ base, head, cwd }: Range): Promise<Change[]> {
  const fields = await gitList(cwd, "diff", "--name-status", "-z", "--find-renames", base, head);
  const changes: Change[] = [];
  while (fields.length > 0) {
    const [status = "", path = ""] = fields.splice(0, 2);
    const to = /^[RC]/.test(status) ? (fields.shift() ?? "") : path;
    changes.push({ path, to: status === "D" ? null : to });
  }
  return changes;
}

/** A part of a JSON file as text; of what is no JSON, the whole; null where there is no such file.
 */
async function valueIn(
  commit: string,
  path: string,
  key: string,
  cwd: string,
): Promise<string | null> {
  const { code, stdout } = await git({ cwd, accept: [128] }, "show", `${commit}:${path}`);
  if (code !== 0) return null;
  const value = jsonIn<Record<string, unknown>>(stdout);
  return value === undefined ? stdout : (JSON.stringify(value?.[key]) ?? "");
}

/** The lines of a hunk that are gone or new. */
const linesOf = (hunk: string, sign: "-" | "+"): string[] =>
  hunk.split("\n").flatMap((line) => (line.startsWith(sign) ? line.slice(1).trim() : []));

/** Tests that are gone, or that are there and do not run any more. A test that moved, or was given
 * another title, is there still. */
async function weakened(
  tests: readonly Change[],
  proof: Blueprint["proof"],
  { base, head, cwd }: Range,
): Promise<string[]> {
  const isCase = matcher(proof.case);
  const isSkip = matcher(proof.skip);
  const options = [
    "--unified=0",
    "--find-renames",
    "--text",
    "--no-ext-diff",
    "--no-textconv",
    base,
    head,
    "--",
  ];
  const diff = ({ path, to }: Change) =>
    gitText(cwd, "--literal-pathspecs", "diff", ...options, path, to ?? path);
  const hunks = (await Promise.all(tests.map(diff))).map((patch) =>
    patch.split(/^@@.*$/m).slice(1),
  );
  const added = new Set(hunks.flat().flatMap((hunk) => linesOf(hunk, "+")));
  return tests.flatMap(({ path, to }, at) => {
    const own = hunks[at] ?? [];
    const isFewer = own.some((hunk) => {
      const gone = linesOf(hunk, "-").filter((line) => isCase(line) && !added.has(line));
      return gone.length > linesOf(hunk, "+").filter(isCase).length;
    });
    const skips = (sign: "-" | "+"): number =>
      own.flatMap((hunk) => linesOf(hunk, sign)).filter(isSkip).length;
    const removed = to === null || isFewer ? [`${path} (tests removed)`] : [];
    return skips("+") > skips("-") ? [...removed, `${path} (tests skipped)`] : removed;
  });
}
