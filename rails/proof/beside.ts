import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { git, gitList, gitText } from "../git/git.ts";
import type { Evidence } from "../journal/events.ts";
import type { Beside } from "../journal/shapes.ts";
import type { RunState } from "../journal/state.ts";

// All worktrees of a repository share its config, hooks and refs. What a command of the project
// leaves there, as husky's `prepare` does, it leaves to the person as well.

/** What is in a repository beside its files, by name: `core.hooksPath`, `hooks/pre-commit`,
 * `refs/heads/main`. */
type Shared = ReadonlyMap<string, string>;

const HOOKS = "hooks/";
const REFS = "refs/";

/** What others write at any time, the client for a new worktree or the person for a push. */
const OTHERS = [
  /^(branch|remote|submodule|extensions|gc|maintenance)\./,
  /^refs\/(remotes|heads\/minion|heads\/worktree-agent-|minion)/,
];

/** What a person sets by hand, also just then. */
const BY_HAND = /^(user|credential|author|committer)\./;

/** Looks at what is shared, as it is now. */
export async function sharedBy(top: string): Promise<Shared> {
  const shared = new Map<string, string>();
  for (const entry of await gitList(
    { cwd: top, accept: [1] },
    "config",
    "--local",
    "-z",
    "--list",
  )) {
    const [key = "", ...lines] = entry.split("\n");
    const values = [shared.get(key) ?? [], lines.join("\n")].flat();
    shared.set(key, values.join("\0"));
  }
  const folder = await hooksOf(top);
  for (const name of await readdir(folder).catch(() => [])) {
    const text = await readFile(join(folder, name), "latin1").catch(() => null);
    if (text !== null) shared.set(HOOKS + name, text);
  }
  const refs = await gitText(top, "for-each-ref", "--format=%(refname) %(objectname)");
  for (const line of refs.split("\n").filter(Boolean)) {
    const [name = "", id = ""] = line.split(" ");
    shared.set(name, id);
  }
  for (const name of shared.keys())
    if (OTHERS.some((pattern) => pattern.test(name))) shared.delete(name);
  return shared;
}

const hooksOf = async (top: string): Promise<string> =>
  join(await gitText(top, "rev-parse", "--path-format=absolute", "--git-common-dir"), HOOKS);

/** What is other than it was; `since`: what other setups took back meanwhile is not as it was. */
function changesOf(before: Shared, after: Shared, since: readonly Evidence[]): Beside[] {
  const was = new Map(before);
  for (const change of since.flatMap(({ beside = [] }) => beside)) {
    if (!change.isBack || was.get(change.name) !== change.became) continue;
    if (change.was === null) was.delete(change.name);
    else was.set(change.name, change.was);
  }
  const names = new Set([...was.keys(), ...after.keys()]);
  return [...names].flatMap((name) => {
    const change = { name, was: was.get(name) ?? null, became: after.get(name) ?? null };
    return change.was === change.became ? [] : { ...change, isBack: false };
  });
}

/** Compares what is shared with what it was before a command ran, and takes back what a setup did
 * to config and hooks, where it still stands.
 * @param state as the run is now; `startedAt`: when the command began */
export async function compared(
  before: Shared,
  state: RunState,
  { top, startedAt, isSetup }: Readonly<{ top: string; startedAt: number; isSetup: boolean }>,
): Promise<Beside[]> {
  const since = state.evidence.filter(({ at }) => at >= startedAt);
  const changes = changesOf(before, await sharedBy(top), since);
  const settled: Beside[] = [];
  for (const change of changes) {
    const isOurs = isSetup && !change.name.startsWith(REFS) && !BY_HAND.test(change.name);
    const isBack = isOurs && (await takeBack(top, change).catch(() => false));
    settled.push({ ...change, isBack });
  }
  return settled;
}

/** What git ends with where a key is not there any more. */
const NONE_TO_UNSET = 5;

/** @returns whether it is as it was */
async function takeBack(top: string, { name, was }: Beside): Promise<boolean> {
  if (name.startsWith(HOOKS)) {
    const file = join(await hooksOf(top), name.slice(HOOKS.length));
    if (was === null) await rm(file, { force: true });
    else await writeFile(file, was, { encoding: "latin1", mode: (await modeOf(file)) ?? 0o755 });
    return true;
  }
  const where = { cwd: top, accept: [NONE_TO_UNSET] };
  await git(where, "config", "--local", "--unset-all", name);
  for (const value of was?.split("\0") ?? [])
    await git(where, "config", "--local", "--add", name, value);
  return true;
}

const modeOf = async (file: string): Promise<number | null> =>
  stat(file).then(
    ({ mode }) => mode,
    () => null,
  );
