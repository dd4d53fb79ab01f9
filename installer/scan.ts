import { lstatSync, readdirSync, readFileSync, type Stats } from "node:fs";
import { dirname, join } from "node:path";
import { readMarkdown } from "../rails/blueprint/markdown.ts";
import { asFault } from "../rails/program/fault.ts";
import { type Finding, finding } from "./finding.ts";
import { MANIFEST, type Manifest, parseManifest } from "./manifest.ts";
import { hashOf } from "./package.ts";
import type { Root } from "./paths.ts";

/** `other` is a socket or the like, or a file that cannot be read: kept, never looked into. */
export interface Entry {
  readonly kind: "file" | "folder" | "link" | "other";
  /** Of a file. */
  readonly hash?: string;
  readonly executable?: boolean;
}

/** What lies on the disk, as far as an installation is concerned. */
export interface Disk {
  readonly target: "missing" | "folder" | "other";
  /** Everything below the target except the manifest; paths with `/`, a folder before what is in
   * it. */
  readonly entries: ReadonlyMap<string, Entry>;
  readonly manifest: Manifest | null;
  /** There is a manifest, and it cannot be read. */
  readonly broken: boolean;
  /** How many folders do not exist, from the target upwards. */
  readonly absent: number;
  /** Something is left from a run that was killed, or another one is at work. */
  readonly leftover: boolean;
  /** Folders in which originals of the person's lie that an installation replaced. */
  readonly saved: readonly string[];
  /** What else Claude Code loads under a name of ours. */
  readonly twins: readonly Finding[];
}

/** The lock's name beside the target, without its ending. */
export const LOCK = ".minion-toolkit";
/** The installer's own room beside the target: Claude Code loads nothing from a hidden folder. */
export const roomOf = (real: string): string => join(dirname(real), LOCK);
export const lockOf = (real: string): string => `${roomOf(real)}.lock`;
export const backupsOf = (root: string): string => join(root, "minion-toolkit-backups");

/** For what may be missing or unreadable without that being of our concern. */
export function orNothing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
export const exists = (path: string): boolean => orNothing(() => lstatSync(path)) !== undefined;
/** What is in a folder, sorted. */
export const namesIn = (folder: string): string[] =>
  orNothing(() => readdirSync(folder).sort()) ?? [];
/** The object in a JSON file. */
export const jsonIn = (file: string): Record<string, unknown> =>
  Object(orNothing(() => JSON.parse(readFileSync(file, "utf8").replace(/^\uFEFF/, ""))));

/** Reads the disk and writes nothing.
 * @throws Fault where the place cannot be read at all */
export function scanDisk({ root, real }: Root): Disk {
  try {
    const stats = lstatSync(real, { throwIfNoEntry: false });
    const entries = new Map<string, Entry>();
    if (stats?.isDirectory()) walk(real, "", entries);
    const hasManifest = entries.delete(MANIFEST);
    const readManifest = () => parseManifest(readFileSync(join(real, MANIFEST), "utf8"));
    const manifest = orNothing(readManifest) ?? null;
    return {
      target: targetKind(stats),
      entries,
      manifest,
      broken: hasManifest && manifest === null,
      absent: absentFrom(real),
      leftover: exists(roomOf(real)) || exists(lockOf(real)),
      saved: namesIn(backupsOf(root)).map((name) => join(backupsOf(root), name)),
      twins: twinsIn(root),
    };
  } catch (error) {
    throw asFault(error);
  }
}

function targetKind(stats: Stats | undefined): Disk["target"] {
  if (!stats) return "missing";
  return stats.isDirectory() ? "folder" : "other";
}

/** How many folders do not exist, from this one upwards. */
function absentFrom(path: string): number {
  let absent = 0;
  for (let folder = path; !exists(folder); folder = dirname(folder)) absent++;
  return absent;
}

/** Takes down what is in a folder, and in those below it. */
function walk(base: string, below: string, into: Map<string, Entry>): void {
  for (const name of readdirSync(join(base, below)).sort()) {
    const path = below + name;
    const stats = lstatSync(join(base, path));
    into.set(path, entryOf(join(base, path), stats));
    if (stats.isDirectory()) walk(base, `${path}/`, into);
  }
}

function entryOf(path: string, stats: Stats): Entry {
  if (stats.isDirectory()) return { kind: "folder" };
  if (stats.isSymbolicLink()) return { kind: "link" };
  const hash = stats.isFile() ? orNothing(() => hashOf(readFileSync(path))) : undefined;
  if (hash === undefined) return { kind: "other" };
  return { kind: "file", hash, executable: (stats.mode & 0o100) !== 0 };
}

/** Where the client writes down which plugins came from marketplaces. */
export const listIn = (root: string): string => join(root, "plugins/installed_plugins.json");

/** The plugins of our name that came from a marketplace. */
export const pluginsIn = (root: string): string[] =>
  Object.keys(Object(jsonIn(listIn(root)).plugins)).filter((id) => id.startsWith("minion@"));

/** What in a `.claude` folder carries our names: a plugin that came from a marketplace, as the
 * client's own file has it, a command by its file, an agent by its frontmatter. */
export function twinsIn(root: string): Finding[] {
  const findings = pluginsIn(root).map((name) => finding("twin-plugin", listIn(root), { name }));
  const command = join(root, "commands/minion.md");
  if (exists(command)) findings.push(finding("twin-command", command, { name: "minion" }));
  for (const file of namesIn(join(root, "agents"))) {
    const path = join(root, "agents", file);
    const name = orNothing(() => readMarkdown(readFileSync(path, "utf8"), path).data.name);
    if (name === "minion-worker")
      findings.push(finding("twin-agent", path, { name: "minion-worker" }));
  }
  return findings;
}
