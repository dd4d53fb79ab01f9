import { readFile } from "node:fs/promises";

/** A file's text, or null where there is no such file. */
export const readIfThere = (path: string): Promise<string | null> =>
  readFile(path, "utf8").catch((error) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
    throw error;
  });

/** What a JSON text says, or undefined where it is none. */
export function jsonIn<T>(text: string): T | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
