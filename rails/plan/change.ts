import type { Known } from "./gaps.ts";
import { findGaps } from "./gaps.ts";
import { readHeader } from "./header.ts";
import type { FieldName, ListedTask } from "./item.ts";
import { byLevelAndLine, relate } from "./plan.ts";
import { readList } from "./read-list.ts";
import { isAtLeast } from "./risk.ts";
import { type Finding, finding, type Plan, type PlannedTask, type TaskFile } from "./task.ts";

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
const OURS = /^\s{0,3}#{1,6}\s+(?:\*\*|__)?task\s+#?\w+\s*[:.)–—-]/im;

/** Is a list in our form: are its tasks headings with ids of their own? */
export const isOurs = (text: string): boolean => OURS.test(text);

/** Reads a list that changes a plan: its tasks are added, or take the place of those with their
 * ids; a field or text that it leaves out stays as it was.
 * @param text in our form: only there an id is said and not counted
 * @param where what to call the list in a message
 * @param known what it is held against */
export function readChange(
  text: string,
  where: string,
  held: readonly Held[],
  known: Known,
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
  const idOf = (id: string): string => ids.get(id.toLowerCase()) ?? id;
  const read = tasks.map((task) => {
    return { ...task, id: idOf(task.id), depends: task.depends.map(idOf) };
  });
  const change = changeTo(held, read);
  for (const { id, line } of read) {
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
 * @param read tasks that are new or reworded; what they do not say stays as it was */
export function changeTo(held: readonly Held[], read: readonly ListedTask[]): Change {
  const known = new Map(held.map((one) => [one.planned.id, one]));
  const loosened: string[] = [];
  const changed = new Map<string, ListedTask>();
  for (const task of read) {
    const one = known.get(task.id);
    const whole = one ? merged(one.planned, task) : task;
    changed.set(task.id, whole);
    if (one?.isFree) continue;
    loosened.push(...(one ? loosenedIn(one.planned, whole) : loosenedByNew(whole)));
  }
  const kept = held.map((one) => changed.get(one.planned.id) ?? asListed(one));
  const added = read.filter(({ id }) => !known.has(id)).map(({ id }) => id);
  const fresh = added.flatMap((id) => changed.get(id) ?? []);
  return { ...related([...kept, ...fresh]), added, reworded: idsKnown(read, known), loosened };
}

const idsKnown = (read: readonly ListedTask[], known: ReadonlyMap<string, Held>): string[] =>
  read.map(({ id }) => id).filter((id) => known.has(id));

function related(tasks: readonly ListedTask[]) {
  const { tasks: all, waves, conflicts, findings } = relate(tasks);
  return { all, waves, conflicts, findings };
}

/** A task of the run as `relate` takes it. */
const asListed = ({ planned, isOver }: Held): ListedTask => {
  const { title, line } = planned;
  return { ...planned, done: isOver, dependsLine: line, lead: title, words: [], said: new Set() };
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
  ask: "ask",
};

/** A task as a change words it: what that does not say is as it was. */
function merged(before: PlannedTask, now: ListedTask): ListedTask {
  const said = [...now.said].map((name) => PARTS[name]);
  const parts = Object.values(PARTS).filter((part) => part !== "ask" && !said.includes(part));
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
  const won = (name: string, one: readonly string[], other: readonly string[]) => {
    const more = other.filter((each) => !one.includes(each));
    if (more.length > 0) found.push(`task ${id} gets ${more.join(", ")} under ${name}:`);
  };
  lost("Depends", before.depends, now.depends);
  lost("Forbid", before.forbid, now.forbid);
  lost("Verify", linesOf(before.verify), linesOf(now.verify));
  // Where no file was named, naming some is narrower.
  if (before.files.length > 0) won("Files", pathsOf(before.files), pathsOf(now.files));
  if (before.files.length > 0 && now.files.length === 0)
    found.push(`task ${id} names no files any more`);
  won("Gates", before.gates, now.gates);
  if (!isAtLeast(now.risk, before.risk)) found.push(`task ${id} is of lower risk`);
  if (now.model !== before.model) found.push(`task ${id} has model ${now.model || "as usual"}`);
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
