import { styleText } from "node:util";
import { wrapAnsi } from "fast-wrap-ansi";
import { type Alarm, alarmLine } from "../foreman/alarms.ts";
import { chainLeft } from "../journal/chain.ts";
import { endedAt, type RunState, rivalsOn, type TaskState } from "../journal/state.ts";
import type { Cost } from "../money/cost.ts";
import { about, clock, LOOKS, oneLine, table } from "./text.ts";

/** What a board shows beside the run: the time in milliseconds since 1970, and what the run has
 * cost where that is known. */
type Now = Readonly<{ now: number; cost: Cost | null; alarms: readonly Alarm[] }>;

export type Board = ReturnType<typeof board>;

/** Where each task stands, for a person to glance at, and the same as data. No line is wider than
 * `columns`. `doing`: what its worker is at, what it waits for, or the reason for its state;
 * `seconds`: since it was dispatched, null where it never was; `left`: minutes that the longest
 * chain of open tasks takes; dollars at list prices. */
export function board(
  state: RunState,
  { now, cost, alarms }: Now,
  screen: { columns: number; isColoured: boolean },
) {
  const { run, done, aborted, startedAt, lastAt, baseRed, bad, estimate } = state;
  const tasks = [...state.tasks.values()].map((task) => {
    const { id, title, attempts } = task;
    const last = attempts.at(-1);
    const seconds = last ? Math.round(((endedAt(last) ?? now) - last.dispatchedAt) / 1000) : null;
    const doing = doingOf(state, task);
    return {
      task: id,
      title,
      state: task.state,
      reason: task.reason,
      attempt: last?.id ?? null,
      doing,
      seconds,
    };
  });
  const names = [...new Set(tasks.map(({ state }) => state))];
  const counts = names
    .map((name) => `${tasks.filter(({ state }) => state === name).length} ${name}`)
    .join(", ");
  const over = aborted ? "aborted" : done ? "done" : "under way";
  const chain = done || aborted ? null : chainLeft(state, now);
  const expected = estimate?.dollars ?? null;
  const money = cost && {
    dollars: cost.dollars,
    unpriced: cost.unpriced,
    unknown: cost.unknown,
    expected,
    budget: state.budget,
  };
  const head = [
    `run ${run}: ${over} after ${clock((done ? lastAt : now) - startedAt)}. ${counts}`,
    [
      cost && moneyText(state, cost),
      chain && `${about(chain.ms)} left on ${chain.tasks.join(" → ")}`,
    ]
      .flatMap((text) => text || [])
      .join(" · "),
    ...alarms.map((alarm) => `! ${alarmLine(alarm)}`),
    !baseRed && !done && "the gates run on the base first",
    bad.length > 0 && `passed over in the journal, since it cannot be read: line ${bad.join(", ")}`,
  ].flatMap((line) => line || []);
  const rows = tasks.map(({ task, state, doing, seconds, title }) => {
    return [task, state, doing, seconds === null ? "" : clock(seconds * 1000), title];
  });
  const paint = (text: string, row: number, column: number): string => {
    const colour =
      column === 1 && screen.isColoured && LOOKS[tasks[row]?.state ?? "waiting"]?.colour;
    return colour ? styleText(colour, text, { validateStream: false }) : text;
  };
  const wrapped = head.flatMap((line) =>
    wrapAnsi(oneLine(line), screen.columns, { hard: true }).split("\n"),
  );
  const lines = [...wrapped, ...table(rows, screen.columns, paint)];
  const left = chain && { minutes: Math.round(chain.ms / 60_000), tasks: chain.tasks };
  return { text: lines.join("\n"), data: { run, done, bad, tasks, money, left, alarms } };
}

function doingOf(
  state: RunState,
  { id, state: name, reason, depends, attempts, phase, phases }: TaskState,
): string {
  const last = attempts.at(-1);
  const job = [...state.jobs.values()]
    .find(({ attempt }) => attempt === last?.id)
    ?.name.replace(` ${last?.id}`, "");
  if (name === "running")
    return job ?? (!last?.begun ? "starting" : phases.length > 1 && phase ? phase.name : "working");
  if (name === "mergeable") return state.jobs.has(`land ${state.run}`) ? "landing" : "to be landed";
  const open = depends.filter(
    (one) => !["landed", "skipped"].includes(state.tasks.get(one)?.state ?? ""),
  );
  if (name === "waiting" || name === "blocked") return `after ${open.join(", ")}`;
  if (name !== "ready") return reason ?? "";
  const rivals = rivalsOn(state, id);
  return rivals.length > 0 ? `not beside ${rivals.join(", ")}` : (reason ?? "");
}

/** `$0.84 of about $2.50 (1.20–4.10)`: what was spent, and what was expected; the latter alone
 * where no transcript tells. */
export function moneyText(
  { estimate, budget }: RunState,
  { rows, dollars, unpriced, unknown }: Cost,
): string {
  const { likely, low, high } = estimate?.dollars ?? {};
  const expected = likely
    ? `about $${likely.toFixed(2)} (${low?.toFixed(2)}–${high?.toFixed(2)})`
    : "";
  const least = unpriced.length > 0 || unknown.length > 0 ? "at least " : "";
  const spent = rows.length > 0 ? `${least}$${dollars.toFixed(2)}` : "";
  const said =
    spent && expected ? `${spent} of ${expected}` : spent || (expected && `${expected} expected`);
  return [said, budget !== null && `at most $${budget}`].filter(Boolean).join(", ");
}
