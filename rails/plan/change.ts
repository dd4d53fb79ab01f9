import { matchesAny, patternOf } from "./conflicts.ts";
import type { Known } from "./gaps.ts";
import { findGaps } from "./gaps.ts";
import { readHeader } from "./header.ts";
import type { FieldName, ListedTask } from "./item.ts";
import { byLevelAndLine, relate } from "./plan.ts";
import { readList } from "./read-list.ts";
import { isAtLeast } from "./risk.ts";
import {
  type Finding,
  finding,
  type Plan,
  type PlannedTask,
  parentOf,
  type TaskFile,
} from "./task.ts";

/** A task of a run, as far as a change of the plan has to know it. */
export type Held = Readonly<{
  planned: PlannedTask;
  isOver: boolean; // It landed, or nothing is to be done: nobody waits for it or conflicts with it
  fixed: string; // Why it cannot be changed, in words; empty where it can
  isFree: boolean; // Who changes it added it, and nobody began: no bound holds for its words
}>;

/** What a change of the plan comes to: all of the plan as it would be, and of that what is new. */
export type Change = Pick<Plan, "waves" | "conflicts" | "findings"> &
  Readonly<{
    all: readonly PlannedTask[];
    added: readonly string[]; // Ids
    reworded: readonly string[]; // Ids
    loosened: readonly string[]; // In words: what only a person may loosen
  }>;

/** A heading that begins a task in our form. */
const OURS = /^\s{0,3}#{1,6}\s+(?:\*\*|__)?task\s+#?[\w/]+\s*[:.)–—-]/im;

/** Is a list in our form: are its tasks headings with ids of their own? */
export const isOurs = (text: string): boolean => OURS.test(text);

/** Reads a list that changes a plan: its tasks are added, or take the place of those with their
 * ids; a field or text that it leaves out stays as it was.
 * @param text in our form: only there an id is said and not counted
 * @param where what to call the list in a message
 * @param known what it is held against
 * @param area of what task those are that are named, where only these can be: `2` is `A/2` then */
export function readChange(
  text: string,
  where: string,
  held: readonly Held[],
  known: Known,
  area: string | null = null,
): Change {
  const { header, rest, findings } = readHeader(text);
  const said = [header.goal, header.success, ...Object.values(header.tools)].filter(Boolean);
  const find = (...what: Parameters<typeof finding>) => findings.push(finding(...what));
  if (said.length > 0) {
    const what = "goal, success and tools are those of the run";
    find("header", 1, what, "leave the frontmatter out; minion change --rails takes new commands");
  }
  if (!isOurs(rest))
    find(
      "not-ours",
      1,
      `${where} names no task by its id`,
      "write each as «### Task 3: Title», with an id of the run or a new one",
    );
  const { tasks, findings: ofList } = readList(rest);
  const ids = new Map(held.map(({ planned }) => [planned.id.toLowerCase(), planned.id]));
  const within = (id: string): string =>
    area === null || id.startsWith(`${area}/`) ? id : `${area}/${id}`;
  const idOf = (id: string): string => ids.get(id.toLowerCase()) ?? id;
  const named = new Set(tasks.map(({ id }) => within(id).toLowerCase()));
  const own = (id: string): string => {
    const inside = within(id);
    const isThere = ids.has(inside.toLowerCase()) || named.has(inside.toLowerCase());
    return isThere ? idOf(inside) : idOf(id);
  };
  const read = tasks.map((task) => {
    return { ...task, id: idOf(within(task.id)), depends: task.depends.map(own) };
  });
  const change = changeTo(held, read);
  for (const { id, line, done } of read) {
    if (done)
      find(
        "done",
        line,
        `task ${id} is marked as done`,
        `minion drop ${id}, if nobody is to do it`,
      );
    const fixed = held.find(({ planned }) => planned.id === id)?.fixed;
    if (fixed) find("fixed", line, `task ${id} ${fixed}`, "what is not at work can be changed");
  }
  const gaps = gapsIn(read, where, held, known);
  const all = [...findings, ...ofList, ...gaps, ...change.findings];
  return { ...change, findings: all.sort(byLevelAndLine) };
}

/** What the tasks leave open with all that they keep; which files of a kept plan are not there yet
 * was said when it came. */
function gapsIn(
  read: readonly ListedTask[],
  where: string,
  held: readonly Held[],
  known: Known,
): Finding[] {
  const plans = new Map(held.map(({ planned }) => [planned.id, planned]));
  const whole = read.map((task) => {
    const before = plans.get(task.id);
    return before ? merged(before, task) : task;
  });
  const named = new Set(held.flatMap(({ planned }) => planned.files.map(({ path }) => path)));
  const exists = (path: string): boolean => named.has(path) || (known.exists?.(path) ?? true);
  return findGaps(whole, where, { ...known, exists });
}

/** The plan with some of its tasks other than they were.
 * @param read tasks that are new or reworded; what they do not say stays as it was
 * @param whole new ones that say all that there is to say */
export function changeTo(
  held: readonly Held[],
  read: readonly ListedTask[],
  whole: readonly PlannedTask[] = [],
): Change {
  const known = new Map(held.map((one) => [one.planned.id, one]));
  const loosened: string[] = [];
  const changed = new Map<string, ListedTask>();
  for (const task of read) {
    const one = known.get(task.id);
    const whole = one ? merged(one.planned, task) : inherited(task, known);
    changed.set(task.id, whole);
    // To one that nobody began and that is its own, whoever changes it may give what a new one may
    // have.
    const isBound = one !== undefined && !one.isFree;
    loosened.push(...(isBound ? loosenedIn(one.planned, whole) : loosenedByNew(whole)));
  }
  const kept = held.map((one) => changed.get(one.planned.id) ?? asListed(one));
  const added = read.filter(({ id }) => !known.has(id)).map(({ id }) => id);
  const fresh = added.flatMap((id) => changed.get(id) ?? []);
  const others = whole.map((planned) => listedFrom(planned, false));
  return {
    ...related([...kept, ...fresh, ...others]),
    added: [...added, ...whole.map(({ id }) => id)],
    reworded: idsKnown(read, known),
    loosened,
  };
}

/** What a new task has of the one that it is part of: what that waits for and must not touch, and at
 * least its risk. */
function inherited(task: ListedTask, known: ReadonlyMap<string, Held>): ListedTask {
  const above = known.get(parentOf(task.id) ?? "")?.planned;
  if (!above) return task;
  const both = (one: readonly string[], other: readonly string[]) => [
    ...new Set([...one, ...other]),
  ];
  return {
    ...task,
    depends: both(task.depends, above.depends),
    forbid: both(task.forbid, above.forbid),
    risk: isAtLeast(task.risk, above.risk) ? task.risk : above.risk,
  };
}

const idsKnown = (read: readonly ListedTask[], known: ReadonlyMap<string, Held>): string[] =>
  read.map(({ id }) => id).filter((id) => known.has(id));

function related(tasks: readonly ListedTask[]) {
  const { tasks: all, waves, conflicts, findings } = relate(tasks);
  return { all, waves, conflicts, findings };
}

/** A task of the run as `relate` takes it. */
const asListed = ({ planned, isOver }: Held): ListedTask => listedFrom(planned, isOver);

const listedFrom = (planned: PlannedTask, done: boolean): ListedTask => {
  const { title, line } = planned;
  return { ...planned, done, dependsLine: line, lead: title, words: [], said: new Set() };
};

/** The parts of a task that a field of the list says. */
const PARTS: Readonly<Record<FieldName, keyof PlannedTask>> = {
  depends: "depends",
  agent: "agent",
  files: "files",
  forbid: "forbid",
  gates: "gates",
  risk: "risk",
  model: "model",
  workflow: "workflow",
  "done when": "doneWhen",
  verify: "verify",
  each: "each",
  measure: "measure",
  ask: "ask",
};

/** A task as a change words it: what that does not say is as it was. */
function merged(before: PlannedTask, now: ListedTask): ListedTask {
  const said = [...now.said].map((name) => PARTS[name]);
  const parts = Object.values(PARTS).filter((part) => !said.includes(part));
  const kept = Object.fromEntries(parts.map((part) => [part, before[part]]));
  const { checks } = now.said.has("verify") ? now : before;
  return {
    ...now,
    ...kept,
    checks,
    description: now.description || before.description,
    done: false,
  };
}

/** What of a task only a person may loosen, where a change does: to narrow it, dependencies,
 * checks and what it must not touch only grow, files and what it may change of its proof only
 * shrink, and its risk only rises. Words are free. */
function loosenedIn(before: PlannedTask, now: ListedTask): string[] {
  const { id } = before;
  const found: string[] = [];
  const lost = (name: string, one: readonly string[], other: readonly string[]) => {
    const gone = one.filter((each) => !other.includes(each));
    if (gone.length > 0) found.push(`task ${id} loses ${gone.join(", ")} under ${name}:`);
  };
  const won = (
    name: string,
    one: readonly string[],
    other: readonly string[],
    isWithin = (_: string): boolean => false,
  ) => {
    const more = other.filter((each) => !one.includes(each) && !isWithin(each));
    if (more.length > 0) found.push(`task ${id} gets ${more.join(", ")} under ${name}:`);
  };
  lost("Depends", before.depends, now.depends);
  lost("Forbid", before.forbid, now.forbid);
  lost("Verify", linesOf(before.verify), linesOf(now.verify));
  // Where no file was named, naming some is narrower.
  const patterns = before.files.map(patternOf);
  if (before.files.length > 0)
    won("Files", pathsOf(before.files), pathsOf(now.files), (path) => matchesAny(patterns, path));
  if (before.files.length > 0 && now.files.length === 0)
    found.push(`task ${id} names no files any more`);
  won("Gates", before.gates, now.gates);
  if (!isAtLeast(now.risk, before.risk)) found.push(`task ${id} is of lower risk`);
  if (now.model !== before.model) found.push(`task ${id} has model ${now.model || "as usual"}`);
  for (const [name, part] of [
    ["Each", "each"],
    ["Measure", "measure"],
  ] as const)
    if (before[part] && now[part] !== before[part]) found.push(`task ${id} has another ${name}:`);
  if (now.workflow !== before.workflow)
    found.push(`task ${id} has workflow ${now.workflow || "as usual"}`);
  return found;
}

/** What of a new task only a person may say. */
const loosenedByNew = ({ id, gates }: ListedTask): string[] =>
  gates.length > 0 ? [`task ${id} may change what gates stand on: ${gates.join(", ")}`] : [];

const pathsOf = (files: readonly TaskFile[]): string[] => files.map(({ path }) => path);
const linesOf = (text: string): string[] => text.split("\n").filter(Boolean);

/** The findings that stand in the way of a change. */
export const errorsIn = (findings: readonly Finding[]): Finding[] =>
  findings.filter(({ level }) => level === "error");
