import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** How deep a script is followed into scripts that it runs. */
const DEPTH = 5;

/** A command as a shell gets it. `raw`: as it is written, for a recipe with the marks before it (`@`,
 * `-`); `file`: what else may say how it is run, a Makefile's `.SHELLFLAGS` or itself. */
export type Words = Readonly<{ text: string; raw: string; file: string }>;

/** A command that stands nowhere but by itself. */
export const plainWords = (text: string): Words => ({ text, raw: text, file: text });

/** What stands behind a command: the scripts of package.json, recipes and targets that it calls. */
export function wordsBehind(run: string, cwd: string, depth = 0): Words[] {
  if (depth === DEPTH) return [];
  const found: Words[] = [];
  const scripts = scriptsAt(cwd);
  const call = /\b(?:npm|pnpm|yarn|bun)\s+(?:(?:run|run-script|-\S+)\s+)*([\w:.-]+)/g;
  for (const [, name = ""] of run.matchAll(call)) {
    const script = scripts.get(name === "t" ? "test" : name);
    if (script) found.push(plainWords(script));
  }
  for (const [, tool = "", name = ""] of run.matchAll(/\b(just|make)\s+(?:-\S+\s+)*([\w-]+)/g))
    found.push(
      ...recipeOf(
        cwd,
        tool === "just"
          ? ["justfile", "Justfile", ".justfile"]
          : ["Makefile", "makefile", "GNUmakefile"],
        name,
      ),
    );
  return found.flatMap((one) => [one, ...wordsBehind(one.text, cwd, depth + 1)]);
}

function scriptsAt(cwd: string): Map<string, string> {
  try {
    const { scripts } = JSON.parse(readFileSync(join(cwd, "package.json"), "utf8"));
    const all = Object.entries(Object(scripts));
    return new Map(all.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
  } catch {
    return new Map();
  }
}

function recipeOf(cwd: string, files: readonly string[], name: string): Words[] {
  const file = files.map((one) => join(cwd, one)).find(existsSync);
  if (!file) return [];
  const whole = textAt(file);
  const lines = whole.replace(/\\\n\s*/g, " ").split("\n");
  const begin = new RegExp(`^${name}(?![\\w-])[^=]*:(?!=)`);
  const head = lines.findIndex((line) => begin.test(line));
  if (head < 0) return [];
  const rest = lines.slice(head + 1);
  const end = rest.findIndex((line) => line.trim() !== "" && !/^\s/.test(line));
  return (end < 0 ? rest : rest.slice(0, end)).map((line) => {
    const raw = line.trim();
    return { text: raw.replace(/^[@+-]+/, ""), raw, file: whole };
  });
}

const textAt = (file: string): string => {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
};
