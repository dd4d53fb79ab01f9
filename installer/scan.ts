import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readMarkdown } from "../rails/blueprint/markdown.ts";
import { asFault } from "../rails/program/fault.ts";
import { type Finding, finding } from "./finding.ts";
import { MANIFEST, parseManifest } from "./manifest.ts";
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
export type Disk = ReturnType<typeof scanDisk>;

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

/**
 * Reads the disk and writes nothing.
 * @throws Fault where the place cannot be read at all
 */
export function scanDisk({ root, real }: Root) {
  try {
    const stats = lstatSync(real, { throwIfNoEntry: false });
    const entries = new Map<string, Entry>();
    if (stats?.isDirectory()) walk(real, "", entries);
    let absent = 0;
    for (let folder = real; !exists(folder); folder = dirname(folder)) absent++;
    const manifest =
      orNothing(() => parseManifest(readFileSync(join(real, MANIFEST), "utf8"))) ?? null;
    return {
      target: !stats ? "missing" : stats.isDirectory() ? "folder" : ("other" as const),
      /** Everything below the target except the manifest; paths with `/`, a folder before what is
       * in it. */
      entries: entries as ReadonlyMap<string, Entry>,
      manifest,
      /** There is a manifest, and it cannot be read. */
      broken: entries.delete(MANIFEST) && manifest === null,
      /** How many folders do not exist, from the target upwards. */
      absent,
      /** Something is left from a run that was killed, or another one is at work. */
      leftover: exists(roomOf(real)) || exists(lockOf(real)),
      /** What else Claude Code loads under a name of ours. */
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
    } else if (stats.isSymbolicLink()) into.set(path, { kind: "link" });
    else {
      const hash = stats.isFile()
        ? orNothing(() => hashOf(readFileSync(join(base, path))))
        : undefined;
      const executable = (stats.mode & 0o100) !== 0;
      into.set(path, hash === undefined ? { kind: "other" } : { kind: "file", hash, executable });
    }
  }
}

/**
 * What in a `.claude` folder carries our names: a plugin that came from a marketplace, as the client's own file has it,
 * a command by its file, an agent by its frontmatter.
 */
export function twinsIn(root: string): Finding[] {
  const list = join(root, "plugins/installed_plugins.json");
  const plugins = Object.keys(Object(jsonIn(list).plugins)).filter((id) =>
    id.startsWith("minion@"),
  );
  const command = join(root, "commands/minion.md");
  const nameIn = (path: string): unknown =>
    orNothing(() => readMarkdown(readFileSync(path, "utf8"), path).data.name);
  const agents = namesIn(join(root, "agents")).map((file) => join(root, "agents", file));
  return [
    ...plugins.map((name) => finding("twin-plugin", list, { name })),
    ...(exists(command) ? [finding("twin-command", command, { name: "minion" })] : []),
    ...agents
      .filter((path) => nameIn(path) === "minion-worker")
      .map((path) => finding("twin-agent", path, { name: "minion-worker" })),
  ];
}
