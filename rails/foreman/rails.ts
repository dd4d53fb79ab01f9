import { isDeepStrictEqual } from "node:util";
import { blueprintAt, overlaysAt } from "../blueprint/layers.ts";
import type { Place } from "../git/repository.ts";
import { isListed } from "../journal/end-task.ts";
import type { NewEvent } from "../journal/events.ts";
import type { Journal } from "../journal/journal.ts";
import type { Command } from "../journal/shapes.ts";
import type { RunState } from "../journal/state.ts";
import { Fault } from "../program/fault.ts";
import { pageFindings, railsAt, reviewsOf, toolsFor } from "./planned.ts";
import { gatesFor, setupFor } from "./start.ts";

type NewRails = Extract<NewEvent, { event: "rails-changed" }>;

/** What a run would be with the rails of its project as they are now.
 * @returns null where they are the same; `changed`: in words what is other
 * @throws Fault `page`, `no-gates`, `aborted` where it cannot be */
export async function railsNow(
  state: RunState,
  from: Place,
): Promise<{ event: NewRails; changed: string[] } | null> {
  // Wherever this is called: what is found for the run is found where its list was written.
  const place = { ...from, prefix: state.prefix };
  if (state.aborted) throw new Fault("aborted", `run ${state.run} was aborted`, "start a new one");
  const [wrong] = (await pageFindings(place)).filter(({ level }) => level === "error");
  if (wrong) throw new Fault("page", wrong.message, wrong.hint);
  const overlays = await overlaysAt(place);
  const blueprint = await blueprintAt(place, overlays);
  const rails = await railsAt(place, blueprint, overlays);
  const tasks = [...state.tasks.values()].filter(isListed);
  const planned = tasks.map((task) => task.planned);
  const { tools } = await toolsFor(
    { tasks: planned, toolsSaid: state.toolsSaid },
    place,
    "the list",
  );
  const own = gatesFor(blueprint, tools);
  if (own.length === 0)
    throw new Fault("no-gates", "nothing could be proven", "name commands under gates:");
  // What the list's `success:` names is no part of the rails.
  const gates = [...own, ...state.gates.filter(({ isCheck }) => isCheck)];
  const named = new Set(Object.keys(state.workflows));
  const pages = [...rails.all.values()].filter(({ name }) => named.has(name));
  const workflows = {
    ...state.workflows,
    ...Object.fromEntries(pages.map(({ name, phases }) => [name, phases])),
  };
  const event: NewRails = {
    event: "rails-changed",
    blueprint,
    gates,
    setup: setupFor(tools),
    workflows,
    reviews: reviewsOf(rails),
  };
  const changed = [...changedGates(state, event), ...changedKeys(state, event)];
  return changed.length > 0 ? { event, changed } : null;
}

/** Takes them.
 * @returns in words what is other now; none where nothing is */
export async function takeRails(journal: Journal, place: Place): Promise<{ changed: string[] }> {
  return journal.decide(async (state, write) => {
    const now = await railsNow(state, place);
    if (now) write(now.event);
    return { changed: now?.changed ?? [] };
  });
}

/** Commands that are others, each on a line. */
function changedGates(before: RunState, now: NewRails): string[] {
  const all = ({ gates, setup }: Pick<RunState, "gates" | "setup">): Command[] =>
    setup ? [setup, ...gates] : [...gates];
  const lines: string[] = [];
  const old = new Map(all(before).map((command) => [command.name, command]));
  for (const command of all(now)) {
    const was = old.get(command.name);
    old.delete(command.name);
    if (isDeepStrictEqual(was, command)) continue;
    const where = command.cwd ? ` in ${command.cwd}` : "";
    lines.push(`${command.name}: ${command.run}${where}, at most ${command.timeout} seconds`);
  }
  for (const name of old.keys()) lines.push(`${name}: no more`);
  return lines;
}

/** Other parts of the rails that are others, by their names. */
function changedKeys(before: RunState, now: NewRails): string[] {
  const keys = Object.keys(now.blueprint) as (keyof NewRails["blueprint"])[];
  const others = keys.filter(
    (key) =>
      !["gates", "sources"].includes(key) &&
      !isDeepStrictEqual(now.blueprint[key], before.blueprint[key]),
  );
  const pages = (["workflows", "reviews"] as const).filter(
    (part) => !isDeepStrictEqual(now[part], before[part]),
  );
  return [...new Set<string>([...others, ...pages])].map((name) => `${name}: as it stands now`);
}
