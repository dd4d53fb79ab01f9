import { open } from "node:fs/promises";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { gitText } from "../../git/git.ts";
import type { Place } from "../../git/repository.ts";
import type { RunState } from "../../journal/state.ts";
import { failuresIn } from "../report.ts";
import type { Seen } from "../said.ts";
import { outputsIn, type Range, rangesIn, type Texts } from "./data.ts";
import { type FileDiff, filesIn } from "./diff.ts";

/** Characters of raw output that a page shows of one command, from its beginning and its end. */
const HEAD = 4_000;
const TAIL = 16_000;
/** So many characters of diffs, and of raw output, are in one page. */
const MOST_DIFFS = 24_000_000;
const MOST_OUTPUT = 8_000_000;
/** Lines of a failure that stand beside a decision. */
const FAILURE = 12;

/** Diffs by what is compared: commits stay what they are, so that a page that is written again and
 * again asks for each once. */
export type Known = Map<string, readonly FileDiff[] | null>;

/** Reads what a page shows and no journal holds: what each task changed, and what commands printed.
 * @param known what was read before; it is added to */
export async function textsOf(
  state: RunState,
  seen: Seen,
  place: Place,
  known: Known = new Map(),
): Promise<Texts> {
  const diffs = new Map<string, readonly FileDiff[] | null>();
  let left = MOST_DIFFS;
  for (const range of rangesIn(state)) {
    const files = known.get(range.key) ?? (await filesOf(range, place));
    if (range.isFixed) known.set(range.key, files);
    const size = (files ?? []).reduce((sum, { patch }) => sum + (patch?.length ?? 0), 0);
    left -= size;
    diffs.set(
      range.key,
      left < 0 ? (files ?? []).map((each) => ({ ...each, patch: null })) : files,
    );
  }
  return {
    diffs,
    outputs: await readOutputs(outputsIn(state), seen.folder),
    failures: await failuresIn(state, seen, FAILURE),
  };
}

/** As git prints a diff whatever the person has set: `filesIn` reads it. */
const SAME = [
  "--no-ext-diff",
  "--no-textconv",
  "--no-relative",
  "--find-renames",
  "--submodule=short",
  "--src-prefix=a/",
  "--dst-prefix=b/",
];

/** Null where the commits are gone. */
async function filesOf({ from, to }: Range, { main }: Place): Promise<FileDiff[] | null> {
  const same = [...SAME, from, to, "--"];
  const names = await gitText(main, "diff", "--raw", "--numstat", "-z", ...same).catch(() => null);
  const patch = await gitText(main, "diff", "--unified=3", ...same).catch(() => null);
  return names === null || patch === null ? null : filesIn(names, patch);
}

async function readOutputs(
  paths: readonly string[],
  folder: string,
): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  let left = MOST_OUTPUT;
  for (const path of paths) {
    const text = left > 0 ? await endsOf(join(folder, path)).catch(() => null) : null;
    if (text === null) continue;
    left -= text.length;
    texts.set(path, text);
  }
  return texts;
}

/** A text file's beginning and end, without colours; between them how much is left out. */
async function endsOf(path: string): Promise<string> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const part = async (from: number, length: number): Promise<string> => {
      const buffer = Buffer.alloc(length);
      const { bytesRead } = await file.read(buffer, 0, length, from);
      return stripVTControlCharacters(buffer.toString("utf8", 0, bytesRead));
    };
    if (size <= HEAD + TAIL) return await part(0, size);
    const between = `\n… ${size - HEAD - TAIL} bytes are left out here …\n`;
    return (await part(0, HEAD)) + between + (await part(size - TAIL, TAIL));
  } finally {
    await file.close();
  }
}
