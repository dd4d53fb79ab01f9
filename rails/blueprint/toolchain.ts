import { readdir, readFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { expand } from "brace-expansion";
import { EXIT, Fault } from "../program/fault.ts";
import { readMarkdown } from "./markdown.ts";
import { TOOL_NAMES, type Tool, type ToolName, type Tools } from "./tools.ts";

type Row = Readonly<{ name: string; run: string; when: readonly string[] }>;

/** The project's own commands, as the table finds them; for each the folder nearest to `prefix`
 * (relative to root) wins.
 * @throws Fault `toolchains` where the table cannot be read, `broken-json` where a file of the
 *   project cannot */
export async function findTools(root: string, prefix: string, table: string): Promise<Tools> {
  const rows = readToolchains(table, "toolchains.md");
  const found: Record<ToolName, Tool | null> = { setup: null, lint: null, test: null, build: null };
  for (const cwd of above(prefix))
    for (const name of TOOL_NAMES) {
      const own = rows.filter((row) => row.name === name);
      for (const row of own) found[name] ??= await toolOf(row, root, cwd);
    }
  return found;
}

/** What the tools for a list depend on: which files its open tasks name. */
type Touching = Readonly<{ done: boolean; files: readonly Readonly<{ path: string }>[] }>;

/** The folder from which on upwards the tools for a list are looked for, from the root: the deepest
 * in which all files lie that the open tasks name. Where one of them names none, that is anywhere:
 * the list's own folder, `prefix`. */
export function folderOf(tasks: readonly Touching[], prefix: string): string {
  const open = tasks.filter(({ done }) => !done);
  if (open.some(({ files }) => files.length === 0)) return prefix;
  // A file counts as the folder of its name: there is nothing in that, and the next one above is
  // looked at.
  const paths = open.flatMap(({ files }) =>
    files.map(({ path }) => path.replace(/[^/\\]*[*?{].*$/, "")),
  );
  const ways = paths.map((path) => posix.normalize(path.replaceAll("\\", "/")).split("/"));
  const [first = []] = ways;
  const apart = first.findIndex((name, index) => ways.some((way) => way[index] !== name));
  return posix.join(prefix, ...(apart < 0 ? first : first.slice(0, apart))).replace(/\/$|^\.$/, "");
}

/** A folder and those above it, the nearest first; `` is the root. */
const above = (folder: string): string[] =>
  folder === "" ? [""] : [folder, ...above(folder.slice(0, Math.max(0, folder.lastIndexOf("/"))))];

/** The tool of a row of which every condition holds, or null; its source is where the first of them
 * was found. A command that begins with `^` is a file in its folder or one above. */
async function toolOf({ run, when }: Row, root: string, cwd: string): Promise<Tool | null> {
  const places: string[] = [];
  for (const condition of when) {
    const plain = condition.replace(/^!/, "");
    let place: string | undefined;
    for (const one of expand(plain)) place ??= await find(one, root, cwd);
    if ((place === undefined) === (condition === plain)) return null;
    places.push(place ?? "");
  }
  const [up = ""] = /^\^\S+/.exec(run) ?? [];
  const program = up && (await find(up, root, cwd));
  if (program === undefined) return null;
  const way = program && posix.relative(cwd, program).replace(/^(?!\.\.\/)/, "./");
  return { run: run.replace(up, way), cwd, source: places.find(Boolean) ?? "" };
}

/** Where a condition holds, for people; undefined where it does not. */
async function find(condition: string, root: string, cwd: string): Promise<string | undefined> {
  const [, up, file, path, text = ""] =
    /^(\^*)([^@#~\s]+)(?:#([^\s~]+))?(?: ~ (.+))?$/.exec(condition) ?? [];
  if (file === undefined) throw broken(`«${condition}» is no condition`);
  for (const folder of up ? above(cwd).slice(up.length - 1) : [cwd])
    for (const where of await pathsLike(root, folder, file.split("/"))) {
      if (!path && !text) return where;
      const content = (await readFile(join(root, where), "utf8").catch(() => "")).replace(
        /^\uFEFF/,
        "",
      );
      const value = path ? valueAt(content, path, where) : content;
      // Text that begins with ^ begins a line.
      const holds = `\n${value}`.includes(text.replace(/^\^/, "\n"));
      if (value.trim() !== "" && holds) return `${where}: ${path ?? text.replace(/^\^/, "")}`;
    }
  return undefined;
}

/** The paths below a folder whose names are like these, in which `*` stands for any letters. */
async function pathsLike(
  root: string,
  folder: string,
  [name = "", ...rest]: string[],
): Promise<string[]> {
  const like = new RegExp(`^${name.replace(/[^\w*]/g, "\\$&").replaceAll("*", ".*")}$`);
  const names = (await readdir(join(root, folder)).catch(() => [])).filter((one) => like.test(one));
  const paths = names.sort().map((one) => posix.join(folder, one));
  return rest.length === 0
    ? paths
    : (await Promise.all(paths.map((one) => pathsLike(root, one, rest)))).flat();
}

/** What a JSON file has at a path, as text; empty where that is nothing. */
function valueAt(json: string, path: string, where: string): string {
  try {
    const value = path.split(".").reduce((object, key) => object?.[key], JSON.parse(json));
    if (typeof value === "string") return value;
    return [undefined, "null", "false", "[]", "{}"].includes(JSON.stringify(value))
      ? ""
      : JSON.stringify(value);
  } catch (error) {
    throw new Fault(
      "broken-json",
      `${where}: ${(error as Error).message}`,
      "mend it first",
      EXIT.usage,
    );
  }
}

/** The rows of the table. Line by line: a person edits this.
 * @throws Fault `toolchains`, `frontmatter` with file and line of what cannot be read */
export function readToolchains(text: string, file: string): Row[] {
  const { body, bodyLine } = readMarkdown(text, file);
  const rows = body.split("\n").flatMap((line, index): Row[] => {
    if (!line.startsWith("|") || /^\|\s*(?:Tool\s|-)/.test(line)) return [];
    const [, name = "", run = "", when = ""] =
      /^\|\s*(\S+)\s*\|(.*)(?<!\\)\|\s*(\S.*?)\s*\|\s*$/.exec(line) ?? [];
    if (!TOOL_NAMES.some((one) => one === name))
      throw broken(
        `line ${index + bodyLine} is not «| setup, lint, test or build | command | when |»`,
      );
    const clean = (cell: string) => cell.trim().replaceAll("\\|", "|");
    return [
      {
        name,
        run: clean(run).replace(/^`(.*)`$/, "$1"),
        when: clean(when).replaceAll("`", "").split(/,\s+/),
      },
    ];
  });
  if (rows.length === 0) throw broken("there is no table");
  return rows;
}

function broken(what: string): Fault {
  return new Fault(
    "toolchains",
    `toolchains.md: ${what}`,
    "compare with the shipped toolchains.md",
    EXIT.usage,
  );
}
