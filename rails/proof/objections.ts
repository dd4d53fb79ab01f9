import { posix } from "node:path";
import type { Blueprint } from "../blueprint/blueprint.ts";
import { git, gitList, gitText } from "../git/git.ts";
import { addedBetween, ignoredAt } from "../git/ignored.ts";
import { commitOf } from "../git/repository.ts";
import { checksOf } from "../journal/checks.ts";
import type { Reason } from "../journal/shapes.ts";
import type { RunState, TaskState } from "../journal/state.ts";
import { anywhere, matches, matchesAny, patternOf } from "../plan/conflicts.ts";
import { jsonIn } from "../program/files.ts";
import { matcher } from "./failures.ts";
import { othersWork, type Range } from "./foreign.ts";

/** What a person has to agree to before a task lands, and where. */
export type Objection = Readonly<{
  reason: Extract<Reason, "forbidden" | "ignored" | "others-work" | "proof-changed">;
  what: readonly string[];
}>;

/** A path that differs between two commits; `to`: where it is now, null where it is gone. */
type Change = Readonly<{ path: string; to: string | null }>;

/** What is looked at: the run and the task, and what its commits change. */
type Look = Readonly<{
  run: RunState;
  task: TaskState;
  range: Range;
  changes: readonly Change[];
  paths: readonly string[]; // All that the changes touch, old and new names
}>;

/** Looks through what a task changed for what is not its own to decide: files that it must not
 * touch, files that are ignored and come in, what another task's worker made, and what gates stand
 * on (scripts, configuration, tests
 * left out or removed) where the task does not declare that. */
export async function objectionTo(
  run: RunState,
  task: TaskState,
  range: Range,
): Promise<Objection | null> {
  const changes = await changesIn(range);
  const paths = [...new Set(changes.flatMap(({ path, to }) => [path, to ?? path]))];
  const look: Look = { run, task, range, changes, paths };
  const forbidden = paths.filter((path) => isIn(look, task.forbid, path));
  if (forbidden.length > 0) return { reason: "forbidden", what: forbidden };
  const others = await othersWork(run, task, range);
  if (others.length > 0) return { reason: "others-work", what: others };
  const ignored = await ignoredIn(look);
  if (ignored.length > 0) return { reason: "ignored", what: ignored };
  const what = [...(await touchedProof(look)), ...(await weakenedTests(look))];
  return what.length > 0 ? { reason: "proof-changed", what } : null;
}

const isIn = ({ run }: Look, patterns: readonly string[], path: string): boolean =>
  matchesAny(patterns, path, run.prefix);

const isTest = (look: Look, path: string): boolean =>
  isIn(look, look.run.blueprint.proof.tests.map(anywhere), path);

/** What comes in though it is ignored, before the task, after it, or on the line by now: wherever
 * that is checked out, it would be laid over what somebody has there. */
async function ignoredIn({ run: { tip }, range: { base, head, cwd } }: Look): Promise<string[]> {
  const added = await addedBetween(base, head, cwd);
  const line = (await commitOf(tip, cwd)) ?? base;
  return ignoredAt([base, head, line], added, cwd);
}

/** Files, and parts of files as `package.json#scripts`, that gates stand on and that the task does
 * not declare. */
async function touchedProof(look: Look): Promise<string[]> {
  const { task, paths } = look;
  const declared = task.files.flatMap((file) => (file.guessed ? [] : patternOf(file)));
  const what: string[] = [];
  for (const path of paths.filter((path) => !isIn(look, task.gates, path))) {
    const keys = keysOf(look, path);
    const isWhole = keys.includes("") || (isProgram(look, path) && !isTest(look, path));
    const isProof = isWhole || (await isMeasure(look, path));
    if (isProof && !isIn(look, declared, path)) what.push(path);
    for (const key of keys.filter((key) => key !== "" && !isIn(look, task.gates, `${path}#${key}`)))
      if (await isOther(look, path, key)) what.push(`${path}#${key}`);
  }
  return what;
}

/** The parts of a file that gates stand on; an empty one is the whole file. */
const keysOf = ({ run }: Look, path: string): string[] =>
  run.blueprint.proof.files.flatMap((entry) => {
    const [pattern = "", key = ""] = entry.split("#", 2);
    return matches(anywhere(pattern), path) ? key : [];
  });

/** Does a gate's command start the file? */
const isProgram = ({ run }: Look, path: string): boolean =>
  run.gates.some((gate) => programsIn(gate.run).some((word) => matches(word, path, gate.cwd)));

/** A path as git has it, of one that is written in a list for a folder. */
const clean = (word: string, prefix: string): string => posix.join(prefix, word);

/** Does the task's own check name a file that was there before it? One that the task makes decided
 * nothing. */
async function isMeasure({ run, task, range }: Look, path: string): Promise<boolean> {
  const words = checksOf(run, task).flatMap((check) => check.run.split(/[\s"'`;&|()<>=]+/));
  const paths = words.filter(
    (word) => /^[\w@+-]*[./][\w@+./-]*$/.test(word) && !/^[./]+$/.test(word),
  );
  if (!paths.some((word) => clean(word, run.prefix) === path)) return false;
  const ask = ["cat-file", "-e", `${range.base}:${path}`];
  return (await git({ cwd: range.cwd, accept: [1, 128] }, ...ask)).code === 0;
}

/** Is a part of a file another than it was? A file that was not there decided nothing. */
async function isOther({ range }: Look, path: string, key: string): Promise<boolean> {
  const before = await valueIn(range.base, path, key, range.cwd);
  return before !== null && before !== (await valueIn(range.head, path, key, range.cwd));
}

/** Tests that the change takes out of the proof, and that the task does not declare. */
async function weakenedTests(look: Look): Promise<string[]> {
  const { changes, task, run, range } = look;
  const tests = changes.filter(({ path }) => isTest(look, path) && !isIn(look, task.gates, path));
  const moved = tests.map(({ path, to }) => {
    return { path, to: to !== null && isTest(look, to) ? to : null };
  });
  return weakened(moved, run.blueprint.proof, range);
}

/** The programs that a command starts, such as `check.sh` in `sh check.sh -x`: first or second
 * words. */
const programsIn = (run: string): string[] =>
  [...run.matchAll(/(?:^|[;&|(]\s*)(?:[\w.-]+\s+)?([\w./-]+\.\w+)/g)].map(([, word = ""]) => word);

async function changesIn({ base, head, cwd }: Range): Promise<Change[]> {
  const how = ["--name-status", "-z", "--find-renames", "--ignore-submodules=none"];
  const fields = await gitList(cwd, "diff", ...how, base, head);
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
