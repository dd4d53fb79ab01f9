import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import * as v from "valibot";
import { Fault } from "../program/fault.ts";
import { readIfThere } from "../program/files.ts";
import { readPage } from "./markdown.ts";
import { checked, pattern, RISKS, text, unlisted } from "./schema.ts";

const name = v.pipe(v.string(), v.regex(/^[a-z][a-z0-9-]*$/));
const names = v.array(name);

/** One step of a task, done by a worker of its own. */
const PHASE = v.strictObject({
  name,
  // Expertise that is added, instead of the role that the task names
  agent: v.optional(v.string(), ""),
  model: v.optional(v.string(), ""),
  risk: v.optional(v.picklist(RISKS), "low"), // From which risk of the task on there is this phase
  // May it change files? If not, what it leaves is its handoff
  writes: v.optional(v.boolean(), true),
  gates: v.optional(names), // Those that have to pass; all where it writes
  // Those that have to fail before it is over: the tests that the next one makes pass
  red: v.optional(names, []),
  // It judges what is there: the phase to which findings send the task
  back: v.optional(v.string(), ""),
});
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
    (_, at, all) => at > 0 || all.some(({ writes, risk }) => writes && risk === "low"),
    "no phase writes, whatever the risk",
  ),
);

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
