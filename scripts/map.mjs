// Draws the rooms of rails/ into CONTRIBUTING.md, from the rules by which the linter keeps them
// apart. With --check it writes nothing, and ends with 1 where the picture is not current.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { argv } from "node:process";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const PAGE = join(root, "CONTRIBUTING.md");
const BEGIN = "<!-- map: written by `node scripts/map.mjs` from biome.json -->";
const END = "<!-- map: end -->";

/** Which rooms each room may use, as biome.json has it: room → rooms.
 * @throws Error where a folder of rails/ has no rule, or a rule is not in the form that is read */
function readRules() {
  const { overrides } = JSON.parse(readFileSync(join(root, "biome.json"), "utf8"));
  const rules = new Map();
  for (const { includes, linter } of overrides) {
    const room = /^rails\/(\w+)\/\*\*$/.exec(includes[0])?.[1];
    const rule = linter?.rules?.style?.noRestrictedImports;
    if (room === undefined || rule === undefined) continue;
    const [barred, ...allowed] = rule.options.patterns[0].group;
    if (barred !== "../*/**") throw new Error(`biome.json: the rule of ${room}/ bars ${barred}`);
    rules.set(room, new Set(allowed.map((pattern) => roomOf(pattern, room))));
  }
  for (const entry of readdirSync(join(root, "rails"), { withFileTypes: true }))
    if (entry.isDirectory() && !rules.has(entry.name))
      throw new Error(`biome.json has no rule for rails/${entry.name}/`);
  return rules;
}

function roomOf(pattern, whose) {
  const room = /^!\.\.\/(\w+)\/\*\*$/.exec(pattern)?.[1];
  if (room === undefined) throw new Error(`biome.json: ${whose}/ names ${pattern}`);
  return room;
}

/** The rooms that arrows lead to from a room, at any distance. */
function reachedFrom(room, arrows) {
  const reached = new Set();
  const open = [...(arrows.get(room) ?? [])];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (reached.has(next)) continue;
    reached.add(next);
    open.push(...(arrows.get(next) ?? []));
  }
  return reached;
}

/** The rules without what follows from the others: no arrow where a way over another room leads. */
function reduced(rules) {
  const arrows = new Map();
  for (const [room, allowed] of rules) {
    const isOver = (target) =>
      [...allowed].some((other) => other !== target && reachedFrom(other, rules).has(target));
    const direct = [...allowed].filter((target) => !isOver(target));
    arrows.set(room, direct);
  }
  return arrows;
}

/** What the arrows lead to and the rules do not allow: `plan` not `git`. */
function exceptions(rules, arrows) {
  const said = [];
  for (const [room, allowed] of rules) {
    const barred = [...reachedFrom(room, arrows)].filter((target) => !allowed.has(target));
    const names = barred.sort().map((target) => `\`${target}\``);
    if (names.length > 0) said.push(`\`${room}\` not ${names.join(" and ")}`);
  }
  return said;
}

function draw() {
  const rules = readRules();
  const arrows = reduced(rules);
  const lines = [];
  for (const [room, targets] of [...arrows].reverse())
    for (const target of targets) lines.push(`  ${room} --> ${target}`);
  const chart = ["```mermaid", "flowchart TD", ...lines, "```"].join("\n");
  const but = exceptions(rules, arrows).join(", ");
  const text = `A room may use those that its arrows lead to, also over others; but ${but}.`;
  return [BEGIN, chart, text, END].join("\n\n");
}

/** @returns the page, with the picture as the rules are now */
function withMap(page) {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (begin < 0 || end < begin) throw new Error("CONTRIBUTING.md has no place for the map");
  return page.slice(0, begin) + draw() + page.slice(end + END.length);
}

try {
  const page = readFileSync(PAGE, "utf8");
  const current = withMap(page);
  if (!argv.includes("--check")) writeFileSync(PAGE, current);
  else if (current !== page)
    throw new Error("the map in CONTRIBUTING.md is not current: run node scripts/map.mjs");
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
