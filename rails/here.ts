import { existsSync } from "node:fs";
import { readFile, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import type { Blueprint } from "./blueprint/blueprint.ts";
import type { Overlay } from "./blueprint/overlay.ts";
import type { Workflow } from "./blueprint/workflow.ts";
import { EXIT, Fault } from "./fault.ts";
import { readIfThere } from "./files.ts";
import { findPlace, type Place } from "./git/repository.ts";
import { type Finding, TOOL_NAMES } from "./plan/task.ts";

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

/** Expertise, as which a project's own agents serve too; or `guides` for whoever leads a run, by topic. */
export async function overlaysAt(place: Place, kind = "overlays"): Promise<Map<string, Overlay>> {
  const { readOverlays } = await import("./blueprint/overlay.ts");
  if (kind === "guides") return readOverlays(await layers(place, kind, "minion-blueprint/guides"));
  return readOverlays([...(await layers(place, kind, "minion-overlays")), join(place.top, ".claude", "agents")]);
}

/** Standard input to its end. @throws Fault `no-input` where it is a terminal */
export async function readInput(): Promise<string> {
  if (process.stdin.isTTY) throw new Fault("no-input", "nothing comes on standard input", "pipe a text in", EXIT.usage);
  return text(process.stdin);
}

/** The workflows that there are, by name. @throws Fault `workflow` where the blueprint names one that there is not */
async function workflowsAt(place: Place, { workflows, sources }: Blueprint): Promise<Map<string, Workflow>> {
  const { readWorkflows } = await import("./blueprint/workflow.ts");
  const known = await readWorkflows(await layers(place, "workflows", "minion-blueprint/workflows"));
  const missing = workflows.find((name) => !known.has(name));
  if (!missing) return known;
  const what = `${sources.workflows}: workflows: there is no workflow ${missing}`;
  throw new Fault("workflow", what, `there are ${[...known.keys()].join(", ")}`);
}

/** What a workflow asks for and there is not, in words. */
function lackOf(
  { name, phases }: Workflow,
  { gates }: Blueprint,
  overlays: ReadonlyMap<string, Overlay>,
): string | null {
  for (const phase of phases) {
    const gate = [...(phase.gates ?? []), ...phase.red].find((one) => !gates.some((each) => each.name === one));
    if (gate) return `workflow ${name}, phase ${phase.name}: there is no gate ${gate}`;
    if (phase.agent && overlays.get(phase.agent.toLowerCase())?.fault !== null)
      return `workflow ${name}, phase ${phase.name}: there is no expertise ${phase.agent}`;
  }
  return null;
}

/** Reads a list and everything that a plan says about it; `expect`: how many tasks it should have, `workflow`: the one of
 * tasks that name none, where not each is to get the one that fits; `asWritten`: without what was chosen for it. */
export async function planAt(source: string, { expect, workflow: said = "" }: { expect?: number; workflow?: string }) {
  const list = source === "-" ? await readInput() : await readFile(source, "utf8");
  const place = await findPlace(process.cwd());
  const tables = await layers(place, "toolchains.md", "minion-blueprint/toolchains.md");
  const table = (await Promise.all(tables.map(readIfThere))).find((found) => found !== null) ?? "";
  const { findTools, folderOf } = await import("./blueprint/toolchain.ts");
  const { makePlan } = await import("./plan/plan.ts");
  const where = source === "-" ? "the list" : source;
  const blueprint = await blueprintAt(place);
  // A path may be written from the repository's root as well.
  const exists = (path: string) => [place.prefix, ""].some((folder) => existsSync(join(place.top, folder, path)));
  const plan = makePlan(list, where, { vague: blueprint.vague, exists, expected: expect ?? null });
  const tools = { ...(await findTools(place.top, folderOf(plan.tasks, place.prefix), table)) };
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
  const deeper = TOOL_NAMES.filter((name) => (tools[name]?.cwd ?? "").length > place.prefix.length);
  if (deeper.length > 0) {
    const message = `${deeper.join(", ")} run in the package in which all named files lie: no other one is proven`;
    unusable.push({ level: "note", code: "one-package", line: 0, message, hint: "name wider ones under tools:" });
  }
  const all = await workflowsAt(place, blueprint);
  const { chooseWorkflow } = await import("./plan/choose.ts");
  const order = blueprint.workflows.flatMap((name) => all.get(name) ?? []);
  const tasks = plan.tasks.map((task) => {
    const name = task.workflow || said;
    const [workflow, why] = name ? [all.get(name), "said"] : chooseWorkflow(task, order, place.prefix);
    const lack = workflow ? lackOf(workflow, blueprint, known) : `there is no workflow ${name}`;
    if (lack) {
      const hint = `there are ${[...all.keys()].join(", ")}`;
      unusable.push({ level: "error", code: "workflow", line: task.line, message: `task ${task.id}: ${lack}`, hint });
    }
    return { ...task, workflow: workflow?.name ?? name, workflowWhy: why };
  });
  const used = [...all.values()].filter(({ name }) => tasks.some(({ workflow }) => workflow === name));
  const workflows = Object.fromEntries(used.map(({ name, phases }) => [name, phases]));
  return {
    place,
    tools,
    blueprint,
    workflows,
    asWritten: plan,
    plan: { ...plan, tasks, findings: [...plan.findings, ...unusable] },
  };
}
