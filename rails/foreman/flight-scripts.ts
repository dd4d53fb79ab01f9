import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** How deep a script is followed into scripts that it runs. */
const DEPTH = 5;

/** What stands behind a command: the scripts of package.json, recipes and targets that it calls. */
export function wordsBehind(run: string, cwd: string, depth = 0): string[] {
  if (depth === DEPTH) return [];
  const found: string[] = [];
  const scripts = scriptsAt(cwd);
  const call = /\b(?:npm|pnpm|yarn|bun)\s+(?:(?:run|run-script|-\S+)\s+)*([\w:.-]+)/g;
  for (const [, name = ""] of run.matchAll(call)) {
    const script = scripts.get(name === "t" ? "test" : name);
    if (script) found.push(script);
  }
  for (const [, tool = "", name = ""] of run.matchAll(/\b(just|make)\s+([\w-]+)/g))
    found.push(
      ...recipeOf(
        cwd,
        tool === "just"
          ? ["justfile", "Justfile", ".justfile"]
          : ["Makefile", "makefile", "GNUmakefile"],
        name,
      ),
    );
  return found.flatMap((one) => [one, ...wordsBehind(one, cwd, depth + 1)]);
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

function recipeOf(cwd: string, files: readonly string[], name: string): string[] {
  const file = files.map((one) => join(cwd, one)).find(existsSync);
  if (!file) return [];
  const lines = textAt(file).split("\n");
  const head = lines.findIndex((line) => line.startsWith(name) && /^[\w-]+[^=]*:(?!=)/.test(line));
  if (head < 0) return [];
  const rest = lines.slice(head + 1);
  const end = rest.findIndex((line) => line.trim() !== "" && !/^\s/.test(line));
  return (end < 0 ? rest : rest.slice(0, end)).map((line) => line.trim().replace(/^[@-]+/, ""));
}

const textAt = (file: string): string => {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
};
