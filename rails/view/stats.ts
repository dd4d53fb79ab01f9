import { createHash } from "node:crypto";
import type { Blueprint } from "../blueprint/blueprint.ts";
import { gitText } from "../git/git.ts";
import type { Place } from "../git/repository.ts";
import type { Event } from "../journal/events.ts";
import { Journal, listRuns } from "../journal/journal.ts";
import type { RunState } from "../journal/state.ts";
import { clock, table } from "./text.ts";

type Numbers = ReturnType<typeof numbersOf>;
/** By the Monday of the week in which runs started, and the version of the rails that they ran on.
 */
type Week = Readonly<{ week: string; blueprint: string } & Numbers>;

const HEADS = "week of,rails,runs,landed,asked,waited,re-runs,conflicts,sent back,reverted".split(
  ",",
);

/** A repository's numbers as a table, a line for each week and version of the rails. */
export function statsTable(weeks: readonly Week[], columns: number): string {
  if (weeks.length === 0) return "There is no run here yet.";
  const rows = weeks.map(({ week, blueprint, runs, tasks, landed, asked, waited, ...rest }) => [
    week,
    blueprint,
    `${runs}`,
    `${landed} of ${tasks}`,
    `${asked}`,
    clock(waited * 60_000),
    ...[rest.reruns, rest.conflicts, rest.sendBacks, rest.reverted].map(String),
  ]);
  return table([HEADS, ...rows], columns).join("\n");
}

/** The numbers of all runs of a repository, newest week first. */
export async function statsOf(place: Place): Promise<Week[]> {
  const weeks = new Map<string, Week>();
  const taken = await revertedIn(place);
  for (const run of await listRuns(place.common)) {
    const journal = new Journal(place.common, run);
    const state = await journal.state().catch(() => null); // What cannot be read tells nothing
    if (!state) continue;
    const { events } = await journal.read();
    const own = await commitsOf(place, state, events);
    const numbers = numbersOf(state, events, own.filter((commit) => taken.has(commit)).length);
    const week = mondayOf(state.startedAt);
    const blueprint = versionOf(state.blueprint);
    const before = weeks.get(week + blueprint);
    const names = Object.keys(numbers) as (keyof Numbers)[];
    const sums = names.map((name) => [name, (before?.[name] ?? 0) + numbers[name]]);
    weeks.set(week + blueprint, { week, blueprint, ...(Object.fromEntries(sums) as Numbers) });
  }
  return [...weeks.values()].sort((a, b) => b.week.localeCompare(a.week));
}

/** Names what a blueprint says, wherever it says it. */
const versionOf = ({ sources, ...said }: Blueprint): string =>
  createHash("sha1").update(JSON.stringify(said)).digest("hex").slice(0, 7);

/** What is counted of a run. `asked`: times that a person had to decide about a task, decided or
 * not, and `waited` how many minutes that took in all; `reruns`: workers beyond the first of a
 * task's phase; `reverted`: landed commits that a later commit of any branch takes back. */
function numbersOf(state: RunState, events: readonly Event[], reverted: number) {
  const attempts = [...state.attempts.values()];
  const tasks = [...state.tasks.values()].filter((task) => !task.done);
  const waits = [...decisions(state, events), ...open(state)];
  const phases = new Set(attempts.map(({ task, phase }) => `${task.id} ${phase.name}`));
  return {
    runs: 1,
    tasks: tasks.length,
    landed: tasks.filter((task) => task.state === "landed").length,
    asked: waits.length,
    waited: waits.reduce((sum, ms) => sum + ms, 0) / 60_000,
    reruns: attempts.length - phases.size,
    conflicts: events.filter((event) => event.event === "not-landed" && event.reason === "conflict")
      .length,
    sendBacks: attempts.reduce((sum, { sentBack }) => sum + sentBack.length, 0),
    reverted,
  };
}

/** How long each decision of a person's had been waited for, in milliseconds: since the task was
 * last heard of before. */
function decisions(state: RunState, events: readonly Event[]): number[] {
  const heard = new Map<string, number>();
  return events.flatMap((event) => {
    const attempt = "attempt" in event ? state.attempts.get(event.attempt ?? "") : undefined;
    const task = event.event === "retried" ? event.task : attempt?.task.id;
    const before = heard.get(task ?? "");
    if (task) heard.set(task, event.at);
    const isDecision = event.event === "retried" || (event.event === "submitted" && event.byHand);
    return isDecision ? [event.at - (before ?? event.at)] : [];
  });
}

/** How long what still waits for a person has waited, up to the run's last event. */
const open = ({ tasks, lastAt }: RunState): number[] =>
  [...tasks.values()]
    .filter(({ state }) => state === "needs-human")
    .map(({ attempts }) => lastAt - (attempts.at(-1)?.lastSign ?? lastAt));

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
  const merges = events.flatMap((event) => (event.event === "merged" ? event.to : []));
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
  return new Set(
    [...bodies.matchAll(/^This reverts commit ([0-9a-f]{40})/gm)].map(([, commit = ""]) => commit),
  );
}
