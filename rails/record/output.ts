import type { FileHandle } from "node:fs/promises";
import type { Readable } from "node:stream";
import { matcher } from "./judge.ts";

/** A line that is longer is written in parts; of what may hold the beginning of a secret, so much is kept back. */
const LINE_LIMIT = 65_536;
const KEPT_BACK = 4096;
/** A shorter value stands in too many texts by chance. */
const SECRET_LENGTH = 6;

/** The values that must not stand in raw output, longest first, each with what stands there instead: of variables with
 * such a name, each of its lines, and passwords in addresses. */
export function secretsIn(env: NodeJS.ProcessEnv, names: readonly string[]): [value: string, instead: string][] {
  const isSecret = matcher(names, "i");
  const found = Object.entries(env).flatMap(([key, value = ""]): [string, string][] => {
    const inAddress = [...value.matchAll(/:\/\/[^\s/:@]*:([^\s/@]+)@/g)].map(([, password = ""]) => password);
    const lines = isSecret(key) ? value.split("\n").map((line) => line.trim()) : [];
    return [...lines, ...inAddress].map((each) => [each, `[${key}]`]);
  });
  return found.filter(([value]) => value.length >= SECRET_LENGTH).sort(([a], [b]) => b.length - a.length);
}

/** Writes raw output to a file as it comes, without secrets. Of more than `limit` characters the beginning
 * and the end are kept, and between them stands how much is left out. */
export async function keep(output: Readable, file: FileHandle, limit: number, secrets: [string, string][]) {
  let rest = "";
  let written = 0;
  const tail: string[] = [];
  let tailSize = 0;
  let left = 0;
  const take = async (text: string): Promise<void> => {
    const clean = secrets.reduce((all, [value, instead]) => all.replaceAll(value, instead), text);
    if (written < limit / 2) {
      written += clean.length;
      await file.write(clean);
      return;
    }
    tail.push(clean);
    tailSize += clean.length;
    while (tailSize > limit / 2 && tail.length > 1) {
      const size = tail.shift()?.length ?? 0;
      tailSize -= size;
      left += size;
    }
  };
  for await (const chunk of output.setEncoding("utf8")) {
    const text = rest + chunk;
    const end = text.lastIndexOf("\n") + 1 || (text.length > LINE_LIMIT ? text.length - KEPT_BACK : 0);
    rest = text.slice(end);
    if (end > 0) await take(text.slice(0, end));
  }
  await take(rest);
  await file.write((left > 0 ? `\n… ${left} characters are left out here …\n` : "") + tail.join(""));
}
