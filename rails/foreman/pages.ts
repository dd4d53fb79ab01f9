import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { extname, join } from "node:path";
import { readRails } from "../blueprint/blueprint.ts";
import { readOverlays } from "../blueprint/overlay.ts";
import { readToolchains } from "../blueprint/toolchain.ts";
import { readWorkflow } from "../blueprint/workflow.ts";
import { readPrices } from "../money/price-table.ts";
import { asFault, Fault } from "../program/fault.ts";
import { ownOf, readIfThere } from "../program/files.ts";

/** How each page of ours is read that stands alone. */
const PAGES: Readonly<Record<string, (text: string, file: string) => unknown>> = {
  "blueprint.md": readRails,
  "toolchains.md": readToolchains,
  "prices.md": readPrices,
};
/** Folders of pages. */
const FOLDERS = ["workflows", "overlays", "guides"];
/** Shipped pages whose content has another place in a project. */
const INSTEAD: Readonly<Record<string, string>> = {
  "patterns.md": "blueprint.md",
  "SKILL.md": "blueprint.md",
};

/** All that is wrong with the pages in a folder of rails, a project's or a person's, each of which
 * would be read as less than it says.
 * @param folder as `.claude/minion`; where there is none, nothing is wrong */
export async function faultsIn(folder: string): Promise<Fault[]> {
  const names = await readdir(folder).catch(() => []);
  const faults = names.flatMap((name) => strangerAt(folder, name) ?? []);
  for (const [name, read] of Object.entries(PAGES))
    faults.push(...(await faultOf(folder, name, read)));
  return [...faults, ...(await faultsOfFolders(folder, "workflows", ["overlays", "guides"]))];
}

/** The same for the pages that a plugin ships.
 * @param skills its folder of skills */
export async function faultsInShipped(skills: string): Promise<Fault[]> {
  const folder = join(skills, "minion-blueprint");
  const faults: Fault[] = [];
  const alone = { ...PAGES, "SKILL.md": readRails, "patterns.md": readRails };
  for (const [name, read] of Object.entries(alone))
    faults.push(...(await faultOf(folder, name, read)));
  const overlays = join("..", "minion-overlays");
  return [...faults, ...(await faultsOfFolders(folder, "workflows", ["guides", overlays]))];
}

async function faultsOfFolders(
  folder: string,
  workflows: string,
  overlays: readonly string[],
): Promise<Fault[]> {
  const faults: Fault[] = [];
  const pages = await readdir(join(folder, workflows)).catch(() => []);
  for (const page of pages.filter((name) => name.endsWith(".md")))
    faults.push(
      ...(await faultOf(join(folder, workflows), page, (text, file) =>
        readWorkflow(page.slice(0, -3), text, file),
      )),
    );
  const all = await Promise.all(overlays.map((name) => readOverlays([join(folder, name)])));
  const hint = "the shipped pages of the same kind show what may stand there";
  for (const { fault } of all.flatMap((each) => [...each.values()]))
    if (fault) faults.push(new Fault("page", fault, hint));
  return faults;
}

async function faultOf(
  folder: string,
  name: string,
  read: (text: string, file: string) => unknown,
): Promise<Fault[]> {
  const file = join(folder, name);
  try {
    const text = await readIfThere(file);
    if (text !== null) read(text, file);
    return [];
  } catch (error) {
    return [asFault(error)];
  }
}

/** Why a file in a folder of rails is read by nobody, though it looks as if it was meant to be. */
function strangerAt(folder: string, name: string): Fault | null {
  const known = [...Object.keys(PAGES), ...FOLDERS];
  if (known.includes(name)) return null;
  const instead = ownOf(INSTEAD, name);
  const meant = instead ?? known.find((one) => isLike(stem(one), stem(name)));
  // Where names differ by case only, a file system may take them for one.
  if (!meant || (!instead && existsSync(join(folder, meant)))) return null;
  return new Fault("page", `${join(folder, name)}:1: nothing reads this`, `call it ${meant}`);
}

const stem = (name: string): string =>
  name.slice(0, name.length - extname(name).length).toLowerCase();

/** Is one word the other, but for two letters at most? */
function isLike(one: string, other: string): boolean {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [at, letter] of [...one].entries()) {
    const next = [at + 1];
    for (let to = 1; to <= other.length; to++)
      next.push(
        Math.min(
          (row[to] ?? 0) + 1,
          (next[to - 1] ?? 0) + 1,
          (row[to - 1] ?? 0) + (letter === other[to - 1] ? 0 : 1),
        ),
      );
    row = next;
  }
  return (row.at(-1) ?? 0) <= 2;
}
