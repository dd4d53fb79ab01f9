import { realpath } from "node:fs/promises";
import { userInfo } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { Place } from "../git/repository.ts";
import { Fault } from "../program/fault.ts";
import { readIfThere } from "../program/files.ts";
import { outside } from "../program/world.ts";
import { type Blueprint, readBlueprint, replacedIn } from "./blueprint.ts";
import { type Overlay, readOverlays } from "./overlay.ts";

/** Where one thing of the rails may lie, first the one that wins: the project's, the person's, and
 * the plugin's in its skills, which are seen from its bin/minion. */
export async function layers(
  { top }: Place,
  name: string,
  shipped: string,
): Promise<[string, string, string]> {
  const { env, program } = outside();
  const home =
    env.CLAUDE_CONFIG_DIR?.trim() || join(env.HOME?.trim() || userInfo().homedir, ".claude");
  const person = resolve(home, "minion");
  const plugin = dirname(dirname(await realpath(program)));
  return [
    join(top, ".claude", "minion", name),
    join(person, name),
    join(plugin, "skills", shipped),
  ];
}

/** @param overlays the expertise that there is, one of which is who tries again */
export async function blueprintAt(
  place: Place,
  overlays: ReadonlyMap<string, Overlay>,
): Promise<Blueprint> {
  const blueprint = await readBlueprint(await blueprintsAt(place));
  const { agent } = blueprint.retry;
  if (agent === "" || overlays.get(agent.toLowerCase())?.fault === null) return blueprint;
  const where = blueprint.sources["retry.agent"];
  throw new Fault(
    "blueprint",
    `${where}: retry.agent: there is no expertise ${agent}`,
    "minion overlays lists them",
  );
}

/** The files of a blueprint, the one that wins last. */
async function blueprintsAt(place: Place): Promise<string[]> {
  const [project, person, shipped] = await layers(
    place,
    "blueprint.md",
    "minion-blueprint/SKILL.md",
  );
  return [join(dirname(shipped), "patterns.md"), shipped, person, project];
}

/** Lists of the blueprint in which a later file leaves out what was there, a line each. */
export const replacedAt = async (place: Place): Promise<string[]> =>
  replacedIn(await blueprintsAt(place));

/** Expertise, as which a project's own agents serve too; or `guides` for whoever leads a run, by
 * topic. */
export async function overlaysAt(place: Place, kind = "overlays"): Promise<Map<string, Overlay>> {
  if (kind === "guides") return readOverlays(await layers(place, kind, "minion-blueprint/guides"));
  const agents = join(place.top, ".claude", "agents");
  return readOverlays(await layers(place, kind, "minion-overlays"), agents);
}

/** The first of these files that is there; the last one's name and no text where none is. */
export async function firstOf(files: readonly string[]): Promise<{ file: string; text: string }> {
  const texts = await Promise.all(files.map((file) => readIfThere(file)));
  const index = texts.findIndex((found) => found !== null);
  return { file: files.at(index) ?? "", text: texts.at(index) ?? "" };
}
