import { expect } from "vitest";
import type { Event } from "../../../rails/journal/events.ts";
import { fold } from "../../../rails/journal/fold.ts";
import { straight } from "../../../rails/journal/phases.ts";
import type { AttemptState, RunState, TaskState } from "../../../rails/journal/state.ts";
import type { Outcome } from "./random-run.ts";
import type { Hands } from "./random-worker.ts";

/** The lines that a gate is red for. */
export function redIn(files: Record<string, string>, gate: string): string[] {
  const lines = Object.values(files).flatMap((text) => text.split("\n"));
  if (gate === "lint") return lines.filter((line) => line.includes("LINT"));
  const halves = lines.filter((line) => line.startsWith("half"));
  const twice = new Set(halves.filter((line, index) => halves.indexOf(line) < index));
  return [
    ...lines.filter((line) => line.includes("FAIL")),
    ...[...twice].map((line) => `FAIL ${line}`),
  ];
}

/** As `expect`, of which a thousand runs would make millions. */
function must(isSo: boolean, what: string): void {
  if (!isSo) throw new Error(`broken: ${what}`);
}

/** What must hold of every run, whatever happened in it. */
export function holds({ events, retries }: Outcome, hands: Hands): void {
  const [first] = events;
  if (first?.event !== "started") throw new Error("it never started");
  const states = events.map((_, index) => fold(first, events.slice(0, index + 1), []));
  for (const [index, state] of states.entries()) {
    const event = events[index] as Event;
    const before = states[index - 1];
    inBounds(state, retries);
    apart(state, event);
    if (before && event.event === "dispatched") afterItsDependencies(before, event);
    if (before && state.tip !== before.tip) green(state, hands);
  }
  atEnd(states.at(-1) as RunState, hands);
}

function inBounds(
  { blueprint: { bounds }, tasks, attempts }: RunState,
  retries: Record<string, number>,
) {
  const isLost = ({ over, launches, begun }: AttemptState): boolean =>
    /^(session-lost|changed|dropped)$/.test(over?.reason ?? "") ||
    (launches.length === 0 && !begun);
  const counted = [...attempts.values()].filter((each) => !isLost(each) && !each.isExtra).length;
  const running = [...tasks.values()].filter(({ state }) => state === "running");
  must(running.length <= bounds.workers, `${running.length} workers at once`);
  const steps = [...tasks.values()].flatMap(({ phases }) => straight(phases)).length;
  must(counted <= bounds.dispatches * steps, `${counted} dispatches`);
  for (const task of tasks.values())
    for (const phase of task.phases) {
      const own = task.attempts.filter((attempt) => attempt.phase === phase && !isLost(attempt));
      const times = 1 + (retries[task.id] ?? 0);
      const failed = own.filter(({ over }) => over).length;
      must(failed <= bounds.attempts * times, `${failed} failures of ${phase.name} at ${task.id}`);
      const doubts = own.filter(({ submitted }) => submitted?.verdict === "fail").length;
      must(doubts <= (bounds.cycles + 1) * times, `${task.id} found wanting ${doubts} times`);
    }
  for (const { id, sentBack, failures } of attempts.values()) {
    must(sentBack.length <= bounds.send_backs, `${id} sent back ${sentBack.length} times`);
    for (const [gate, count] of Object.entries(failures))
      must(count <= bounds.failures, `${gate} ${count} times`);
  }
}

/** What landed went through all its phases in order, the last of each after the last of the one
 * before. */
function throughAll({ phases, attempts }: TaskState): void {
  const passed = straight(phases).map((phase) => {
    const isDone = ({ submitted }: AttemptState): boolean =>
      submitted !== undefined && submitted.verdict !== "fail";
    return attempts.findLastIndex((attempt) => attempt.phase === phase && isDone(attempt));
  });
  const order = attempts.map(({ id, phase }) => `${id} ${phase.name}`).join(", ");
  must(
    !passed.includes(-1) && passed.every((at, n) => at > (passed[n - 1] ?? -1)),
    `phases of ${order}`,
  );
  const judge = phases.find(({ back }) => back);
  must(!judge || attempts.at(-1)?.phase === judge, `nobody looked at what landed: ${order}`);
}

/** No two that conflict are under way, from dispatch to landing or end. */
function apart({ conflicts, tasks }: RunState, { event }: Event): void {
  const isBusy = (id: string): boolean => /running|mergeable/.test(tasks.get(id)?.state ?? "");
  for (const [a, b] of conflicts)
    must(!(isBusy(a) && isBusy(b)), `${a} and ${b} at once, after ${event}`);
}

function afterItsDependencies(before: RunState, { task, attempt }: Event<"dispatched">): void {
  for (const id of before.tasks.get(task)?.depends ?? []) {
    const state = before.tasks.get(id)?.state;
    must(state === "landed" || state === "skipped", `${attempt} while ${id} is ${state}`);
  }
}

function green({ gates, tip, base, baseAccepted }: RunState, hands: Hands): void {
  for (const { name } of gates) {
    const known = baseAccepted ? redIn(hands.filesAt(base), name) : [];
    const red = redIn(hands.filesAt(tip), name).filter((line) => !known.includes(line));
    must(red.length === 0, `${name} on ${tip}: ${red.join(", ")}`);
  }
}

function atEnd(end: RunState, hands: Hands): void {
  const tasks = [...end.tasks.values()];
  for (const { id, state } of tasks)
    must(/landed|skipped|needs-human|blocked|dropped/.test(state), `${id} is ${state}`);
  const landings = end.landings
    .flatMap(({ attempts }) => attempts)
    .map((id) => end.attempts.get(id));
  const landed = tasks.filter(({ state }) => state === "landed").map(({ id }) => id);
  const onLine: string[] = [];
  const takenBack: string[] = [];
  for (const { attempts, dropped = [] } of end.landings) {
    onLine.push(...attempts.flatMap((id) => end.attempts.get(id)?.task.id ?? []));
    for (const id of dropped) takenBack.push(...onLine.splice(onLine.indexOf(id), 1));
  }
  expect(onLine.sort(), "landed once").toEqual(landed.sort());
  for (const task of tasks) if (task.state === "landed") throughAll(task);
  const commits = landings.flatMap((attempt) => attempt?.submitted?.commits ?? []);
  const subjects = commits.flatMap((commit) => hands.subjectsTo(commit)[0] ?? []);
  const [own, back] = [[] as string[], [] as string[]];
  for (const subject of hands.subjectsTo(end.tip))
    (subject.startsWith("revert: ") ? back : own).push(subject);
  expect(own.sort(), "commits on the line").toEqual(subjects.sort());
  expect(back.length, "taken back").toBe(takenBack.length);
}
