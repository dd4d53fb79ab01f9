import { readAsClient } from "../rails/blueprint/as-client.ts";
import type { Markdown } from "../rails/blueprint/markdown.ts";
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

/** A prompt's text, and where it lies. */
export type Source = Readonly<{
  text: string;
  file: string;
  kind: Kind;
  /** The name that its place gives it: the file's without `.md`, a skill's folder; empty where the
   * place gives none. */
  base: string;
  inPlugin: boolean;
}>;

/** Checks one prompt's text.
 * @returns its findings, and the prompt where it can be read */
export function checkPrompt(source: Source): { findings: Finding[]; prompt?: Prompt } {
  const { text, file, kind, base } = source;
  let markdown: Markdown;
  try {
    markdown = readAsClient(text, "");
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const [, line, why] = /^:(\d+): ([\s\S]*)$/.exec(error.message) ?? [];
    const values = { why, hint: error.hint };
    return { findings: [finding("frontmatter", file, values, Number(line), "frontmatter")] };
  }
  const { data, lineOf } = markdown;
  const { name } = data;
  const findings: Finding[] = [];
  const fixed = { base, name, most: MAX_DESCRIPTION };
  const add: Add = (code, field, values = {}) => {
    const all = { key: field, value: JSON.stringify(data[field]), ...fixed, ...values };
    findings.push(finding(code, file, all, lineOf([field]), field));
  };
  checkPresence(source, data, add);
  checkFields(source, markdown, add);
  const given = typeof name === "string" ? name : undefined;
  checkName(kind, given, base, add);
  const { length } = String(data.description);
  if (length > MAX_DESCRIPTION) add("long-description", "description", { length });
  const loadsAs = kind === "agent" || base === "" ? (given ?? base) : base;
  return { findings, prompt: { file, kind, name: loadsAs, markdown } };
}

/** Takes down what is wrong with a field. */
type Add = (code: Code, field: string, values?: object) => void;
type Data = Markdown["data"];

/** Is there a frontmatter, and in it what Claude Code needs? */
function checkPresence({ text, kind }: Source, data: Data, add: Add): void {
  const { name, description } = data;
  if (text.trim() === "") add("empty", "frontmatter");
  else if (Object.keys(data).length === 0) add("no-frontmatter", "frontmatter");
  else {
    if (text.startsWith("\uFEFF")) add("byte-order-mark", "frontmatter");
    if (kind === "agent" && name === undefined) add("no-name", "name");
    if (description === undefined || description === "") add("no-description", "description");
  }
}

/** A word that YAML 1.1 took for true or false, bare behind a key. */
const BARE_FLAG = /:\s*(y|n|yes|no|on|off)\s*$/i;

/** Is each field one that is read, and of the type that is read? */
function checkFields({ text, kind, inPlugin }: Source, markdown: Markdown, add: Add): void {
  const lines = text.split("\n");
  for (const [key, value] of Object.entries(markdown.data)) {
    const type = FIELDS.get(key);
    const meant = MEANT.get(plain(key));
    const line = lines[markdown.lineOf([key]) - 1] ?? "";
    if (!type && meant) add("misspelt-field", key, { meant });
    if (type && !FITS[type]?.(value)) add(`not-${type}` as Code, key);
    const short = typeof value === "string" && shortened(lines, markdown.lineOf([key]) - 1, value);
    if (type === "text" && short) add("read-short", key, { value, short });
    else if (type === "text" && BARE_FLAG.test(line)) add("yaml-trap", key, { value });
    if (inPlugin && kind === "agent" && IGNORED_IN_PLUGIN_AGENTS.includes(key))
      add("ignored-field", key);
  }
}

/** What a line says behind its key, where YAML reads less of it: behind a ` #`, an `&name` or a
 * `!tag`. Null where a value is quoted, goes on below, or is read whole. */
function shortened(lines: readonly string[], at: number, value: string): string | null {
  const [, said = ""] = /^[\w-]+:[ \t]+(.*?)\s*$/.exec(lines[at] ?? "") ?? [];
  const goesOn = /^[ \t]+\S/.test(lines[at + 1] ?? "");
  if (goesOn || said === "" || /^["'|>]/.test(said) || said === value) return null;
  return said;
}

/** Is the name one that can be called, and the one that its place gives? Agents are called by their
 * names wherever they lie, skills by their folders. */
function checkName(kind: Kind, name: string | undefined, base: string, add: Add): void {
  if (name === undefined) return;
  if (kind === "agent") {
    if (!/^[\w.-]+$/.test(name)) add("bad-name", "name");
  } else if (base !== "" && name !== base && /^[a-z0-9-]+$/.test(name)) add("name-differs", "name");
}

/** Checks that need all prompts of a folder: names twice, and names in prompts that nothing
 * carries.
 * @param plugin the folder's name as a plugin, where it is one */
export function checkTogether(prompts: readonly Prompt[], plugin: string | undefined): Finding[] {
  const twice = checkTwice(prompts);
  return plugin === undefined ? twice : [...twice, ...checkReferences(prompts, plugin)];
}

/** Names that two prompts load under. */
function checkTwice(prompts: readonly Prompt[]): Finding[] {
  const findings: Finding[] = [];
  const seen = new Map<string, string>();
  for (const { file, kind, name, markdown } of prompts) {
    // A command and a skill share one list of names, agents have another.
    const key = `${kind === "agent"} ${name.toLowerCase()}`;
    const first = seen.get(key);
    if (first === undefined) seen.set(key, file);
    else {
      const line = markdown.lineOf(["name"]);
      findings.push(finding("duplicate-name", file, { name, first }, line, "name"));
    }
  }
  return findings;
}

/** Prompts of a plugin that are named in its prompts, and that it does not have. */
function checkReferences(prompts: readonly Prompt[], plugin: string): Finding[] {
  const findings: Finding[] = [];
  const own = new Set(prompts.map(({ name }) => name));
  const named = new RegExp(`(?<![\\w./:@-])${plugin}:([a-z0-9][a-z0-9-]*)`, "g");
  for (const { file, markdown } of prompts) {
    const check = (name: string, line: number): void => {
      if (!own.has(name)) findings.push(finding("unknown-reference", file, { name }, line));
    };
    for (const name of skillsIn(markdown)) {
      const local = name.startsWith(`${plugin}:`) ? name.slice(plugin.length + 1) : name;
      if (!local.includes(":")) check(local, markdown.lineOf(["skills"]));
    }
    for (const [index, line] of markdown.body.split("\n").entries())
      for (const [, name = ""] of line.matchAll(named)) check(name, markdown.bodyLine + index);
  }
  return findings;
}

/** The skills that a prompt asks for: a list, or a text with commas or spaces. */
const skillsIn = ({ data }: Markdown): string[] =>
  [data.skills ?? []].flat().flatMap((names) => String(names).split(/[\s,]+/));

/** A path below a plugin's own folder, as hooks name it. */
const BELOW_ROOT = /\$\{?CLAUDE_PLUGIN_ROOT\}?(?:\\?["'])?\/([\w./-]+)/;
/** A path beside a marketplace. */
const SOURCE = /"source"\s*:\s*"(\.\/[^"]+)"/;
const NAMED = new RegExp(`${BELOW_ROOT.source}|${SOURCE.source}`, "g");

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
    const position = Number(/position (\d+)/.exec(why)?.[1] ?? text.length);
    return [finding("not-json", file, { why }, lineAt(position), "json")];
  }
  const named = Array.from(text.matchAll(NAMED), ({ 1: below, 2: beside, index }) => ({
    path: below ?? beside ?? "",
    index,
  }));
  return named
    .filter(({ path }) => !isThere(path))
    .map(({ path, index }) => finding("missing-file", file, { path }, lineAt(index)));
}
