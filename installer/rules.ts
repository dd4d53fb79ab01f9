import { type Markdown, readMarkdown } from "../rails/blueprint/markdown.ts";
import { Fault } from "../rails/program/fault.ts";
import fields from "./fields.json" with { type: "json" };
import { type Code, type Finding, finding } from "./finding.ts";

export type Kind = "agent" | "command" | "skill";

/** A prompt that can be read, as the checks of a whole folder need it; `name` is the one under
 * which it loads. */
export type Prompt = {
  readonly file: string;
  readonly kind: Kind;
  readonly name: string;
  readonly markdown: Markdown;
};

/** What Claude Code reads, and as what; other fields are whatever a plugin makes of them. */
const FIELDS = new Map(Object.entries(fields));
const FITS: Record<string, (value: unknown) => boolean> = {
  text: (value) => typeof value === "string",
  flag: (value) => typeof value === "boolean",
  number: (value) => Number.isInteger(value) && Number(value) > 0,
  any: () => true,
};
const plain = (key: string): string => key.toLowerCase().replaceAll(/[-_]/g, "");
const MEANT = new Map(Object.keys(fields).map((key) => [plain(key), key]));
/** Claude Code takes these from a person's own agents only. */
const IGNORED_IN_PLUGIN_AGENTS = ["hooks", "mcpServers", "permissionMode"];
const MAX_DESCRIPTION = 1024;

/**
 * Checks one prompt's text.
 * @param base the name that its place gives it: the file's without `.md`, a skill's folder; empty where the place gives none
 * @returns its findings, and the prompt where it can be read
 */
export function checkPrompt(
  text: string,
  file: string,
  kind: Kind,
  base: string,
  inPlugin: boolean,
) {
  let markdown: Markdown;
  try {
    markdown = readMarkdown(text, "");
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const [, line, why] = /^:(\d+): ([\s\S]*)$/.exec(error.message) ?? [];
    return {
      findings: [
        finding("frontmatter", file, { why, hint: error.hint }, Number(line), "frontmatter"),
      ],
    };
  }
  const { data, lineOf } = markdown;
  const { name, description } = data;
  const findings: Finding[] = [];
  const add = (code: Code, field: string, values: object = {}): void => {
    const all = {
      key: field,
      value: JSON.stringify(data[field]),
      base,
      name,
      most: MAX_DESCRIPTION,
      ...values,
    };
    findings.push(finding(code, file, all, lineOf([field]), field));
  };
  if (text.trim() === "") add("empty", "frontmatter");
  else if (Object.keys(data).length === 0) add("no-frontmatter", "frontmatter");
  else {
    if (text.startsWith("\uFEFF")) add("byte-order-mark", "frontmatter");
    if (kind === "agent" && name === undefined) add("no-name", "name");
    if (description === undefined || description === "") add("no-description", "description");
  }
  for (const [key, value] of Object.entries(data)) {
    const type = FIELDS.get(key);
    const meant = MEANT.get(plain(key));
    const source = text.split("\n")[lineOf([key]) - 1] ?? "";
    if (!type && meant) add("misspelt-field", key, { meant });
    if (type && !FITS[type]?.(value)) add(`not-${type}` as Code, key);
    else if (type === "text" && /:\s*(y|n|yes|no|on|off)\s*$/i.test(source))
      add("yaml-trap", key, { value });
    if (inPlugin && kind === "agent" && IGNORED_IN_PLUGIN_AGENTS.includes(key))
      add("ignored-field", key);
  }
  const given = typeof name === "string" ? name : undefined;
  if (given !== undefined && !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(given)) add("bad-name", "name");
  else if (given !== undefined && base !== "" && given !== base) add("name-differs", "name");
  const { length } = String(description);
  if (length > MAX_DESCRIPTION) add("long-description", "description", { length });
  const prompt: Prompt = {
    file,
    kind,
    name: kind === "agent" || base === "" ? (given ?? base) : base,
    markdown,
  };
  return { findings, prompt };
}

/** Checks that need all prompts of a folder: names twice, and names in prompts that nothing
 * carries. */
export function checkTogether(prompts: readonly Prompt[], plugin: string | undefined): Finding[] {
  const findings: Finding[] = [];
  const seen = new Map<string, string>();
  for (const { file, kind, name, markdown } of prompts) {
    // A command and a skill share one list of names, agents have another.
    const key = `${kind === "agent"} ${name.toLowerCase()}`;
    const first = seen.get(key);
    if (first)
      findings.push(
        finding("duplicate-name", file, { name, first }, markdown.lineOf(["name"]), "name"),
      );
    else seen.set(key, file);
  }
  if (plugin === undefined) return findings;
  const own = new Set(prompts.map(({ name }) => name));
  const named = new RegExp(`(?<![\\w./:@-])${plugin}:([a-z0-9][a-z0-9-]*)`, "g");
  for (const { file, markdown } of prompts) {
    const check = (name: string, line: number): void => {
      if (!own.has(name)) findings.push(finding("unknown-reference", file, { name }, line));
    };
    const listed = [markdown.data.skills ?? []]
      .flat()
      .flatMap((names) => String(names).split(/[\s,]+/));
    for (const name of listed.map((name) =>
      name.startsWith(`${plugin}:`) ? name.slice(plugin.length + 1) : name,
    ))
      if (!name.includes(":")) check(name, markdown.lineOf(["skills"]));
    for (const [index, line] of markdown.body.split("\n").entries())
      for (const [, name = ""] of line.matchAll(named)) check(name, markdown.bodyLine + index);
  }
  return findings;
}

/** Checks that what a manifest, a marketplace or hooks name is there: whether its schema is kept,
 * Claude Code checks. */
export function checkConfig(
  text: string,
  file: string,
  isThere: (path: string) => boolean,
): Finding[] {
  const lineAt = (position: number): number => text.slice(0, position).split("\n").length;
  try {
    JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    const why = (error as Error).message.split("\n")[0] ?? "";
    return [
      finding(
        "not-json",
        file,
        { why },
        lineAt(Number(/position (\d+)/.exec(why)?.[1] ?? text.length)),
        "json",
      ),
    ];
  }
  const named = /\$\{?CLAUDE_PLUGIN_ROOT\}?(?:\\?["'])?\/([\w./-]+)|"source"\s*:\s*"(\.\/[^"]+)"/g;
  return [...text.matchAll(named)].flatMap(({ 1: used, 2: source, index }) => {
    const path = used ?? source ?? "";
    return isThere(path) ? [] : [finding("missing-file", file, { path }, lineAt(index))];
  });
}
