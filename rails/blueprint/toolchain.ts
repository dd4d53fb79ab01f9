import { readdir, readFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { EXIT, Fault } from "../fault.ts";
import { TOOL_NAMES, type Tool, type ToolName, type Tools } from "../plan/task.ts";
import { readMarkdown } from "./markdown.ts";

type Row = Readonly<Record<"name" | "run", string>> & { readonly when: readonly string[] };

/** The project's own commands, as the table finds them; for each the folder nearest to `prefix` (relative to root) wins.
 * @throws Fault `toolchains` where the table cannot be read, `broken-json` where a file of the project cannot */
export async function findTools(root: string, prefix: string, table: string): Promise<Tools> {
  const rows = readTable(table);
  const found: Record<ToolName, Tool | null> = { setup: null, lint: null, test: null, build: null };
  for (const cwd of above(prefix.replaceAll("\\", "/")))
    for (const name of TOOL_NAMES) found[name] ??= await firstOf(name, rows, root, cwd);
  return found;
}

/** A folder and those above it, the nearest first; `` is the root. */
function above(folder: string): string[] {
  const names = folder.split("/").filter((name) => name !== "" && name !== ".");
  return [...names.keys(), names.length].map((length) => names.slice(0, length).join("/")).reverse();
}

/** The first row of a tool or word of which every condition holds; its source is where the first of them was found. */
async function firstOf(name: string, rows: readonly Row[], root: string, cwd: string): Promise<Tool | null> {
  // A word means rows below those that use it, so none can mean itself.
  const below = rows.slice(rows.findLastIndex((row) => row.name === name) + 1);
  search: for (const { run, when } of rows.filter((row) => row.name === name)) {
    let source = "";
    for (const condition of when) {
      const body = condition.replace(/^!/, "");
      const word = body.startsWith("@");
      if (word && !below.some((row) => row.name === body)) throw broken(`no row below says what «${body}» means`);
      const where = word ? (await firstOf(body, below, root, cwd))?.source : await find(body, root, cwd);
      if ((where === undefined) === (body === condition)) continue search;
      source ||= where ?? "";
    }
    return { run, cwd, source };
  }
  return null;
}

/** Where a condition about a file holds, for people. */
async function find(condition: string, root: string, folder: string): Promise<string | undefined> {
  const [, up, file, path, text = ""] = /^(\^?)([^#~\s]+)(?:#([^\s~]+))?(?: ~ (.+))?$/.exec(condition) ?? [];
  if (file === undefined) throw broken(`«${condition}» is no condition`);
  const letters = posix.basename(file).replace(/[^\w*]/g, "\\$&");
  const name = new RegExp(`^${letters.replaceAll("*", ".*")}$`);
  for (const each of up ? above(folder) : [folder]) {
    const place = posix.join(each, posix.dirname(file));
    const files = await readdir(join(root, place)).catch(() => []);
    for (const where of files.filter((one) => name.test(one)).map((one) => posix.join(place, one))) {
      if (!path && !text) return where;
      const content = (await readFile(join(root, where), "utf8").catch(() => "")).replace(/^\uFEFF/, "");
      const value = path ? valueAt(content, path, where) : content;
      if (value.trim() !== "" && value.includes(text)) return `${where}: ${path ?? text}`;
    }
  }
  return undefined;
}

/** What a JSON file has at a path, as text; empty where that is nothing. */
function valueAt(json: string, path: string, where: string): string {
  try {
    const read = (value: unknown, key: string): unknown => new Map(Object.entries(Object(value))).get(key);
    const value = path.split(".").reduce(read, JSON.parse(json));
    if (!value || (typeof value === "object" && Object.keys(value).length === 0)) return "";
    return typeof value === "string" ? value : JSON.stringify(value);
  } catch (error) {
    throw new Fault("broken-json", `${where}: ${(error as Error).message}`, "mend it first", EXIT.usage);
  }
}

/** The rows of the table. Line by line: a person edits this. */
function readTable(text: string): Row[] {
  const { body, bodyLine } = readMarkdown(text, "toolchains.md");
  const rows = body.split("\n").flatMap((line, index): Row[] => {
    if (!line.startsWith("|") || /^\|\s*(?:Tool\s|-)/.test(line)) return [];
    const [, name = "", run = "", when = ""] = /^\|\s*(\S+)\s*\|(.*)(?<!\\)\|\s*(\S.*?)\s*\|\s*$/.exec(line) ?? [];
    if (!TOOL_NAMES.some((one) => one === name) && !name.startsWith("@"))
      throw broken(`line ${index + bodyLine} is not «| setup, lint, test, build or @word | command | when |»`);
    const clean = (cell: string) => cell.trim().replaceAll("\\|", "|");
    return [{ name, run: clean(run).replace(/^`(.*)`$/, "$1"), when: clean(when).replaceAll("`", "").split(/,\s+/) }];
  });
  if (rows.length === 0) throw broken("there is no table");
  return rows;
}

function broken(what: string): Fault {
  return new Fault("toolchains", `toolchains.md: ${what}`, "compare with the shipped toolchains.md", EXIT.usage);
}
