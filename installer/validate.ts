import { isUtf8 } from "node:buffer";
import { readFileSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { EXIT, Fault } from "../rails/program/fault.ts";
import { askValidate, findClaude } from "./claude.ts";
import { type Code, type Finding, finding } from "./finding.ts";
import { pagesIn } from "./pages.ts";
import type { Surroundings } from "./paths.ts";
import { checkConfig, checkPrompt, checkTogether, type Kind, type Prompt } from "./rules.ts";
import { exists, jsonIn, namesIn } from "./scan.ts";

const MANIFEST = ".claude-plugin/plugin.json";
const MARKETPLACE = ".claude-plugin/marketplace.json";

/** Checks a plugin, a marketplace, a `.claude` folder, or a repository that has one, as Claude Code
 * would read it. Where the client is on PATH, its findings are added to ours, except those on a
 * field that has one of ours.
 * @returns the findings by file and line, how many files were looked at, and whether the client was
 *   asked
 * @throws Fault `not-found` where there is no such path, `usage` where there is nothing in it to
 *   check */
export async function validate(path: string, at: Surroundings) {
  if (!statSync(path, { throwIfNoEntry: false }))
    throw new Fault("not-found", `${path} does not exist`, "check the path", EXIT.usage);
  const checked = new Set<string>();
  const roots = rootsOf(path);
  const ours = roots.flatMap((root) => checkFolder(root, checked));
  for (const root of roots)
    ours.push(
      ...(await pagesIn(join(root, "minion"))),
      ...(await pagesIn(join(root, "skills"), true)),
    );
  if (checked.size === 0) {
    const hint = "give a plugin, a marketplace or a .claude folder";
    throw new Fault("usage", `${path} holds nothing that Claude Code loads`, hint, EXIT.usage);
  }
  const claude = findClaude(at);
  const theirs = claude === undefined ? undefined : await askValidate(claude, path, at);
  const isKnown = ({ file, field }: Finding): boolean =>
    ours
      .filter((our) => resolve(our.file) === resolve(file))
      .some((our) => our.field === field || our.field === "frontmatter");
  const findings = [...ours, ...(theirs ?? []).filter((finding) => !isKnown(finding))];
  findings.sort((a, b) => a.file.localeCompare(b.file) || (a.line ?? 0) - (b.line ?? 0));
  return { path, files: checked.size, claude: theirs !== undefined, findings };
}

/** The folders that a path stands for: itself, a repository's `.claude`, a marketplace's plugins,
 * those among the skills. */
function rootsOf(path: string): string[] {
  const { plugins } = jsonIn(join(path, MARKETPLACE));
  const sources = Array.isArray(plugins) ? plugins.map((plugin) => plugin?.source) : [];
  const nested = namesIn(join(path, "skills")).map((name) => join("skills", name));
  const inside = [
    ".claude",
    ...sources,
    ...nested.filter((part) => exists(join(path, part, MANIFEST))),
  ];
  const folders = inside.filter((part) => typeof part === "string").map((part) => join(path, part));
  return [path, ...folders.filter((folder) => exists(folder) && resolve(folder) !== resolve(path))];
}

/** Checks one folder by our own rules; every file, also where one is broken.
 * @param checked takes the paths of the files that were looked at */
export function checkFolder(root: string, checked: Set<string> = new Set()): Finding[] {
  const findings: Finding[] = [];
  const prompts: Prompt[] = [];
  const inPlugin = exists(join(root, MANIFEST));
  for (const { kind, file, base } of partsOf(root)) {
    if (kind === "skill" && !exists(file)) {
      findings.push(finding("no-skill", dirname(file)));
      continue;
    }
    checked.add(file);
    const text = textIn(file);
    if (typeof text !== "string") findings.push(text);
    else if (kind === "config") {
      const top = dirname(dirname(resolve(file)));
      findings.push(...checkConfig(text, file, (path) => exists(join(top, path))));
    } else {
      const { findings: more, prompt } = checkPrompt({ text, file, kind, base, inPlugin });
      findings.push(...more);
      if (prompt) prompts.push(prompt);
    }
  }
  const { name } = jsonIn(join(root, MANIFEST));
  const plugin = typeof name === "string" && /^[\w-]+$/.test(name) ? name : undefined;
  return [...findings, ...checkTogether(prompts, plugin)];
}

/** What there is to check: as what, the file, and the name that its place gives it. */
type Part = Readonly<{ kind: Kind | "config"; file: string; base: string }>;

/** The parts of a folder. A skill's file may be missing. */
function partsOf(root: string): Part[] {
  const there = (kind: "config" | "skill", ...paths: string[]): Part[] =>
    paths.map((path) => ({ kind, file: join(root, path), base: "" })).filter(isThere);
  const loose = (kind: "agent" | "command"): Part[] =>
    markdownIn(join(root, `${kind}s`)).map((file) => ({
      kind,
      file,
      base: basename(file, ".md"),
    }));
  const isSkill = (name: string): boolean =>
    !name.startsWith(".") && !exists(join(root, "skills", name, ".claude-plugin"));
  const skills = namesIn(join(root, "skills")).filter(isSkill);
  return [
    ...there("config", MANIFEST, MARKETPLACE, "hooks/hooks.json"),
    ...there("skill", "SKILL.md"),
    ...loose("agent"),
    ...loose("command"),
    ...skills.map(
      (name): Part => ({ kind: "skill", file: join(root, "skills", name, "SKILL.md"), base: name }),
    ),
  ];
}

const isThere = ({ file }: Part): boolean => exists(file);

/** All `.md` below a folder. A folder called `x.md` is among them: that it is one is found when it
 * is read. */
const markdownIn = (folder: string): string[] =>
  namesIn(folder).flatMap((name) =>
    name.endsWith(".md") ? [join(folder, name)] : markdownIn(join(folder, name)),
  );

/** A file's text, or why it cannot be read. */
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
