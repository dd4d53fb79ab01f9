import { families } from "../journal/family.ts";
import { hasRounds, isRedRound } from "../journal/rounds.ts";
import type { AttemptState, RunState, TaskState } from "../journal/state.ts";
import type { Cost } from "../money/cost.ts";
import { commandIn } from "../plan/each.ts";
import { code, inline } from "../program/shown.ts";
import { variantsIn, visitOf } from "./progress.ts";
import { countsOf, countsText, partsOf } from "./tree.ts";

// What a report says of tasks that are made of others, that come again, or that several did.

/** Files and lines that an attempt changed; null where its commits are gone. */
export type Size = Readonly<{ files: number; added: number; removed: number }> | null;

/** So much of a handoff stands in a row or a line; the whole is in the data. */
const SHOWN = 300;

const cut = (text: string, most: number): string => {
  const chars = Array.from(text);
  return chars.length > most ? `${chars.slice(0, most).join("")}…` : text;
};

/** A text within a cell of a table. */
const cellText = (text: string): string => inline(cut(text, SHOWN));

const tableText = (heads: readonly string[], rows: readonly (readonly string[])[]): string[] =>
  [heads, heads.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`);

/** A task that is made of others: how many of them stand where, and each that is worth a line. Of
 * what a command listed that is only what did not land.
 * @param textOf a task that is made of no others, as a line of a list */
export function madeText(
  state: RunState,
  task: TaskState,
  textOf: (task: TaskState) => string,
): string {
  const all = families(state);
  const lineOf = (one: TaskState): string => {
    const parts = partsOf(one, all);
    if (parts.length === 0) return textOf(one);
    const isOver = ["landed", "skipped", "dropped"];
    const shown = one.each ? parts.filter((each) => !isOver.includes(each.state)) : parts;
    const below = shown.map((each) => lineOf(each).replace(/^/gm, "  "));
    return [headOf(one, parts), ...below].join("\n");
  };
  return lineOf(task);
}

function headOf(task: TaskState, parts: readonly TaskState[]): string {
  const { id, title, state, reason, note, leftOut } = task;
  const said = [countsText(countsOf(parts))];
  const visit = visitOf(task);
  if (visit) said.push(`${visit.number} of ${visit.most} visits of its planner`);
  if (leftOut > 0) said.push(`${leftOut} lines left out, blank or doubled`);
  const why = reason && state === "needs-human" ? ` (${reason}: ${inline(note)})` : "";
  return `- **${id} ${inline(title)}**: ${state}${why}. ${said.join("; ")}`;
}

/** What there was to choose from, a table for each task. */
export function choicesText(
  { tasks }: RunState,
  cost: Cost | null,
  sizes: ReadonlyMap<string, Size>,
): string[] {
  return [...tasks.values()].flatMap((task) => {
    const variants = variantsIn(task);
    if (variants.length === 0) return [];
    const rows = variants.map(({ number, attempt, stands, value, isPicked }) => {
      const said = value === null ? stands : `${value}`;
      const dollars = cost?.attempts[attempt];
      return [
        `${number}`,
        sizeText(sizes.get(attempt) ?? null),
        isPicked ? `**${said}, picked**` : said,
        dollars == null ? "?" : `$${dollars.toFixed(2)}`,
      ];
    });
    const { measure } = task;
    const head = measure
      ? `${/^\w+/.exec(measure)?.[0]} of ${code(commandIn(measure))}`
      : "verdict";
    const table = tableText(["variant", "size", head, "cost"], rows);
    return [`**${task.id} ${inline(task.title)}**: ${pickText(task)}\n`, ...table, ""];
  });
}

const sizeText = (size: Size): string =>
  size === null ? "-" : `${size.files} files, +${size.added} −${size.removed}`;

/** Which variant was picked, and by what. */
export function pickText({ picked, pickedBy, attempts }: TaskState): string {
  const one = attempts.find(({ id }) => id === picked);
  if (!one) return "none was picked";
  const which = one.variant > 0 ? `variant ${one.variant}` : one.id;
  const by = {
    measure: "by its measure",
    judge: "by the judge",
    only: "as the only one that was handed in",
    person: "by a person",
  };
  return `${which} was picked ${by[pickedBy ?? "person"]}`;
}

/** What each round of a loop tried, and what it left red. */
export function roundsText(state: RunState): string[] {
  const slot = state.blueprint.slots[0] ?? "";
  return [...state.tasks.values()].flatMap((task) => {
    const rounds = roundsIn(task);
    if (!rounds.some(isRedRound)) return [];
    const lines = rounds.map((round, at) => {
      const { submitted } = round;
      const red = (submitted?.red ?? []).map((gate) => inline(gate) + linesOf(state, round, gate));
      const tried = saidIn(submitted?.handoff ?? "", slot);
      const left = red.length > 0 ? `left red ${red.join("; ")}` : "all green";
      return `  - round ${at + 1}: ${cellText(tried)} ${left}`;
    });
    const most = rounds[0]?.phase.rounds;
    return [`- **${task.id} ${inline(task.title)}**: ${rounds.length} of ${most} rounds`, ...lines];
  });
}

/** The rounds of a task that were handed in, oldest first. */
const roundsIn = ({ attempts }: TaskState): AttemptState[] =>
  attempts.filter(({ phase, submitted }) => submitted && hasRounds(phase));

const saidIn = (handoff: string, slot: string): string =>
  handoff.replace(new RegExp(`^\\W*${slot}:\\W*`, "i"), "").split("\n")[0] ?? "";

function linesOf({ evidence }: RunState, { id }: AttemptState, gate: string): string {
  const ran = evidence.findLast((each) => each.gate === gate && each.attempts[0] === id);
  const lines = (ran?.errors ?? []).slice(0, 3);
  return lines.length > 0 ? ` (${lines.map(code).join(", ")})` : "";
}

/** Is what a task's workers hand in its result, since none of them writes? */
export const isOfWords = ({ phases, each }: TaskState): boolean =>
  !each && phases.length > 0 && phases.every(({ writes, tasks }) => !writes && tasks === undefined);

/** What such a task came to; undefined where nothing was handed in. */
export const wordsOf = ({ attempts }: TaskState): string | undefined =>
  attempts.findLast(({ submitted }) => submitted)?.submitted?.handoff;

/** The results of tasks in which nothing was written, as a table.
 * @param sayOf the part of a handoff that says what was found */
export function resultsText({ tasks }: RunState, sayOf: (handoff: string) => string): string[] {
  const rows = [...tasks.values()].filter(isOfWords).flatMap((task) => {
    const words = wordsOf(task);
    return words === undefined ? [] : [[task.id, cellText(task.title), cellText(sayOf(words))]];
  });
  return rows.length > 0 ? tableText(["task", "of", "result"], rows) : [];
}

/** The tasks of a run with what became of them, for programs. */
export const tasksData = (state: RunState, cost: Cost | null, sizes: ReadonlyMap<string, Size>) =>
  [...state.tasks.values()].map((task) => ({
    task: task.id,
    title: task.title,
    state: task.state,
    reason: task.reason,
    note: task.note,
    visit: visitOf(task),
    leftOut: task.leftOut,
    pickedBy: task.pickedBy,
    variants: variantsIn(task).map((each) => ({
      ...each,
      size: sizes.get(each.attempt) ?? null,
      dollars: cost?.attempts[each.attempt] ?? null,
    })),
    rounds: roundsIn(task).map(({ id, submitted }) => ({
      attempt: id,
      handoff: submitted?.handoff ?? "",
      red: submitted?.red ?? [],
    })),
    handoff: wordsOf(task) ?? null,
  }));
