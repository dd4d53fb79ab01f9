import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { git, gitList, gitText } from "../git/git.ts";
import { commonOf, type Worktop } from "../git/repository.ts";
import type { Beside } from "../journal/shapes.ts";
import type { RunState } from "../journal/state.ts";
import { readIfThere } from "../program/files.ts";

// All worktrees of a repository share its config, hooks and refs. What a command of the project
// leaves there, as husky's `prepare` does, it leaves to the person as well.

/** What is in a repository beside its files: the text of its config, and the rest by name:
 * `hooks/pre-commit`, `refs/heads/main`. */
type Shared = Readonly<{ config: string; others: Named }>;

/** By name: `core.hooksPath`, `hooks/pre-commit`, `refs/heads/main`. */
type Named = ReadonlyMap<string, string>;

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
export async function sharedBy({ top, gitDir }: Worktop): Promise<Shared> {
  const common = await commonOf(gitDir);
  const config = (await readIfThere(join(common, "config"))) ?? "";
  const others = new Map<string, string>();
  const folder = join(common, HOOKS);
  for (const name of await readdir(folder).catch(() => [])) {
    const text = await readFile(join(folder, name), "latin1").catch(() => null);
    if (text !== null) others.set(HOOKS + name, text);
  }
  const refs = await gitText(top, "for-each-ref", "--format=%(refname) %(objectname)");
  for (const line of refs.split("\n").filter(Boolean)) {
    const [name = "", id = ""] = line.split(" ");
    others.set(name, id);
  }
  return { config, others: withoutOthers(others) };
}

/** The settings in the text of a config; where one has several values, they are parted by NUL. */
async function settingsIn(config: string, cwd: string): Promise<Named> {
  const settings = new Map<string, string>();
  const where = { cwd, accept: [1], input: config };
  for (const entry of await gitList(where, "config", "--file", "-", "-z", "--list")) {
    const [key = "", ...lines] = entry.split("\n");
    const values = [settings.get(key) ?? [], lines.join("\n")].flat();
    settings.set(key, values.join("\0"));
  }
  return withoutOthers(settings);
}

const withoutOthers = (named: Named): Named =>
  new Map([...named].filter(([name]) => !OTHERS.some((pattern) => pattern.test(name))));

/** What is other than it was; `since`: what other setups took back meanwhile is not as it was. */
function changesOf(before: Named, after: Named, since: readonly Beside[]): Beside[] {
  const was = new Map(before);
  for (const change of since) {
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
  { place, startedAt, isSetup }: Readonly<{ place: Worktop; startedAt: number; isSetup: boolean }>,
): Promise<Beside[]> {
  const after = await sharedBy(place);
  const since = state.evidence.filter(({ at }) => at >= startedAt);
  const besides = since.flatMap(({ beside = [] }) => beside);
  const changes = changesOf(before.others, after.others, besides);
  // The same text holds the same settings, unless others took something back in between.
  if (before.config !== after.config || besides.some(({ isBack }) => isBack)) {
    const was = await settingsIn(before.config, place.top);
    changes.unshift(...changesOf(was, await settingsIn(after.config, place.top), besides));
  }
  const settled: Beside[] = [];
  for (const change of changes) {
    const isOurs = isSetup && !change.name.startsWith(REFS) && !BY_HAND.test(change.name);
    const isBack = isOurs && (await takeBack(place, change).catch(() => false));
    settled.push({ ...change, isBack });
  }
  return settled;
}

/** What git ends with where a key is not there any more. */
const NONE_TO_UNSET = 5;

/** @returns whether it is as it was */
async function takeBack({ top, gitDir }: Worktop, { name, was }: Beside): Promise<boolean> {
  if (name.startsWith(HOOKS)) {
    const file = join(await commonOf(gitDir), name);
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
