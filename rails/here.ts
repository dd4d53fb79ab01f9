import { realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import type { Blueprint } from "./blueprint/blueprint.ts";
import type { Overlay } from "./blueprint/overlay.ts";
import { EXIT, Fault } from "./fault.ts";
import { readIfThere } from "./files.ts";
import type { Place } from "./git/repository.ts";
import type { Prices } from "./plan/estimate.ts";

// YAML, its checks and the reader of lists are loaded by the few commands that want them: hooks and
// gates are called by the hundred.

/** Where one thing of the rails may lie, first the one that wins: the project's, the person's, and
 * the plugin's in its skills, which are seen from its bin/minion. */
export async function layers(
  { top }: Place,
  name: string,
  shipped: string,
): Promise<[string, string, string]> {
  const person = resolve(
    process.env.CLAUDE_CONFIG_DIR?.trim() || join(homedir(), ".claude"),
    "minion",
  );
  const plugin = dirname(dirname(await realpath(process.argv[1] as string)));
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
  const { readBlueprint } = await import("./blueprint/blueprint.ts");
  const [project, person, shipped] = await layers(
    place,
    "blueprint.md",
    "minion-blueprint/SKILL.md",
  );
  const patterns = join(dirname(shipped), "patterns.md");
  const blueprint = await readBlueprint([patterns, shipped, person, project]);
  const { agent } = blueprint.retry;
  if (agent === "" || overlays.get(agent.toLowerCase())?.fault === null) return blueprint;
  const where = blueprint.sources["retry.agent"];
  throw new Fault(
    "blueprint",
    `${where}: retry.agent: there is no expertise ${agent}`,
    "minion overlays lists them",
  );
}

/** Expertise, as which a project's own agents serve too; or `guides` for whoever leads a run, by
 * topic. */
export async function overlaysAt(place: Place, kind = "overlays"): Promise<Map<string, Overlay>> {
  const { readOverlays } = await import("./blueprint/overlay.ts");
  if (kind === "guides") return readOverlays(await layers(place, kind, "minion-blueprint/guides"));
  return readOverlays([
    ...(await layers(place, kind, "minion-overlays")),
    join(place.top, ".claude", "agents"),
  ]);
}

/** @throws Fault `prices` with the line that is wrong */
export async function pricesAt(place: Place): Promise<Prices> {
  const { readPrices } = await import("./blueprint/prices.ts");
  const { file, text } = await firstOf(
    await layers(place, "prices.md", "minion-blueprint/prices.md"),
  );
  return readPrices(text, file);
}

/** The first of these files that is there; the last one's name and no text where none is. */
export async function firstOf(files: readonly string[]): Promise<{ file: string; text: string }> {
  const texts = await Promise.all(files.map(readIfThere));
  const index = texts.findIndex((found) => found !== null);
  return { file: files.at(index) ?? "", text: texts.at(index) ?? "" };
}

/** Standard input to its end. @throws Fault `no-input` where it is a terminal */
export async function readInput(): Promise<string> {
  if (process.stdin.isTTY)
    throw new Fault("no-input", "nothing comes on standard input", "pipe a text in", EXIT.usage);
  return text(process.stdin);
}
