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
 * @throws Fault `manifest`
 */
export function parseManifest(text: string): Manifest {
  const check = (right: boolean, what: string): void => {
    if (!right) throw new Fault("manifest", `the manifest ${what}`, "see where it comes from");
  };
  let it: Partial<Manifest> = {};
  try {
    it = Object(JSON.parse(text));
  } catch {
    check(false, "is not JSON");
  }
  const { version, package: pack = "", files = {}, dirs = [], made = [] } = it;
  const texts = (list: unknown): boolean => Array.isArray(list) && list.every((item) => typeof item === "string");
  check(version === 1, `has version ${version}; this program reads 1`);
  check(typeof pack === "string" && texts(dirs) && texts(made), "is none of this program");
  for (const path of [...Object.keys(files), ...dirs])
    check(
      !/^([/\\]|[a-z]:|$)|(^|[/\\])\.{1,2}([/\\]|$)/i.test(path),
      `names «${path}», which is outside of the folder`,
    );
  check(
    made.every((path) => /^(\.|\.\.(\/\.\.)*)$/.test(path)),
    "has a wrong list of folders above",
  );
  check(
    Object.values(files).every((hash) => /^[0-9a-f]{64}$/.test(hash)),
    "has a wrong hash",
  );
  return { version: 1, package: pack, files, dirs, made };
}

export const printManifest = (manifest: Manifest): string => `${JSON.stringify(manifest, null, 2)}\n`;
