import type { Week } from "../record/stats.ts";
import { clock, table } from "./text.ts";

/** A repository's numbers as a table, a line for each week and version of the rails. */
export function statsTable(weeks: readonly Week[], columns: number): string {
  if (weeks.length === 0) return "There is no run here yet.";
  const head = [
    "week of",
    "rails",
    "runs",
    "landed",
    "asked",
    "waited",
    "re-runs",
    "conflicts",
    "sent back",
    "reverted",
  ];
  const rows = weeks.map(
    ({ week, blueprint, runs, tasks, landed, asked, waited, reruns, conflicts, sendBacks, reverted }) => [
      ...[week, blueprint, `${runs}`, `${landed} of ${tasks}`, `${asked}`, clock(waited * 60_000)],
      ...[reruns, conflicts, sendBacks, reverted].map(String),
    ],
  );
  return table([head, ...rows], columns).join("\n");
}
