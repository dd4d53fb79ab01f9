import { createHash } from "node:crypto";
import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { EXIT, Fault } from "../rails/fault.ts";

/** As a command it would be `/minion:minion`; only the folder's root skill is a bare `/minion`. */
const ENTRY = { from: "commands/minion.md", to: "SKILL.md" };
const REQUIRED = [".claude-plugin/plugin.json", ENTRY.from, "bin/minion"];

export interface PackageFile {
  readonly source: string;
  readonly hash: string;
  readonly executable: boolean;
}

/** What an installation is made of. */
export interface Package {
  readonly version: string;
  /** Path in the installation, with `/` → the file. */
  readonly files: ReadonlyMap<string, PackageFile>;
}

/**
 * Reads the package's assets.
 * @throws Fault `package-broken` where a part is missing, or something other than a file lies in it
 */
export function readPackage(assets: string): Package {
  const check = (right: boolean, path: string, what: string): void => {
    const hint = "this copy of minion-toolkit is incomplete: install it again";
    if (!right) throw new Fault("package-broken", `${join(assets, path)} ${what}`, hint, EXIT.usage);
  };
  for (const path of REQUIRED) check(existsSync(join(assets, path)), path, "is missing");
  const files = new Map<string, PackageFile>();
  const read = (below: string): void => {
    for (const entry of readdirSync(join(assets, below), { withFileTypes: true })) {
      const path = below + entry.name;
      const source = join(assets, path);
      if (entry.isDirectory()) read(`${path}/`);
      else if (entry.name !== ".DS_Store") {
        check(entry.isFile(), path, "is not a file");
        // Windows has no executable bit, so the place counts too.
        const executable = path === "bin/minion" || path.endsWith(".sh") || (lstatSync(source).mode & 0o100) !== 0;
        files.set(path === ENTRY.from ? ENTRY.to : path, { source, hash: hashOf(readFileSync(source)), executable });
      }
    }
  };
  read("");
  let version: unknown;
  try {
    version = JSON.parse(readFileSync(join(assets, REQUIRED[0] ?? ""), "utf8")).version;
  } catch {
    check(false, REQUIRED[0] ?? "", "is not JSON");
  }
  check(typeof version === "string", REQUIRED[0] ?? "", "has no version");
  return { version: String(version), files };
}

export const hashOf = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
