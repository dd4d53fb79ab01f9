import { open, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { platform } from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import type { Place } from "../../git/repository.ts";
import type { Journal } from "../../journal/journal.ts";
import { isOpen } from "../../journal/state.ts";
import { EXIT, Fault } from "../../program/fault.ts";
import { word } from "../../program/typed.ts";
import type { World } from "../../program/world.ts";
import { seenAt } from "../seen.ts";
import { pageData } from "./data.ts";
import { GENERATOR, pageHtml } from "./html.ts";
import { type Known, textsOf } from "./texts.ts";

/** A page in use is written anew at most that often … */
const LEAST_MS = 3000;
/** … and at least that often: then who looks at it knows that somebody still writes. */
const MOST_MS = 60_000;

/** Bytes at the beginning of a page, among which its generator stands. */
const HEAD = 4096;

/** Can a page be written there? What is no page of ours is not overwritten.
 * @throws Fault `no-folder`, `not-a-file`, `not-ours` */
export async function checkPlace(file: string): Promise<void> {
  const folder = dirname(file);
  const around = await stat(folder).catch(() => null);
  if (!around?.isDirectory())
    throw new Fault("no-folder", `there is no folder ${folder}`, "make it first", EXIT.usage);
  const found = await stat(file).catch(() => null);
  if (!found) return;
  if (!found.isFile())
    throw new Fault("not-a-file", `${file} is no file`, "name a file in it", EXIT.usage);
  if (!(await headOf(file)).includes(`name="generator" content="${GENERATOR}"`))
    throw new Fault(
      "not-ours",
      `${file} is no page that was written here`,
      "name another file, or remove that one first",
    );
}

async function headOf(path: string): Promise<string> {
  const file = await open(path, "r");
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD), 0, HEAD, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Writes the page of a run, whole or not at all.
 * @param isFollowed is it written anew until the run is over?
 * @returns is the run still under way? */
export async function writePage(
  file: string,
  place: Place,
  journal: Journal,
  isFollowed = false,
  known?: Known,
): Promise<boolean> {
  const { state, seen } = await seenAt(place, { journal });
  const texts = await textsOf(state, seen, place, known);
  const page = pageHtml(pageData(state, seen, texts, isFollowed));
  await checkPlace(file);
  const beside = `${file}.${process.pid}.new`;
  try {
    await writeFile(beside, page, { flag: "wx" });
    await rename(beside, file);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
  return isOpen(state);
}

/** Writes the page of a run as things happen, until the run is over. */
export async function keepWriting(
  file: string,
  place: Place,
  journal: Journal,
  { stdout, now }: World,
): Promise<void> {
  const known: Known = new Map();
  const sizeOf = async (): Promise<number> => (await stat(journal.file)).size;
  let [size, at] = [-1, 0];
  for (; stdout.writable !== false; await sleep(LEAST_MS)) {
    const found = await sizeOf();
    if (found === size && now() - at < MOST_MS) continue;
    [size, at] = [found, now()];
    if (!(await writePage(file, place, journal, true, known))) return;
  }
}

/** The command that opens a file in a browser. */
export function openCommand(file: string): string {
  const program = { darwin: "open", win32: "explorer" }[platform as string] ?? "xdg-open";
  return `${program} ${word(file)}`;
}
