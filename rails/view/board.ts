import type { RunState } from "../record/state.ts";
import { cell, clock, table } from "./text.ts";

/** Where each task stands, for a person to glance at, and the same as data. No line is wider than `columns`.
 * `doing`: what its worker is at, or the reason for its state; `seconds`: since it was dispatched, null where it never was. */
export function board(state: RunState, now: number, columns: number) {
  const { run, done, aborted, startedAt, lastAt, jobs } = state;
  const tasks = [...state.tasks.values()].map(({ id, title, state, reason, attempts }) => {
    const last = attempts.at(-1);
    const job = [...jobs.values()].find(({ attempt }) => attempt === last?.id)?.name.replace(` ${last?.id}`, "");
    const doing = state === "running" ? (job ?? (last?.begun ? "working" : "starting")) : (reason ?? "");
    const end = (last?.submitted ?? last?.nothing ?? last?.over)?.at ?? now;
    const seconds = last ? Math.round((end - last.dispatchedAt) / 1000) : null;
    return { task: id, title, state, reason, attempt: last?.id ?? null, doing, seconds };
  });
  const names = [...new Set(tasks.map(({ state }) => state))];
  const counts = names.map((name) => `${tasks.filter(({ state }) => state === name).length} ${name}`).join(", ");
  const over = aborted ? "aborted" : done ? "done" : "under way";
  const head = `run ${run}: ${over} after ${clock((done ? lastAt : now) - startedAt)}. ${counts}`;
  const since = (seconds: number | null): string => (seconds === null ? "" : clock(seconds * 1000));
  const rows = tasks.map(({ task, state, doing, seconds, title }) => [task, state, doing, since(seconds), title]);
  const text = [cell(head, columns).trimEnd(), ...table(rows, columns)].join("\n");
  return [text, { run, done, tasks }] as const;
}
