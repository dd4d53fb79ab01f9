import type { RunState, TaskState } from "../journal/state.ts";
import { inline } from "../program/shown.ts";
import { isOfWords, wordsOf } from "./flows-text.ts";
import { landingOf } from "./landed.ts";
import { COMMON, type MarkKind, marksOf, markText } from "./marks.ts";
import { ownWork } from "./tree.ts";

/** A task that landed, as a line of a list: as which commit, and what speaks for a look at it.
 * @param names how many paths are said */
export function landedText(state: RunState, task: TaskState, names?: number): string {
  const { id, title } = task;
  const head = `- **${id} ${inline(title)}**`;
  if (isOfWords(task) && wordsOf(task) !== undefined) return `${head}: its result stands below`;
  const landing = landingOf(state, task);
  if (!landing) return `${head}: was done before the run`;
  const marks = marksOf(state, task).filter(({ kind }) => !COMMON.includes(kind));
  const said = marks.map((mark) => markText(mark, names));
  return `${head}: ${[`\`${landing.commit}\``, ...said].join("; ")}`;
}

/** What a mark of many says, of some of them and of all. */
const COMMON_WORDS: Partial<Record<MarkKind, Readonly<{ some: string; all: string }>>> = {
  unread: {
    some: "Nobody but their authors read",
    all: "Nobody but its author read any of them",
  },
  unshown: {
    some: "No command shows what these are done by:",
    all: "No command shows what any of them is done by",
  },
};

/** What speaks for a look at many tasks alike, each said once. */
export function commonText(state: RunState): string[] {
  const landed = ownWork(state).filter((task) => task.state === "landed");
  const marked = landed.map((task) => ({ id: task.id, kinds: marksOf(state, task).map(kindOf) }));
  return COMMON.flatMap((kind) => {
    const ids = marked.filter(({ kinds }) => kinds.includes(kind)).map(({ id }) => id);
    const { some, all } = COMMON_WORDS[kind] ?? {};
    if (ids.length === 0) return [];
    const isAll = ids.length > 1 && ids.length === landed.length;
    return [`- ${isAll ? all : `${some} ${idsText(ids)}`}`];
  });
}

const kindOf = ({ kind }: { readonly kind: MarkKind }): MarkKind => kind;

/** Ids with commas between them; three and more numbers in a row as the first and the last. */
export function idsText(ids: readonly string[]): string {
  const runs: string[][] = [];
  for (const id of ids) {
    const last = runs.at(-1);
    const before = last?.at(-1);
    const isNext = /^\d+$/.test(id) && before !== undefined && Number(before) + 1 === Number(id);
    if (isNext && /^\d+$/.test(before)) last?.push(id);
    else runs.push([id]);
  }
  const texts = runs.flatMap((run) => (run.length > 2 ? [`${run[0]}–${run.at(-1)}`] : run));
  return texts.join(", ");
}
