import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import fs from "fs-extra";
import { EXIT, Fault } from "../rails/program/fault.ts";

const PLUGIN = ".claude-plugin/plugin.json";
/** As a command it would be `/minion:minion`; only the folder's root skill is a bare `/minion`. */
const ENTRY = { from: "commands/minion.md", to: "SKILL.md" };

/** What an installation is made of: the package's version, and its files by their path in the
 * installation, with `/`. */
export type Package = Readonly<{ version: string; files: ReadonlyMap<string, PackageFile> }>;
type PackageFile = Readonly<{ source: string; hash: string; executable: boolean }>;

export const hashOf = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

/** Where the package's assets are.
 * @param program the path of the bundle, dist/minion-toolkit.js; npm starts it through a link */
export const assetsOf = (program: string): string =>
  join(dirname(fs.realpathSync(program)), "..", "assets");

/** Reads the package's assets.
 * @throws Fault `package-broken` where a part is missing */
export function readPackage(assets: string): Package {
  const files = new Map<string, PackageFile>();
  const read = (below: string): void => {
    for (const entry of fs.readdirSync(join(assets, below), { withFileTypes: true })) {
      const path = below + entry.name;
      const source = join(assets, path);
      if (entry.isDirectory()) read(`${path}/`);
      if (!entry.isFile() || entry.name === ".DS_Store") continue;
      // Windows has no executable bit, so the place counts too.
      const executable =
        path === "bin/minion" || path.endsWith(".sh") || (fs.lstatSync(source).mode & 0o100) !== 0;
      files.set(path === ENTRY.from ? ENTRY.to : path, {
        source,
        hash: hashOf(fs.readFileSync(source)),
        executable,
      });
    }
  };
  try {
    read("");
    for (const path of [ENTRY.to, "bin/minion"])
      if (!files.has(path)) throw new Error(`${path} is missing`);
    const version: unknown = fs.readJsonSync(join(assets, PLUGIN), { throws: false })?.version;
    if (typeof version !== "string") throw new Error(`${PLUGIN} has no version`);
    return { version, files };
  } catch (error) {
    const hint = "this copy of minion-toolkit is incomplete: install it again";
    throw new Fault("package-broken", `${assets}: ${(error as Error).message}`, hint, EXIT.usage);
  }
}
