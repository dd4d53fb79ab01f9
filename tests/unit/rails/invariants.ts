import { expect } from "vitest";
import { isEnd } from "../../../rails/journal/end-task.ts";
import type { Event } from "../../../rails/journal/events.ts";
import { isArea, isMade, withParts } from "../../../rails/journal/family.ts";
import { fold, replay } from "../../../rails/journal/fold.ts";
import { stepsIn, straight } from "../../../rails/journal/phases.ts";
import {
  type AttemptState,
  isActive,
  type RunState,
  type TaskState,
} from "../../../rails/journal/state.ts";
import { depthOf } from "../../../rails/plan/task.ts";
import type { Outcome } from "./random-run.ts";
import type { Hands } from "./random-worker.ts";

type Files = Record<string, string>;

/** What the checks of single tasks count: edits of a file, or files that there are. */
function countedIn(files: Files, command: string): readonly string[] | null {
  const [, edited] = /grep -c edit (src\/[^\s)]+)/.exec(command) ?? [];
  const [, named] = /ls src \| grep -c ([^\s)]+)/.exec(command) ?? [];
  if (edited) return (files[edited] ?? "").split("\n").filter((line) => line.includes("edit"));
  return named ? Object.keys(files).filter((path) => path.includes(named)) : null;
}

/** What such a command prints; 0 where it counts nothing. */
export const countIn = (files: Files, command: string): number =>
  countedIn(files, command)?.length ?? 0;

/** The lines that a gate is red for, or what a check of one task lacks. */
export function redIn(files: Files, gate: string, command = ""): string[] {
  const counted = countedIn(files, command);
  if (counted) {
    const lacking = Number(/-ge (\d+)$/.exec(command)?.[1] ?? 1) - counted.length;
    return lacking > 0 ? [`lacks ${"x".repeat(lacking)}`] : [];
  }
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
  const often = { ...retries };
  for (const event of events) for (const id of droppedBy(event)) often[id] = (often[id] ?? 0) + 1;
  for (const [index, state] of states.entries()) {
    const event = events[index] as Event;
    const before = states[index - 1];
    inBounds(state, often);
    repeatsInBounds(state, often);
    apart(state, event);
    for (const task of state.tasks.values()) {
      allOrNone(state, task);
      if (isArea(task)) areaStands(state, task, events);
    }
    if (before && event.event === "dispatched") afterItsDependencies(before, event);
    if (before && state.tip !== before.tip) green(state, hands);
  }
  sameOnTheWay(events, states);
  atEnd(states.at(-1) as RunState, hands);
}

const droppedBy = (event: Event): readonly string[] => {
  if (event.event === "dropped") return event.tasks;
  return event.event === "proven" ? (event.dropped ?? []) : [];
};

/** Whoever looks at the run after each of its events sees what one sees that begins there. */
function sameOnTheWay(events: readonly Event[], states: readonly RunState[]): void {
  const seen = ({ tasks, done, left }: RunState): string => {
    const all = [...tasks.values()].map(({ id, state, reason, phase, wants, result }) =>
      [id, state, reason, phase?.name, wants, result?.id].join(" "),
    );
    return [`done ${done}, left ${left}`, ...all].join("\n");
  };
  replay(events, (state, event) => {
    const [now, other] = [seen(state), seen(states[events.indexOf(event)] as RunState)];
    must(now === other, `after ${event.event} one saw\n${now}\nand one that began there\n${other}`);
  });
}

function inBounds(
  { blueprint: { bounds }, tasks, attempts }: RunState,
  often: Record<string, number>,
) {
  const isLost = ({ over, launches, begun }: AttemptState): boolean =>
    /^(session-lost|changed|dropped)$/.test(over?.reason ?? "") ||
    (launches.length === 0 && !begun);
  const counted = [...attempts.values()].filter((each) => !isLost(each) && !each.isExtra).length;
  const active = [...attempts.values()].filter(isActive);
  must(active.length <= bounds.workers, `${active.length} workers at once`);
  const steps = [...tasks.values()].reduce(
    (sum, { phases, each }) => sum + (each ? 0 : stepsIn(phases)),
    0,
  );
  must(counted <= bounds.dispatches * steps, `${counted} dispatches`);
  for (const task of tasks.values())
    for (const phase of task.phases) {
      const own = task.attempts.filter((attempt) => attempt.phase === phase && !isLost(attempt));
      const times = 1 + (often[task.id] ?? 0);
      const failed = own.filter(({ over, variant }) => over && variant === 0);
      must(
        failed.length <= bounds.attempts * times * (phase.rounds ?? 1),
        `${failed.length} failures of ${phase.name} at ${task.id}`,
      );
      const doubts = own.filter(({ submitted }) => submitted?.verdict === "fail").length;
      must(doubts <= (bounds.cycles + 1) * times, `${task.id} found wanting ${doubts} times`);
    }
  for (const { id, sentBack, failures } of attempts.values()) {
    must(sentBack.length <= bounds.send_backs, `${id} sent back ${sentBack.length} times`);
    for (const [gate, count] of Object.entries(failures))
      must(count <= bounds.failures, `${gate} ${count} times`);
  }
}

/** The bounds of what comes more than once: rounds, variants, visits, what these leave, and who may
 * mend the end. */
function repeatsInBounds(
  { blueprint: { bounds }, tasks, attempts }: RunState,
  often: Record<string, number>,
) {
  const all = [...tasks.values()];
  for (const { id, phases, attempts: own } of all)
    for (const phase of phases) {
      const at = own.filter((attempt) => attempt.phase === phase);
      const times = 1 + (often[id] ?? 0);
      const handed = at.filter(({ submitted, over, nothing }) => (submitted ?? nothing) && !over);
      const rounds = handed.filter(({ submitted }) => phase.tasks || submitted?.red?.length);
      must(
        rounds.length <= (phase.rounds ?? 1) * times,
        `${rounds.length} rounds of ${phase.name} at ${id}`,
      );
      const lost = /^(session-lost|changed|dropped|never-began|rate-limit)$/;
      const several = at.filter(
        ({ variant, over }) => variant > 0 && !lost.test(over?.reason ?? ""),
      );
      must(
        several.length <= (phase.variants ?? 0) * times,
        `${several.length} variants of ${phase.name} at ${id}`,
      );
      const now = several.filter(isActive).map(({ variant }) => variant);
      must(new Set(now).size === now.length, `variants ${now.join(", ")} of ${id} at once`);
    }
  for (const { id, left, phase } of attempts.values())
    must(left <= (phase.tasks ?? 0), `${left} tasks were left by ${id}`);
  const planned = all.filter(({ added }) => added === "planner");
  must(planned.length <= bounds.planned, `${planned.length} tasks by planners`);
  for (const task of planned)
    must(!isArea(task) || depthOf(task.id) < bounds.depth, `${task.id} is too deep`);
  const ends = all.filter(isEnd);
  const times = ends.reduce((sum, { id }) => sum + (often[id] ?? 0), 1);
  const mends = ends.flatMap((task) => task.attempts).filter(({ submitted }) => submitted);
  must(mends.length <= bounds.end_rounds * times, `${mends.length} workers mended the end`);
}

const isIn = (tasks: readonly { readonly id: string }[], id: string): boolean =>
  tasks.some((task) => task.id === id);

/** Nothing goes on of what is part of a task that was dropped. */
function allOrNone(state: RunState, { id, isDropped }: TaskState): void {
  if (!isDropped) return;
  for (const part of withParts(state, [id]).slice(1)) {
    const now = state.tasks.get(part)?.state ?? "";
    must(/dropped|landed/.test(now), `${id} was dropped, and ${part} is ${now}`);
  }
}

/** Where an area stands: over only once its planner had nothing to add and nothing of it is open. */
function areaStands({ tasks }: RunState, area: TaskState, events: readonly Event[]): void {
  const { id, state, attempts } = area;
  const inside = [...tasks.values()].filter((one) => one.id.startsWith(`${id}/`));
  const last = attempts.at(-1);
  if (state === "landed") {
    const open = inside.filter((one) => !/landed|skipped|dropped/.test(one.state));
    must(open.length === 0, `area ${id} landed while ${open[0]?.id} is ${open[0]?.state}`);
    must(last !== undefined && !last.over, `area ${id} landed, and its planner was not there`);
    const bringer = (one: string): string | undefined => {
      const change = events.find((each) => each.event === "changed" && isIn(each.tasks, one));
      return change?.event === "changed" ? change.by : undefined;
    };
    const left = inside.filter((one) => !one.isDropped && bringer(one.id) === last?.id);
    must(left.length === 0, `area ${id} landed, and ${last?.id} left ${left[0]?.id}`);
    must((area.whole?.red ?? null) === null, `area ${id} landed red`);
  }
}

/** What landed went through all its phases in order, the last of each after the last of the one
 * before. */
function throughAll({ phases, attempts }: TaskState): void {
  // Where one variant only came to something, nobody had to choose.
  const passed = straight(phases)
    .filter(({ picks }) => !picks)
    .map((phase) => {
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

function green(
  { gates, tip, base, baseAccepted, landings, attempts, tasks }: RunState,
  hands: Hands,
): void {
  for (const { name } of gates) {
    const known = baseAccepted ? redIn(hands.filesAt(base), name) : [];
    const red = redIn(hands.filesAt(tip), name).filter((line) => !known.includes(line));
    must(red.length === 0, `${name} on ${tip}: ${red.join(", ")}`);
  }
  for (const id of landings.at(-1)?.attempts ?? []) {
    const { task, variant, submitted } = attempts.get(id) as AttemptState;
    for (const check of task.checks) {
      const red = redIn(hands.filesAt(tip), "verify", check);
      must(red.length === 0, `${task.id} landed, and ${check} is red`);
    }
    must(variant === 0 || task.picked === id, `${id} landed, and ${task.picked} was picked`);
    must(!submitted?.red?.length, `${id} landed, a round that left something red`);
    must(tasks.get(task.id)?.state !== "running", `${task.id} landed and goes on`);
  }
}

function atEnd(end: RunState, hands: Hands): void {
  const tasks = [...end.tasks.values()];
  for (const { id, state } of tasks)
    must(/landed|skipped|needs-human|blocked|dropped/.test(state), `${id} is ${state}`);
  const landings = end.landings
    .flatMap(({ attempts }) => attempts)
    .map((id) => end.attempts.get(id));
  // Of what others do, and of what only says something, nothing lands.
  const isLanding = (task: TaskState): boolean =>
    !isMade(task) && task.phases.some(({ writes }) => writes);
  const landed = tasks
    .filter((task) => task.state === "landed" && isLanding(task))
    .map(({ id }) => id);
  const onLine: string[] = [];
  const takenBack: string[] = [];
  for (const { attempts, dropped = [] } of end.landings) {
    onLine.push(...attempts.flatMap((id) => end.attempts.get(id)?.task.id ?? []));
    for (const id of dropped.filter((one) => onLine.includes(one)))
      takenBack.push(...onLine.splice(onLine.indexOf(id), 1));
  }
  expect(onLine.sort(), "landed once").toEqual(landed.sort());
  for (const task of tasks) if (task.state === "landed" && isLanding(task)) throughAll(task);
  const commits = landings.flatMap((attempt) => attempt?.submitted?.commits ?? []);
  const subjects = commits.flatMap((commit) => hands.subjectsTo(commit)[0] ?? []);
  const [own, back] = [[] as string[], [] as string[]];
  for (const subject of hands.subjectsTo(end.tip))
    (subject.startsWith("revert: ") ? back : own).push(subject);
  expect(own.sort(), "commits on the line").toEqual(subjects.sort());
  expect(back.length, "taken back").toBe(takenBack.length);
}
