import type { RunState, TaskState } from "../record/state.ts";
import { clock, oneLine, table } from "./text.ts";

/** One row a task: what a person glances at, and the same as data. */
export interface BoardRow extends Pick<TaskState, "title" | "state" | "reason"> {
  readonly task: string;
  readonly attempt: string | null;
  readonly doing: string; // What its worker is at, or the reason for its state
  readonly seconds: number | null; // Since it was dispatched; null where it never was
}

export const boardRows = ({ tasks, jobs }: RunState, now: number): BoardRow[] =>
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
  const rows = boardRows(state, now);
  const names = [...new Set(rows.map((row) => row.state))];
  const counts = names.map((name) => `${rows.filter((row) => row.state === name).length} ${name}`).join(", ");
  const over = state.aborted ? "aborted" : state.done ? "done" : "under way";
  const time = clock((state.done ? state.lastAt : now) - state.startedAt);
  const cells = rows.map(({ task, title, state: name, doing, seconds }) => {
    return [task, name, doing, seconds === null ? "" : clock(seconds * 1000), title];
  });
  const head = oneLine(`run ${state.run}: ${over} after ${time}. ${counts}`).slice(0, columns);
  return [head, ...table(cells, columns)].join("\n");
}
