import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { readIfThere } from "../program/files.ts";
import { readMarkdown } from "./markdown.ts";
import { checked, pattern, RISKS, text, z } from "./schema.ts";

const name = z.string().check(z.regex(/^[a-z][a-z0-9-]*$/));
const names = z.array(name);

/** One step of a task, done by a worker of its own. */
const PHASE = z.strictObject({
  name,
  // Expertise that is added, instead of the role that the task names
  agent: z._default(z.string(), ""),
  model: z._default(z.string(), ""),
  risk: z._default(z.enum(RISKS), "low"), // From which risk of the task on there is this phase
  // May it change files? If not, what it leaves is its handoff
  writes: z._default(z.boolean(), true),
  gates: z.optional(names), // Those that have to pass; all where it writes
  // Those that have to fail before it is over: the tests that the next one makes pass
  red: z._default(names, []),
  // It judges what is there: the phase to which findings send the task
  back: z._default(z.string(), ""),
});
export type Phase = Readonly<z.infer<typeof PHASE>> & { readonly steps: string };

/** When a workflow is chosen: where all that one of these says holds. */
const FIT = z.strictObject({
  risk: z.optional(z.enum(RISKS)),
  words: z.optional(z.array(pattern)), // One of them in the task's text
  paths: z.optional(z.array(text)), // One of them among the files that it names
  files: z.optional(z.int().check(z.minimum(0))), // It names some, and no more than so many
});
export type Fit = Readonly<z.infer<typeof FIT>>;

const FIELDS = z
  .strictObject({
    name: z.optional(z.string()),
    when: text, // For whoever chooses
    for: z._default(z.array(FIT), []),
    phases: z.array(PHASE).check(z.minLength(1)),
  })
  .check(({ value: { phases }, issues }) => {
    const known = phases.map((phase) => phase.name);
    const wrong = (at: number, message: string) =>
      issues.push({ code: "custom", message, input: phases, path: ["phases", at] });
    for (const [at, { name, back, writes }] of phases.entries()) {
      if (known.indexOf(name) < at) wrong(at, `two phases are called ${name}`);
      if (back && !phases.some((phase) => phase.name === back && phase.writes))
        wrong(at, `${back} is no phase that writes`);
      if (back && writes) wrong(at, "what judges does not write: say writes: false");
    }
    if (!phases.some(({ writes, risk }) => writes && risk === "low"))
      wrong(0, "no phase writes, whatever the risk");
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
  const markdown = readMarkdown(source, file);
  const hint = "the shipped skills/minion-blueprint/workflows/ show what may stand there";
  const fields = checked(FIELDS, markdown, file, ["workflow", hint]);
  const parts = markdown.body.split(/^## +/m).slice(1);
  const steps = new Map(
    parts.map((part) => [part.split("\n", 1)[0]?.trim(), part.replace(/^.*\n/, "").trim()]),
  );
  return {
    ...fields,
    name,
    phases: fields.phases.map((phase) => ({ ...phase, steps: steps.get(phase.name) ?? "" })),
  };
}
