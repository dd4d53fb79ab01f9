import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod/mini";
import { Fault } from "../fault.ts";
import { type Markdown, readMarkdown } from "./markdown.ts";

const whole = (least: number, most: number) => z.int().check(z.minimum(least), z.maximum(most));
const text = z.string().check(z.minLength(1));

const gate = z
  .strictObject({
    name: z.string().check(z.regex(/^[a-z][a-z0-9-]*$/, "a gate's name is small letters, digits and -")),
    /** Which of the project's commands to run, as `minion plan` finds it. */
    tool: z.optional(z.enum(["lint", "test", "build"])),
    /** Or the command itself. */
    run: z.optional(text),
    /** Folder to run it in, from the repository's root. */
    cwd: z.optional(z.string()),
    /** Seconds until it is stopped. */
    timeout: z.optional(whole(1, 86_400)),
  })
  .check(
    z.refine((value) => (value.tool === undefined) !== (value.run === undefined), "a gate has either tool or run"),
  );

/** What may stand in a blueprint's frontmatter beside what Claude Code reads there. */
const fields = {
  gates: z.array(gate).check(z.minLength(1, "a run without a gate proves nothing")),
  bounds: z.partial(
    z.strictObject({
      /** How often a gate may fail per attempt: the first try and the fixes. */
      failures: whole(1, 5),
      /** Attempts per task. */
      attempts: whole(1, 5),
      /** How often a worker is sent back. Claude Code ends a worker after eight. */
      send_backs: whole(0, 7),
      /** Workers at the same time; Claude Code starts 20 at most. */
      workers: whole(1, 16),
      /** Dispatches of a run, as a multiple of its tasks. */
      dispatches: whole(1, 5),
      /** Minutes without a sign of life after which an attempt is over. */
      lease: whole(1, 240),
    }),
  ),
  /** A pattern that the first line of each commit has to match. */
  commit: text,
  allow: z.array(text),
};
const CLIENT_FIELDS = ["name", "description", "disable-model-invocation", "user-invocable"];

export interface Gate {
  readonly name: string;
  readonly tool?: "lint" | "test" | "build" | undefined;
  readonly run?: string | undefined;
  readonly cwd?: string | undefined;
  readonly timeout?: number | undefined;
}

export interface Bounds {
  readonly failures: number;
  readonly attempts: number;
  readonly send_backs: number;
  readonly workers: number;
  readonly dispatches: number;
  readonly lease: number;
}

/** The rails in force: data for `minion`, prose for the worker. */
export interface Blueprint {
  readonly gates: readonly Gate[];
  readonly bounds: Bounds;
  readonly commit: string;
  readonly allow: readonly string[];
  readonly body: string;
  /** Which file each value came from. */
  readonly sources: Readonly<Record<string, string>>;
}

/**
 * Puts the blueprint in force together, field by field and bound by bound: what a later file says wins.
 * @param files shipped first, then the person's, then the project's; one that is missing says nothing
 * @throws Fault `blueprint` with file and line of what is wrong, and where a value is given by no file
 */
export async function readBlueprint(files: readonly string[]): Promise<Blueprint> {
  const values: Record<string, unknown> = {};
  const bounds: Record<string, unknown> = {};
  const sources: Record<string, string> = {};
  for (const file of files) {
    const source = await readFile(file, "utf8").catch((error) => {
      if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
      throw error;
    });
    if (source === null) continue;
    const markdown = readMarkdown(source, file);
    for (const [name, value] of Object.entries(checked(markdown, file))) {
      if (name === "bounds") {
        for (const [bound, number] of Object.entries(value as object)) {
          bounds[bound] = number;
          sources[`bounds.${bound}`] = file;
        }
      } else {
        values[name] = value;
        sources[name] = file;
      }
    }
    if (markdown.body.trim()) {
      values.body = markdown.body.trim();
      sources.body = file;
    }
  }
  const missing = [
    ...[...Object.keys(fields), "body"].filter((name) => name !== "bounds" && values[name] === undefined),
    ...Object.keys(fields.bounds.def.shape)
      .filter((name) => bounds[name] === undefined)
      .map((name) => `bounds.${name}`),
  ];
  if (missing.length > 0)
    throw new Fault(
      "blueprint",
      `no blueprint says ${missing.join(", ")}`,
      `looked in ${files.join(", ")}: install again`,
    );
  return { ...values, bounds, sources } as unknown as Blueprint;
}

/** Where blueprints lie, from the weakest to the one that wins. */
export function blueprintFiles(shipped: string, config: string, project: string): string[] {
  return [
    join(shipped, "skills", "minion-blueprint", "SKILL.md"),
    join(config, "minion", "blueprint.md"),
    join(project, ".claude", "minion", "blueprint.md"),
  ];
}

function checked(markdown: Markdown, file: string): Record<string, unknown> {
  const own = Object.fromEntries(Object.entries(markdown.data).filter(([name]) => !CLIENT_FIELDS.includes(name)));
  const answer = z.partial(z.strictObject(fields)).safeParse(own);
  if (answer.success) {
    repeated(answer.data.gates ?? [], markdown, file);
    pattern(answer.data.commit, markdown, file);
    return answer.data;
  }
  const issue = answer.error.issues[0];
  const path = (issue?.path ?? []) as (string | number)[];
  const unknown = issue?.code === "unrecognized_keys" ? issue.keys[0] : undefined;
  const at = unknown === undefined ? path : [...path, unknown];
  const what = unknown === undefined ? issue?.message : "there is no such field";
  const known =
    path.length === 0
      ? Object.keys(fields)
      : path[0] === "bounds"
        ? Object.keys(fields.bounds.def.shape)
        : Object.keys(gate.def.shape);
  throw new Fault(
    "blueprint",
    `${file}:${markdown.lineOf(at)}: ${at.join(".")}: ${what}`,
    unknown === undefined ? "see the blueprint's own page for what may stand there" : `known are ${known.join(", ")}`,
  );
}

function repeated(gates: readonly Gate[], markdown: Markdown, file: string): void {
  for (const [index, { name }] of gates.entries())
    if (gates.findIndex((other) => other.name === name) !== index)
      throw new Fault(
        "blueprint",
        `${file}:${markdown.lineOf(["gates", index])}: two gates are called ${name}`,
        "give each a name of its own",
      );
}

function pattern(commit: string | undefined, markdown: Markdown, file: string): void {
  try {
    new RegExp(commit ?? "");
  } catch {
    throw new Fault(
      "blueprint",
      `${file}:${markdown.lineOf(["commit"])}: commit is no regular expression`,
      "quote it and escape brackets",
    );
  }
}
