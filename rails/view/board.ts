import type { RunState } from "../record/state.ts";
import { clock, oneLine, table } from "./text.ts";

/** One row a task: what a person glances at, and the same as data. `doing`: what its worker is at, or the reason for its
 * state; `seconds`: since it was dispatched, null where it never was. */
export const boardRows = ({ tasks, jobs }: RunState, now: number) =>
  [...tasks.values()].map(({ id, title, state, reason, attempts }) => {
    const last = attempts.at(-1);
    const job = [...jobs.values()].find(({ attempt }) => attempt === last?.id)?.name.replace(` ${last?.id}`, "");
    const doing = state === "running" ? (job ?? (last?.begun ? "working" : "starting")) : (reason ?? "");
    const end = (last?.submitted ?? last?.nothing ?? last?.over)?.at ?? now;
    const seconds = last ? Math.round((end - last.dispatchedAt) / 1000) : null;
    return { task: id, title, state, reason, attempt: last?.id ?? null, doing, seconds };
  });

/** The board as text, for a given width; nothing wraps. */
export function boardText(state: RunState, now: number, columns: number): string {
  const most = Math.max(40, columns);
  const rows = boardRows(state, now);
  const names = [...new Set(rows.map((row) => row.state))];
  const counts = names.map((name) => `${rows.filter((row) => row.state === name).length} ${name}`).join(", ");
  const over = state.aborted ? "aborted" : state.done ? "done" : "under way";
  const time = clock((state.done ? state.lastAt : now) - state.startedAt);
  const sinceOf = (seconds: number | null): string => (seconds === null ? "" : clock(seconds * 1000));
  const cells = rows.map((row) => [row.task, row.state, row.doing, sinceOf(row.seconds), row.title]);
  const head = oneLine(`run ${state.run}: ${over} after ${time}. ${counts}`).slice(0, most);
  return [head, ...table(cells, most)].join("\n");
}
