import { lstatSync, readdirSync, readFileSync, type Stats } from "node:fs";
import { dirname, join } from "node:path";
import { readMarkdown } from "../rails/blueprint/markdown.ts";
import { asFault, type Fault } from "../rails/fault.ts";
import { MANIFEST, type Manifest, parseManifest } from "./manifest.ts";
import { hashOf } from "./package.ts";
import type { Place } from "./paths.ts";

export type Entry =
  | { readonly kind: "file"; readonly hash: string; readonly executable: boolean }
  | { readonly kind: "folder" }
  | { readonly kind: "link" }
  /** A socket or the like, or a file that cannot be read: kept, never looked into. */
  | { readonly kind: "other" };

/** Something else that Claude Code loads under a name of ours. */
export interface Twin {
  readonly kind: "plugin" | "command" | "agent";
  readonly name: string;
  readonly path: string;
}

/** What lies on the disk, as far as an installation is concerned. */
export interface Disk {
  readonly target: "missing" | "folder" | "other";
  /** Everything below the target except the manifest; paths with `/`, a folder before what is in it. */
  readonly entries: ReadonlyMap<string, Entry>;
  readonly manifest: Manifest | undefined;
  readonly broken: Fault | undefined;
  /** The target and the folders above it that do not exist, as in {@link Manifest.made}. */
  readonly absent: readonly string[];
  /** Left over from a run that was killed. */
  readonly leftover: boolean;
  readonly twins: readonly Twin[];
}

/** The room of the installer beside the target: Claude Code does not look two folders deep, so nothing in it is loaded. */
export const roomOf = (real: string): string => join(dirname(real), ".minion-toolkit");
export const backupsOf = (root: string): string => join(root, "minion-toolkit-backups");

/**
 * Reads the disk and writes nothing.
 * @throws Fault where the place cannot be read at all
 */
export function scanDisk({ root, real }: Place): Disk {
  try {
    const stats = lstatSync(real, { throwIfNoEntry: false });
    const entries = new Map<string, Entry>();
    if (stats?.isDirectory()) walk(real, "", entries);
    let manifest: Manifest | undefined;
    let broken: Fault | undefined;
    if (entries.delete(MANIFEST)) {
      try {
        manifest = parseManifest(readFileSync(join(real, MANIFEST), "utf8"), join(real, MANIFEST));
      } catch (error) {
        broken = asFault(error);
      }
    }
    return {
      target: !stats ? "missing" : stats.isDirectory() ? "folder" : "other",
      entries,
      manifest,
      broken,
      absent: absentFrom(real),
      leftover: exists(roomOf(real)),
      twins: twinsIn(root),
    };
  } catch (error) {
    throw asFault(error);
  }
}

function walk(base: string, below: string, into: Map<string, Entry>): void {
  for (const name of readdirSync(join(base, below)).sort()) {
    const path = below + name;
    const stats = lstatSync(join(base, path));
    if (stats.isDirectory()) {
      into.set(path, { kind: "folder" });
      walk(base, `${path}/`, into);
    } else into.set(path, entryOf(join(base, path), stats));
  }
}

function entryOf(path: string, stats: Stats): Entry {
  if (stats.isSymbolicLink()) return { kind: "link" };
  if (!stats.isFile()) return { kind: "other" };
  try {
    return { kind: "file", hash: hashOf(readFileSync(path)), executable: (stats.mode & 0o100) !== 0 };
  } catch {
    return { kind: "other" };
  }
}

function absentFrom(real: string): string[] {
  const absent: string[] = [];
  for (let folder = real, name = "."; !exists(folder); folder = dirname(folder)) {
    absent.push(name);
    name = name === "." ? ".." : `${name}/..`;
  }
  return absent;
}

/** What a marketplace or a hand has put under our names into the same root. */
function twinsIn(root: string): Twin[] {
  const twins: Twin[] = [];
  try {
    const { plugins } = JSON.parse(readFileSync(join(root, "plugins/installed_plugins.json"), "utf8"));
    for (const id of Object.keys(plugins ?? {}).filter((id) => id.startsWith("minion@")))
      twins.push({ kind: "plugin", name: id, path: plugins[id]?.[0]?.installPath ?? id });
  } catch {
    // The client's own file: absent or unreadable, there is nothing that we could say about it.
  }
  return [...twins, ...looseTwins(root)];
}

/** Commands and agents in a `.claude` folder that carry our names, by their file or by their frontmatter. */
export function looseTwins(root: string): Twin[] {
  const found: Twin[] = [];
  for (const [kind, ours] of [
    ["command", "minion"],
    ["agent", "minion-worker"],
  ] as const) {
    const folder = join(root, `${kind}s`);
    for (const file of exists(folder) ? readdirSync(folder).filter((file) => file.endsWith(".md")) : []) {
      const path = join(folder, file);
      // A command is called after its file, an agent after its frontmatter.
      const name = kind === "agent" ? nameIn(path) : file.slice(0, -3);
      if (name === ours) found.push({ kind, name: ours, path });
    }
  }
  return found;
}

function nameIn(path: string): unknown {
  try {
    return readMarkdown(readFileSync(path, "utf8"), path).data.name;
  } catch {
    return undefined;
  }
}

const exists = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;
