import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll } from "vitest";

/** The shipped table. */
export const TABLE = await readFile(
  new URL("../../../assets/skills/minion-blueprint/toolchains.md", import.meta.url),
  "utf8",
);
const folders: string[] = [];
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))));

/** Makes a project of these files in a folder of its own, which goes after the tests; what is no
 * text is written as JSON. */
export async function project(files: Record<string, unknown>): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), "minion tools "));
  folders.push(root);
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(
      join(root, path),
      typeof content === "string" ? content : JSON.stringify(content),
    );
  }
  return root;
}
