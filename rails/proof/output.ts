import { type FileHandle, readFile } from "node:fs/promises";
import type { Readable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { matcher } from "./failures.ts";

/** A shorter value stands in too many texts by chance. */
const SECRET_LENGTH = 6;

/** The values that must not stand in raw output, longest first, each with what stands there
 * instead: of variables with such a name, each of its lines, and passwords in addresses. */
export function secretsIn(
  env: NodeJS.ProcessEnv,
  names: readonly string[],
): [value: string, instead: string][] {
  const isSecret = matcher(names, "i");
  const found: [value: string, instead: string][] = [];
  for (const [key, value = ""] of Object.entries(env)) {
    const lines = isSecret(key) ? value.split("\n").map((line) => line.trim()) : [];
    for (const secret of [...lines, ...passwordsIn(value)]) found.push([secret, `[${key}]`]);
  }
  return found
    .filter(([value]) => value.length >= SECRET_LENGTH)
    .sort(([a], [b]) => b.length - a.length);
}

/** The passwords of addresses such as `https://me:PASSWORD@host`. */
const passwordsIn = (text: string): string[] =>
  [...text.matchAll(/:\/\/[^\s/:@]*:([^\s/@]+)@/g)].map(([, password = ""]) => password);

/** The last lines of raw output, without colours; none where it is gone. */
export async function tailOf(path: string, lines: number): Promise<string[]> {
  const text = stripVTControlCharacters(await readFile(path, "utf8").catch(() => ""));
  return text.trimEnd().split("\n").slice(-lines);
}

/** Writes raw output to a file as it comes, without secrets. Of more than `limit` characters the
 * middle is left out. */
export async function keep(
  output: Readable,
  file: FileHandle,
  limit: number,
  secrets: [value: string, instead: string][],
): Promise<void> {
  const half = limit / 2;
  const longest = secrets[0]?.[0].length ?? 0;
  let rest = ""; // What may end with the beginning of a secret
  let written = 0;
  let tail = "";
  let left = 0;
  const shorten = (): void => {
    left += Math.max(0, tail.length - half);
    tail = tail.slice(-half);
  };
  for await (const chunk of output.setEncoding("utf8")) {
    const text = secrets.reduce(
      (all, [value, instead]) => all.replaceAll(value, instead),
      rest + chunk,
    );
    const clean = text.slice(0, Math.max(0, text.length - longest));
    rest = text.slice(clean.length);
    if (written < half) await file.write(clean);
    else tail += clean;
    written += clean.length;
    if (tail.length > limit) shorten();
  }
  tail += rest;
  shorten();
  await file.write((left > 0 ? `\n… ${left} characters are left out here …\n` : "") + tail);
}
