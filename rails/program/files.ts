import { constants, createReadStream, type Stats } from "node:fs";
import { open } from "node:fs/promises";
import { EXIT, Fault } from "./fault.ts";

/** Bytes: nothing that a person writes or a project configures itself with is larger. */
const MOST = 2 ** 24;
/** Bytes of what a run keeps: about as much as fits in one text. */
export const MOST_KEPT = 2 ** 28;

/** A file's text. What is no file is not read: a pipe would be waited for, a device never ends.
 * @param most bytes that it may have
 * @throws Fault `not-a-file`, `too-large`; ENOENT and what else opening it says */
export async function readText(path: string, most = MOST): Promise<string> {
  // Nobody waits for a writer that way.
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const found = await file.stat();
    if (!found.isFile())
      throw new Fault("not-a-file", `${path} is ${kindOf(found)}`, "a file is wanted", EXIT.usage);
    if (found.size > most) throw tooLarge(path, most);
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

const tooLarge = (what: string, most: number): Fault =>
  new Fault("too-large", `${what} has more than ${most / 2 ** 20} MB`, "is it the right one?");

function kindOf(found: Stats): string {
  if (found.isDirectory()) return "a folder";
  if (found.isFIFO()) return "a pipe";
  return found.isSocket() ? "a socket" : "a device";
}

/** A file's text, or null where there is no such file.
 * @throws Fault as `readText` */
export const readIfThere = (path: string, most = MOST): Promise<string | null> =>
  readText(path, most).catch((error) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
    throw error;
  });

/** What a shell makes of `<(command)`, and standard input by its path. */
const STREAM = /^\/(dev|proc\/self)\/(fd\/\d+|stdin)$/;

/** Is that no file, but what a call itself is given to read? */
export const isStream = (path: string): boolean => STREAM.test(path);

/** A text that a person names: a file's, or what comes in where a shell opened something for it. */
export const readNamed = (path: string): Promise<string> =>
  isStream(path) ? readStream(createReadStream(path, "utf8"), path) : readText(path);

/** A stream's text to its end.
 * @throws Fault `too-large` */
export async function readStream(stream: AsyncIterable<unknown>, name: string): Promise<string> {
  let text = "";
  for await (const part of stream) {
    text += part;
    if (text.length > MOST_KEPT) throw tooLarge(name, MOST_KEPT);
  }
  return text;
}

/** What a plain object has itself under a name that somebody else gave: `constructor` is nothing.
 */
export const ownOf = <T>(object: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined;

/** What a JSON text says, or undefined where it is none. */
export function jsonIn<T>(text: string): T | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
