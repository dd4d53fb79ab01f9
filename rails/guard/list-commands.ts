import { type Consent, newCommands } from "../blueprint/agreed.ts";
import { broughtBy, commandsOf, planAt } from "../foreman/planned.ts";
import type { Place } from "../git/repository.ts";
import type { RunState } from "../journal/state.ts";
import type { PlannedTask } from "../plan/task.ts";
import { outside } from "../program/world.ts";
import { isListed, wordsOf } from "./command.ts";

/** What a list brings of commands that are not the project's own: all that it names, for a person
 * to see. Null where each only calls what is found here or what the blueprint allows, or where a
 * person agreed to the same before.
 * @param source its file as it is written there, or `-`
 * @param cwd where that is read from
 * @param input what stands in for standard input
 * @throws where the list cannot be read */
export async function newOfList(
  source: string,
  cwd: string,
  input: string,
): Promise<Consent | null> {
  const world = { ...outside(), cwd, input: async () => input };
  const { plan, found, blueprint, place, success } = await planAt(source, world, {});
  const project = [...Object.values(found), ...blueprint.gates].flatMap((each) => each?.run ?? []);
  const said = [
    ...Object.values(plan.toolsSaid).filter((run) => run !== undefined),
    ...plan.tasks.flatMap(commandsOf).map(({ run }) => run),
    ...success.commands,
  ];
  const isKnown = callsOnly(project, blueprint.allow);
  return said.every(isKnown) ? null : newCommands(broughtBy(plan, success), place.common);
}

/** The same of tasks that change the plan of a run. */
export async function newOfTasks(
  tasks: readonly PlannedTask[],
  { gates, blueprint, setup }: RunState,
  { common }: Place,
): Promise<Consent | null> {
  const project = [...gates, ...(setup ? [setup] : [])].map(({ run }) => run);
  const isKnown = callsOnly(project, blueprint.allow);
  const all = tasks.flatMap(commandsOf).map(({ run }) => run);
  const brought = broughtBy({ toolsSaid: {}, tasks }, { commands: [] });
  return all.every(isKnown) ? null : newCommands(brought, common);
}

/** Does a command only call the project's own, or what workers may run unasked? */
const callsOnly =
  (project: readonly string[], allow: readonly string[]) =>
  (run: string): boolean =>
    project.includes(run.trim()) || isListed(wordsOf(run) ?? [], [...project, ...allow]);
