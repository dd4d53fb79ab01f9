import type { Blueprint } from "../blueprint/blueprint.ts";
import type { Event, Evidence } from "../journal/events.ts";
import { isMissed, isPass } from "../journal/passed.ts";
import { isRedRound, rednessOf } from "../journal/rounds.ts";
import { endOf } from "../journal/shapes.ts";
import { type RunState, rateLimited, tasksOf } from "../journal/state.ts";
import { expectedOf } from "../money/estimate.ts";
import { wordIn } from "../plan/risk.ts";

/** What several workers have in common, so that it is hardly their tasks' fault. `pause`: nothing
 * more is dispatched. */
export type Alarm = Readonly<{
  when: Rule["when"];
  what: string;
  likely: string;
  way: string;
  pause: boolean;
}>;
type Rule = Blueprint["alarms"][number];
/** One thing that happened to one task, and what was said with it. */
type Happened = Readonly<{ task: string; what: string; said: string }>;
type Seen = Readonly<{ what: string; tasks: readonly string[]; said: string }>;
type Now = Readonly<{ dollars: number | null; now: number }>;

/** The alarms of a run: each rule of the blueprint, counted since the run started or was last
 * resumed, for whoever resumes it has seen them.
 * @param at what the run has cost up to now, null where that is not known, and the time */
export function alarmsOf(state: RunState, at: Now): Alarm[] {
  const { alarms, causes } = state.blueprint;
  const found: Alarm[] = [];
  for (const rule of alarms)
    for (const { what, tasks, said } of COUNTS[rule.when](state, rule.count, at)) {
      const { likely, way } = causes.find(({ lines }) => wordIn(said, lines)) ?? rule;
      const whose = tasks.length > 0 ? ` (tasks ${tasks.join(", ")})` : "";
      found.push({ when: rule.when, what: what + whose, likely, way, pause: rule.pause });
    }
  return found;
}

/** Why nothing is dispatched before a person resumes the run, as what waits says it: `later` where
 * workers ran into a rate limit or into what they have in common; null where work can go on. */
export function haltOf(
  state: RunState,
  alarms: readonly Alarm[],
  { dollars, now }: Now,
): "later" | "budget" | null {
  if (isBudgetSpent(state, dollars)) return "budget";
  return rateLimited(state, now) || alarms.some(({ pause }) => pause) ? "later" : null;
}

/** Is what the run may cost used up? */
export const isBudgetSpent = ({ budget }: RunState, dollars: number | null): boolean =>
  budget !== null && (dollars ?? 0) >= budget;

/** An alarm on one line. */
export const alarmLine = ({ what, likely, way, pause }: Alarm): string =>
  `${what}: ${likely}. ${pause ? "Nothing more is started before a resume: " : ""}${way}`;

/** What each kind of rule sees in a run, where it happened as often as the rule's count says. */
const COUNTS: Record<Rule["when"], (state: RunState, count: number, at: Now) => Seen[]> = {
  ended: (state, count) => [...alike(ends(state), count), ...alike(redRounds(state), count)],
  timeout: (state, count) => alike(timeouts(state), count),
  error: (state, count) => alike(errors(state), count).slice(0, 1), // One cause has many lines
  "base-red": ({ baseRed, baseAccepted }) =>
    baseRed?.length && !baseAccepted ? [ofRun(`red on the base: ${baseRed.join(", ")}`)] : [],
  spent: overspent,
  landing: heldUp,
};

/** What concerns the run as a whole, and no task before others. */
const ofRun = (what: string): Seen => ({ what, tasks: [], said: "" });

/** Gates that ran out of time and have not passed since. */
function timeouts(state: RunState): Happened[] {
  const all = seen(state);
  const isLatest = ({ gate }: Evidence, at: number): boolean =>
    at > all.findLastIndex((each) => each.gate === gate && isPass(each));
  const slow = all.filter((each, at) => each.code === null && isLatest(each, at));
  return slow.flatMap((each) => toTasks(state, each, `${each.gate} ran out of time`));
}

/** Lines of errors that gates printed for workers. */
function errors(state: RunState): Happened[] {
  const red = seen(state).filter((each) => each.by === "worker" && isUnwanted(state, each));
  return red.flatMap((each) =>
    (each.errors ?? []).flatMap((line) =>
      toTasks(state, each, `${each.gate} says «${line}»`, line),
    ),
  );
}

/** So many times the most that was expected is spent. */
function overspent(state: RunState, count: number, { dollars }: Now): Seen[] {
  const most = (expectedOf(state)?.high ?? 0) * count;
  const spent = (dollars ?? 0) - state.spentBefore;
  if (most <= 0 || spent <= most) return [];
  return [ofRun(`$${spent.toFixed(2)} spent, where $${most.toFixed(2)} was the most expected`)];
}

/** So many results wait to land, one of them for longer than workers take for theirs. */
function heldUp({ tasks, attempts }: RunState, count: number, { now }: Now): Seen[] {
  const waiting = [...tasks.values()].filter(({ state }) => state === "mergeable");
  const since = Math.min(...waiting.map(({ result }) => result?.submitted?.at ?? now));
  const took: number[] = [];
  for (const { begun, submitted } of attempts.values())
    if (begun && submitted) took.push(submitted.at - begun.at);
  const usual = took.reduce((sum, ms) => sum + ms, 0) / took.length;
  if (waiting.length < count || now - since <= usual) return [];
  const what = `${waiting.length} results wait to land`;
  return [{ what, tasks: waiting.map(({ id }) => id), said: "" }];
}

/** What happened alike to so many tasks, that which happened to most of them first. */
function alike(all: readonly Happened[], count: number): Seen[] {
  const groups = new Map<string, { tasks: Set<string>; said: string }>();
  for (const { task, what, said } of all) {
    const group = groups.get(what) ?? { tasks: new Set(), said: "" };
    groups.set(what, { tasks: group.tasks.add(task), said: `${group.said}\n${said}` });
  }
  const seen = [...groups].map(([what, { tasks, said }]) => ({ what, tasks: [...tasks], said }));
  return seen
    .filter(({ tasks }) => tasks.length >= count)
    .sort((a, b) => b.tasks.length - a.tasks.length);
}

/** How attempts have ended without a result since the last one had one: why, and at which gate. Of
 * many tasks a few may well fail, one here and one there. Other causes than the work say nothing of
 * what workers have in common, or have answers of their own. */
function ends(state: RunState): Happened[] {
  const since = lastResult(state);
  return [...state.attempts.values()].flatMap(({ id, task, over, failures }) => {
    if (!over || over.at <= since || (endOf(over.reason).cause ?? "work") !== "work") return [];
    const gate = Object.keys(failures).at(-1);
    const own = state.evidence.filter(({ attempts }) => attempts.includes(id));
    const said = own.flatMap(({ errors = [] }) => errors);
    const what = `workers ended with ${over.reason}${gate ? ` at ${gate}` : ""}`;
    return { task: task.id, what, said: [over.note, ...said].join("\n") };
  });
}

/** When last a worker handed something in that is not red, or the run was resumed. */
const lastResult = ({ attempts, seenAt }: RunState): number =>
  [...attempts.values()]
    .filter((each) => !isRedRound(each))
    .reduce((last, { submitted }) => Math.max(last, submitted?.at ?? 0), seenAt);

/** What rounds left red since then, by exactly that: a check that fails without a word says nothing
 * of what workers have in common. */
function redRounds(state: RunState): Happened[] {
  const since = lastResult(state);
  return [...state.attempts.values()].flatMap((attempt) => {
    const { task, submitted } = attempt;
    if (!isRedRound(attempt) || (submitted?.at ?? 0) <= since) return [];
    const own = state.evidence.filter(({ attempts }) => attempts[0] === attempt.id);
    const lines = own.flatMap(({ errors = [] }) => errors);
    const isMute = lines.length === 0 && own.every(({ code }) => code === 0 || code === 1);
    if (isMute) return [];
    const [gates = "", ...rest] = rednessOf(state, attempt).split("\n\n");
    const [gate = "", code = "", ...said] = gates.split("\n");
    const more = rest.length > 0 ? ` and ${rest.length} more` : "";
    const how = said[0] ? `«${said[0]}»` : `ended with ${code}`;
    const what = `rounds left ${gate} red${more}: ${how}`;
    return { task: task.id, what, said: lines.join("\n") };
  });
}

/** The evidence since the run was last resumed. */
const seen = ({ evidence, seenAt }: RunState): Event<"evidence">[] =>
  evidence.filter(({ at }) => at > seenAt);

const toTasks = (state: RunState, { attempts }: Evidence, what: string, said = ""): Happened[] =>
  tasksOf(state, attempts).map((task) => ({ task, what, said }));

/** Is a gate red where it should be green? */
function isUnwanted(state: RunState, evidence: Event<"evidence">): boolean {
  const phase = state.attempts.get(evidence.attempts[0] ?? "")?.phase;
  return phase !== undefined && isMissed({ red: phase.red.includes(evidence.gate) }, evidence);
}
