import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { Option } from "commander";
import type { Blueprint } from "../blueprint/blueprint.ts";
import { blueprintAt, firstOf, layers, overlaysAt, replacedAt } from "../blueprint/layers.ts";
import type { Overlay } from "../blueprint/overlay.ts";
import { findTools, folderOf } from "../blueprint/toolchain.ts";
import { TOOL_NAMES, type Tools } from "../blueprint/tools.ts";
import { readWorkflows, type Workflow } from "../blueprint/workflow.ts";
import { findPlace, type Place } from "../git/repository.ts";
import { checksOfAll } from "../journal/checks.ts";
import type { EventData } from "../journal/events.ts";
import { type Effort, effortIn, effortOf, reviewIn } from "../journal/phases.ts";
import { conflictsOf } from "../journal/replan.ts";
import type { Estimate } from "../journal/shapes.ts";
import { estimate } from "../money/estimate.ts";
import { experienceOf } from "../money/experience.ts";
import { pricesAt } from "../money/price-table.ts";
import { changeTo, isOurs } from "../plan/change.ts";
import { grouped } from "../plan/collections.ts";
import { commandIn } from "../plan/each.ts";
import { makePlan } from "../plan/plan.ts";
import { chooseWorkflow, isAtLeast, riskOf } from "../plan/risk.ts";
import { type Finding, finding, type Plan, type PlannedTask, parentOf } from "../plan/task.ts";
import { EXIT, Fault } from "../program/fault.ts";
import { readNamed } from "../program/files.ts";
import type { World } from "../program/world.ts";
import { successOf, withChecks } from "./checks.ts";
import { faultsIn } from "./pages.ts";
import { preflight } from "./preflight.ts";
import { endGates, gatesFor, setupFor } from "./start.ts";

/** `--workflow`: for tasks that name none, where not each is to get the one that fits. */
export const WORKFLOW = new Option(
  "--workflow <name>",
  "for tasks that name none: quick, default, tdd, secure, loop, variants, area or your own",
);

/** @throws Fault `no-price` where money is to decide and a model has no price */
export function refuseUnpriced(budget: number | undefined, estimate: Estimate | null): void {
  if (!budget || !estimate || estimate.dollars) return;
  const what = `prices.md has no ${estimate.unpriced.join(", ")}`;
  throw new Fault("no-price", what, "give it a row there", EXIT.usage);
}

type Planned = Awaited<ReturnType<typeof planAt>>;

/** Reads a list and everything that a plan says about it.
 * @param source the list's file, or `-` for standard input
 * @param said `expect`: how many tasks there should be; `workflow`: the one of tasks that name
 *   none, where not each is to get the one that fits
 * @param isTried also tries out what a worker gets, for which the project's hooks run
 * @param at where that is, if it is known already
 * @returns the plan and what it was made with; `list`: the text as it was given; `asWritten`: the
 *   plan without what was chosen for it; `found`: the project's commands, whatever the list says
 * @throws Fault where the list, the blueprint or what that names cannot be read */
export async function planAt(
  source: string,
  world: World,
  said: { expect?: number; workflow?: string },
  isTried = false,
  at?: Place,
) {
  const isPiped = source === "-";
  const list = isPiped ? await world.input() : await readNamed(resolve(world.cwd, source));
  const where = isPiped ? "the list" : source;
  const place = at ?? (await findPlace(world.cwd));
  const overlays = await overlaysAt(place);
  const blueprint = await blueprintAt(place, overlays);
  const asWritten = makePlan(list, where, {
    vague: blueprint.vague,
    exists: (path) => isIn(place, path),
    expected: said.expect ?? null,
  });
  const ofPages = await pageFindings(place);
  const { tools, found, findings: ofTools } = await toolsFor(asWritten, place, where);
  const rails = await railsAt(place, blueprint, overlays);
  const { all } = rails;
  const setup = setupFor(tools);
  const isOurForm = isOurs(list);
  const chosen = await Promise.all(
    asWritten.tasks.map(async (each) => {
      const checked = await withChecks(each, { place, tasks: asWritten.tasks, isOurs: isOurForm });
      const { task, findings } = withWorkflow(checked.task, said.workflow ?? "", rails);
      return { task, findings: [...checked.findings, ...findings] };
    }),
  );
  const tasks = chosen.map(({ task }) => task);
  const success = await successOf({ success: asWritten.success, tasks }, place);
  const alike = sameChecks(tasks);
  const ofList = [
    ...asWritten.findings,
    ...alike,
    ...ofPages,
    ...ofTools,
    ...(await replacedAt(place)).map((what) => finding("replaced", 0, what, "", "note")),
    ...chosen.flatMap(({ findings }) => findings),
  ];
  // Nothing is tried for a list that is refused anyway.
  const isSound = ofList.every(({ level }) => level !== "error");
  const gates = [...gatesFor(blueprint, tools), ...endGates(success.commands, place.prefix)];
  const checks = checksOfAll({ gates, prefix: place.prefix, baseRed: null }, tasks);
  const every = [...gates, ...checks.map(({ command }) => command)];
  const ofFlight = await preflight({ place, blueprint, gates: every, setup }, isTried && isSound);
  const used = [...all.values()].filter(({ name }) => tasks.some((task) => task.workflow === name));
  const workflows = Object.fromEntries(used.map(({ name, phases }) => [name, phases]));
  const conflicts = conflictsOf({ tasks, conflicts: asWritten.conflicts }, workflows);
  const plan: Plan = { ...asWritten, tasks, conflicts, findings: [...ofList, ...ofFlight] };
  const reviews = reviewsOf(rails);
  const ways = { workflows, reviews };
  return { place, tools, found, blueprint, ...ways, gates, success, list, asWritten, plan };
}

/** What workflows are chosen from, for tasks of a place. @throws Fault `workflow` */
export async function railsAt(
  place: Place,
  blueprint: Blueprint,
  overlays: Overlays,
): Promise<Rails> {
  const all = await workflowsAt(place, blueprint);
  const order = blueprint.workflows.flatMap((name) => all.get(name) ?? []);
  return { blueprint, overlays, all, order, prefix: place.prefix };
}

/** What is wrong with the project's and the person's own pages. */
export async function pageFindings(place: Place): Promise<Finding[]> {
  const [project, person] = (await layers(place, "", "")).map(faultsIn);
  const faults = [...((await project) ?? []), ...((await person) ?? [])];
  return faults.map(({ message, hint }) => finding("page", 0, message, hint));
}

/** The commands that a list itself brings, each with what it is for. */
export const broughtBy = (
  { toolsSaid, tasks }: Pick<Plan, "toolsSaid" | "tasks">,
  { commands }: Pick<Planned["success"], "commands">,
): string[] => [
  ...TOOL_NAMES.flatMap((name) => (toolsSaid[name] ? [`${name}: ${toolsSaid[name]}`] : [])),
  ...tasks.flatMap((task) =>
    commandsOf(task).map(({ what, run }) => `${what} of task ${task.id}: ${run}`),
  ),
  ...commands.map((run) => `success: ${run}`),
];

/** The commands that a task itself brings, each with what it is for. */
export const commandsOf = ({
  checks,
  each,
  measure,
}: Pick<PlannedTask, "checks" | "each" | "measure">): { what: string; run: string }[] => [
  ...checks.map((run) => ({ what: "verify", run })),
  ...(each ? [{ what: "each", run: each }] : []),
  ...(measure ? [{ what: "measure", run: commandIn(measure) }] : []),
];

/** Is a path of the list's there? It may be written from the repository's root as well. */
const isIn = ({ top, prefix }: Place, path: string): boolean =>
  [prefix, ""].some((folder) => existsSync(join(top, folder, path)));

/** What a task's workflow is chosen from. */
export type Rails = Readonly<{
  blueprint: Blueprint;
  overlays: Overlays;
  all: ReadonlyMap<string, Workflow>; // By name
  order: readonly Workflow[]; // As they are tried
  prefix: string; // The folder that the list is for
}>;

/** A task with the workflow that it names, else the one said for those that name none, else the one
 * that fits; its risk as high as the blueprint sees it. Findings: what it asks for and there is
 * not. */
export function withWorkflow(
  own: PlannedTask,
  forOthers: string,
  rails: Rails,
): Readonly<{ task: PlannedTask; findings: Finding[] }> {
  const { blueprint, overlays, all, order, prefix } = rails;
  const { id, line, title, description, files } = own;
  const paths = files.map(({ path }) => path);
  const raised = riskOf(blueprint.risks, `${title}\n${description}`, paths, prefix);
  const isRaised = !isAtLeast(own.risk, raised.risk);
  const task = isRaised ? { ...own, risk: raised.risk } : own;
  const name = task.workflow || forOthers;
  const { workflow, why } = name
    ? { workflow: all.get(name), why: "said" }
    : chooseWorkflow(task, order, prefix);
  const findings: Finding[] = [];
  const lack = workflow ? lackOf(workflow, blueprint, overlays) : `there is no workflow ${name}`;
  if (lack) {
    const hint = `there are ${[...all.keys()].join(", ")}`;
    findings.push(finding("workflow", line, `task ${id}: ${lack}`, hint));
  }
  if (workflow && !task.done) findings.push(...unbounded(task, workflow));
  for (const one of task.agent) {
    const fault = faultOf(one, overlays);
    if (!fault) continue;
    const known = [...overlays.values()].map((each) => each.name);
    const hint = `there are ${known.join(", ")}`;
    findings.push(finding("unknown-agent", line, `task ${id}: ${fault}`, hint));
  }
  return {
    task: {
      ...task,
      workflow: workflow?.name ?? name,
      workflowWhy: isRaised && raised.why !== why ? `${why}: ${raised.why}` : why,
    },
    findings,
  };
}

/** Tasks that are shown done by one and the same command: it is green, or red, for all of them. */
function sameChecks(tasks: readonly PlannedTask[]): Finding[] {
  const open = tasks.filter(({ done }) => !done);
  const byCheck = grouped(
    open.flatMap((task) => [...new Set(task.checks)].map((check) => [check, task] as const)),
  );
  return [...byCheck].flatMap(([check, [first, ...others]]) => {
    if (!first || others.length === 0) return [];
    const ids = [first, ...others].map(({ id }) => id).join(", ");
    const what = `tasks ${ids} have one Verify: ${check.slice(0, 80)}`;
    const hint = "one of their own each shows which is done; what is of all is for success:";
    return [finding("same-verify", others[0]?.line ?? 0, what, hint, "warning")];
  });
}

/** What a task lacks that says when it is over: what repeats needs a check that ends it. */
function unbounded({ id, line, checks, each }: PlannedTask, { name, phases }: Workflow): Finding[] {
  const isLoop = phases.some(({ rounds, tasks }) => rounds !== undefined && tasks === undefined);
  const own = checks.filter((check) => !each || check.includes("{}"));
  if (!isLoop || own.length > 0) return [];
  const what = `task ${id}: workflow ${name} repeats until its Verify: is green, and it names none`;
  const hint = each ? "name one with {} in it" : "name the command that is to pass";
  return [finding("no-verify", line, what, hint)];
}

/** How tasks of each risk are reviewed whose own workflow reviews nothing, or whose risk shows only
 * in the work: as the plan would have it for a task of which nothing else is known. */
export function reviewsOf({ order, prefix }: Rails): EventData["started"]["reviews"] {
  const reviewAt = (risk: "medium" | "high") => {
    const untold = { title: "", description: "", files: [], risk };
    const { workflow } = chooseWorkflow(untold, order, prefix);
    return reviewIn(workflow.phases, risk);
  };
  return { medium: reviewAt("medium"), high: reviewAt("high") };
}

/** The project's commands: what the list says, else what is found from the package on that holds
 * the tasks' files. Findings: where that leaves packages unproven.
 * @param where what the list is called */
export async function toolsFor(
  { tasks, toolsSaid }: Pick<Plan, "tasks" | "toolsSaid">,
  place: Place,
  where: string,
) {
  const layered = await layers(place, "toolchains.md", "minion-blueprint/toolchains.md");
  const { text, file } = await firstOf(layered);
  const folder = folderOf(tasks, place.prefix);
  const found = await findTools(place.top, folder, text, file);
  const tools: { -readonly [N in keyof Tools]: Tools[N] } = { ...found };
  for (const name of TOOL_NAMES) {
    const run = toolsSaid[name];
    if (run) tools[name] = { run, cwd: place.prefix, source: `${where}: tools.${name}` };
  }
  const deeper = TOOL_NAMES.filter((name) => (tools[name]?.cwd ?? "").length > place.prefix.length);
  const message =
    `${deeper.join(", ")} run in the package in which all named files lie: ` +
    "no other one is proven";
  const note = finding("one-package", 0, message, "name wider ones under tools:", "note");
  return { tools, found, findings: deeper.length > 0 ? [note] : [] };
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
  const known = gates.map((gate) => gate.name);
  for (const phase of phases) {
    const named = [...(phase.gates ?? []), ...phase.red];
    const gate = named.find((one) => !known.includes(one));
    const lack = gate ? `there is no gate ${gate}` : phase.agent && faultOf(phase.agent, overlays);
    if (lack) return `workflow ${name}, phase ${phase.name}: ${lack}`;
  }
  return null;
}

/** What a plan is likely to take here, by the earlier runs of this repository and the prices in
 * force.
 * @param parts the tasks that its `Each:` would list, where that was looked up */
export async function estimateAt(
  { place, plan, blueprint, ...ways }: Planned,
  parts: readonly PlannedTask[] = [],
): Promise<Estimate | null> {
  const { workers } = blueprint.bounds;
  const whole = parts.length > 0 ? withParts(plan, parts, ways.workflows) : plan;
  const efforts = new Map(whole.tasks.map((task) => [task.id, effortOf(ways, task, workers)]));
  const prices = await pricesAt(place);
  const experience = await experienceOf(place.common);
  const own = (id: string): Effort => efforts.get(id) ?? effortIn([], workers);
  return estimate(whole, workers, prices, experience, own);
}

/** A plan with what tasks of it are made of: whatever waits for one of them waits for all of that. */
function withParts(
  { tasks }: Plan,
  parts: readonly PlannedTask[],
  workflows: EventData["started"]["workflows"],
): Pick<Plan, "tasks" | "conflicts" | "waves"> {
  const held = tasks.map((planned) => {
    return { planned, isOver: planned.done, fixed: "", isFree: false };
  });
  const { all, conflicts, waves } = changeTo(held, [], parts);
  const ofEach = grouped(parts.map(({ id }) => [parentOf(id) ?? "", id]));
  const whole = all.map((task) => {
    return { ...task, depends: [...task.depends, ...(ofEach.get(task.id) ?? [])] };
  });
  return { tasks: whole, waves, conflicts: conflictsOf({ tasks: all, conflicts }, workflows) };
}
