import type { Cost } from "../record/cost.ts";
import type { AttemptState, RunState } from "../record/state.ts";
import { moneyText } from "./board.ts";
import { clock } from "./text.ts";

/** What a run cost, for people, as Markdown: money and time against what was expected, and who used what. Empty where no
 * transcript tells. */
export function costText(state: RunState, cost: Cost): string[] {
  if (cost.rows.length === 0) return [];
  const number = (value: number): string => value.toLocaleString("en");
  const cells = cost.rows.map(({ task, phase, model, dollars, requests, input, write, writeHour, read, output }) => [
    ...[task ?? "(foreman)", phase || "-", `\`${model}\``],
    ...[requests, input, write + writeHour, read, output].map(number),
    dollars === null ? "?" : dollars.toFixed(2),
  ]);
  const head = ["task", "phase", "model", "requests", "input", "cache write", "cache read", "output", "$"];
  const rows = [head, head.map((_, at) => (at < 3 ? "---" : "---:")), ...cells].map((row) => `| ${row.join(" | ")} |`);
  const lacking = [
    cost.unpriced.length > 0 && `No price in prices.md, and so not in the sum: ${cost.unpriced.join(", ")}.`,
    cost.unknown.length > 0 && `Left no transcript: ${cost.unknown.join(", ")}.`,
  ].flatMap((text) => text || []);
  return [[`${moneyText(state, cost)} at list prices.`, ...lacking, timeText(state)].join(" "), "", ...rows];
}

/** How long it took, against what was expected and against one worker after another. */
function timeText({ attempts, startedAt, lastAt, estimate }: RunState): string {
  const end = ({ submitted, nothing, over }: AttemptState): number => (submitted ?? nothing ?? over)?.at ?? lastAt;
  const one = [...attempts.values()].reduce((sum, each) => sum + end(each) - each.dispatchedAt, 0);
  const { likely, low, high } = estimate?.minutes ?? {};
  const [least, most] = [low?.toFixed(0), high?.toFixed(0)];
  const expected = likely ? ` (expected about ${likely.toFixed(0)} min, ${least}–${most}, without landing)` : "";
  return `It took ${clock(lastAt - startedAt)}${expected}; its workers one after another ${clock(one)}.`;
}
