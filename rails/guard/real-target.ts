import { realpath } from "node:fs/promises";
import { basename, dirname, join, resolve, sep } from "node:path";

/** The path with every link on its way followed, as far as it exists. */
export async function realTarget(path: string): Promise<string> {
  const real = await realpath(path).catch(() => null);
  if (real !== null) return real;
  const parent = dirname(path);
  return parent === path ? path : join(await realTarget(parent), basename(path));
}

/** An option with its value in the same word, before the value. */
const OPTION = /^(?:--[\w-]+=|-[A-Za-z]|of=)(?=.)/;

/** Of the words of a command those that lead out of a folder by a link, each with what it comes to.
 * @param from where the command runs
 * @param top the folder */
export async function leadingOut(
  words: readonly string[],
  from: string,
  top: string,
): Promise<[string, string][]> {
  const home = await realTarget(top);
  const targets = words.flatMap((word) => {
    const [option = ""] = OPTION.exec(word) ?? [];
    return [...new Set([option, ""])].map((before) => ({ word, before }));
  });
  const found = await Promise.all(
    targets.map(async ({ word, before }): Promise<[string, string][]> => {
      const path = resolve(from, word.slice(before.length));
      const real = await realTarget(path);
      const isOut = real !== home && !real.startsWith(home + sep);
      return isOut && real !== path ? [[word, before + real]] : [];
    }),
  );
  return found.flat();
}
