import { readFile, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import type { Blueprint } from "./blueprint/blueprint.ts";
import type { Overlay } from "./blueprint/overlay.ts";
import { EXIT, Fault } from "./fault.ts";
import { readIfThere } from "./files.ts";
import { findPlace, type Place } from "./git/repository.ts";
import type { Estimate } from "./plan/estimate.ts";
import { type Finding, type Plan, TOOL_NAMES, type Tools } from "./plan/task.ts";

// YAML, its checks and the reader of lists are loaded by the few commands that want them: hooks and gates are called by
// the hundred.

/** Where one thing of the rails may lie, first the one that wins: the project's, the person's, and the plugin's in its
 * skills, which are seen from its bin/minion. */
async function layers({ top }: Place, name: string, shipped: string): Promise<[string, string, string]> {
  const person = resolve(process.env.CLAUDE_CONFIG_DIR?.trim() || join(homedir(), ".claude"), "minion");
  const plugin = dirname(dirname(await realpath(process.argv[1] as string)));
  return [join(top, ".claude", "minion", name), join(person, name), join(plugin, "skills", shipped)];
}

export async function blueprintAt(place: Place): Promise<Blueprint> {
  const { readBlueprint } = await import("./blueprint/blueprint.ts");
  const [project, person, shipped] = await layers(place, "blueprint.md", "minion-blueprint/SKILL.md");
  const patterns = join(dirname(shipped), "patterns.md");
  const blueprint = await readBlueprint([patterns, shipped, person, project]);
  const { agent } = blueprint.retry;
  if (agent === "" || (await overlaysAt(place)).get(agent.toLowerCase())?.fault === null) return blueprint;
  const where = blueprint.sources["retry.agent"];
  throw new Fault("blueprint", `${where}: retry.agent: there is no expertise ${agent}`, "minion overlays lists them");
}

/** A project's own agents serve as expertise too. */
export async function overlaysAt(place: Place): Promise<Map<string, Overlay>> {
  const { readOverlays } = await import("./blueprint/overlay.ts");
  return readOverlays([...(await layers(place, "overlays", "minion-overlays")), join(place.top, ".claude", "agents")]);
}

/** The first of these files that is there; the last one's name and no text where none is. */
async function firstOf(files: readonly string[]): Promise<{ file: string; text: string }> {
  const texts = await Promise.all(files.map(readIfThere));
  const index = texts.findIndex((found) => found !== null);
  return { file: files.at(index) ?? "", text: texts.at(index) ?? "" };
}

/** Standard input to its end. @throws Fault `no-input` where it is a terminal */
export async function readInput(): Promise<string> {
  if (process.stdin.isTTY) throw new Fault("no-input", "nothing comes on standard input", "pipe a text in", EXIT.usage);
  return text(process.stdin);
}

/** Reads a list and everything that a plan says about it. */
export async function planAt(source: string): Promise<{ place: Place; plan: Plan; tools: Tools }> {
  const list = source === "-" ? await readInput() : await readFile(source, "utf8");
  const place = await findPlace(process.cwd());
  const { text: table } = await firstOf(await layers(place, "toolchains.md", "minion-blueprint/toolchains.md"));
  const { findTools } = await import("./blueprint/toolchain.ts");
  const { makePlan } = await import("./plan/plan.ts");
  const where = source === "-" ? "the list" : source;
  const plan = makePlan(list, where);
  const tools = { ...(await findTools(place.top, place.prefix, table)) };
  for (const name of TOOL_NAMES) {
    const run = plan.toolsSaid[name];
    if (run) tools[name] = { run, cwd: place.prefix, source: `${where}: tools.${name}` };
  }
  const known = await overlaysAt(place);
  const hint = `there are ${[...known.values()].map(({ name }) => name).join(", ")}`;
  const wanted = plan.tasks.flatMap(({ id, line, agent }) => agent.map((name) => ({ id, line, name })));
  const unusable = wanted.flatMap(({ id, line, name }): Finding[] => {
    const { fault } = known.get(name.toLowerCase()) ?? { fault: `task ${id}: there is no expertise called ${name}` };
    return fault === null ? [] : [{ level: "error", code: "unknown-agent", line, message: fault, hint }];
  });
  return { place, tools, plan: { ...plan, findings: [...plan.findings, ...unusable] } };
}

/** What a plan is likely to take here, by the earlier runs of this repository and the prices in force. */
export async function estimateAt(place: Place, plan: Plan): Promise<Estimate | null> {
  const { readPrices } = await import("./blueprint/prices.ts");
  const { estimate } = await import("./plan/estimate.ts");
  const { experienceOf } = await import("./record/experience.ts");
  const { file, text } = await firstOf(await layers(place, "prices.md", "minion-blueprint/prices.md"));
  const { bounds } = await blueprintAt(place);
  return estimate(plan, bounds.workers, readPrices(text, file), await experienceOf(place.common));
}
