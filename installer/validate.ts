import { isUtf8 } from "node:buffer";
import { readFileSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { Command } from "commander";
import { EXIT, Fault } from "../rails/fault.ts";
import { askValidate, findClaude } from "./claude.ts";
import { type Code, type Finding, finding } from "./finding.ts";
import { jsonOption } from "./options.ts";
import { print, printFindings, printJson } from "./output.ts";
import { here, type Surroundings } from "./paths.ts";
import { checkConfig, checkPrompt, checkTogether, type Kind, type Prompt } from "./rules.ts";
import { exists, namesIn } from "./scan.ts";

export interface Validation {
  readonly version: 1;
  readonly path: string;
  /** How many files were checked. */
  readonly files: number;
  /** Whether Claude Code was asked too. */
  readonly claude: boolean;
  readonly findings: readonly Finding[];
}

/** `minion-toolkit validate` */
export function validateCommand(program: Command): void {
  program
    .command("validate")
    .argument("[path]", "a plugin, a marketplace, a .claude folder, a repository, or one file", ".")
    .description("check commands, agents, skills and hooks as Claude Code reads them")
    .addOption(jsonOption())
    .action(async (path: string, flags: { json?: boolean }) => {
      const result = await validate(path, here());
      const { files, findings, claude } = result;
      if (flags.json) printJson(result);
      else {
        printFindings(findings);
        const asked = claude ? "Claude Code's own checks among them" : "Claude Code could not be asked";
        print(`${files} files checked, ${findings.length} findings; ${asked}`);
      }
      process.exitCode = findings.length > 0 ? EXIT.refused : EXIT.done;
    });
}

/**
 * Checks a plugin, a marketplace, a `.claude` folder, a repository that has one, or a single file, as Claude Code would read it.
 * Where the client is on PATH, its findings are added to ours, except those on a field that has one of ours.
 * @throws Fault `not-found` where there is no such path, `usage` where there is nothing in it to check
 */
export async function validate(path: string, at: Surroundings): Promise<Validation> {
  if (!statSync(path, { throwIfNoEntry: false }))
    throw new Fault("not-found", `${path} does not exist`, "check the path", EXIT.usage);
  const checked = new Set<string>();
  const ours = rootsOf(path).flatMap((root) => checkFolder(root, checked));
  const hint = "give a plugin, a .claude folder, or a file of one";
  if (checked.size === 0) throw new Fault("usage", `${path} holds nothing that Claude Code loads`, hint, EXIT.usage);
  const claude = findClaude(at);
  const theirs = claude === undefined ? undefined : await askValidate(claude, path, at);
  const known = ({ file, field }: Finding): boolean =>
    ours.some((our) => resolve(our.file) === resolve(file) && (our.field === field || our.field === "frontmatter"));
  const findings = [...ours, ...(theirs ?? []).filter((finding) => !known(finding))];
  findings.sort((a, b) => a.file.localeCompare(b.file) || (a.line ?? 0) - (b.line ?? 0));
  return { version: 1, path, files: checked.size, claude: theirs !== undefined, findings };
}

/** The folders, or the one file, that a path stands for. */
function rootsOf(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  const { plugins } = jsonIn(join(path, ".claude-plugin/marketplace.json"));
  const sources = Array.isArray(plugins) ? plugins.map((plugin) => plugin?.source) : [];
  const folders = [".claude", ...sources.filter((source) => typeof source === "string")].map((part) =>
    join(path, part),
  );
  return [path, ...folders.filter((folder) => exists(folder) && resolve(folder) !== resolve(path))];
}

/**
 * Checks one folder or file by our own rules; every file, also where one is broken.
 * @param checked takes the paths of the files that were looked at
 */
export function checkFolder(root: string, checked: Set<string> = new Set()): Finding[] {
  const findings: Finding[] = [];
  const prompts: Prompt[] = [];
  const manifest = ".claude-plugin/plugin.json";
  const inPlugin = [root, dirname(dirname(resolve(root)))].some((folder) => exists(join(folder, manifest)));
  const look = (file: string, check: (text: string) => Finding[]): void => {
    checked.add(file);
    const text = textIn(file);
    findings.push(...(typeof text === "string" ? check(text) : [text]));
  };
  const prompt = (file: string, kind: Kind, base: string): void =>
    look(file, (text) => {
      const result = checkPrompt(text, file, kind, base, inPlugin);
      if (result.prompt) prompts.push(result.prompt);
      return result.findings;
    });
  const config = (file: string): void => {
    const plugin = dirname(dirname(resolve(file)));
    if (exists(file)) look(file, (text) => checkConfig(text, file, (path) => exists(join(plugin, path))));
  };

  if (!statSync(root).isDirectory()) {
    const folder = basename(dirname(resolve(root)));
    if (root.endsWith(".json")) config(root);
    else if (basename(root) === "SKILL.md") prompt(root, "skill", folder);
    else prompt(root, folder === "agents" ? "agent" : "command", basename(root, ".md"));
    return findings;
  }
  for (const path of [manifest, ".claude-plugin/marketplace.json", "hooks/hooks.json"]) config(join(root, path));
  if (exists(join(root, "SKILL.md"))) prompt(join(root, "SKILL.md"), "skill", "");
  for (const kind of ["agent", "command"] as const)
    for (const file of markdownIn(join(root, `${kind}s`))) prompt(file, kind, basename(file, ".md"));
  for (const name of namesIn(join(root, "skills")).filter((name) => !name.startsWith("."))) {
    const folder = join(root, "skills", name);
    const inside = namesIn(folder);
    if (inside.includes("SKILL.md")) prompt(join(folder, "SKILL.md"), "skill", name);
    else if (!inside.includes(".claude-plugin")) findings.push(finding("no-skill", folder));
  }
  const { name } = jsonIn(join(root, manifest));
  return [...findings, ...checkTogether(prompts, typeof name === "string" && /^[\w-]+$/.test(name) ? name : undefined)];
}

/** All `.md` below a folder. A folder called `x.md` is among them: that it is one is found when it is read. */
const markdownIn = (folder: string): string[] =>
  namesIn(folder).flatMap((name) => (name.endsWith(".md") ? [join(folder, name)] : markdownIn(join(folder, name))));

function textIn(file: string): string | Finding {
  const wrong = (code: Code, values = {}): Finding => finding(code, file, values, 1, "frontmatter");
  try {
    if (statSync(file).isDirectory()) return wrong("folder");
    const bytes = readFileSync(file);
    return isUtf8(bytes) && !bytes.includes(0) ? bytes.toString("utf8") : wrong("binary");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return wrong("unreadable", { why: code === "ENOENT" ? "a link that leads nowhere" : code });
  }
}

/** A JSON file's object; what is wrong with it is found where the file itself is checked. */
function jsonIn(file: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    return {};
  }
}
