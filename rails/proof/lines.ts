import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Blueprint } from "../blueprint/blueprint.ts";
import type { Worktop } from "../git/repository.ts";
import type { Run } from "../journal/journal.ts";
import { word } from "../program/typed.ts";
import { outside } from "../program/world.ts";
import { execute } from "./command.ts";
import { slotEnv, withSlot } from "./slots.ts";

/** What a command printed that lists something: not what it said on standard error; `code`: as a
 * shell ends, null where it ran out of time; `isFailed`: it ended with 1 and said something on
 * standard error, where many end with 1 that found nothing; `output`: where that lies, relative to
 * the run's folder. */
export type Printed = Readonly<{
  text: string;
  code: number | null;
  isFailed: boolean;
  output: string;
}>;

/** Runs a command that lists something, in a worktree.
 * @param label what its output is called
 * @param timeout in seconds */
export async function printedBy(
  { journal, state, place }: Run & { readonly place: Worktop },
  label: string,
  { run, cwd, timeout }: Readonly<{ run: string; cwd: string; timeout: number }>,
): Promise<Printed> {
  const { output: rules, bounds } = state.blueprint;
  const output = join("output", `${label}-${outside().now().toString(36)}.log`);
  const path = join(journal.folder, output);
  await mkdir(dirname(path), { recursive: true });
  const at = join(place.top, cwd);
  const code = await withSlot(bounds.gate_slots, true, (slot) =>
    execute(listing(run, path), at, timeout, path, rules, slotEnv(slot)),
  );
  return { ...(await readBy(path, code)), output };
}

/** Runs such a command in a folder, outside of a run: nothing of it is kept.
 * @param timeout in seconds
 * @param rules which variables are secret, how much is read, and how many run at once */
export async function printedHere(
  run: string,
  at: string,
  timeout: number,
  { output, bounds }: Pick<Blueprint, "output" | "bounds">,
): Promise<Omit<Printed, "output">> {
  const folder = await mkdtemp(join(tmpdir(), "minion-each-"));
  try {
    const path = join(folder, "lines");
    const code = await withSlot(bounds.gate_slots, true, (slot) =>
      execute(listing(run, path), at, timeout, path, output, slotEnv(slot)),
    );
    return await readBy(path, code);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What it says on standard error is none of its lines: it goes beside them. */
const listing = (run: string, path: string): string => `exec 2>${word(besides(path))}\n${run}`;

const besides = (path: string): string => `${path}.error`;

async function readBy(path: string, code: number | null): Promise<Omit<Printed, "output">> {
  const error = await readFile(besides(path), "utf8").catch(() => "");
  await rm(besides(path), { force: true });
  const isFailed = code === 1 && error.trim() !== "";
  return { text: await readFile(path, "utf8"), code, isFailed };
}
