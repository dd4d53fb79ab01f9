import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readMarkdown } from "../../rails/blueprint/markdown.ts";
import { readWorkflow } from "../../rails/blueprint/workflow.ts";
import { REASONS, STATES } from "../../rails/journal/shapes.ts";
import { readHeader } from "../../rails/plan/header.ts";
import { Scene } from "../cli/rails/scene.ts";
import { faultOf, invocationsIn } from "./invocations.ts";

const ROOT = join(import.meta.dirname, "../..");
const ASSETS = join(ROOT, "assets");
const files = readdirSync(ASSETS, { recursive: true, encoding: "utf8" }).filter((path) =>
  path.endsWith(".md"),
);
const read = (path: string) => readMarkdown(readFileSync(join(ASSETS, path), "utf8"), path);
const named = (folder: string) =>
  files.flatMap((path) =>
    path.startsWith(`${folder}/`) && !path.endsWith("SKILL.md") ? [nameOf(path)] : [],
  );
const nameOf = (path: string) => path.split("/").at(-1)?.replace(".md", "") ?? "";

/** What the rails read and no model. */
const DATA = ["toolchains", "patterns", "prices"].map(
  (name) => `skills/minion-blueprint/${name}.md`,
);

/** About tokens (characters / 4), a ratchet: a prompt that grows over this has to give a reason. */
const SIZES: Record<string, number> = {
  // Its plan lives: findings, changes, answers, a turn that the rails end; and where more than a
  // list is asked for.
  "commands/minion.md": 1550,
  "commands/board.md": 80,
  "agents/minion-worker.md": 350,
  "agents/minion-verifier.md": 410,
  // Bounds for the end, and for what planners add.
  "skills/minion-blueprint/SKILL.md": 840,
  "skills/minion-blueprint/workflows/quick.md": 40,
  "skills/minion-blueprint/workflows/default.md": 120,
  "skills/minion-blueprint/workflows/tdd.md": 240,
  "skills/minion-blueprint/workflows/secure.md": 290,
  "skills/minion-blueprint/workflows/loop.md": 110,
  "skills/minion-blueprint/workflows/variants.md": 190,
  "skills/minion-blueprint/workflows/area.md": 160,
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
  "skills/minion-blueprint/guides/areas.md": 560,
  "skills/minion-blueprint/guides/collisions.md": 850,
  "skills/minion-blueprint/guides/delivery.md": 720,
  "skills/minion-blueprint/guides/forms.md": 1010,
  "skills/minion-blueprint/guides/tickets.md": 920,
};

/** All of them together, so that what one gives up is not taken by the next: with four forms of work
 * beside a list, their pages and a guide. */
const TOTAL = 10_700;

const prompts = files.filter((path) => !DATA.includes(path));

describe.each(prompts)("%s", (path) => {
  const { data, body } = read(path);
  test("is no larger than agreed", () => {
    expect(SIZES[path]).toBeDefined();
    expect(readFileSync(join(ASSETS, path), "utf8").length / 4).toBeLessThanOrEqual(
      SIZES[path] ?? 0,
    );
  });
  test("has a name like its file, and says in one short, quoted line what it is for", () => {
    const isChosen = data.when !== undefined;
    const line = isChosen ? "when" : "description";
    // Unquoted, a colon in it would make the file one that nobody can read.
    const [, written = ""] =
      new RegExp(`^${line}: "(.*)"$`, "m").exec(readFileSync(join(ASSETS, path), "utf8")) ?? [];
    expect(written).toBe(data[line]);
    expect(written.length).toBeGreaterThan(10);
    expect(written.length).toBeLessThan(120);
    if (!isChosen)
      expect(data.name).toBe(path.endsWith("SKILL.md") ? path.split("/").at(-2) : nameOf(path));
    expect(isChosen).toBe(
      /minion-overlays|guides|workflows/.test(path) && !path.endsWith("SKILL.md"),
    );
    expect(body.trim()).not.toBe("");
  });
});

test("all prompts together are no larger than agreed", () => {
  const sizes = prompts.map((path) => readFileSync(join(ASSETS, path), "utf8").length / 4);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(TOTAL);
});

test.each([...files.map((path) => `assets/${path}`), "README.md", "docs/changing-the-rails.md"])(
  "each call of minion in %s is one that its help knows",
  (path) => {
    const calls = invocationsIn(readFileSync(join(ROOT, path), "utf8"));
    expect(calls.map((call) => [call, faultOf(call)]).filter(([, fault]) => fault)).toEqual([]);
  },
);

test("what is no call of minion is found out", () => {
  const wrong = [
    "minion lint",
    "minion next --jsno",
    "minion plan a b",
    "minion verdict r1/1.1",
    "minion plan x --expect",
  ];
  expect(wrong.filter((call) => faultOf(call) === null)).toEqual([]);
  expect(invocationsIn("`! minion board`\n```sh\nminion plan x  # shows it\n```\n")).toEqual([
    "minion board",
    "minion plan x",
  ]);
});

describe("words", () => {
  const scene = new Scene();
  let answer: Record<string, unknown> = {};
  beforeAll(async () => {
    await scene.start("1. One\n2. Two\n");
    answer = (await scene.minion(["next", "--json"])).json;
  });
  afterAll(() => scene.destroy());
  const closed: readonly string[] = [...STATES, ...REASONS];
  const inTicks = (text: string) =>
    [...text.matchAll(/`([a-z]+(?:-[a-z]+)*)`/g)].map(([, word = ""]) => word);

  test("states and reasons that prompts name are the journal's", () => {
    expect(closed).toEqual(expect.arrayContaining(["waiting", "needs-human", "base-red"]));
    for (const path of prompts.filter((path) => /^(commands|agents)/.test(path)))
      for (const word of inTicks(read(path).body))
        if (word.includes("-")) expect([...closed, "subagent"], path).toContain(word);
  });

  test("what the run is read from is what minion next answers", () => {
    const run =
      read("commands/minion.md")
        .body.split(/^## /m)
        .find((part) => part.includes("`minion next --json`")) ?? "";
    const [entry] = answer.dispatch as Record<string, unknown>[];
    const fields = [...Object.keys(answer), ...Object.keys(entry ?? {}), "model"];
    const whys = [
      ...readFileSync(join(ROOT, "rails/foreman/waiting.ts"), "utf8").matchAll(/"([a-z]+)"/g),
    ].map(([, why]) => why);
    const words = inTicks(run).filter((word) => word !== "minion");
    expect(words.length).toBeGreaterThan(8);
    for (const word of words) expect([...fields, ...whys, ...closed], word).toContain(word);
    expect(files).toContain(`${String(entry?.agent).replace("minion:", "agents/")}.md`);
  });

  test("each overlay that is shipped can be chosen, and each that a prompt names is shipped", async () => {
    const { overlays } = (await scene.minion(["overlays", "--json"])).json;
    const names = overlays.map(({ name }: { name: string }) => name).sort();
    expect(names).toEqual(named("skills/minion-overlays").sort());
    expect(read("commands/minion.md").body).toContain("`minion overlays`");
    const lines = files.flatMap((path) =>
      [...read(path).body.matchAll(/^Agent: (.+)$/gm)].map(([, list = ""]) => list),
    );
    expect(lines.length).toBeGreaterThan(0);
    for (const name of lines.join(", ").split(", ")) expect(names).toContain(name);
    const { retry } = read("skills/minion-blueprint/SKILL.md").data as { retry: { agent: string } };
    expect(names).toContain(retry.agent);
  });

  test("each guide that is shipped is named by the orchestrator, and none that is not", async () => {
    const { guides } = (await scene.minion(["guide", "--json"])).json;
    const calls = [...read("commands/minion.md").body.matchAll(/`minion guide ([a-z ]+)`/g)];
    const asked = calls.flatMap(([, names = ""]) => names.split(" "));
    expect(asked.sort()).toEqual(guides.map(({ name }: { name: string }) => name).sort());
    expect(asked).toEqual(named("skills/minion-blueprint/guides").sort());
  });

  test("each workflow that is shipped is tried or can be named, with expertise that there is", async () => {
    const { workflows } = read("skills/minion-blueprint/SKILL.md").data as { workflows: string[] };
    const help = (await scene.minion(["plan", "--help"])).stdout;
    const there = named("skills/minion-blueprint/workflows");
    for (const name of workflows) expect(there).toContain(name);
    for (const name of there) {
      expect(help.replaceAll(/\s+/g, " ")).toMatch(new RegExp(`--workflow .*\\b${name}\\b`));
      const path = `skills/minion-blueprint/workflows/${name}.md`;
      const { phases } = readWorkflow(name, readFileSync(join(ASSETS, path), "utf8"), path);
      for (const { agent } of phases)
        if (agent) expect(named("skills/minion-overlays")).toContain(agent);
    }
  });
});

test("each file that a shipped one names beside itself is there, and the rails' data are named", () => {
  const skill = readFileSync(join(ASSETS, "skills/minion-blueprint/SKILL.md"), "utf8");
  const beside = [...skill.matchAll(/([\w/]+(?:\.md|\/)) beside this file/g)].map(
    ([, path = ""]) => path,
  );
  expect(beside).toContain("patterns.md");
  for (const path of beside)
    expect(existsSync(join(ASSETS, "skills/minion-blueprint", path)), path).toBe(true);
  const page = readFileSync(join(ROOT, "docs/changing-the-rails.md"), "utf8");
  for (const path of DATA) expect(page).toContain(path.split("/").at(-1));
  const hooks = readFileSync(join(ASSETS, "hooks/hooks.json"), "utf8");
  for (const [, path = ""] of hooks.matchAll(/\$\{CLAUDE_PLUGIN_ROOT\}\/([\w./-]+)/g))
    expect(existsSync(join(ASSETS, path)), path).toBe(true);
});

test("what a guide shows as the head of a list is read as that", () => {
  const [, example = ""] =
    /```\n(---[\s\S]*?)```/.exec(read("skills/minion-blueprint/guides/tickets.md").body) ?? [];
  const { header, findings } = readHeader(example);
  expect(findings).toEqual([]);
  const text = expect.stringMatching(/./);
  expect(header).toMatchObject({ goal: text, success: text, tools: { lint: text, test: text } });
});

test("the orchestrator is whole without its commands: outcome, boundaries, phases, when to stop, the report", () => {
  // Sentence by sentence, and a code block with a command goes whole.
  const { body } = read("commands/minion.md");
  const sentences = body.split(/(?<=[a-z`][.:;!?]) |\n/).map((part, index) => ({ part, index }));
  const left = sentences.filter(({ part }) => !/`minion [^`]+`/.test(part)).map(({ part }) => part);
  expect(left.length).toBeLessThan(sentences.length - 10);
  const rest = left.join("\n").replaceAll(/^```\n[\s\S]*?^```$/gm, "");
  const [outcome = "", ...parts] = rest.split(/^## /m);
  const words = (text: string) => text.split(/\s+/).filter((word) => /\w/.test(word)).length;
  expect(words(outcome)).toBeGreaterThan(40);
  expect(parts.map((part) => part.split("\n")[0])).toEqual([
    "Boundaries",
    "1. The list",
    "2. The plan",
    "3. The run",
    "4. The report",
    "What the person gave",
  ]);
  for (const part of parts.slice(0, -1))
    expect(words(part), part.split("\n")[0]).toBeGreaterThan(25);
  for (const phase of [2, 3]) expect(parts[phase]).toMatch(/\b(stop|end here)\b/);
  expect(parts.at(-1)).toContain("$ARGUMENTS");
});

test("no prompt has a merge run: where one is named, it is said whose it is", () => {
  const merge = /\b(minion|git|gh pr) merge\b/;
  for (const path of files) {
    const { data, body } = read(path);
    for (const [block] of body.matchAll(/^```[\s\S]*?^```$/gm)) expect(block).not.toMatch(merge);
    for (const line of body.split("\n"))
      if (merge.test(line)) expect(line).toMatch(/\*\*Merging\*\* is the person's/);
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
