import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import * as v from "valibot";
import { Fault } from "../program/fault.ts";
import { readIfThere } from "../program/files.ts";
import { readPage } from "./markdown.ts";
import { checked, pattern, RISKS, text, unlisted } from "./schema.ts";

const name = v.pipe(v.string(), v.regex(/^[a-z][a-z0-9-]*$/));
const names = v.array(name);

const upTo = (most: number) =>
  v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(most)));

/** The most that a page may ask for: what repeats and what multiplies has an end. */
const MOST = { rounds: 50, variants: 5, tasks: 50 };

/** One step of a task, done by a worker of its own. */
const PHASE = v.pipe(
  v.strictObject({
    name,
    // Expertise that is added, instead of the role that the task names
    agent: v.optional(v.string(), ""),
    model: v.optional(v.union([v.string(), v.array(text)]), ""), // A list: one for each variant
    risk: v.optional(v.picklist(RISKS), "low"), // From which risk of the task on there is this phase
    // May it change files? If not, what it leaves is its handoff
    writes: v.optional(v.boolean()),
    gates: v.optional(names), // Those that have to pass; all where it writes
    // Those that have to fail before it is over: the tests that the next one makes pass
    red: v.optional(names, []),
    // It judges what is there: the phase to which findings send the task
    back: v.optional(v.string(), ""),
    // So often it comes, each time by a fresh worker, until all that is to pass does
    rounds: upTo(MOST.rounds),
    variants: upTo(MOST.variants), // So many workers at once from one commit, of which one lands
    picks: v.optional(v.string()), // It chooses among the variants of that phase
    tasks: upTo(MOST.tasks), // It plans: up to so many tasks it leaves each time
    // Who tries again here, instead of whom the blueprint says
    retry: v.optional(v.strictObject({ agent: v.optional(text), model: v.optional(text) })),
  }),
  v.transform((phase) => ({ ...phase, writes: phase.writes ?? !(phase.picks || phase.tasks) })),
);
export type Phase = Readonly<v.InferOutput<typeof PHASE>> & { readonly steps: string };

/** When a workflow is chosen: where all that one of these says holds. */
const FIT = unlisted(
  v.strictObject({
    risk: v.optional(v.picklist(RISKS)),
    words: v.optional(v.array(pattern)), // One of them in the task's text
    paths: v.optional(v.array(text)), // One of them among the files that it names
    // It names some, and no more than so many
    files: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0))),
  }),
);
export type Fit = Readonly<v.InferOutput<typeof FIT>>;

const PHASES = v.pipe(
  v.array(PHASE),
  v.minLength(1),
  v.checkItems(
    ({ name }, at, all) => all.findIndex((other) => other.name === name) === at,
    ({ input }) => `two phases are called ${input.name}`,
  ),
  v.checkItems(
    ({ back }, _, all) => !back || all.some(({ name, writes }) => name === back && writes),
    ({ input }) => `${input.back} is no phase that writes`,
  ),
  v.checkItems(
    ({ back, writes }) => !(back && writes),
    "what judges does not write: say writes: false",
  ),
  v.checkItems(
    (_, at, all) => at > 0 || isWholeAtLowRisk(all),
    "some phase writes, but none where the risk is low",
  ),
  v.checkItems(
    ({ picks, tasks, writes }) => !(writes && (picks || tasks)),
    "what picks or plans does not write",
  ),
  v.checkItems(
    ({ picks }, at, all) =>
      !picks || (all[at - 1]?.name === picks && Boolean(all[at - 1]?.variants)),
    ({ input }) => `${input.picks} is no phase with variants just before ${input.name}`,
  ),
  v.checkItems(
    ({ name, variants, risk }, at, all) =>
      !variants || (all[at + 1]?.picks === name && all[at + 1]?.risk === risk),
    ({ input }) =>
      `the phase after ${input.name} has to pick among its variants, and from the same risk on`,
  ),
  v.checkItems(
    ({ variants }, at, all) => !variants || !all.slice(0, at).some((each) => each.variants),
    ({ input }) => `a task chooses once: ${input.name} is the second phase with variants`,
  ),
  v.checkItems(
    ({ back }, _, all) => !all.some(({ name, variants }) => name === back && variants),
    ({ input }) =>
      `${input.back} has variants, of which one was picked: name a phase to go back to`,
  ),
  v.checkItems(
    (phase, at, all) => !phase.variants || areApart(phase, all.slice(0, at)),
    ({ input }) =>
      `the variants of ${input.name} would be alike: put a phase before it that writes nothing ` +
      "and names approaches by number, or give a list of models",
  ),
  v.checkItems(
    ({ rounds, variants, writes, tasks }) =>
      !rounds || (!variants && (writes || tasks !== undefined)),
    ({ input }) => `${input.name} has no use for rounds`,
  ),
  v.checkItems(
    ({ tasks, rounds }) => !tasks || rounds !== undefined,
    ({ input }) => `${input.name} leaves tasks: rounds: says how often it comes at most`,
  ),
  v.checkItems(
    ({ tasks }, _, all) => !tasks || all.length === 1,
    ({ input }) => `${input.name} leaves tasks, which have phases of their own: it stands alone`,
  ),
);

type Draft = v.InferOutput<typeof PHASE>;

/** Does a workflow in which something is written also write at low risk? One in which nothing is
 * written has its handoffs as its result. */
const isWholeAtLowRisk = (all: readonly Draft[]): boolean =>
  !all.some(({ writes }) => writes) || all.some(({ writes, risk }) => writes && risk === "low");

/** Do the variants of a phase differ? */
const areApart = ({ model }: Draft, before: readonly Draft[]): boolean =>
  before.some(({ writes, back, picks }) => !writes && !back && !picks) ||
  (Array.isArray(model) && new Set(model).size > 1);

const FIELDS = v.strictObject({
  name: v.optional(v.string()),
  when: text, // For whoever chooses
  for: v.optional(v.array(FIT), []),
  phases: PHASES,
});

/** The phases of a task, in order, and when to choose them. A phase that stands after the one that
 * sends tasks back to it is entered in no other way, and leads back to that. */
export type Workflow = Readonly<{
  name: string;
  when: string;
  for: readonly Fit[];
  phases: readonly Phase[];
}>;

/** The workflows in these folders, the first of which wins, by name.
 * @throws Fault `workflow` with file and line of what is wrong in one */
export async function readWorkflows(folders: readonly string[]): Promise<Map<string, Workflow>> {
  const found = new Map<string, Workflow>();
  for (const folder of folders)
    for (const file of await readdir(folder).catch(() => [])) {
      const name = basename(file, ".md");
      const source =
        file === name || found.has(name) ? null : await readIfThere(join(folder, file));
      if (source !== null) found.set(name, readWorkflow(name, source, join(folder, file)));
    }
  return found;
}

/** @throws Fault `workflow`, `frontmatter` */
export function readWorkflow(name: string, source: string, file: string): Workflow {
  const markdown = readPage(source, file);
  const hint = "the shipped skills/minion-blueprint/workflows/ show what may stand there";
  const fields = checked(FIELDS, markdown, file, ["workflow", hint]);
  const parts = markdown.body.split(/^## +/m).slice(1);
  const steps = new Map(
    parts.map((part) => [part.split("\n", 1)[0]?.trim(), part.replace(/^.*\n/, "").trim()]),
  );
  const lost = [...steps.keys()].find((step) => !fields.phases.some(({ name }) => name === step));
  if (lost !== undefined) {
    const lines = markdown.body.split("\n");
    const at = lines.findIndex((line) => /^## /.test(line) && line.slice(3).trim() === lost);
    const what = `## ${lost}: there is no phase of that name`;
    const known = fields.phases.map(({ name }) => name).join(", ");
    throw new Fault("workflow", `${file}:${markdown.bodyLine + at}: ${what}`, `there are ${known}`);
  }
  return {
    ...fields,
    name,
    phases: fields.phases.map((phase) => ({ ...phase, steps: steps.get(phase.name) ?? "" })),
  };
}
