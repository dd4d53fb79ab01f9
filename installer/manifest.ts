import { Fault } from "../rails/fault.ts";

/** Its name in the installed folder. It swaps together with what it describes. */
export const MANIFEST = ".minion-toolkit.json";

/** What the installer wrote, and nothing else: only this may be replaced or removed. */
export interface Manifest {
  readonly version: 1;
  /** The version of the package that was laid last. */
  readonly package: string;
  /** Path → sha256 of the package's file that was laid, or offered beside an edited one. */
  readonly files: Readonly<Record<string, string>>;
  /** Folders within the installation that it made. */
  readonly dirs: readonly string[];
  /** The folder itself and those above that it made, as seen from the folder: `.`, `..`, `../..` */
  readonly made: readonly string[];
}

/**
 * Reads a manifest. A broken one is an error and never an empty one: what is ours would be unknown.
 * @throws Fault `manifest-broken`
 */
export function parseManifest(text: string, where: string): Manifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw broken(where, "is not JSON");
  }
  const it = value as Partial<Manifest> | null;
  if (typeof it !== "object" || it === null || Array.isArray(it)) throw broken(where, "is not an object");
  if (it.version !== 1) throw broken(where, `has version ${JSON.stringify(it.version)}; this program reads 1`);
  if (typeof it.package !== "string") throw broken(where, "does not say which package it is of");
  if (typeof it.files !== "object" || it.files === null || Array.isArray(it.files)) throw broken(where, "has no files");
  for (const [path, hash] of Object.entries(it.files)) {
    if (typeof hash !== "string" || !/^[0-9a-f]{64}$/.test(hash)) throw broken(where, `has no hash of ${path}`);
    if (!inside(path)) throw broken(where, `names «${path}», which is outside of the folder`);
  }
  if (!strings(it.dirs) || !it.dirs.every(inside)) throw broken(where, "has a wrong list of folders");
  if (!strings(it.made) || !it.made.every((path) => /^(\.|\.\.(\/\.\.)*)$/.test(path)))
    throw broken(where, "has a wrong list of folders above");
  return { version: 1, package: it.package, files: it.files, dirs: it.dirs, made: it.made };
}

export const printManifest = (manifest: Manifest): string => `${JSON.stringify(manifest, null, 2)}\n`;

const inside = (path: string): boolean =>
  path !== "" && !/^([/\\]|[a-z]:)/i.test(path) && !path.split(/[/\\]/).some((part) => part === ".." || part === ".");

const strings = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === "string");

const broken = (where: string, what: string): Fault =>
  new Fault(
    "manifest-broken",
    `${where} ${what}`,
    "minion-toolkit install --force backs up what is there and lays it anew",
  );
