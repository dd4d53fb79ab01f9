import { createHash } from "node:crypto";
import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { EXIT, Fault } from "../rails/fault.ts";

/** The entry command becomes the folder's root skill: only that is a bare `/minion` (as a command it would be `/minion:minion`). */
const LAID = new Map([["commands/minion.md", "SKILL.md"]]);
const REQUIRED = [".claude-plugin/plugin.json", "commands/minion.md", "bin/minion"];

export interface PackageFile {
  /** The file below assets/. */
  readonly from: string;
  readonly hash: string;
  readonly executable: boolean;
}

/** What an installation is made of: target path → file, both with `/`. */
export interface Package {
  readonly assets: string;
  readonly version: string;
  readonly files: ReadonlyMap<string, PackageFile>;
}

/**
 * Reads the package's assets.
 * @throws Fault `package-broken` where a part is missing or something other than a file lies in it
 */
export function readPackage(assets: string): Package {
  const missing = REQUIRED.find((path) => !existsSync(join(assets, path)));
  if (missing !== undefined) throw broken(`${join(assets, missing)} is missing`);
  let version: unknown;
  try {
    version = JSON.parse(readFileSync(join(assets, ".claude-plugin/plugin.json"), "utf8")).version;
  } catch (error) {
    throw broken(`${join(assets, ".claude-plugin/plugin.json")}: ${(error as Error).message}`);
  }
  if (typeof version !== "string") throw broken(`${join(assets, ".claude-plugin/plugin.json")} has no version`);
  const files = new Map<string, PackageFile>();
  for (const path of list(assets)) {
    const bytes = readFileSync(join(assets, path));
    // Windows has no executable bit; git and npm set it elsewhere.
    const executable =
      path.startsWith("bin/") || path.endsWith(".sh") || (lstatSync(join(assets, path)).mode & 0o100) !== 0;
    files.set(LAID.get(path) ?? path, {
      from: path,
      hash: hashOf(bytes),
      executable: executable && !path.endsWith(".json"),
    });
  }
  return { assets, version, files };
}

export const hashOf = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

function* list(folder: string, below = ""): Generator<string> {
  const entries = readdirSync(join(folder, below), { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = below + entry.name;
    if (entry.isDirectory()) yield* list(folder, `${path}/`);
    else if (!entry.isFile()) throw broken(`${join(folder, path)} is not a file`);
    else if (entry.name !== ".DS_Store") yield path;
  }
}

const broken = (what: string): Fault =>
  new Fault("package-broken", what, "this copy of minion-toolkit is incomplete: install it again", EXIT.usage);
