import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readMarkdown } from "../../rails/blueprint/markdown.ts";
import { readHeader } from "../../rails/plan/header.ts";

const ROOT = join(import.meta.dirname, "../..");
const ASSETS = join(ROOT, "assets");
const files = readdirSync(ASSETS, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".md"));
const read = (path: string) => readMarkdown(readFileSync(join(ASSETS, path), "utf8"), path);
const help = execFileSync(process.execPath, [join(ASSETS, "bin/minion"), "--help"], { encoding: "utf8" });
const commands = [...help.matchAll(/^ {2}([a-z]+)(?= )/gm)].map(([, name]) => name);

/** What the rails read and no model. */
const DATA = ["toolchains", "patterns", "prices"].map((name) => `skills/minion-blueprint/${name}.md`);

/** About tokens (characters / 4), a ratchet: a prompt that grows over this has to give a reason. */
const SIZES: Record<string, number> = {
  "commands/minion.md": 1220,
  "commands/board.md": 80,
  "agents/minion-worker.md": 440,
  "agents/minion-verifier.md": 480,
  "skills/minion-blueprint/SKILL.md": 710,
  "skills/minion-blueprint/workflows/quick.md": 40,
  "skills/minion-blueprint/workflows/default.md": 120,
  "skills/minion-blueprint/workflows/tdd.md": 240,
  "skills/minion-blueprint/workflows/secure.md": 290,
  "skills/minion-overlays/SKILL.md": 160,
  "skills/minion-overlays/backend-architect.md": 250,
  "skills/minion-overlays/debugger.md": 250,
  "skills/minion-overlays/tdd-developer.md": 250,
  "skills/minion-overlays/code-reviewer.md": 250,
  "skills/minion-overlays/data-engineer.md": 250,
  "skills/minion-overlays/devops-engineer.md": 250,
  "skills/minion-overlays/frontend-architect.md": 250,
  "skills/minion-overlays/researcher.md": 250,
  "skills/minion-overlays/security-auditor.md": 250,
  "skills/minion-overlays/security-engineer.md": 250,
  "skills/minion-overlays/tech-writer.md": 250,
  "skills/minion-blueprint/guides/collisions.md": 850,
  "skills/minion-blueprint/guides/delivery.md": 720,
  "skills/minion-blueprint/guides/forms.md": 1010,
  "skills/minion-blueprint/guides/tickets.md": 920,
};

describe.each(files.filter((path) => !DATA.includes(path)))("%s", (path) => {
  const { data, body } = read(path);
  test("names only commands that there are", () => {
    const named = [...body.matchAll(/`!? ?minion ([a-z]+)/g)].map(([, name]) => name);
    for (const name of named) expect(commands).toContain(name);
  });
  test("is no larger than agreed", () => {
    expect(SIZES[path]).toBeDefined();
    expect(readFileSync(join(ASSETS, path), "utf8").length / 4).toBeLessThanOrEqual(SIZES[path] ?? 0);
  });
  test("has a name like its file, and a description of one clause", () => {
    if (/minion-overlays|guides|workflows/.test(path) && !path.endsWith("SKILL.md")) {
      expect(typeof data.when).toBe("string");
      return;
    }
    const name = path.endsWith("SKILL.md") ? path.split("/").at(-2) : path.split("/").at(-1)?.replace(".md", "");
    expect(data.name).toBe(name);
    expect(String(data.description).length).toBeLessThan(120);
  });
});

test("states and reasons that prompts name are the journal's", () => {
  const source = readFileSync(join(ROOT, "rails/record/events.ts"), "utf8");
  for (const path of ["commands/minion.md", "agents/minion-worker.md"])
    for (const [, word] of read(path).body.matchAll(/`([a-z]+-[a-z]+)`/g)) expect(source).toContain(`"${word}"`);
});

test("every guide is named by the orchestrator, and none that there is not", () => {
  const named = [...read("commands/minion.md").body.matchAll(/`minion guide ([a-z]+)`/g)].map(([, name]) => name);
  const there = readdirSync(join(ASSETS, "skills/minion-blueprint/guides"));
  expect(named.sort()).toEqual(there.map((file) => file.replace(".md", "")).sort());
});

test("what a guide shows as the head of a list is read as that", () => {
  const [, example = ""] = /```\n(---[\s\S]*?)```/.exec(read("skills/minion-blueprint/guides/tickets.md").body) ?? [];
  const { header, findings } = readHeader(example);
  expect(findings).toEqual([]);
  const text = expect.stringMatching(/./);
  expect(header).toMatchObject({ goal: text, success: text, tools: { lint: text, test: text } });
});

test("the orchestrator is whole without its commands: each phase says what it is for", () => {
  const lines = read("commands/minion.md").body.split("\n");
  const rest = lines.map((line) => line.replaceAll(/`minion [^`]*`/g, "")).join("\n");
  for (const heading of ["Boundaries", "The list", "The plan", "The run", "The report"]) {
    const part = rest.split(/^## /m).find((each) => each.includes(heading)) ?? "";
    expect(part.split(/\s+/).length).toBeGreaterThan(25);
  }
});

test("no prompt has a merge run: where one is named, it is said whose it is", () => {
  const merge = /\b(minion|git|gh pr) merge\b/;
  for (const path of files) {
    const { data, body } = read(path);
    for (const [block] of body.matchAll(/^```[\s\S]*?^```$/gm)) expect(block).not.toMatch(merge);
    for (const line of body.split("\n")) if (merge.test(line)) expect(line).toMatch(/\*\*Merging\*\* is the person's/);
    expect(String(data["allowed-tools"] ?? "")).not.toMatch(merge);
  }
});

test("no sentence stands in two prompts", () => {
  const seen = new Map<string, string>();
  for (const path of files)
    for (const sentence of read(path).body.split(/(?<=[.:!?])\s+|\n/)) {
      const plain = sentence.trim();
      if (plain.split(" ").length < 7 || plain.startsWith("|")) continue;
      expect(seen.get(plain) ?? path).toBe(path);
      seen.set(plain, path);
    }
});

test("the plugin, the package and the marketplace carry one version", () => {
  const json = (path: string) => JSON.parse(readFileSync(join(ROOT, path), "utf8"));
  expect(json("assets/.claude-plugin/plugin.json").version).toBe(json("package.json").version);
});
