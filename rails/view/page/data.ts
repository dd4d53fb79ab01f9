import { alarmLine } from "../../foreman/alarms.ts";
import type { Attention } from "../../foreman/attention.ts";
import { SUCCESS } from "../../journal/end-task.ts";
import type { Evidence } from "../../journal/events.ts";
import { isMade } from "../../journal/family.ts";
import { howIn, isPass } from "../../journal/passed.ts";
import { isRedRound } from "../../journal/rounds.ts";
import type { State } from "../../journal/shapes.ts";
import {
  type AttemptState,
  endedAt,
  isActive,
  isOpen,
  type RunState,
  type TaskState,
  tasksOf,
  withWork,
} from "../../journal/state.ts";
import type { CostRow } from "../../money/cost.ts";
import { commandIn } from "../../plan/each.ts";
import { parentOf } from "../../plan/task.ts";
import { branchRef } from "../../program/typed.ts";
import { costSentences, moneyText } from "../cost-text.ts";
import { pickText, tasksData } from "../flows-text.ts";
import { landingOf } from "../landed.ts";
import { isStrong, type Mark, marksOf, worthOf } from "../marks.ts";
import { alikeAmong, type Failure, workOf } from "../report.ts";
import {
  askingNow,
  findingsIn,
  mergedText,
  nextCommands,
  overText,
  type Seen,
  shortly,
  type Typed,
} from "../said.ts";
import { clock } from "../text.ts";
import { branchesOf, countsOf, countsText, flat, ownWork } from "../tree.ts";
import type { FileDiff } from "./diff.ts";

// What the page of a run shows, as plain data: texts of others are as they are in it.

/** What a page shows that no journal holds: read at the edge. */
export type Texts = Readonly<{
  diffs: ReadonlyMap<string, readonly FileDiff[] | null>; // By the key of a range; null: gone
  outputs: ReadonlyMap<string, string>; // Raw output by its path in the run's folder
  failures: ReadonlyMap<string, Failure>; // By task: the last red gate of one that waits
}>;

/** Two trees that are to be compared, and whose work the difference is. */
export type Range = Readonly<{
  key: string;
  task: string;
  attempt: string;
  from: string;
  to: string;
  command: string; // The same, to be typed
  isFixed: boolean; // Both are commits, and not a branch that may move
}>;

/** What is a person's to decide: of one task, of several alike, or of the run (no task). */
export type Decision = Readonly<{
  tasks: readonly string[];
  reason: string;
  note: string;
  tries: number;
  failure: (Failure & Readonly<{ task: string }>) | null;
  work: Readonly<{ branch: string; worktree: string | null }> | null;
  choices: Attention["choices"];
}>;

/** What a command printed, and how it ended. */
export type Output = Readonly<{
  gate: string;
  command: string;
  how: string;
  isPass: boolean;
  by: string; // The attempt that ran it, or `landing`
  took: string;
  path: string; // In full
  text: string | null; // Null where it is gone, or there is no room for it
}>;

/** One worker's try. */
export type Try = Readonly<{
  attempt: string;
  phase: string;
  agent: string;
  how: string;
  why: readonly string[]; // What speaks against it: how it ended, what it was sent back for
  took: string;
  dollars: number | null;
  branch: string | null;
  worktree: string | null; // Where it is still there
}>;

export type DiffView = Readonly<{
  attempt: string;
  command: string;
  files: readonly FileDiff[] | null; // Null where the commits are gone
}>;

/** A name and what stands under it. */
export type Named = Readonly<{ name: string; text: string }>;

export type TaskView = Readonly<{
  id: string;
  title: string;
  state: State;
  reason: string;
  note: string;
  risk: string;
  worth: number;
  marks: readonly Readonly<{ words: string; names: readonly string[]; isStrong: boolean }>[];
  isAsking: boolean; // It waits for a person
  mark: string; // Names what there is of it: whoever looked at that has not looked at another
  part: string | null; // Of which task it is one …
  parts: readonly string[]; // … and which ones it is made of
  counts: string; // How these stand, and how often its planner came
  ticket: string;
  fields: readonly Named[]; // What the list says of it beside that
  files: readonly string[]; // That it names or touched
  words: readonly string[]; // What a person said of it since
  rounds: readonly Named[];
  variants: Readonly<{ picked: string; rows: readonly (readonly string[])[] }> | null;
  said: string; // What and why
  slots: readonly Named[]; // What else it handed in: concerns, risks, how to roll back
  verdicts: readonly Readonly<{ by: string; verdict: string; text: string }>[];
  diffs: readonly DiffView[];
  outputs: readonly Output[];
  tries: readonly Try[];
  cost: string;
  took: string;
  commit: string | null; // On the line
}>;

export type Bar = Readonly<{
  from: number;
  to: number;
  kind: "done" | "failed" | "active";
  words: string;
}>;

export type PageData = Readonly<{
  run: string;
  key: string; // Names this run among all that this browser ever shows
  landed: number;
  total: number;
  standing: string;
  red: string; // What was red at the end; may be empty
  goal: string;
  success: string;
  line: string;
  isOpen: boolean;
  isFollowed: boolean; // It is written anew while the run goes on
  writtenAt: number;
  decisions: readonly Decision[];
  alarms: readonly string[];
  tasks: readonly TaskView[]; // In the order in which to look at them
  whole: Readonly<{ verdict: string; text: string }> | null;
  findings: readonly Readonly<{ task: string; slot: string; text: string }>[];
  time: Readonly<{
    from: number;
    to: number;
    rows: readonly Readonly<{ id: string; title: string; bars: readonly Bar[] }>[];
    landings: readonly Readonly<{ at: number; words: string }>[];
  }>;
  graph: readonly Readonly<{
    id: string;
    title: string;
    state: State;
    depends: readonly string[];
    part: string | null;
  }>[];
  cost: readonly string[];
  rows: readonly CostRow[];
  next: Readonly<{ merged: string; commands: readonly Typed[] }>;
}>;

/** All that is on the page of a run.
 * @param isFollowed is the page written anew until the run is over? */
export function pageData(state: RunState, seen: Seen, texts: Texts, isFollowed: boolean): PageData {
  const { alarms, attention } = askingNow(state, seen);
  const { landed = 0, total } = countsOf(ownWork(state).filter(({ id }) => id !== SUCCESS));
  const whole = state.tasks.get(SUCCESS);
  const asking = new Set(attention.map(({ task }) => task));
  const took = clock(state.lastAt - state.startedAt);
  const money = seen.cost ? moneyText(state, seen.cost) : "";
  return {
    run: state.run,
    key: `${state.run} ${state.base.slice(0, 10)} ${state.startedAt}`,
    landed,
    total,
    standing: `${overText(state)} ${[took, money].filter(Boolean).join(", ")}.`,
    red: state.end?.red ?? "",
    goal: state.goal,
    success: state.success,
    line: state.line,
    isOpen: isOpen(state),
    isFollowed: isFollowed && isOpen(state),
    writtenAt: seen.now,
    decisions: alikeAmong(state, attention, texts.failures).map((alike) =>
      decisionOf(state, seen, texts, alike),
    ),
    alarms: alarms.map(alarmLine),
    tasks: tasksInOrder(state, seen, texts, asking),
    whole: whole ? wholeOf(whole) : null,
    findings: findingsIn(state),
    time: timeOf(state),
    graph: graphOf(state),
    cost: seen.cost && seen.cost.rows.length > 0 ? costSentences(state, seen.cost) : [],
    rows: seen.cost?.rows ?? [],
    next: {
      merged: state.landings.length > 0 ? mergedText(state, seen.remote, (name) => name) : "",
      commands: nextCommands(state, seen.remote),
    },
  };
}

function decisionOf(
  state: RunState,
  { worktrees }: Seen,
  { failures }: Texts,
  alike: readonly Attention[],
): Decision {
  const [{ task: id, reason, note, choices }] = alike as [Attention];
  const failure = failures.get(id);
  const work = workOf(state, id)?.begun;
  return {
    tasks: alike.map(({ task }) => task).filter(Boolean),
    reason: reason ?? "it waits",
    note,
    tries: state.tasks.get(id)?.attempts.length ?? 0,
    failure: failure ? { ...failure, task: id } : null,
    work: work
      ? { branch: work.branch, worktree: worktrees.has(work.worktree) ? work.worktree : null }
      : null,
    choices,
  };
}

const wholeOf = ({ attempts, state, note }: TaskState): PageData["whole"] => {
  const { submitted } = attempts.findLast((each) => each.submitted) ?? {};
  return { verdict: submitted?.verdict ?? state, text: submitted?.handoff ?? note };
};

/** First what waits for a person, then by how much a look is worth; of equals what landed first. */
function tasksInOrder(
  state: RunState,
  seen: Seen,
  texts: Texts,
  asking: ReadonlySet<string>,
): TaskView[] {
  const data = new Map(
    tasksData(state, seen.cost, seen.sizes).map((each) => [each.task, each] as const),
  );
  const views = [...state.tasks.values()]
    .filter(({ id }) => id !== SUCCESS)
    .map((task) => ({
      view: viewOf(state, seen, texts, task, asking.has(task.id), data.get(task.id)),
      place: landingOf(state, task)?.place ?? Number.MAX_SAFE_INTEGER,
    }));
  const rank = ({ view }: (typeof views)[number]): number => (view.isAsking ? 0 : 1);
  return views
    .sort((a, b) => rank(a) - rank(b) || b.view.worth - a.view.worth || a.place - b.place)
    .map(({ view }) => view);
}

type OfFlows = ReturnType<typeof tasksData>[number] | undefined;

function viewOf(
  state: RunState,
  seen: Seen,
  texts: Texts,
  task: TaskState,
  isAsking: boolean,
  flows: OfFlows,
): TaskView {
  const { slots } = state.blueprint;
  const { id, attempts, result, files } = task;
  const marks = marksOf(state, task);
  const own = findingsIn({ ...state, tasks: new Map([[id, task]]) });
  const parts = isMade(task)
    ? [...state.tasks.values()].filter((one) => parentOf(one.id) === id)
    : [];
  const last = attempts.findLast(({ submitted }) => submitted && submitted.verdict === undefined);
  const named = files.map(({ path }) => path);
  return {
    id,
    title: task.title,
    state: task.state,
    reason: task.reason ?? "",
    note: task.note,
    risk: task.risk,
    worth: worthOf(marks),
    marks: marks.map(markView),
    isAsking,
    mark: result?.submitted?.head ?? `${task.state} ${attempts.length}`,
    part: parentOf(id),
    parts: parts.map((one) => one.id),
    counts: countsOfParts(parts, flows),
    ticket: task.description,
    fields: fieldsOf(task),
    files: [...new Set([...named, ...(result?.submitted?.paths ?? [])])],
    words: task.words,
    rounds: roundsOf(state, task, flows),
    variants: variantsOf(task, flows),
    said: last?.submitted ? shortly(last.submitted.handoff, slots) : "",
    slots: own.map(({ slot, text }) => ({ name: slot, text })),
    verdicts: attempts.flatMap(({ submitted, phase }) =>
      submitted?.verdict
        ? [{ by: phase.name, verdict: submitted.verdict, text: submitted.handoff }]
        : [],
    ),
    diffs: rangesOf(state, task).map(({ key, attempt, command }) => ({
      attempt,
      command,
      files: texts.diffs.get(key) ?? null,
    })),
    outputs: evidenceOf(state, task).map((each) => outputOf(each, seen.folder, texts)),
    tries: attempts.map((each) => tryOf(each, seen, state.lastAt)),
    cost: dollarsText(seen, attempts),
    took: clock(
      attempts.reduce((sum, each) => sum + (endedAt(each) ?? state.lastAt) - each.dispatchedAt, 0),
    ),
    commit: landingOf(state, task)?.commit ?? null,
  };
}

const markView = (mark: Mark): TaskView["marks"][number] => {
  const { words, names } = mark;
  return { words, names, isStrong: isStrong(mark) };
};

function countsOfParts(parts: readonly TaskState[], flows: OfFlows): string {
  const said = parts.length > 0 ? [countsText(countsOf(parts))] : [];
  const visit = flows?.visit;
  if (visit) said.push(`${visit.number} of ${visit.most} visits of its planner`);
  if (flows && flows.leftOut > 0) said.push(`${flows.leftOut} lines left out, blank or doubled`);
  return said.join("; ");
}

/** What a list says of a task beside its text, as it calls it. */
function fieldsOf(task: TaskState): Named[] {
  const { depends, files, forbid, gates, agent, doneWhen, verify, each, measure, model } = task;
  const all: readonly (readonly [string, string])[] = [
    ["Done when", doneWhen],
    ["Verify", verify],
    ["Files", files.map(({ path, guessed }) => path + (guessed ? " (guessed)" : "")).join(", ")],
    ["Forbid", forbid.join(", ")],
    ["Gates", gates.join(", ")],
    ["Depends", depends.join(", ")],
    ["Each", each ?? ""],
    ["Measure", measure ?? ""],
    ["Agent", agent.join(", ")],
    ["Model", model],
    ["Workflow", task.workflow],
  ];
  return all.filter(([, text]) => text !== "").map(([name, text]) => ({ name, text }));
}

function roundsOf({ blueprint, evidence }: RunState, task: TaskState, flows: OfFlows): Named[] {
  if (!task.attempts.some(isRedRound)) return [];
  return (flows?.rounds ?? []).map(({ attempt, handoff, red }, at) => {
    const left = red.map((gate) => {
      const ran = evidence.findLast((each) => each.gate === gate && each.attempts[0] === attempt);
      return [gate, ...(ran?.errors ?? []).slice(0, 3)].join("\n  ");
    });
    const how = left.length > 0 ? `left red:\n${left.join("\n")}` : "all green";
    return { name: `round ${at + 1}`, text: `${shortly(handoff, blueprint.slots)}\n${how}` };
  });
}

function variantsOf(task: TaskState, flows: OfFlows): TaskView["variants"] {
  const all = flows?.variants ?? [];
  if (all.length === 0) return null;
  const { measure } = task;
  const head = measure ? `${/^\w+/.exec(measure)?.[0]} of ${commandIn(measure)}` : "verdict";
  const rows = all.map(({ number, stands, value, isPicked, size, dollars }) => [
    `${number}`,
    size ? `${size.files} files, +${size.added} −${size.removed}` : "-",
    `${value ?? stands}${isPicked ? ", picked" : ""}`,
    dollars === null ? "?" : `$${dollars.toFixed(2)}`,
  ]);
  return { picked: pickText(task), rows: [["variant", "size", head, "cost"], ...rows] };
}

function tryOf(attempt: AttemptState, { worktrees, cost }: Seen, now: number): Try {
  const { id, phase, agent, over, submitted, nothing, begun, variant } = attempt;
  const why = [
    ...attempt.sentBack.map(({ reason }) => `sent back: ${reason}`),
    ...attempt.objections.map(({ reason, what }) => `${reason}: ${what.join(", ")}`),
  ];
  if (over) why.push([over.reason, over.note].filter(Boolean).join(": "));
  if (submitted?.red?.length) why.push(`left red: ${submitted.red.join(", ")}`);
  if (nothing) why.push(nothing.why);
  const handed = submitted ? `handed in${submitted.verdict ? `: ${submitted.verdict}` : ""}` : "";
  const how = over
    ? over.event === "not-landed"
      ? "did not land"
      : "ended without a result"
    : handed || (nothing ? "nothing to do" : "at work");
  const worktree = begun?.worktree ?? "";
  return {
    attempt: id,
    phase: variant > 0 ? `${phase.name}, variant ${variant}` : phase.name,
    agent,
    how,
    why,
    took: clock((endedAt(attempt) ?? now) - attempt.dispatchedAt),
    dollars: cost?.attempts[id] ?? null,
    branch: begun?.branch ?? null,
    worktree: worktrees.has(worktree) ? worktree : null,
  };
}

function dollarsText({ cost }: Seen, attempts: readonly AttemptState[]): string {
  const known = attempts.flatMap(({ id }) => cost?.attempts[id] ?? []);
  if (known.length === 0) return "";
  const least = known.length < attempts.length ? "at least " : "";
  return `${least}$${known.reduce((sum, each) => sum + each, 0).toFixed(2)}`;
}

/** What was run for a task: by its workers in that order, each gate's every run, then what landing
 * itself saw pass. */
function evidenceOf({ evidence, landings }: RunState, { attempts, result }: TaskState): Evidence[] {
  const ids = new Set(attempts.map(({ id }) => id));
  const own = evidence.filter(
    ({ by, attempts: [first = ""] }) => by === "worker" && ids.has(first),
  );
  const landing = landings.find((each) => result && each.attempts.includes(result.id));
  const proof = evidence.filter(
    (each) => each.by === "landing" && each.tree === landing?.tree && isPass(each),
  );
  const newest = new Map(proof.map((each) => [each.gate, each]));
  const refused = evidence.filter(
    (each) => each.by === "landing" && !isPass(each) && each.attempts.some((id) => ids.has(id)),
  );
  return [...own, ...refused, ...newest.values()];
}

function outputOf(evidence: Evidence, folder: string, { outputs }: Texts): Output {
  const { gate, command, by, attempts, output, ms } = evidence;
  return {
    gate,
    command,
    how: isPass(evidence) ? "passed" : howIn(evidence),
    isPass: isPass(evidence),
    by: by === "landing" ? by : (attempts[0] ?? ""),
    took: clock(ms),
    path: `${folder}/${output}`,
    text: outputs.get(output) ?? null,
  };
}

/** The raw output that a page shows: that of the tasks that wait first. */
export function outputsIn(state: RunState): string[] {
  const tasks = [...state.tasks.values()];
  const first = tasks.filter((task) => task.state === "needs-human");
  const all = [...first, ...tasks].flatMap((task) => evidenceOf(state, task));
  return [...new Set(all.map(({ output }) => output))];
}

/** What is compared of all tasks. */
export const rangesIn = (state: RunState): Range[] =>
  [...state.tasks.values()].flatMap((task) => rangesOf(state, task));

/** What is compared of a task: its commits as they lie on the line; where it did not land what each
 * attempt left, first what there is of the task, then the newest, of rounds the last. */
function rangesOf(state: RunState, task: TaskState): Range[] {
  const landing = landingOf(state, task);
  const own = landing ? landing.commits - landing.skipped : 0;
  if (landing && task.result && task.state === "landed") {
    if (own === 0) return [];
    const { commit } = landing;
    const from = commit.includes("~")
      ? `${commit.split("~")[0]}~${Number(commit.split("~")[1]) + own}`
      : `${commit}~${own}`;
    const command = `git diff ${from} ${commit}`;
    return [rangeOf(task, task.result.id, from, commit, command, true)];
  }
  const made = withWork(task)
    .filter((each) => !isRedRound(each) || each === task.result)
    .sort((a, b) => Number(b === task.result) - Number(a === task.result));
  return made.map(({ id, begun, submitted }) => {
    const to = submitted?.head ?? `refs/heads/${begun.branch}`;
    const command = `git diff ${begun.base.slice(0, 10)} ${branchRef(begun.branch)}`;
    return rangeOf(task, id, begun.base, to, command, submitted !== undefined);
  });
}

const rangeOf = (
  task: TaskState,
  attempt: string,
  from: string,
  to: string,
  command: string,
  isFixed: boolean,
): Range => ({
  key: `${attempt} ${from}..${to}`,
  task: task.id,
  attempt,
  from,
  to,
  command,
  isFixed,
});

/** Rows of the time line; a run with more shows those that have open work. */
const ROWS = 150;

function timeOf(state: RunState): PageData["time"] {
  const { startedAt: from, lastAt, landings } = state;
  const worked = [...state.tasks.values()].filter(({ attempts }) => attempts.length > 0);
  const open = new Set(flat(branchesOf(state)).map(({ task }) => task));
  const shown = worked.length > ROWS ? worked.filter((task) => open.has(task)) : worked;
  const rows = shown.slice(0, ROWS).map(({ id, title, attempts }) => ({
    id,
    title,
    bars: attempts.map((each) => barOf(each, lastAt)),
  }));
  return {
    from,
    to: Math.max(lastAt, from + 1000),
    rows,
    landings: landings.map(({ at, attempts, dropped = [] }) => {
      const ids = tasksOf(state, attempts).join(", ");
      return { at, words: dropped.length > 0 ? `without ${dropped.join(", ")}` : `${ids} landed` };
    }),
  };
}

function barOf(attempt: AttemptState, now: number): Bar {
  const { dispatchedAt: from, phase, over, id } = attempt;
  const kind = isActive(attempt) ? "active" : over ? "failed" : "done";
  return { from, to: endedAt(attempt) ?? now, kind, words: `${id} ${phase.name}` };
}

const graphOf = (state: RunState): PageData["graph"] => {
  const all = flat(branchesOf(state));
  const ids = new Set(all.map(({ task }) => task.id));
  return all.map(({ task: { id, state, depends }, title }) => {
    const part = parentOf(id);
    return {
      id,
      title,
      state,
      depends: depends.filter((one) => ids.has(one)),
      part: part !== null && ids.has(part) ? part : null,
    };
  });
};
