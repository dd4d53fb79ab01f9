import { Fault } from "../program/fault.ts";
import { readIfThere } from "../program/files.ts";
import { type Markdown, readMarkdown } from "./markdown.ts";
import { checked, pattern, RISKS, text, z } from "./schema.ts";

const texts = z.array(text);
const patterns = z.array(pattern); // One of which is to match
const whole = (least: number, most: number) => z.int().check(z.minimum(least), z.maximum(most));
const gate = z
  .strictObject({
    name: z.string().check(z.regex(/^[a-z][a-z0-9-]*$/)),
    /** Which of the project's commands to run, as `minion plan` finds it. */
    tool: z.optional(z.enum(["lint", "test", "build"])),
    run: z.optional(text), // Or the command itself, and its folder from the repository's root
    cwd: z.optional(z.string()),
    timeout: z.optional(whole(1, 86_400)), // Seconds until it is stopped
    when: z.optional(z.enum(["end"])), // Not for each task, but once all have landed
  })
  .check(
    z.refine(
      ({ tool, run }) => (tool === undefined) !== (run === undefined),
      "a gate has either tool or run",
    ),
  );
const gates = z.array(gate).check(z.minLength(1), ({ value, issues }) => {
  const twin = value.findIndex(
    ({ name }, index) => value.findIndex((other) => other.name === name) < index,
  );
  if (twin > 0)
    issues.push({ code: "custom", message: "two gates have one name", input: value, path: [twin] });
});

/** What several workers have in common: a count of what is alike, its likely cause and the way out.
 */
const alarm = z.strictObject({
  when: z.enum(["ended", "timeout", "error", "base-red", "spent", "landing"]),
  count: z.number().check(z.positive()), // Tasks; of `spent` times the upper end of the estimate
  pause: z.boolean(), // Is nothing more dispatched then?
  likely: text,
  way: text,
});

/** The fields that hold fields of their own; a later file may give only some of them. */
const GROUPS = {
  bounds: z.strictObject({
    failures: whole(1, 5), // How often a gate may fail per attempt: the first try and the fixes
    attempts: whole(1, 5), // Attempts per task
    // How often a worker is sent back. Claude Code ends a worker after eight.
    send_backs: whole(0, 7),
    workers: whole(1, 16), // Workers at the same time; Claude Code starts 20 at most
    gate_slots: whole(0, 256), // Gates and setups at the same time on this machine; 0: one per core
    dispatches: whole(1, 5), // Dispatches of a run, as a multiple of its tasks and their phases
    cycles: whole(0, 3), // How often a phase that judges sends a task back
    lease: whole(1, 240), // Minutes without a sign of life after which an attempt is over
  }),
  /** Who tries again where an attempt failed: expertise that is added, and a model where it is to
   * be another one. */
  retry: z.strictObject({ agent: z.string(), model: z.string() }),
  /** How raw output is kept and read: patterns for lines without colours, and the most that is kept
   * of one run. */
  output: z.strictObject({
    untested: patterns, // Says that nothing was tested, unless `tested` says otherwise
    tested: patterns,
    failure: patterns, // A line that names one failure
    secret: patterns, // Names of environment variables whose values are never kept
    megabytes: whole(1, 1000),
  }),
  /** What a gate stands on: a change of it is a person's to decide where the task does not declare
   * it. */
  proof: z.strictObject({
    files: texts, // Paths, or `package.json#scripts` for a part of a JSON file
    tests: texts, // Where tests are
    case: patterns, // A line that begins a test
    skip: patterns, // A line that leaves tests out
  }),
};

/** What may stand in a blueprint's frontmatter beside what Claude Code reads there. */
const FIELDS = z.strictObject({
  gates,
  slots: texts, // What a handoff has to say something under
  commit: pattern, // What the first line of each commit has to match
  allow: texts, // Commands that a worker may run without asking
  // Those that it may not run, and the way out
  refuse: z.array(z.strictObject({ commands: patterns, way: text })),
  companions: z.record(z.string(), texts), // What changes along with a path, without being named
  // Those that are tried for a task, in order; the last one fits always
  workflows: texts.check(z.minLength(1)),
  models: z.record(z.string(), text), // By role, as Claude Code names them
  // What raises a task's risk
  risks: z.array(z.strictObject({ risk: z.enum(RISKS), words: patterns, paths: texts })),
  alarms: z.array(alarm),
  // What errors that say so come from
  causes: z.array(z.strictObject({ lines: patterns, likely: text, way: text })),
  vague: patterns, // Words of a task that leave open what is meant
  ...GROUPS,
});
const { bounds, retry, output, proof } = GROUPS;
const own = {
  bounds: z.partial(bounds),
  retry: z.partial(retry),
  output: z.partial(output),
  proof: z.partial(proof),
};
const OWN_FIELDS = z.partial(z.extend(FIELDS, own));
const CLIENT_FIELDS = ["name", "description", "disable-model-invocation", "user-invocable"];

/** The rails in force: data for `minion`, prose for the worker. */
export interface Blueprint extends Readonly<z.infer<typeof FIELDS>> {
  readonly body: string;
  readonly sources: Readonly<Record<string, string>>; // Which file each value came from
}

/** Puts the blueprint in force together, field by field and bound by bound: what a later file says
 * wins.
 * @param files shipped first, then the person's, then the project's; one that is missing says
 *   nothing
 * @throws Fault `blueprint` with file and line of what is wrong, and where a value is given by no
 *   file */
export async function readBlueprint(files: readonly string[]): Promise<Blueprint> {
  const values: Record<string, unknown> = {};
  const sources: Record<string, string> = {};
  let body = "";
  for (const file of files) {
    const source = await readIfThere(file);
    if (source === null) continue;
    const markdown = readMarkdown(source, file);
    for (const [name, value] of Object.entries(ownFields(markdown, file))) {
      const isGroup = name in GROUPS;
      values[name] = isGroup ? { ...Object(values[name]), ...Object(value) } : value;
      for (const key of isGroup ? Object.keys(Object(value)) : [""])
        sources[key ? `${name}.${key}` : name] = file;
    }
    if (markdown.body.trim() === "") continue;
    body = markdown.body.trim();
    sources.body = file;
  }
  const { data, error } = FIELDS.safeParse(values);
  const missing =
    error?.issues.map(({ path }) => path.join(".")).join(", ") ?? (body ? "" : "the steps");
  if (!data || missing)
    throw new Fault("blueprint", `no blueprint says ${missing}`, "install again");
  return { ...data, body, sources };
}

function ownFields({ data, lineOf }: Markdown, file: string) {
  const own = Object.entries(data).filter(([name]) => !CLIENT_FIELDS.includes(name));
  const hint =
    "the shipped skills/minion-blueprint/ shows in SKILL.md and patterns.md what may stand there";
  return checked(OWN_FIELDS, { data: Object.fromEntries(own), lineOf }, file, ["blueprint", hint]);
}
