import { join } from "node:path";
import { readBlueprint } from "../../../rails/blueprint/blueprint.ts";
import { type Phase, readWorkflow } from "../../../rails/blueprint/workflow.ts";
import type { Event, EventData, NewEvent } from "../../../rails/journal/events.ts";
import { fold } from "../../../rails/journal/fold.ts";
import type { RunState } from "../../../rails/journal/state.ts";
import { makePlan } from "../../../rails/plan/plan.ts";
import type { Seen } from "../../../rails/view/said.ts";

const FOLDER = join(import.meta.dirname, "../../../assets/skills/minion-blueprint");
export const PLUGIN = ["patterns.md", "SKILL.md"].map((name) => join(FOLDER, name));
export const SHIPPED = await readBlueprint(PLUGIN);

/** Of tasks that name no workflow: one phase, proven by all gates. */
export const ONE_PHASE = { "": phasesOf("- name: implement") };

/** Phases as a workflow's frontmatter has them. */
export function phasesOf(yaml: string): readonly Phase[] {
  const source = `---\nwhen: w\nphases:\n${yaml.replace(/^/gm, "  ")}\n---\n`;
  return readWorkflow("w", source, "w.md").phases;
}

/** How a run of a list starts, under the shipped blueprint. */
export function startedWith(
  list: string,
  more: Partial<EventData["started"]> = {},
): Event<"started"> {
  const { tasks } = makePlan(list, "list");
  const run = {
    version: 1,
    run: "r1",
    base: "b",
    line: "minion/r1/line",
    prefix: "",
    session: "s",
    owner: null,
  } as const;
  const rails = { blueprint: SHIPPED, gates: [], setup: null, tasks, conflicts: [], priority: {} };
  const intent = {
    workflows: ONE_PHASE,
    reviews: {},
    goal: "",
    success: "",
    toolsSaid: {},
    successWords: "",
    estimate: null,
    budget: null,
    fresh: false,
  };
  return { event: "started", at: 0, ...run, ...rails, ...intent, ...more };
}

type Started = Partial<EventData["started"]>;
/** A run of a list after some events, each a second after the one before. */
export function runAfter(
  list: string,
  ...[more, ...rest]: [(Started | NewEvent)?, ...NewEvent[]]
): RunState {
  const first = startedWith(list, more && !("event" in more) ? more : {});
  const events = more && "event" in more ? [more, ...rest] : rest;
  return fold(
    first,
    [first, ...events.map((event, index) => ({ at: (index + 1) * 1000, ...event }) as Event)],
    [],
  );
}

/** What is known of a run beside its journal: nothing, but for what is given. */
export const seenWith = (more: Partial<Seen> = {}): Seen => ({
  folder: "/runs/r1",
  cost: null,
  now: 0,
  faults: [],
  sizes: new Map(),
  worktrees: new Set(),
  remote: { name: "origin", isGitHub: true },
  ...more,
});
