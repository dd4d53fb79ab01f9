import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** The packed tarball, as it would be published. */
    tarball: string;
    /** The same, unpacked. */
    unpacked: string;
  }
}

/** Packs the package once for all end-to-end tests: they run what people get, not the checkout. */
export default function pack(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), "minion-pack-"));
  const root = join(import.meta.dirname, "../..");
  execFileSync("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder], {
    cwd: root,
  });
  const tarball = join(folder, readdirSync(folder)[0] as string);
  execFileSync("tar", ["-xzf", tarball, "-C", folder]);
  project.provide("tarball", tarball);
  project.provide("unpacked", join(folder, "package"));
  return () => rmSync(folder, { recursive: true, force: true });
}
