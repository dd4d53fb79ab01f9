import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Blueprint } from "../blueprint/blueprint.ts";
import { git } from "../git/git.ts";
import type { Place } from "../git/repository.ts";
import type { Command } from "../journal/shapes.ts";
import { type Finding, finding, type Level } from "../plan/task.ts";
import { temporaryFolder } from "../program/world.ts";

/** What a run is to be started with. */
export type Flight = Readonly<{
  place: Place;
  blueprint: Blueprint;
  gates: readonly Command[];
  setup: Command | null;
}>;

/** A check, at a commit. */
export type Check = (flight: Flight & { base: string }) => Promise<Finding[]>;

/** What a check has found. */
export const of = (message: string, hint: string, level: Level = "error"): Finding =>
  finding("preflight", 0, message, hint, level);

/** Is there a folder, or a submodule, at a path of a commit? */
export const isFolder = async ({ top }: Place, base: string, path: string): Promise<boolean> => {
  const where = path === "." ? `${base}^{tree}` : `${base}:${path.replace(/\/$/, "")}`;
  const { stdout } = await git({ cwd: top, accept: [1, 128] }, "cat-file", "-t", where);
  // A submodule is a commit there.
  return ["tree", "commit"].includes(stdout.trim());
};

/** Does something in a folder of its own, which is gone afterwards. */
export async function inScratch<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(temporaryFolder(), "minion-preflight-"));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
