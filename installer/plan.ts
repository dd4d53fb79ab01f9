import { join } from "node:path";
import { type Code, type Finding, finding } from "./finding.ts";
import { MANIFEST, type Manifest } from "./manifest.ts";
import type { Package } from "./package.ts";
import type { Place } from "./paths.ts";
import { backupsOf, type Disk, type Entry } from "./scan.ts";

export type Verb = "install" | "update" | "uninstall";

/**
 * One path of the installation and what becomes of it:
 * `create`, `restore` (ours, but missing), `replace`, `beside` (a new version next to an edited file) write the package's file `from`;
 * `same`, `edited`, `foreign` stay as they are on disk; `remove` takes away what is ours; `overwrite` replaces what was backed up.
 */
export interface Action {
  readonly path: string;
  readonly do: "create" | "restore" | "replace" | "beside" | "same" | "edited" | "foreign" | "remove" | "overwrite";
  readonly from?: string;
}

/** Everything that apply will do; printed as it is by `--dry-run --json`. */
export interface Plan {
  readonly version: 1;
  readonly verb: Verb;
  readonly root: string;
  readonly target: string;
  /** The versions before and after. */
  readonly before: string | null;
  readonly after: string | null;
  readonly actions: readonly Action[];
  /** Where anything stands here, nothing is written. */
  readonly obstacles: readonly Finding[];
  readonly notes: readonly Finding[];
  /** Paths that are copied to `backup` before they are overwritten; the empty path is the target itself. */
  readonly backup: string | null;
  readonly saved: readonly string[];
  /** Whether anything on the disk will differ. */
  readonly changes: boolean;
  /** Folders that go with the installation where nothing else is in them, as in {@link Manifest.made}. */
  readonly made: readonly string[];
  /** What the installation records about itself afterwards; null where nothing of ours stays. */
  readonly manifest: Manifest | null;
}

export interface PlanFlags {
  readonly force?: boolean;
  /** Names the backup. */
  readonly now: Date;
}

/**
 * What is to become of the disk. Pure: the same arguments give the same plan, and nothing is read or written.
 * @param pack what to lay; undefined to uninstall
 */
export function planChange(verb: Verb, pack: Package | undefined, disk: Disk, place: Place, flags: PlanFlags): Plan {
  const force = flags.force === true;
  const known = disk.manifest;
  const obstacles: Finding[] = [];
  const notes: Finding[] = [];
  const actions: Action[] = [];
  const saved: string[] = [];
  const files: Record<string, string> = {};
  const wanted: Package["files"] = pack?.files ?? new Map();
  const at = (path: string): string => join(place.target, path);
  /** What is in the way is an obstacle, or with --force is backed up first. */
  const clear = (path: string, code: Code, values = {}): void => {
    if (force) saved.push(path);
    else obstacles.push(finding(code, at(path), values));
  };

  if (place.literal !== undefined) notes.push(finding("config-dir", "", { value: place.literal, root: place.root }));
  if (disk.broken) clear(MANIFEST, "manifest", { why: disk.broken.message });
  else if (verb === "update" && !known) obstacles.push(finding("not-installed", place.target));
  if (disk.target === "other" && pack) clear("", "in-the-way");
  for (const { kind, name, path } of pack ? disk.twins : []) {
    const twin = finding(`twin-${kind}`, path, { name });
    // Which of two plugins of one name wins is for the person to say.
    (twin.level === "error" && !known && !force ? obstacles : notes).push(twin);
  }

  const entries: ReadonlyMap<string, Entry> = disk.entries;
  const folded = new Map([...entries.keys()].map((path) => [path.toLowerCase(), path]));
  const removed = new Set<string>();
  const below = (path: string): string[] => [...entries.keys()].filter((entry) => entry.startsWith(`${path}/`));
  const remove = (path: string): void => {
    removed.add(path);
    for (const entry of below(path)) removed.add(entry);
  };

  for (const path of [...wanted.keys()].sort()) {
    const file = wanted.get(path);
    if (!file) continue;
    const from = file.from;
    const hurdle = parentsOf(path).find((parent) => {
      const entry = entries.get(parent);
      return entry !== undefined && entry.kind !== "folder" && !removed.has(parent);
    });
    if (hurdle !== undefined) {
      clear(hurdle, "in-the-way");
      remove(hurdle);
    }
    const clash = [path, ...parentsOf(path)]
      .filter((part) => !entries.has(part))
      .map((part) => folded.get(part.toLowerCase()))
      .find((part) => part !== undefined && !removed.has(part));
    if (clash !== undefined) {
      clear(clash, "case", { ours: path });
      remove(clash);
    }
    files[path] = file.hash;
    const entry = removed.has(path) ? undefined : entries.get(path);
    const base = known?.files[path];
    const hash = entry?.kind === "file" ? entry.hash : undefined;
    if (!entry) actions.push({ path, do: base === undefined ? "create" : "restore", from });
    else if (base !== undefined && hash === file.hash)
      actions.push(
        file.executable && entry.kind === "file" && !entry.executable
          ? { path, do: "restore", from }
          : { path, do: "same" },
      );
    else if (base !== undefined && hash === base) actions.push({ path, do: "replace", from });
    else if (base === undefined || force) {
      clear(path, "in-the-way");
      remove(path);
      actions.push({ path, do: "overwrite", from });
    } else {
      actions.push({ path, do: "edited" });
      const offer = besideOf(path, entries, known, wanted);
      const offered = known?.files[offer];
      const lies = entries.get(offer);
      // What was offered before and is the newest still, stays while it lies there, and is not laid again.
      if (base === file.hash && (!offered || !lies)) continue;
      files[offer] = file.hash;
      actions.push(
        lies?.kind === "file" && lies.hash === file.hash
          ? { path: offer, do: "same" }
          : { path: offer, do: "beside", from },
      );
      notes.push(finding("beside", at(path), { old: JSON.stringify(at(path)), new: JSON.stringify(at(offer)) }));
    }
  }

  const done = new Set(actions.map(({ path }) => path));
  for (const [path, entry] of entries) {
    if (done.has(path) || removed.has(path) || entry.kind === "folder") continue;
    const base = known?.files[path];
    const ours = base !== undefined && entry.kind === "file" && entry.hash === base;
    if (ours) actions.push({ path, do: "remove" });
    else actions.push({ path, do: base === undefined ? "foreign" : "edited" });
    if (!ours && base !== undefined) notes.push(finding("kept", at(path)));
  }
  // A folder stays for what is in it, or because it was not ours.
  for (const [path, entry] of entries) {
    if (entry.kind === "folder" && !done.has(path) && !removed.has(path) && !known?.dirs.includes(path))
      actions.push({ path, do: "foreign" });
  }
  actions.sort((a, b) => (a.path < b.path ? -1 : 1));

  const folders = [...new Set(Object.keys(files).flatMap(parentsOf))].sort();
  const ours = (path: string): boolean =>
    known?.dirs.includes(path) || removed.has(path) || entries.get(path)?.kind !== "folder";
  const manifest: Manifest | null =
    pack === undefined
      ? null
      : {
          version: 1,
          package: pack.version,
          files: sorted(files),
          dirs: folders.filter(ours),
          made: known?.made ?? disk.absent,
        };
  const changes =
    JSON.stringify(manifest) !== JSON.stringify(known ?? null) ||
    disk.leftover ||
    actions.some(({ do: what }) => !["same", "edited", "foreign"].includes(what));
  const stamp = flags.now.toISOString().replaceAll(":", "-");
  return {
    version: 1,
    verb,
    root: place.root,
    target: place.target,
    before: known?.package ?? null,
    after: manifest?.package ?? null,
    actions,
    obstacles,
    notes,
    backup: saved.length > 0 && obstacles.length === 0 ? join(backupsOf(place.root), stamp) : null,
    saved: [...new Set(saved)],
    changes: changes && obstacles.length === 0,
    made: verb === "uninstall" ? (known?.made ?? []) : [],
    manifest,
  };
}

/** `a/b/c` → `a`, `a/b` */
export function parentsOf(path: string): string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}

/** Where the new version of an edited file goes: no ending that Claude Code loads, and never onto what a person put there. */
function besideOf(
  path: string,
  entries: ReadonlyMap<string, Entry>,
  known: Manifest | undefined,
  wanted: ReadonlyMap<string, unknown>,
): string {
  for (let count = 1; ; count++) {
    const offer = `${path}.new${count === 1 ? "" : count}`;
    const entry = entries.get(offer);
    const untouched = entry?.kind === "file" && entry.hash === known?.files[offer];
    if (!wanted.has(offer) && (!entry || untouched)) return offer;
  }
}

const sorted = (files: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1)));
