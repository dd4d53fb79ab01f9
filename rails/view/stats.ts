import { createHash } from "node:crypto";
import type { Blueprint } from "../blueprint/blueprint.ts";
import { alarmsOf } from "../foreman/alarms.ts";
import { asking } from "../foreman/attention.ts";
import { gitText } from "../git/git.ts";
import type { Place } from "../git/repository.ts";
import type { Event } from "../journal/events.ts";
import { replay } from "../journal/fold.ts";
import { Journal, listRuns } from "../journal/journal.ts";
import { isRedRound } from "../journal/rounds.ts";
import { type AttemptState, isOpen, type RunState } from "../journal/state.ts";
import { clock, table } from "./text.ts";
import { ownWork } from "./tree.ts";

type Numbers = ReturnType<typeof numbersOf>;
/** By the Monday of the week in which runs started, and the version of the rails that they ran on.
 */
type Week = Readonly<{ week: string; blueprint: string } & Numbers>;

const COLUMNS: readonly Readonly<{ head: string; of: (week: Week) => string }>[] = [
  { head: "week of", of: ({ week }) => week },
  { head: "rails", of: ({ blueprint }) => blueprint },
  { head: "runs", of: ({ runs }) => `${runs}` },
  { head: "landed", of: ({ landed, tasks }) => `${landed} of ${tasks}` },
  { head: "asked", of: ({ asked }) => `${asked}` },
  { head: "waited", of: ({ waited }) => clock(waited * 60_000) },
  { head: "changed", of: ({ changed }) => `${changed}` },
  { head: "re-runs", of: ({ reruns }) => `${reruns}` },
  { head: "conflicts", of: ({ conflicts }) => `${conflicts}` },
  { head: "sent back", of: ({ sendBacks }) => `${sendBacks}` },
  { head: "reverted", of: ({ reverted }) => `${reverted}` },
];

/** What repeats, multiplies and plans, in a table of its own where there is any of it. */
const OF_FLOWS: typeof COLUMNS = [
  ...COLUMNS.slice(0, 2),
  { head: "rounds", of: ({ rounds }) => `${rounds}` },
  { head: "variants", of: ({ variants }) => `${variants}` },
  { head: "visits", of: ({ visits }) => `${visits}` },
];

/** A repository's numbers as a table, a line for each week and version of the rails. */
export function statsTable(weeks: readonly Week[], columns: number): string {
  if (weeks.length === 0) return "There is no run here yet: /minion starts one.";
  const tableOf = (own: typeof COLUMNS, some: readonly Week[]): string[] => {
    const rows = some.map((week) => own.map(({ of }) => of(week)));
    return table([own.map(({ head }) => head), ...rows], columns);
  };
  const flows = weeks.filter((week) => week.rounds + week.variants + week.visits > 0);
  const more = flows.length > 0 ? ["", ...tableOf(OF_FLOWS, flows)] : [];
  return [...tableOf(COLUMNS, weeks), ...more].join("\n");
}

/** The numbers of all runs of a repository, newest week first. */
export async function statsOf(place: Place): Promise<Week[]> {
  const weeks = new Map<string, Week>();
  const reverted = await revertedIn(place);
  for (const run of await listRuns(place.common)) {
    const journal = new Journal(place.common, run);
    const state = await journal.state().catch(() => null); // What cannot be read tells nothing
    if (!state) continue;
    const { events } = await journal.read();
    const own = await commitsOf(place, state, events);
    const takenBack = own.filter((commit) => reverted.has(commit)).length;
    const week = mondayOf(state.startedAt);
    const blueprint = versionOf(state.blueprint);
    const numbers = plus(numbersOf(state, events, takenBack), weeks.get(week + blueprint));
    weeks.set(week + blueprint, { week, blueprint, ...numbers });
  }
  return [...weeks.values()].sort((a, b) => b.week.localeCompare(a.week));
}

/** The numbers of a run with those of the ones before it. */
function plus(numbers: Numbers, before: Numbers | undefined): Numbers {
  if (!before) return numbers;
  const names = Object.keys(numbers) as (keyof Numbers)[];
  const sums = names.map((name) => [name, before[name] + numbers[name]]);
  return Object.fromEntries(sums) as Numbers;
}

/** Names what a blueprint says, wherever it says it. */
const versionOf = ({ sources, ...said }: Blueprint): string =>
  createHash("sha1").update(JSON.stringify(said)).digest("hex").slice(0, 7);

/** By which a plan is other than it was. */
const CHANGES: readonly string[] = ["changed", "rails-changed", "stopped", "dropped", "dropping"];

/** What is counted of a run. `asked`: times that a person had to decide about a task, decided or
 * not, and `waited` how many minutes that took in all; `changed`: how often the plan was changed, or
 * tasks were stopped or dropped; `reruns`: workers beyond the first of a
 * task's phase, without what its page asks for: `rounds` that were handed in red, `variants`, and
 * `visits` of planners; `reverted`: landed commits that a later commit of any branch takes back. */
function numbersOf(state: RunState, events: readonly Event[], reverted: number) {
  const attempts = [...state.attempts.values()];
  const tasks = ownWork(state).filter((task) => !task.done);
  const visits = attempts.filter(({ phase, over }) => phase.tasks !== undefined && !over);
  const rounds = attempts.filter(isRedRound);
  const waits = waitsOf(events);
  return {
    runs: 1,
    tasks: tasks.length,
    landed: tasks.filter((task) => task.state === "landed").length,
    asked: waits.length,
    waited: waits.reduce((sum, ms) => sum + ms, 0) / 60_000,
    changed: events.filter(({ event }) => CHANGES.includes(event)).length,
    reruns: rerunsAmong(attempts),
    rounds: rounds.length,
    variants: attempts.filter(({ variant }) => variant > 0).length,
    visits: visits.length,
    conflicts: events.filter((event) => event.event === "not-landed" && event.reason === "conflict")
      .length,
    sendBacks: attempts.reduce((sum, { sentBack }) => sum + sentBack.length, 0),
    reverted,
  };
}

/** How many workers did once more what one before them did. Rounds that were handed in and planners
 * that did not fail are what their pages ask for. */
function rerunsAmong(attempts: readonly AttemptState[]): number {
  const isAgain = ({ phase, over }: AttemptState): boolean => phase.tasks !== undefined && !over;
  const others = attempts.filter((each) => !isRedRound(each) && !isAgain(each));
  const workers = others.filter(({ phase }) => phase.tasks === undefined);
  const firsts = workers.map(({ task, phase, variant }) => `${task.id} ${phase.name} ${variant}`);
  return others.length - new Set(firsts).size;
}

/** How long each time took in which something waited for a person, in milliseconds: a task, or the
 * run as a whole, on which many tasks wait for one word. What still waits has waited up to the run's
 * last event. */
function waitsOf(events: readonly Event[]): number[] {
  const since = new Map<string, number>();
  const waits: number[] = [];
  let last = 0;
  replay(events, (state, event) => {
    const { at } = event;
    last = state.lastAt;
    // What a run costs is not looked up for each of its events: more money is a person's word.
    if (event.event === "owner" && event.budget !== undefined) waits.push(0);
    const now = new Set(askedIn(state, at));
    for (const what of now) if (!since.has(what)) since.set(what, at);
    for (const [what, from] of since) {
      if (now.has(what)) continue;
      waits.push(at - from);
      since.delete(what);
    }
  });
  for (const from of since.values()) waits.push(Math.max(0, last - from));
  return waits;
}

/** What waits for a person in a run: tasks by their ids, and by its reason what holds up the run. */
function askedIn(state: RunState, now: number): string[] {
  const asked: string[] = [];
  for (const { id, reason } of asking(state))
    asked.push(reason === "base-red" || reason === "dispatches" ? `run ${reason}` : `task ${id}`);
  const isPaused = alarmsOf(state, { dollars: null, now }).some(({ pause }) => pause);
  if (isOpen(state) && isPaused) asked.push("run alarm");
  return asked;
}

const mondayOf = (at: number): string => {
  const day = new Date(at);
  day.setUTCDate(day.getUTCDate() - ((day.getUTCDay() + 6) % 7));
  return day.toISOString().slice(0, 10);
};

/** The commits that a run put on its line, and those that merged it, as far as git still has them.
 */
async function commitsOf(
  { main }: Place,
  { base, tip }: RunState,
  events: readonly Event[],
): Promise<string[]> {
  const list = await gitText({ cwd: main, accept: [128] }, "rev-list", `${base}..${tip}`).catch(
    () => "",
  );
  const merges = events.filter((event) => event.event === "merged").map(({ to }) => to);
  return [...new Set([...list.split("\n"), ...merges])];
}

/** The commits that a commit of any branch says that it reverts: git writes so, and hosts do. */
async function revertedIn({ main }: Place): Promise<Set<string>> {
  const bodies = await gitText(
    main,
    "log",
    "--all",
    "--format=%b",
    "--grep=^This reverts commit ",
  ).catch(() => "");
  const named = bodies.matchAll(/^This reverts commit ([0-9a-f]{40})/gm);
  return new Set(Array.from(named, ([, commit = ""]) => commit));
}
