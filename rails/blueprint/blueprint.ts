import * as z from "zod/mini";
import english from "zod/v4/locales/en.js";
import { Fault } from "../fault.ts";
import { readIfThere } from "../files.ts";
import { type Markdown, readMarkdown } from "./markdown.ts";

z.config(english());

/** The least and the most that each bound may be. */
const BOUNDS = {
  failures: [1, 5], // How often a gate may fail per attempt: the first try and the fixes
  attempts: [1, 5], // Attempts per task
  send_backs: [0, 7], // How often a worker is sent back. Claude Code ends a worker after eight.
  workers: [1, 16], // Workers at the same time; Claude Code starts 20 at most
  dispatches: [1, 5], // Dispatches of a run, as a multiple of its tasks
  lease: [1, 240], // Minutes without a sign of life after which an attempt is over
} as const;
type Bound = keyof typeof BOUNDS;

const text = z.string().check(z.minLength(1));
const whole = (least: number, most: number) => z.int().check(z.minimum(least), z.maximum(most));
const gate = z
  .strictObject({
    name: z.string().check(z.regex(/^[a-z][a-z0-9-]*$/)),
    /** Which of the project's commands to run, as `minion plan` finds it. */
    tool: z.optional(z.enum(["lint", "test", "build"])),
    run: z.optional(text), // Or the command itself, and its folder from the repository's root
    cwd: z.optional(z.string()),
    timeout: z.optional(whole(1, 86_400)), // Seconds until it is stopped
  })
  .check(z.refine(({ tool, run }) => (tool === undefined) !== (run === undefined), "a gate has either tool or run"));
const gates = z.array(gate).check(z.minLength(1), ({ value, issues }) => {
  const twin = value.findIndex(({ name }, index) => value.findIndex((other) => other.name === name) < index);
  if (twin > 0) issues.push({ code: "custom", message: "two gates have one name", input: value, path: [twin] });
});
const bounds = Object.entries(BOUNDS).map(([name, [least, most]]) => [name, whole(least, most)]);

/** What may stand in a blueprint's frontmatter beside what Claude Code reads there. */
const FIELDS = z.strictObject({
  gates,
  bounds: z.partial(z.strictObject(Object.fromEntries(bounds) as Record<Bound, ReturnType<typeof whole>>)),
  /** A pattern that the first line of each commit has to match. */
  commit: text.check(z.refine(isPattern, "this is no regular expression")),
  allow: z.array(text), // Commands that a worker may run without asking
});
const CLIENT_FIELDS = ["name", "description", "disable-model-invocation", "user-invocable"];

/** The rails in force: data for `minion`, prose for the worker. */
export interface Blueprint extends Readonly<z.infer<typeof FIELDS>> {
  readonly bounds: Readonly<Record<Bound, number>>;
  readonly body: string;
  readonly sources: Readonly<Record<string, string>>; // Which file each value came from
}

/** Puts the blueprint in force together, field by field and bound by bound: what a later file says wins.
 * @param files shipped first, then the person's, then the project's; one that is missing says nothing
 * @throws Fault `blueprint` with file and line of what is wrong, and where a value is given by no file */
export async function readBlueprint(files: readonly string[]): Promise<Blueprint> {
  const values: Record<string, unknown> = {};
  const bounds: Record<string, unknown> = {};
  const sources: Record<string, string> = {};
  for (const file of files) {
    const source = await readIfThere(file);
    if (source === null) continue;
    const markdown = readMarkdown(source, file);
    const { bounds: own = {}, ...fields } = checked(markdown, file);
    const body = markdown.body.trim();
    Object.assign(values, fields, body && { body });
    Object.assign(bounds, own);
    const said = [
      ...Object.keys(fields),
      ...Object.keys(own).map((bound) => `bounds.${bound}`),
      ...(body ? ["body"] : []),
    ];
    for (const name of said) sources[name] = file;
  }
  const all = ["gates", "commit", "allow", "body", ...Object.keys(BOUNDS).map((bound) => `bounds.${bound}`)];
  const missing = all.filter((name) => !sources[name]).join(", ");
  if (missing) throw new Fault("blueprint", `no blueprint says ${missing}`, "install again");
  return { ...values, bounds, sources } as unknown as Blueprint;
}

function checked({ data, lineOf }: Markdown, file: string) {
  const own = Object.entries(data).filter(([name]) => !CLIENT_FIELDS.includes(name));
  const { data: fields, error } = z.partial(FIELDS).safeParse(Object.fromEntries(own));
  if (fields) return fields;
  const issue = error.issues[0] as (typeof error.issues)[number];
  const at = [...issue.path, ...(issue.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [])] as string[];
  const hint = "the shipped skills/minion-blueprint/SKILL.md shows what may stand there";
  throw new Fault("blueprint", `${file}:${lineOf(at)}: ${at.join(".")}: ${issue.message}`, hint);
}

function isPattern(pattern: string): boolean {
  try {
    return Boolean(new RegExp(pattern));
  } catch {
    return false;
  }
}
