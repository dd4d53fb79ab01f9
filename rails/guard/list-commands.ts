import { type Consent, newCommands } from "../blueprint/agreed.ts";
import { broughtBy, planAt } from "../foreman/planned.ts";
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
  const { plan, found, blueprint, place } = await planAt(source, world, {});
  const known = [...Object.values(found), ...blueprint.gates].flatMap((each) => each?.run ?? []);
  const said = Object.values(plan.toolsSaid).filter((run) => run !== undefined);
  const isKnown = (run: string): boolean =>
    known.includes(run.trim()) || isListed(wordsOf(run) ?? [], [...known, ...blueprint.allow]);
  return said.every(isKnown) ? null : newCommands(broughtBy(plan), place.common);
}
