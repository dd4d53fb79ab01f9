import { realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** The path with every link on its way followed, as far as it exists. */
export async function realTarget(path: string): Promise<string> {
  const real = await realpath(path).catch(() => null);
  if (real !== null) return real;
  const parent = dirname(path);
  return parent === path ? path : join(await realTarget(parent), basename(path));
}
