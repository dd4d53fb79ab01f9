import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readMarkdown } from "../rails/blueprint/markdown.ts";
import { asFault, type Fault } from "../rails/fault.ts";
import { MANIFEST, type Manifest, parseManifest } from "./manifest.ts";
import { hashOf } from "./package.ts";
import type { Place } from "./paths.ts";

/** `other` is a socket or the like, or a file that cannot be read: kept, never looked into. */
export interface Entry {
  readonly kind: "file" | "folder" | "link" | "other";
  /** Of a file. */
  readonly hash?: string;
  readonly executable?: boolean;
}

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
  readonly manifest?: Manifest;
  /** Why there is a manifest that cannot be read. */
  readonly broken?: Fault;
  /** The target and the folders above it that do not exist, as in {@link Manifest.made}. */
  readonly absent: readonly string[];
  /** Something is left from a run that was killed, or another one is at work. */
  readonly leftover: boolean;
  readonly twins: readonly Twin[];
}

/** The installer's own room beside the target: Claude Code loads nothing from a hidden folder. */
export const roomOf = (real: string): string => join(dirname(real), ".minion-toolkit");
export const lockOf = (real: string): string => join(dirname(real), ".minion-toolkit.lock");
export const backupsOf = (root: string): string => join(root, "minion-toolkit-backups");
export const exists = (path: string): boolean => orNothing(() => lstatSync(path)) !== undefined;
/** What is in a folder, sorted; nothing where there is none. */
export const namesIn = (folder: string): string[] => orNothing(() => readdirSync(folder).sort()) ?? [];

/**
 * Reads the disk and writes nothing.
 * @throws Fault where the place cannot be read at all
 */
export function scanDisk({ root, real }: Place): Disk {
  try {
    const stats = lstatSync(real, { throwIfNoEntry: false });
    const entries = new Map<string, Entry>();
    if (stats?.isDirectory()) walk(real, "", entries);
    return {
      target: !stats ? "missing" : stats.isDirectory() ? "folder" : "other",
      entries,
      ...(entries.delete(MANIFEST) ? readManifest(join(real, MANIFEST)) : {}),
      absent: absentFrom(real),
      leftover: exists(roomOf(real)) || exists(lockOf(real)),
      twins: [...pluginTwins(root), ...looseTwins(root)],
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
    } else if (stats.isSymbolicLink()) into.set(path, { kind: "link" });
    else {
      const hash = stats.isFile() ? orNothing(() => hashOf(readFileSync(join(base, path)))) : undefined;
      const executable = (stats.mode & 0o100) !== 0;
      into.set(path, hash === undefined ? { kind: "other" } : { kind: "file", hash, executable });
    }
  }
}

function readManifest(path: string): Pick<Disk, "manifest" | "broken"> {
  try {
    return { manifest: parseManifest(readFileSync(path, "utf8")) };
  } catch (error) {
    return { broken: asFault(error) };
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

/** Plugins of our name that came from a marketplace, as the client's own file has them. */
function pluginTwins(root: string): Twin[] {
  const file = join(root, "plugins/installed_plugins.json");
  const ids = orNothing(() => Object.keys(JSON.parse(readFileSync(file, "utf8")).plugins)) ?? [];
  return ids.filter((id) => id.startsWith("minion@")).map((name) => ({ kind: "plugin", name, path: file }));
}

/** Commands and agents in a `.claude` folder that carry our names: a command by its file, an agent by its frontmatter. */
export function looseTwins(root: string): Twin[] {
  const nameIn = (path: string): unknown => orNothing(() => readMarkdown(readFileSync(path, "utf8"), path).data.name);
  const commands = namesIn(join(root, "commands")).filter((file) => file === "minion.md");
  const agents = namesIn(join(root, "agents")).filter((file) => nameIn(join(root, "agents", file)) === "minion-worker");
  return [
    ...commands.map((file): Twin => ({ kind: "command", name: "minion", path: join(root, "commands", file) })),
    ...agents.map((file): Twin => ({ kind: "agent", name: "minion-worker", path: join(root, "agents", file) })),
  ];
}

/** For what may be unreadable without that being of our concern. */
function orNothing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
