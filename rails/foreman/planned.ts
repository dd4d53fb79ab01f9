import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Option } from "commander";
import type { Blueprint } from "../blueprint/blueprint.ts";
import { blueprintAt, firstOf, layers, overlaysAt } from "../blueprint/layers.ts";
import type { Overlay } from "../blueprint/overlay.ts";
import { findTools, folderOf } from "../blueprint/toolchain.ts";
import { TOOL_NAMES, type Tools } from "../blueprint/tools.ts";
import { readWorkflows, type Workflow } from "../blueprint/workflow.ts";
import { findPlace, type Place } from "../git/repository.ts";
import { reviewIn, stepsOf } from "../journal/phases.ts";
import type { Estimate } from "../journal/shapes.ts";
import { estimate } from "../money/estimate.ts";
import { experienceOf } from "../money/experience.ts";
import { pricesAt } from "../money/prices.ts";
import { makePlan } from "../plan/plan.ts";
import { chooseWorkflow, isAtLeast, riskOf } from "../plan/risk.ts";
import { finding, type Plan } from "../plan/task.ts";
import { EXIT, Fault } from "../program/fault.ts";
import type { World } from "../program/world.ts";

/** `--workflow`: for tasks that name none, where not each is to get the one that fits. */
export const WORKFLOW = new Option(
  "--workflow <name>",
  "for tasks that name none: quick, default, tdd, secure or your own",
);

/** @throws Fault `no-price` where money is to decide and a model has no price */
export function refuseUnpriced(budget: number | undefined, estimate: Estimate | null): void {
  if (!budget || !estimate || estimate.dollars) return;
  const what = `prices.md has no ${estimate.unpriced.join(", ")}`;
  throw new Fault("no-price", what, "give it a row there", EXIT.usage);
}

type Planned = Awaited<ReturnType<typeof planAt>>;

/** Reads a list and everything that a plan says about it; `expect`: how many tasks it should have,
 * `workflow`: the one of tasks that name none, where not each is to get the one that fits;
 * `asWritten`: without what was chosen for it. */
export async function planAt(
  source: string,
  world: World,
  { expect, workflow = "" }: { expect?: number; workflow?: string },
) {
  const list =
    source === "-" ? await world.input() : await readFile(resolve(world.cwd, source), "utf8");
  const where = source === "-" ? "the list" : source;
  const place = await findPlace(world.cwd);
  const overlays = await overlaysAt(place);
  const blueprint = await blueprintAt(place, overlays);
  // A path may be written from the repository's root as well.
  const exists = (path: string) =>
    [place.prefix, ""].some((folder) => existsSync(join(place.top, folder, path)));
  const asWritten = makePlan(list, where, {
    vague: blueprint.vague,
    exists,
    expected: expect ?? null,
  });
  const { tools, findings } = await toolsFor(asWritten, place, where);
  const all = await workflowsAt(place, blueprint);
  const order = blueprint.workflows.flatMap((name) => all.get(name) ?? []);
  const tasks = asWritten.tasks.map((own) => {
    const { id, line, title, description, files } = own;
    const paths = files.map(({ path }) => path);
    const said = `${title}\n${description}`;
    const { risk, why } = riskOf(blueprint.risks, said, paths, place.prefix);
    const isRaised = !isAtLeast(own.risk, risk);
    const task = isRaised ? { ...own, risk } : own;
    const name = task.workflow || workflow;
    const { workflow: chosen, why: workflowWhy } = name
      ? { workflow: all.get(name), why: "said" }
      : chooseWorkflow(task, order, place.prefix);
    const lack = chosen ? lackOf(chosen, blueprint, overlays) : `there is no workflow ${name}`;
    if (lack)
      findings.push(
        finding("workflow", line, `task ${id}: ${lack}`, `there are ${[...all.keys()].join(", ")}`),
      );
    for (const one of task.agent) {
      const wrong = faultOf(one, overlays);
      const known = () => [...overlays.values()].map((each) => each.name).join(", ");
      if (wrong)
        findings.push(
          finding("unknown-agent", line, `task ${id}: ${wrong}`, `there are ${known()}`),
        );
    }
    const reason = isRaised ? `${workflowWhy}: ${why}` : workflowWhy;
    return { ...task, workflow: chosen?.name ?? name, workflowWhy: reason };
  });
  const used = [...all.values()].filter(({ name }) => tasks.some((task) => task.workflow === name));
  const workflows = Object.fromEntries(used.map(({ name, phases }) => [name, phases]));
  // A workflow may be said that reviews nothing, and a risk may show only in the work: then as the
  // plan would have it.
  const reviews = Object.fromEntries(
    (["medium", "high"] as const).map((risk) => {
      const untold = { title: "", description: "", files: [], risk };
      const { workflow } = chooseWorkflow(untold, order, place.prefix);
      return [risk, reviewIn(workflow.phases, risk)];
    }),
  );
  const plan: Plan = { ...asWritten, tasks, findings: [...asWritten.findings, ...findings] };
  return { place, tools, blueprint, workflows, reviews, list, asWritten, plan };
}

/** The project's commands: what the list says, else what is found from the package on that holds
 * the tasks' files. */
async function toolsFor({ tasks, toolsSaid }: Plan, place: Place, where: string) {
  const { text } = await firstOf(
    await layers(place, "toolchains.md", "minion-blueprint/toolchains.md"),
  );
  const folder = folderOf(tasks, place.prefix);
  const tools: { -readonly [N in keyof Tools]: Tools[N] } = await findTools(
    place.top,
    folder,
    text,
  );
  for (const name of TOOL_NAMES) {
    const run = toolsSaid[name];
    if (run) tools[name] = { run, cwd: place.prefix, source: `${where}: tools.${name}` };
  }
  const deeper = TOOL_NAMES.filter((name) => (tools[name]?.cwd ?? "").length > place.prefix.length);
  const message = `${deeper.join(", ")} run in the package in which all named files lie: no other one is proven`;
  const note = finding("one-package", 0, message, "name wider ones under tools:", "note");
  return { tools, findings: deeper.length > 0 ? [note] : [] };
}

/** The workflows that there are, by name. @throws Fault `workflow` where the blueprint names one
 * that there is not */
async function workflowsAt(
  place: Place,
  { workflows, sources }: Blueprint,
): Promise<Map<string, Workflow>> {
  const known = await readWorkflows(await layers(place, "workflows", "minion-blueprint/workflows"));
  const missing = workflows.find((name) => !known.has(name));
  if (!missing) return known;
  const what = `${sources.workflows}: workflows: there is no workflow ${missing}`;
  throw new Fault("workflow", what, `there are ${[...known.keys()].join(", ")}`);
}

type Overlays = ReadonlyMap<string, Overlay>;

/** Why expertise cannot be used, in words. */
function faultOf(name: string, overlays: Overlays): string | null {
  const overlay = overlays.get(name.toLowerCase());
  return overlay ? overlay.fault : `there is no expertise called ${name}`;
}

/** What a workflow asks for and there is not, in words. */
function lackOf(
  { name, phases }: Workflow,
  { gates }: Blueprint,
  overlays: Overlays,
): string | null {
  for (const phase of phases) {
    const gate = [...(phase.gates ?? []), ...phase.red].find(
      (one) => !gates.some((each) => each.name === one),
    );
    const lack = gate ? `there is no gate ${gate}` : phase.agent && faultOf(phase.agent, overlays);
    if (lack) return `workflow ${name}, phase ${phase.name}: ${lack}`;
  }
  return null;
}

/** What a plan is likely to take here, by the earlier runs of this repository and the prices in
 * force. */
export async function estimateAt({
  place,
  plan,
  blueprint,
  ...ways
}: Planned): Promise<Estimate | null> {
  const steps = new Map(plan.tasks.map((task) => [task.id, stepsOf(ways, task)]));
  const prices = await pricesAt(place);
  const experience = await experienceOf(place.common);
  return estimate(plan, blueprint.bounds.workers, prices, experience, (id) => steps.get(id) ?? 1);
}
