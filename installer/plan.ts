import { join } from "node:path";
import { type Code, type Finding, finding } from "./finding.ts";
import { MANIFEST, type Manifest } from "./manifest.ts";
import type { Package } from "./package.ts";
import type { Root } from "./paths.ts";
import { backupsOf, type Disk } from "./scan.ts";

export type Verb = "install" | "update" | "uninstall";

/**
 * What becomes of a path. Written from the package: `create`, `restore` (ours, but missing), `replace`, `overwrite` (backed up first),
 * `beside` (a new version next to an edited file). `remove` takes away what is ours. As it is on disk stays: `same`, `edited`, `foreign`.
 */
export type Deed =
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
export function planChange({ verb, pack, disk, place, force, now }: Situation) {
  const { entries, manifest: known } = disk;
  const obstacles: Finding[] = [];
  const notes: Finding[] = [];
  const actions: Action[] = [];
  const files: Record<string, string> = {};
  const inTheWay = new Set<string>();
  const at = (path: string): string => join(place.target, path);
  const act = (path: string, deed: Deed, from?: string): unknown =>
    actions.push(from === undefined ? { path, do: deed } : { path, do: deed, from });
  /** What is in the way is gone with all that is in it: an obstacle, or with --force saved first.
   */
  const clear = (path: string, code: Code, values = {}): void => {
    inTheWay.add(path);
    if (!force) obstacles.push(finding(code, at(path), values));
  };
  const isCleared = (path: string): boolean =>
    [path, ...parentsOf(path)].some((part) => inTheWay.has(part));

  if (place.literal !== undefined)
    notes.push(finding("config-dir", "", { value: place.literal, root: place.root }));
  if (disk.broken) clear(MANIFEST, "manifest");
  else if (verb === "update" && !known) obstacles.push(finding("not-installed", place.target));
  if (disk.target === "other" && pack) clear("", "in-the-way");
  // Which of two plugins of one name wins is for the person to say.
  for (const twin of pack ? disk.twins : [])
    (twin.level === "error" && !known && !force ? obstacles : notes).push(twin);

  const folded = new Map([...entries.keys()].map((path) => [path.toLowerCase(), path]));
  /** Clears what would keep a file from lying at a path: a parent that is no folder, a name that
   * differs in case only. */
  const clearWay = (path: string): void => {
    for (const part of [...parentsOf(path), path].filter((part) => !isCleared(part))) {
      const entry = entries.get(part);
      const clash = entry ? undefined : folded.get(part.toLowerCase());
      if (entry && entry.kind !== "folder" && part !== path) clear(part, "in-the-way");
      if (clash !== undefined && !isCleared(clash)) clear(clash, "case", { ours: path });
    }
  };

  const settle = (path: string, file: { hash: string; executable: boolean }): void => {
    clearWay(path);
    files[path] = file.hash;
    const base = known?.files[path];
    const entry = isCleared(path) ? undefined : entries.get(path);
    if (!entry) act(path, base === undefined ? "create" : "restore", path);
    else if (base !== undefined && entry.hash === file.hash)
      file.executable && !entry.executable ? act(path, "restore", path) : act(path, "same");
    else if (base !== undefined && entry.hash === base) act(path, "replace", path);
    else if (base === undefined || force) {
      clear(path, "in-the-way");
      act(path, "overwrite", path);
    } else {
      act(path, "edited");
      offer(path, base, file.hash);
    }
  };

  /** Lays the new version of an edited file beside it, under an ending that Claude Code does not
   * load. */
  const offer = (path: string, base: string, hash: string): void => {
    const isFree = (name: string): boolean => {
      const lies = entries.get(name);
      return !lies || (lies.hash !== undefined && lies.hash === known?.files[name]);
    };
    let name = `${path}.new`;
    for (let count = 2; !isFree(name); count++) name = `${path}.new${count}`;
    // What was offered before and is the newest still is not laid again once the person has removed
    // it.
    if (base === hash && !entries.has(name)) return;
    files[name] = hash;
    notes.push(
      finding("beside", at(path), { old: JSON.stringify(at(path)), new: JSON.stringify(at(name)) }),
    );
    entries.get(name)?.hash === hash ? act(name, "same") : act(name, "beside", path);
  };

  for (const [path, file] of pack?.files ?? []) settle(path, file);
  const settled = new Set(actions.map(({ path }) => path));
  for (const [path, { kind, hash }] of entries) {
    if (settled.has(path) || isCleared(path)) continue;
    const base = known?.files[path];
    if (base !== undefined && hash === base) act(path, "remove");
    else if (base !== undefined) {
      act(path, "edited");
      notes.push(finding("kept", at(path)));
    } // A folder of ours stays only for what is in it.
    else if (kind !== "folder" || !known?.dirs.includes(path)) act(path, "foreign");
  }
  actions.sort((a, b) => (a.path < b.path ? -1 : 1));

  const isOurs = (folder: string): boolean =>
    known?.dirs.includes(folder) === true ||
    isCleared(folder) ||
    entries.get(folder)?.kind !== "folder";
  const manifest: Manifest | null = pack
    ? {
        version: 1,
        package: pack.version,
        files: Object.fromEntries(Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1))),
        dirs: [...new Set(Object.keys(files).flatMap(parentsOf))].sort().filter(isOurs),
        made: known?.made ?? disk.absent,
      }
    : null;
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

/** `a/b/c` → `a`, `a/b` */
export function parentsOf(path: string): string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}
