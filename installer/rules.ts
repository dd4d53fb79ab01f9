import { type Markdown, readMarkdown } from "../rails/blueprint/markdown.ts";
import { Fault } from "../rails/fault.ts";
import fields from "./fields.json" with { type: "json" };
import { type Code, type Finding, finding } from "./finding.ts";

export type Kind = "agent" | "command" | "skill";

/** A prompt that can be read, as the checks of a whole folder need it. */
export interface Prompt {
  readonly file: string;
  readonly kind: Kind;
  /** The name under which it loads. */
  readonly name: string;
  readonly markdown: Markdown;
}

export interface Checked {
  readonly findings: Finding[];
  readonly prompt?: Prompt;
}

/** What Claude Code reads, and as what; other fields are whatever a plugin makes of them. */
const FIELDS = new Map(Object.entries(fields));
const plain = (key: string): string => key.toLowerCase().replaceAll(/[-_]/g, "");
const MEANT = new Map(Object.keys(fields).map((key) => [plain(key), key]));
/** Claude Code takes these from a person's own agents only. */
const IGNORED_IN_PLUGIN_AGENTS = ["hooks", "mcpServers", "permissionMode"];
const MAX_DESCRIPTION = 1024;
/** After compaction 5,000 tokens of a prompt come back; a token is about four characters. */
const MAX_PROMPT = 20_000;

/**
 * Checks one prompt's text.
 * @param base the name that its place gives it: the file's without `.md`, a skill's folder; empty where the place gives none
 * @returns its findings, and the prompt where it can be read
 */
export function checkPrompt(text: string, file: string, kind: Kind, base: string, inPlugin: boolean): Checked {
  let markdown: Markdown;
  try {
    markdown = readMarkdown(text, "");
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const { message, hint } = error;
    const [, line, why = message] = /^:(\d+): ([\s\S]*)$/.exec(message) ?? [];
    return { findings: [finding("frontmatter", file, { why, hint }, Number(line ?? 1), "frontmatter")] };
  }
  const { data, body, bodyLine, lineOf } = markdown;
  const findings: Finding[] = [];
  const add = (code: Code, field: string, values: object = {}): void => {
    const all = { key: field, value: JSON.stringify(data[field]), base, ...values };
    findings.push(finding(code, file, all, lineOf([field]), field));
  };
  const inBody = (code: Code, index: number, values: object = {}): void =>
    void findings.push(finding(code, file, values, bodyLine + index));
  const { name, description } = data;
  const isAgent = kind === "agent";
  if (text.trim() === "") add("empty", "frontmatter");
  else if (Object.keys(data).length === 0) add("no-frontmatter", "frontmatter");
  else {
    if (text.startsWith("\uFEFF")) add("byte-order-mark", "frontmatter");
    if (isAgent && name === undefined) add("no-name", "name");
    if (description === undefined || description === "") add("no-description", "description");
  }
  for (const [key, value] of Object.entries(data)) {
    const [type, meant] = [FIELDS.get(key), MEANT.get(plain(key))];
    const source = text.split("\n")[lineOf([key]) - 1] ?? "";
    if (!type && meant) add("misspelt-field", key, { meant });
    if (type === "flag" && typeof value !== "boolean") add("not-a-flag", key);
    if (type === "number" && !(Number.isInteger(value) && Number(value) > 0)) add("not-a-number", key);
    if (type === "text" && typeof value !== "string") add("not-text", key);
    else if (type === "text" && /:\s*(y|n|yes|no|on|off)\s*$/i.test(source)) add("yaml-trap", key, { value });
    if (inPlugin && isAgent && IGNORED_IN_PLUGIN_AGENTS.includes(key)) add("ignored-field", key);
  }
  const given = typeof name === "string" ? name : undefined;
  if (given !== undefined && !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(given)) add("bad-name", "name", { name });
  else if (given !== undefined && base !== "" && given !== base) add("name-differs", "name", { name });
  if (String(description).length > MAX_DESCRIPTION)
    add("long-description", "description", { length: String(description).length, most: MAX_DESCRIPTION });
  if (body.length > MAX_PROMPT) inBody("long-prompt", 0, { length: body.length, most: MAX_PROMPT });
  for (const [index, line] of body.split("\n").entries())
    if (/^\s*!`[^`]*\$(ARGUMENTS|\d)/.test(line)) inBody("shell-arguments", index);
  return { findings, prompt: { file, kind, name: isAgent || base === "" ? (given ?? base) : base, markdown } };
}

/** Checks that need all prompts of a folder: names twice, and names in prompts that nothing carries. */
export function checkTogether(prompts: readonly Prompt[], plugin: string | undefined): Finding[] {
  const findings: Finding[] = [];
  const seen = new Map<string, string>();
  for (const { file, kind, name, markdown } of prompts) {
    // A command and a skill share one list of names, agents have another.
    const key = `${kind === "agent"} ${name.toLowerCase()}`;
    const first = seen.get(key);
    if (first) findings.push(finding("duplicate-name", file, { name, first }, markdown.lineOf(["name"]), "name"));
    else seen.set(key, file);
  }
  if (plugin === undefined) return findings;
  const own = new Set(prompts.map(({ name }) => name));
  const named = new RegExp(`(?<![\\w./:@-])${plugin}:([a-z0-9][a-z0-9-]*)`, "g");
  for (const { file, markdown } of prompts) {
    const check = (name: string, line: number): void => {
      if (!own.has(name)) findings.push(finding("unknown-reference", file, { name }, line));
    };
    const listed = [markdown.data.skills ?? []].flat().flatMap((names) => String(names).split(/[\s,]+/));
    for (const name of listed.map((name) => (name.startsWith(`${plugin}:`) ? name.slice(plugin.length + 1) : name)))
      if (!name.includes(":")) check(name, markdown.lineOf(["skills"]));
    for (const [index, line] of markdown.body.split("\n").entries())
      for (const [, name = ""] of line.matchAll(named)) check(name, markdown.bodyLine + index);
  }
  return findings;
}

/**
 * Checks of a manifest, a marketplace or hooks what its schema, which Claude Code checks, does not say: that what they name is there.
 * @param isThere whether a path below the plugin exists
 */
export function checkConfig(text: string, file: string, isThere: (path: string) => boolean): Finding[] {
  const lineAt = (position: number): number => text.slice(0, position).split("\n").length;
  const findings: Finding[] = [];
  const walk = (part: unknown, key: string): void => {
    if (part && typeof part === "object") for (const [below, child] of Object.entries(part)) walk(child, below);
    if (typeof part !== "string") return;
    const named = [...part.matchAll(/\$\{?CLAUDE_PLUGIN_ROOT\}?["']?\/([\w./-]+)/g)].map(([, path = ""]) => path);
    const plugins = key === "source" && part.startsWith("./") ? [part] : [];
    for (const path of [...named, ...plugins].filter((path) => !isThere(path)))
      findings.push(finding("missing-file", file, { path }, lineAt(text.indexOf(path))));
  };
  try {
    walk(JSON.parse(text.replace(/^\uFEFF/, "")), "");
  } catch (error) {
    const why = (error as Error).message.split("\n")[0] ?? "";
    const at = Number(/position (\d+)/.exec(why)?.[1] ?? text.length);
    findings.push(finding("not-json", file, { why }, lineAt(at), "json"));
  }
  return findings;
}
