import { join } from "node:path";
import { type Code, type Finding, finding } from "./finding.ts";
import { MANIFEST, type Manifest } from "./manifest.ts";
import type { Package } from "./package.ts";
import type { Root } from "./paths.ts";
import { backupsOf, type Disk } from "./scan.ts";

export type Verb = "install" | "update" | "uninstall";

/** What becomes of a path. Written from the package: `create`, `restore` (ours, but missing),
 * `replace`, `overwrite` (backed up first), `beside` (a new version next to an edited file).
 * `remove` takes away what is ours. As it is on disk stays: `same`, `edited`, `foreign`. */
type Deed =
  | "create"
  | "restore"
  | "replace"
  | "overwrite"
  | "beside"
  | "remove"
  | "same"
  | "edited"
  | "foreign";

/** What becomes of one path; `from` is the package's file to write. */
type Action = { readonly path: string; readonly do: Deed; readonly from?: string };

/** Everything that apply will do; printed as it is by `--dry-run --json`. */
export type Plan = ReturnType<typeof planChange>;

export interface Situation {
  readonly verb: Verb;
  readonly pack: Package | undefined;
  readonly disk: Disk;
  readonly place: Root;
  readonly force: boolean;
  /** Names the backup. */
  readonly now: Date;
}

/** What is to become of the disk. Pure: the same situation gives the same plan, and nothing is read
 * or written. */
export function planChange(situation: Situation) {
  const { verb, pack, disk, place, now } = situation;
  const known = disk.manifest;
  const draft = draftOf(situation);
  settleTarget(situation, draft);
  for (const [path, file] of pack?.files ?? []) settleFile(path, file, situation, draft);
  settleRest(situation, draft);
  const { inTheWay, obstacles, notes } = draft;
  const actions = draft.actions.sort((a, b) => (a.path < b.path ? -1 : 1));
  const manifest = pack ? manifestOf(pack, situation, draft) : null;
  const differs =
    JSON.stringify(manifest) !== JSON.stringify(known) ||
    actions.some(({ from, do: deed }) => from !== undefined || deed === "remove");
  return {
    verb,
    target: place.target,
    before: known?.package ?? null,
    after: pack?.version ?? null,
    actions,
    /** Where anything stands here, nothing is written. */
    obstacles,
    notes,
    /** Where what will be overwritten is copied to first, and what that is; the empty path is the
     * target itself. */
    backup:
      inTheWay.size > 0
        ? join(backupsOf(place.root), now.toISOString().replaceAll(":", "-"))
        : null,
    saved: [...inTheWay],
    /** Whether anything on the disk will differ. */
    changes: differs && obstacles.length === 0,
    /** What the installation will record about itself; null where nothing of ours stays. */
    manifest,
  };
}

/** A plan in the making, and how things are put into it. */
interface Draft {
  readonly obstacles: Finding[];
  readonly notes: Finding[];
  readonly actions: Action[];
  /** Path → hash, as the manifest will have them. */
  readonly files: Record<string, string>;
  readonly inTheWay: Set<string>;
  /** What is there, by its path in lower case. */
  readonly folded: ReadonlyMap<string, string>;
  /** The path as people write it. */
  at(path: string): string;
  act(path: string, deed: Deed, from?: string): void;
  /** What is in the way is gone with all that is in it: an obstacle, or with --force saved first.
   */
  clear(path: string, code: Code, values?: object): void;
  /** Is the path, or a folder that it lies in, gone? */
  isCleared(path: string): boolean;
}

function draftOf({ place, disk, force }: Situation): Draft {
  const obstacles: Finding[] = [];
  const actions: Action[] = [];
  const inTheWay = new Set<string>();
  const at = (path: string): string => join(place.target, path);
  return {
    obstacles,
    notes: [],
    actions,
    files: {},
    inTheWay,
    folded: new Map([...disk.entries.keys()].map((path) => [path.toLowerCase(), path])),
    at,
    act(path, deed, from) {
      actions.push(from === undefined ? { path, do: deed } : { path, do: deed, from });
    },
    clear(path, code, values = {}) {
      inTheWay.add(path);
      if (!force) obstacles.push(finding(code, at(path), values));
    },
    isCleared: (path) => [path, ...parentsOf(path)].some((part) => inTheWay.has(part)),
  };
}

/** What concerns the place as a whole. */
function settleTarget(
  { verb, pack, disk, place, force }: Situation,
  { obstacles, notes, clear }: Draft,
): void {
  const known = disk.manifest;
  if (place.literal !== undefined)
    notes.push(finding("config-dir", "", { value: place.literal, root: place.root }));
  if (disk.broken) clear(MANIFEST, "manifest");
  else if (verb === "update" && !known) obstacles.push(finding("not-installed", place.target));
  if (verb === "uninstall") for (const folder of disk.saved) notes.push(finding("saved", folder));
  if (!pack) return;
  if (disk.target === "other") clear("", "in-the-way");
  // Which of two plugins of one name wins is for the person to say.
  for (const twin of disk.twins) {
    const isObstacle = twin.level === "error" && !known && !force;
    (isObstacle ? obstacles : notes).push(twin);
  }
}

/** A file of the package: written where nothing of a person's is lost by it. */
function settleFile(
  path: string,
  file: { hash: string; executable: boolean },
  situation: Situation,
  draft: Draft,
): void {
  const { disk, force } = situation;
  const { act, clear, isCleared } = draft;
  clearWay(path, disk, draft);
  draft.files[path] = file.hash;
  const base = disk.manifest?.files[path];
  const isOurs = base !== undefined;
  const entry = isCleared(path) ? undefined : disk.entries.get(path);
  if (!entry) act(path, isOurs ? "restore" : "create", path);
  else if (isOurs && entry.hash === file.hash) {
    if (file.executable && !entry.executable) act(path, "restore", path);
    else act(path, "same");
  } else if (isOurs && entry.hash === base) act(path, "replace", path);
  else if (!isOurs || force) {
    clear(path, "in-the-way");
    act(path, "overwrite", path);
  } else {
    act(path, "edited");
    offer(path, base, file.hash, disk, draft);
  }
}

/** Clears what would keep a file from lying at a path: a parent that is no folder, a name that
 * differs in case only. */
function clearWay(path: string, { entries }: Disk, { folded, clear, isCleared }: Draft): void {
  for (const part of [...parentsOf(path), path].filter((each) => !isCleared(each))) {
    const entry = entries.get(part);
    const clash = entry ? undefined : folded.get(part.toLowerCase());
    if (entry && entry.kind !== "folder" && part !== path) clear(part, "in-the-way");
    if (clash !== undefined && !isCleared(clash)) clear(clash, "case", { ours: path });
  }
}

/** Lays the new version of an edited file beside it, under an ending that Claude Code does not
 * load.
 * @param base the hash of what was laid there last
 * @param hash that of the new version */
function offer(
  path: string,
  base: string,
  hash: string,
  { entries, manifest }: Disk,
  { files, notes, at, act }: Draft,
): void {
  const isFree = (name: string): boolean => {
    const lies = entries.get(name);
    return !lies || (lies.hash !== undefined && lies.hash === manifest?.files[name]);
  };
  let name = `${path}.new`;
  for (let count = 2; !isFree(name); count++) name = `${path}.new${count}`;
  // What was offered before and is the newest still is not laid again once the person has removed
  // it.
  if (base === hash && !entries.has(name)) return;
  files[name] = hash;
  const names = { old: JSON.stringify(at(path)), new: JSON.stringify(at(name)) };
  notes.push(finding("beside", at(path), names));
  if (entries.get(name)?.hash === hash) act(name, "same");
  else act(name, "beside", path);
}

/** What lies in the installation and is none of the package's files: ours goes, the rest stays. */
function settleRest(
  { disk: { entries, manifest } }: Situation,
  { actions, notes, at, act, isCleared }: Draft,
): void {
  const settled = new Set(actions.map(({ path }) => path));
  for (const [path, { kind, hash }] of entries) {
    if (settled.has(path) || isCleared(path)) continue;
    const base = manifest?.files[path];
    // A folder of ours stays only for what is in it.
    const isOurFolder = kind === "folder" && manifest?.dirs.includes(path) === true;
    if (base !== undefined && hash === base) act(path, "remove");
    else if (base !== undefined) {
      act(path, "edited");
      notes.push(finding("kept", at(path)));
    } else if (!isOurFolder) act(path, "foreign");
  }
}

/** What the installation is to record: the files that it has from us, and the folders that it made
 * for them. */
function manifestOf(
  { version }: Package,
  { disk: { entries, manifest: known, absent } }: Situation,
  { files, isCleared }: Draft,
): Manifest {
  const isOurs = (folder: string): boolean =>
    known?.dirs.includes(folder) === true ||
    isCleared(folder) ||
    entries.get(folder)?.kind !== "folder";
  return {
    version: 1,
    package: version,
    files: Object.fromEntries(Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1))),
    dirs: [...new Set(Object.keys(files).flatMap(parentsOf))].sort().filter(isOurs),
    made: known?.made ?? absent,
  };
}

/** `a/b/c` → `a`, `a/b` */
export function parentsOf(path: string): string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}
