import type { Spread } from "../journal/shapes.ts";
import { endedAt, type RunState } from "../journal/state.ts";
import type { Cost, CostRow } from "../money/cost.ts";
import { expectedOf } from "../money/estimate.ts";
import { code, inline } from "../program/shown.ts";
import { clock } from "./text.ts";

/** `$0.84 of about $2.50 (1.20–4.10)`: what was spent, and what was expected; the latter alone
 * where no transcript tells. Empty where nothing is known. */
export function moneyText(state: RunState, cost: Cost): string {
  const { budget } = state;
  const expected = expectedText(expectedOf(state));
  const spent = spentText(cost);
  const parts: string[] = [];
  if (spent && expected) parts.push(`${spent} of ${expected}`);
  else if (spent) parts.push(spent);
  else if (expected) parts.push(`${expected} expected`);
  if (budget !== null) parts.push(`at most $${budget}`);
  return parts.join(", ");
}

function expectedText(dollars: Spread | null): string {
  const { likely, low, high } = dollars ?? {};
  return likely ? `about $${likely.toFixed(2)} (${low?.toFixed(2)}–${high?.toFixed(2)})` : "";
}

function spentText({ rows, dollars, unpriced, unknown }: Cost): string {
  if (rows.length === 0) return "";
  const least = unpriced.length > 0 || unknown.length > 0 ? "at least " : "";
  return `${least}$${dollars.toFixed(2)}`;
}

/** What a run cost, for people, as lines of Markdown: money and time against what was expected, and
 * who used what. Empty where no transcript tells. */
export function costText(state: RunState, cost: Cost): string[] {
  if (cost.rows.length === 0) return [];
  return [costSentences(state, cost).map(inline).join(" "), "", ...usageTable(cost.rows)];
}

/** Money and time against what was expected, and of what nothing is known. */
export function costSentences(state: RunState, cost: Cost): string[] {
  const sentences = [`${moneyText(state, cost)} at list prices.`];
  if (cost.unpriced.length > 0) {
    const models = cost.unpriced.join(", ");
    sentences.push(`No price in prices.md, and so not in the sum: ${models}.`);
  }
  if (cost.unknown.length > 0) sentences.push(`Left no transcript: ${cost.unknown.join(", ")}.`);
  sentences.push(timeText(state));
  return sentences;
}

/** The columns of the table of what was used; numbers stand on the right. */
const COLUMNS: readonly Readonly<{ head: string; isText?: true; of: (row: CostRow) => string }>[] =
  [
    { head: "task", isText: true, of: ({ task, phase }) => whoseText(task, phase) },
    { head: "model", isText: true, of: ({ model }) => cellCode(shortly(model)) },
    { head: "calls", of: ({ requests }) => counted(requests) },
    { head: "in", of: ({ input }) => counted(input) },
    { head: "cached", of: ({ write, writeHour }) => counted(write + writeHour) },
    { head: "reread", of: ({ read }) => counted(read) },
    { head: "out", of: ({ output }) => counted(output) },
    { head: "$", of: ({ dollars }) => (dollars === null ? "?" : dollars.toFixed(2)) },
  ];

/** A task's phase, in one cell: each column costs a terminal three of its own. */
const whoseText = (task: string | null, phase: string): string =>
  task === null ? "(foreman)" : `${task} ${inline(phase)}`.trimEnd();

/** Three digits and a letter: the table fits a terminal, and the exact numbers are in the JSON. */
const COUNTS = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
export const counted = (value: number): string => COUNTS.format(value);

/** A model's name without its maker and its date. */
export const shortly = (model: string): string => model.replace(/^claude-|-\d{8}$/g, "");

const cellCode = (text: string): string => code(text).replaceAll("|", "\\|");

function usageTable(rows: readonly CostRow[]): string[] {
  const heads = COLUMNS.map(({ head }) => head);
  const rules = COLUMNS.map(({ isText }) => (isText ? "---" : "---:"));
  const cells = rows.map((row) => COLUMNS.map(({ of }) => of(row)));
  return [heads, rules, ...cells].map((row) => `| ${row.join(" | ")} |`);
}

/** How long it took, against what was expected and against one worker after another. */
function timeText({ attempts, startedAt, lastAt, estimate }: RunState): string {
  const oneByOne = [...attempts.values()].reduce(
    (sum, each) => sum + (endedAt(each) ?? lastAt) - each.dispatchedAt,
    0,
  );
  const { likely, low, high } = estimate?.minutes ?? {};
  const least = low?.toFixed(0);
  const most = high?.toFixed(0);
  const expected = likely
    ? ` (expected about ${likely.toFixed(0)} min, ${least}–${most}, without landing)`
    : "";
  return (
    `It took ${clock(lastAt - startedAt)}${expected}; ` +
    `its workers one after another ${clock(oneByOne)}.`
  );
}
