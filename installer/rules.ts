import { type Markdown, readMarkdown } from "../rails/blueprint/markdown.ts";
import { Fault } from "../rails/fault.ts";
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

const words = (text: string): string[] => text.split(" ");
const TEXT = words(
  "name description argument-hint when_to_use model color effort agent context isolation memory permissionMode license version",
);
const FLAG = words("disable-model-invocation user-invocable background");
const OTHER = words(
  "allowed-tools disallowed-tools tools disallowedTools skills maxTurns hooks mcpServers paths shell metadata arguments initialPrompt",
);
const plain = (key: string): string => key.toLowerCase().replaceAll(/[-_]/g, "");
const KNOWN = new Map([...TEXT, ...FLAG, ...OTHER].map((key) => [plain(key), key]));
/** Spelt differently by commands and by agents; both are read. */
const KEYS = new Set([...TEXT, ...FLAG, ...OTHER]);
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
export function checkPrompt(
  text: string,
  file: string,
  kind: Kind,
  base: string,
  inPlugin: boolean,
): { findings: Finding[]; prompt?: Prompt } {
  let markdown: Markdown;
  try {
    markdown = readMarkdown(text, "");
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const [, line, why = error.message] = /^:(\d+): ([\s\S]*)$/.exec(error.message) ?? [];
    return {
      findings: [
        finding("frontmatter", file, { why, hint: error.hint }, { line: Number(line ?? 1), field: "frontmatter" }),
      ],
    };
  }
  const { data, body, bodyLine } = markdown;
  const findings: Finding[] = [];
  const add = (code: Code, field: string, values: Record<string, unknown> = {}): void => {
    findings.push(
      finding(
        code,
        file,
        { key: field, value: JSON.stringify(data[field]), base, ...values },
        { line: markdown.lineOf([field]), field },
      ),
    );
  };
  const { name, description, maxTurns } = data;
  if (text.trim() === "") add("empty", "frontmatter");
  else if (Object.keys(data).length === 0) add("no-frontmatter", "frontmatter");
  else {
    if (text.startsWith("\uFEFF")) add("byte-order-mark", "frontmatter");
    if (kind === "agent" && name === undefined) add("no-name", "name");
    if (description === undefined || description === "") add("no-description", "description");
    checkFields(markdown, text, add);
    for (const key of inPlugin && kind === "agent" ? IGNORED_IN_PLUGIN_AGENTS : [])
      if (key in data) add("ignored-field", key);
  }
  if (typeof name === "string" && !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name)) add("bad-name", "name", { name });
  else if (typeof name === "string" && base !== "" && name !== base) add("name-differs", "name", { name });
  if (typeof description === "string" && description.length > MAX_DESCRIPTION)
    add("long-description", "description", { length: description.length, most: MAX_DESCRIPTION });
  if (maxTurns !== undefined && !(Number.isInteger(maxTurns) && Number(maxTurns) > 0)) add("not-a-number", "maxTurns");
  if (body.length > MAX_PROMPT)
    findings.push(finding("long-prompt", file, { length: body.length, most: MAX_PROMPT }, { line: bodyLine }));
  for (const [index, line] of body.split("\n").entries())
    if (/^\s*!`[^`]*\$(ARGUMENTS|\d)/.test(line))
      findings.push(finding("shell-arguments", file, {}, { line: bodyLine + index }));
  const named = typeof name === "string" && (kind === "agent" || base === "") ? name : base;
  return { findings, prompt: { file, kind, name: named, markdown } };
}

function checkFields(
  { data, lineOf }: Markdown,
  text: string,
  add: (code: Code, field: string, values?: Record<string, unknown>) => void,
): void {
  const lines = text.split("\n");
  for (const [key, value] of Object.entries(data)) {
    const meant = KNOWN.get(plain(key));
    if (meant !== undefined && !KEYS.has(key)) add("misspelt-field", key, { meant });
    if (FLAG.includes(key) && typeof value !== "boolean") add("not-a-flag", key);
    if (TEXT.includes(key) && typeof value !== "string") add("not-text", key);
    else if (TEXT.includes(key) && /:\s*(y|n|yes|no|on|off)\s*$/i.test(lines[lineOf([key]) - 1] ?? ""))
      add("yaml-trap", key, { value });
  }
}

/** Checks that need all prompts of a folder: names twice, and names in prompts that nothing carries. */
export function checkTogether(prompts: readonly Prompt[], plugin: string | undefined): Finding[] {
  const findings: Finding[] = [];
  const seen = new Map<string, Prompt>();
  for (const prompt of prompts) {
    // A command and a skill share one list of names, agents have another.
    const key = `${prompt.kind === "agent"} ${prompt.name.toLowerCase()}`;
    const first = seen.get(key);
    const at = { line: prompt.markdown.lineOf(["name"]), field: "name" };
    if (first) findings.push(finding("duplicate-name", prompt.file, { name: prompt.name, first: first.file }, at));
    else seen.set(key, prompt);
  }
  if (plugin === undefined) return findings;
  const own = new Set(prompts.map(({ name }) => name));
  const named = new RegExp(`(?<![\\w./:@-])${plugin}:([a-z0-9][a-z0-9-]*)`, "g");
  for (const { file, markdown } of prompts) {
    const check = (name: string, line: number): void => {
      if (!own.has(name)) findings.push(finding("unknown-reference", file, { name }, { line }));
    };
    const { skills } = markdown.data;
    for (const name of Array.isArray(skills) ? skills : typeof skills === "string" ? skills.split(/[\s,]+/) : []) {
      const local = String(name).startsWith(`${plugin}:`) ? String(name).slice(plugin.length + 1) : String(name);
      if (!local.includes(":")) check(local, markdown.lineOf(["skills"]));
    }
    for (const [index, line] of markdown.body.split("\n").entries())
      for (const [, name = ""] of line.matchAll(named)) check(name, markdown.bodyLine + index);
  }
  return findings;
}

/** Checks a manifest, a marketplace or hooks beyond what its schema says, which Claude Code checks: that what they name is there. */
export function checkConfig(text: string, file: string, isThere: (path: string) => boolean): Finding[] {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    const why = (error as Error).message.split("\n")[0] ?? "";
    const at = /position (\d+)/.exec(why)?.[1];
    return [
      finding(
        "not-json",
        file,
        { why },
        { line: text.slice(0, at === undefined ? text.length : Number(at)).split("\n").length, field: "json" },
      ),
    ];
  }
  const paths = new Set<string>();
  const walk = (part: unknown, key: string): void => {
    if (typeof part === "string") {
      if (key === "source" && part.startsWith("./")) paths.add(`${part}/.claude-plugin/plugin.json`);
      for (const [, path = ""] of part.matchAll(/\$\{?CLAUDE_PLUGIN_ROOT\}?["']?\/([\w./-]+)/g)) paths.add(path);
    } else if (part && typeof part === "object") for (const [below, child] of Object.entries(part)) walk(child, below);
  };
  walk(value, "");
  const lineOf = (path: string): number =>
    text.split("\n").findIndex((line) => line.includes(path.replace(/\/\.claude-plugin.*/, ""))) + 1;
  return [...paths]
    .filter((path) => !isThere(path))
    .map((path) => finding("missing-file", file, { path }, { line: lineOf(path) }));
}
