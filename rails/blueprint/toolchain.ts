import { readdir, readFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { EXIT, Fault } from "../fault.ts";
import { TOOL_NAMES, type Tool, type ToolName, type Tools } from "../plan/task.ts";
import { readMarkdown } from "./markdown.ts";

interface Row {
  readonly name: string;
  readonly run: string;
  readonly when: readonly string[];
}

/**
 * The project's own commands, found and not asked for. What is looked for, and how a condition is written, is all in the
 * table; for each tool the folder nearest to `prefix` wins that has it.
 * @param root the repository's root
 * @param prefix the folder that the run was started in, relative to the root; `` for the root
 * @param table the text of `toolchains.md`
 * @throws Fault `toolchains` where the table cannot be read, `broken-json` where a file of the project cannot
 */
export async function findTools(root: string, prefix: string, table: string): Promise<Tools> {
  const rows = readTable(table);
  const found: Record<ToolName, Tool | null> = { setup: null, lint: null, test: null, build: null };
  for (const cwd of above(posix.normalize(prefix.replaceAll("\\", "/"))))
    for (const name of TOOL_NAMES) found[name] ??= (await firstOf(name, rows, root, cwd)) ?? null;
  return found;
}

/** A folder and those above it, the nearest first; `` is the root. */
function above(folder: string): string[] {
  const clean = folder.replace(/^\.?\/+|\/+$|^\.$/g, "");
  return clean === "" ? [""] : [clean, ...above(posix.dirname(clean))];
}

/** The first row of a tool or word of which every condition holds; its source is where the first of them was found. */
async function firstOf(name: string, rows: readonly Row[], root: string, cwd: string): Promise<Tool | undefined> {
  search: for (const { run, when } of rows.filter((row) => row.name === name)) {
    let source = "";
    for (const condition of when) {
      const [, not, body = ""] = /^(!?)(.*)$/.exec(condition) ?? [];
      // A word uses only rows below its own, so none can mean itself.
      const below = rows.slice(rows.findLastIndex((row) => row.name === name) + 1);
      if (body.startsWith("@") && !below.some((row) => row.name === body))
        throw broken(`no row below says what «${body}» means`);
      const where = body.startsWith("@")
        ? (await firstOf(body, below, root, cwd))?.source
        : await find(body, root, cwd);
      if ((where === undefined) !== (not === "!")) continue search;
      source ||= where ?? "";
    }
    return { run, cwd, source };
  }
  return undefined;
}

/** Where a condition about a file holds, for people. */
async function find(condition: string, root: string, folder: string): Promise<string | undefined> {
  const [, up, file, path, text] = /^(\^?)([^#~\s]+)(?:#([^\s~]+))?(?: ~ (.+))?$/.exec(condition) ?? [];
  if (file === undefined) throw broken(`«${condition}» is no condition`);
  const parts = posix
    .basename(file)
    .split("*")
    .map((part) => part.replace(/\W/g, "\\$&"));
  const name = new RegExp(`^${parts.join(".*")}$`);
  for (const each of up ? above(folder) : [folder]) {
    const place = posix.join(each, posix.dirname(file));
    const files = (await readdir(join(root, place)).catch(() => [])).filter((one) => name.test(one)).sort();
    for (const where of files.map((one) => posix.join(place, one))) {
      if (!path && !text) return where;
      const content = (await readFile(join(root, where), "utf8").catch(() => "")).replace(/^\uFEFF/, "");
      const value = path ? valueAt(content, path, where) : content;
      if (value.trim() !== "" && value.includes(text ?? "")) return `${where}: ${path ?? text}`;
    }
  }
  return undefined;
}

/** What a JSON file has at a path, as text; empty where that is nothing. */
function valueAt(json: string, path: string, where: string): string {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new Fault("broken-json", `${where}: ${(error as Error).message}`, "mend it first", EXIT.usage);
  }
  for (const key of path.split(".")) value = new Map(Object.entries(Object(value))).get(key);
  if (!value || (typeof value === "object" && Object.keys(value).length === 0)) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The rows of the table. Line by line: a person edits this. */
function readTable(text: string): Row[] {
  const { body, bodyLine } = readMarkdown(text, "toolchains.md");
  const rows = body.split("\n").flatMap((line, index): Row[] => {
    const cells = line
      .trim()
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll("\\|", "|"));
    const [name = "", run = "", when = ""] = cells;
    if (cells.length === 0 || name === "Tool" || /^[-:]+$/.test(name)) return [];
    const place = `line ${index + bodyLine}`;
    if (cells.length !== 3 || when === "") throw broken(`${place} is not «| tool | command | when |»`);
    if (!TOOL_NAMES.some((one) => one === name) && !/^@[\w-]+$/.test(name))
      throw broken(`${place}: «${name}» is no tool`);
    return [{ name, run: run.replace(/^`(.*)`$/, "$1"), when: when.replaceAll("`", "").split(/,\s+/) }];
  });
  if (rows.length === 0) throw broken("there is no table");
  return rows;
}

function broken(what: string): Fault {
  return new Fault("toolchains", `toolchains.md: ${what}`, "compare with the shipped toolchains.md", EXIT.usage);
}
