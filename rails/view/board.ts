import type { RunState } from "../record/state.ts";
import { cell, clock, table } from "./text.ts";

/** Where each task stands, for a person to glance at, and the same as data. No line is wider than `columns`.
 * `doing`: what its worker is at, or the reason for its state; `seconds`: since it was dispatched, null where it never was. */
export function board(state: RunState, now: number, columns: number) {
  const { run, done, aborted, startedAt, lastAt, jobs, baseRed, bad } = state;
  const tasks = [...state.tasks.values()].map(({ id, title, state, reason, attempts, phase, phases }) => {
    const last = attempts.at(-1);
    const job = [...jobs.values()].find(({ attempt }) => attempt === last?.id)?.name.replace(` ${last?.id}`, "");
    const step = phases.length > 1 && phase ? phase.name : "working";
    const doing = state === "running" ? (job ?? (last?.begun ? step : "starting")) : (reason ?? "");
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
  const notes = [
    !baseRed && !done && "the gates run on the base first",
    bad.length > 0 && `passed over in the journal, since it cannot be read: line ${bad.join(", ")}`,
  ].flatMap((note) => note || []);
  const lines = [head, ...notes].map((line) => cell(line, columns).trimEnd());
  return [[...lines, ...table(rows, columns)].join("\n"), { run, done, bad, tasks }] as const;
}
