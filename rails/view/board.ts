import type { RunState, TaskState } from "../record/state.ts";

/** One line a task: what a person glances at, and the same as data. */
export interface BoardRow {
  readonly task: string;
  readonly title: string;
  readonly state: string;
  readonly reason: string | null;
  readonly attempt: string | null;
  /** What its worker is at: a gate, or how long ago it was heard of. */
  readonly doing: string;
  readonly seconds: number | null;
}

export function boardRows(state: RunState, now: number): BoardRow[] {
  return [...state.tasks.values()].map((task) => {
    const last = task.attempts.at(-1);
    const end = last?.endedAt ?? (task.state === "running" ? now : null);
    return {
      task: task.task.id,
      title: task.task.title,
      state: task.state,
      reason: task.reason,
      attempt: last?.id ?? null,
      doing: doing(state, task),
      seconds: last && end !== null ? Math.round((end - last.dispatchedAt) / 1000) : null,
    };
  });
}

function doing(state: RunState, task: TaskState): string {
  const last = task.attempts.at(-1);
  if (task.state !== "running" || !last) return task.reason ?? "";
  const job = [...state.jobs.values()].find(({ attempt }) => attempt === last.id);
  if (job) return job.name.replace(` ${last.id}`, "");
  return last.begun ? "working" : "starting";
}

const MARKS: Record<string, string> = {
  landed: "✔",
  running: "▶",
  mergeable: "●",
  "needs-human": "!",
  blocked: "✖",
  "verify-failed": "↻",
};

/** The board as text, for a given width; nothing wraps. */
export function boardText(state: RunState, now: number, columns: number): string {
  const rows = boardRows(state, now);
  const count = (name: string): number => rows.filter((row) => row.state === name).length;
  const counts = [...new Set(rows.map((row) => row.state))].map((name) => `${count(name)} ${name}`).join(", ");
  const wide = Math.max(...rows.map((row) => row.task.length));
  const lines = rows.map((row) => {
    const time = row.seconds === null ? "" : clock(row.seconds);
    const left = `${MARKS[row.state] ?? "·"} ${row.task.padEnd(wide)}  ${row.state.padEnd(13)} ${row.doing.padEnd(14)} ${time.padStart(6)}  `;
    return (left + row.title).slice(0, columns);
  });
  const over = state.aborted ? "aborted" : state.done ? "done" : "under way";
  return [
    `run ${state.run}: ${over}, ${clock(Math.round((now - state.startedAt) / 1000))}. ${counts}`,
    ...lines,
    "",
  ].join("\n");
}

/** `65` → `1:05` */
export const clock = (seconds: number): string =>
  `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
