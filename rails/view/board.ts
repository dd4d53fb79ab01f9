import type { RunState, TaskState } from "../record/state.ts";

/** One line a task: what a person glances at, and the same as data. */
export interface BoardRow {
  readonly task: string;
  readonly title: string;
  readonly state: TaskState["state"];
  readonly reason: TaskState["reason"];
  readonly attempt: string | null;
  /** What its worker is at, or the reason for its state. */
  readonly doing: string;
  /** Since it was dispatched; null where it never was. */
  readonly seconds: number | null;
}

export const boardRows = (state: RunState, now: number): BoardRow[] =>
  [...state.tasks.values()].map((each) => {
    const { task, state: name, reason, attempts } = each;
    const last = attempts.at(-1);
    const seconds = last ? Math.round(((last.endedAt ?? now) - last.dispatchedAt) / 1000) : null;
    return {
      task: task.id,
      title: task.title,
      state: name,
      reason,
      attempt: last?.id ?? null,
      doing: doing(state, each),
      seconds,
    };
  });

function doing({ jobs }: RunState, { state, reason, attempts }: TaskState): string {
  const last = attempts.at(-1);
  if (state !== "running" || !last) return reason ?? "";
  const job = [...jobs.values()].find(({ attempt }) => attempt === last.id);
  return job?.name.replace(` ${last.id}`, "") ?? (last.begun ? "working" : "starting");
}

/** The board as text, for a given width; nothing wraps. */
export function boardText(state: RunState, now: number, columns: number): string {
  const rows = boardRows(state, now);
  const names = [...new Set(rows.map((row) => row.state))];
  const counts = names.map((name) => `${rows.filter((row) => row.state === name).length} ${name}`).join(", ");
  const wide = Math.max(...rows.map(({ task }) => task.length));
  const lines = rows.map(({ task, title, state: name, doing: at, seconds }) => {
    const time = seconds === null ? "" : clock(seconds * 1000);
    return `${task.padEnd(wide)}  ${name.padEnd(13)} ${at.padEnd(14)} ${time.padStart(6)}  ${title}`;
  });
  const over = state.aborted ? "aborted" : state.done ? "done" : "under way";
  const head = `run ${state.run}: ${over} after ${clock((state.done ? state.lastAt : now) - state.startedAt)}. ${counts}`;
  return [head, ...lines].map((line) => `${line.slice(0, columns)}\n`).join("");
}

/** Milliseconds as minutes: `1:05`. */
export const clock = (ms: number): string =>
  `${Math.floor(ms / 60_000)}:${String(Math.floor(ms / 1000) % 60).padStart(2, "0")}`;
