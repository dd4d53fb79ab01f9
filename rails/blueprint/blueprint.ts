import * as v from "valibot";
import { Fault } from "../program/fault.ts";
import { readIfThere } from "../program/files.ts";
import { type Markdown, readPage } from "./markdown.ts";
import { checked, pattern, RISKS, text, unlisted } from "./schema.ts";

const texts = v.array(text);
const patterns = v.array(pattern); // One of which is to match
const whole = (least: number, most: number) =>
  v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(most));
const gate = v.pipe(
  v.strictObject({
    name: v.pipe(v.string(), v.regex(/^[a-z][a-z0-9-]*$/)),
    /** Which of the project's commands to run, as `minion plan` finds it. */
    tool: v.optional(v.picklist(["lint", "test", "build"])),
    run: v.optional(text), // Or the command itself, and its folder from the repository's root
    cwd: v.optional(v.string()),
    timeout: v.optional(whole(1, 86_400)), // Seconds until it is stopped
    when: v.optional(v.picklist(["end"])), // Not for each task, but once all have landed
  }),
  v.check(
    ({ tool, run }) => (tool === undefined) !== (run === undefined),
    "a gate has either tool or run",
  ),
);
const gates = v.pipe(
  v.array(gate),
  v.minLength(1),
  v.checkItems(
    ({ name }, index, all) => all.findIndex((other) => other.name === name) === index,
    "two gates have one name",
  ),
);

/** What several workers have in common: a count of what is alike, its likely cause and the way out.
 */
const alarm = v.strictObject({
  when: v.picklist(["ended", "timeout", "error", "base-red", "spent", "landing"]),
  // Tasks; of `spent` times the upper end of the estimate
  count: v.pipe(v.number(), v.finite(), v.gtValue(0)),
  pause: v.boolean(), // Is nothing more dispatched then?
  likely: text,
  way: text,
});

/** The fields that hold fields of their own; a later file may give only some of them. */
const GROUPS = {
  bounds: v.strictObject({
    failures: whole(1, 5), // How often a gate may fail per attempt: the first try and the fixes
    attempts: whole(1, 5), // Attempts per task
    // How often a worker is sent back. Claude Code ends a worker after eight.
    send_backs: whole(0, 7),
    workers: whole(1, 16), // Workers at the same time; Claude Code starts 20 at most
    gate_slots: whole(0, 256), // Gates and setups at the same time on this machine; 0: one per core
    dispatches: whole(1, 5), // Dispatches of a run, as a multiple of its tasks and their phases
    cycles: whole(0, 3), // How often a phase that judges sends a task back
    // Percent of its list's tasks that a session may add while a run goes on
    added: whole(0, 1000),
    // Workers that may try, one after another, to make the line green at the end
    end_rounds: whole(1, 10),
    planned: whole(1, 10_000), // Tasks of a run that workers who plan may add, all together
    depth: whole(1, 10), // How deep areas may lie in areas
    lease: whole(1, 240), // Minutes without a sign of life after which an attempt is over
  }),
  /** Who tries again where an attempt failed: expertise that is added, and a model where it is to
   * be another one. */
  retry: v.strictObject({ agent: v.string(), model: v.string() }),
  /** How raw output is kept and read: patterns for lines without colours, and the most that is kept
   * of one run. */
  output: v.strictObject({
    untested: patterns, // Says that nothing was tested, unless `tested` says otherwise
    tested: patterns,
    failing: patterns, // A line that sums failures up: over it an exit code of 0 is no pass
    failure: patterns, // A line that names one failure
    secret: patterns, // Names of environment variables whose values are never kept
    megabytes: whole(1, 200),
  }),
  /** What a gate stands on: a change of it is a person's to decide where the task does not declare
   * it. */
  proof: v.strictObject({
    files: texts, // Paths, or `package.json#scripts` for a part of a JSON file
    tests: texts, // Where tests are
    case: patterns, // A line that begins a test
    skip: patterns, // A line that leaves tests out
  }),
};

/** What may stand in a blueprint's frontmatter beside what Claude Code reads there. */
const FIELDS = v.strictObject({
  gates,
  slots: texts, // What a handoff has to say something under
  findings: texts, // Those of them that go up to whoever plans, unless they say «none»
  judge_success: v.boolean(), // Are the words of a list's `success:` judged once all has landed?
  notify: v.string(), // The command that calls the person; empty where the terminal rings instead
  commit: pattern, // What the first line of each commit has to match
  allow: texts, // Commands that a worker may run without asking
  // Those that it may not run, and the way out
  refuse: v.array(v.strictObject({ commands: patterns, way: text })),
  // What changes along with a path, without being named
  companions: unlisted(v.record(v.string(), texts)),
  // Those that are tried for a task, in order; the last one fits always
  workflows: v.pipe(texts, v.minLength(1)),
  models: unlisted(v.record(v.string(), text)), // By role, as Claude Code names them
  // What raises a task's risk
  risks: v.array(v.strictObject({ risk: v.picklist(RISKS), words: patterns, paths: texts })),
  alarms: v.array(alarm),
  // What errors that say so come from
  causes: v.array(v.strictObject({ lines: patterns, likely: text, way: text })),
  // Commands that watch or serve, and so never end; `ends`: but do where CI is set
  endless: v.array(
    v.strictObject({ commands: patterns, way: text, ends: v.optional(v.boolean()) }),
  ),
  // Commands that end with 0 also where something failed; `unless`: but not where such stands beside
  hidden: v.array(v.strictObject({ commands: patterns, way: text, unless: v.optional(patterns) })),
  vague: patterns, // Words of a task that leave open what is meant
  ...GROUPS,
});

/** Fields as one file may give them: some, and lists also as `name+`, which adds to what stands
 * before it. */
function given<E extends v.ObjectEntries>(entries: E) {
  const lists = Object.entries(entries).filter(([, { type }]) => type === "array");
  const more: v.ObjectEntries = Object.fromEntries(
    lists.map(([name, schema]) => [`${name}+`, schema]),
  );
  return v.partial(v.strictObject({ ...more, ...entries }));
}
const ownGroups = Object.fromEntries(
  Object.entries(GROUPS).map(([name, { entries }]) => [name, unlisted(given(entries))]),
);
const OWN_FIELDS = given({ ...FIELDS.entries, ...ownGroups });
const CLIENT_FIELDS = ["name", "description", "disable-model-invocation", "user-invocable"];

/** The rails in force: data for `minion`, prose for the worker. */
export interface Blueprint extends Readonly<v.InferOutput<typeof FIELDS>> {
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
  const { values, sources, body } = await putTogether(files);
  const { success, output, issues } = v.safeParse(FIELDS, values);
  const missing = success
    ? body
      ? ""
      : "the steps"
    : issues.map((issue) => v.getDotPath(issue)).join(", ");
  if (!success || missing)
    throw new Fault("blueprint", `no blueprint says ${missing}`, "install again");
  return { ...output, body, sources };
}

/** Lists in which a later file leaves out what the one before it had, a line each: mostly somebody
 * meant to add.
 * @throws Fault as `readBlueprint` */
export async function replacedIn(files: readonly string[]): Promise<string[]> {
  return (await putTogether(files)).replaced;
}

/** Lists that everybody writes anew. */
const OWN_LISTS = ["gates", "slots", "workflows"];

async function putTogether(files: readonly string[]) {
  const values: Record<string, unknown> = {};
  const sources: Record<string, string> = {};
  const replaced: string[] = [];
  let body = "";
  /** Takes fields over, of the whole or of the group whose name ends with a full stop. */
  const take = (into: Record<string, unknown>, fields: object, file: string, group = ""): void => {
    // What replaces a list goes before what adds to it.
    const inOrder = Object.entries(fields).sort(([a], [b]) => +a.endsWith("+") - +b.endsWith("+"));
    for (const [field, value] of inOrder) {
      const name = field.replace(/\+$/, "");
      if (name in GROUPS && group === "") {
        const own = { ...Object(into[name]) };
        take(own, Object(value), file, `${name}.`);
        into[name] = own;
        continue;
      }
      const before: unknown[] = Array.isArray(into[name]) ? into[name] : [];
      if (name === field) {
        const lost = lostOf(before, value);
        if (lost > 0 && !OWN_LISTS.includes(name))
          replaced.push(
            `${file}: ${group}${name} leaves out ${lost} entries that were there: ` +
              `${name}+: adds to them instead`,
          );
        into[name] = value;
      } else into[name] = [...before, ...unlike(before, value, `${file}: ${group}${field}`)];
      sources[`${group}${field}`] = file;
    }
  };
  for (const file of files) {
    const source = await readIfThere(file);
    if (source === null) continue;
    const { markdown, fields } = readRails(source, file);
    take(values, fields, file);
    if (markdown.body.trim() === "") continue;
    body = markdown.body.trim();
    sources.body = file;
  }
  return { values, sources, body, replaced };
}

/** How many entries of a list another one does not have. */
function lostOf(before: readonly unknown[], after: unknown): number {
  const kept = new Set(Array.isArray(after) ? after.map((each) => JSON.stringify(each)) : []);
  return before.filter((each) => !kept.has(JSON.stringify(each))).length;
}

/** What a list adds to one before it.
 * @throws Fault where both name a thing alike, as gates do */
function unlike(before: readonly unknown[], added: unknown, where: string): unknown[] {
  const nameOf = (entry: unknown): unknown => Object(entry).name;
  const all = Array.isArray(added) ? added : [];
  const twice = all.find((entry) =>
    before.some((other) => nameOf(other) !== undefined && nameOf(other) === nameOf(entry)),
  );
  if (twice === undefined) return all;
  const hint = "give it another name, or write the whole list without +";
  throw new Fault("blueprint", `${where}: there is a ${nameOf(twice)} already`, hint);
}

/** One file of a blueprint by itself.
 * @throws Fault `blueprint`, `frontmatter` with file and line of what is wrong */
export function readRails(source: string, file: string) {
  const markdown = readPage(source, file);
  return { markdown, fields: ownFields(markdown, file) };
}

function ownFields({ data, lineOf }: Markdown, file: string) {
  const own = Object.entries(data).filter(([name]) => !CLIENT_FIELDS.includes(name));
  const hint =
    "the shipped skills/minion-blueprint/ shows in SKILL.md and patterns.md what may stand there";
  return checked(OWN_FIELDS, { data: Object.fromEntries(own), lineOf }, file, ["blueprint", hint]);
}
