import { readdir, readFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { EXIT, Fault } from "../fault.ts";
import type { Tool, ToolName, Tools } from "../plan/task.ts";
import { readMarkdown } from "./markdown.ts";

type Words = Map<string, string>;
interface Row {
  readonly tool: string;
  readonly command: string;
  readonly when: string;
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
  const { rows, words } = readTable(table);
  const found: Record<ToolName, Tool | null> = { setup: null, lint: null, test: null, build: null };
  for (const folder of above(posix.normalize(prefix.replaceAll("\\", "/"))))
    for (const { tool, command, when } of rows) {
      const name = tool.toLowerCase() as ToolName;
      if (!Object.hasOwn(found, name)) throw broken(`«${tool}» is no tool`, `one of ${Object.keys(found)}`);
      const source = found[name] ? undefined : await holds(when, root, folder, words);
      if (source !== undefined) found[name] = { run: command, cwd: folder, source };
    }
  return found;
}

/** A folder and those above it, the nearest first; `` is the root. */
function above(folder: string): string[] {
  const clean = folder.replace(/^\.?\/+|\/+$|^\.$/g, "");
  return clean === "" ? [""] : [clean, ...above(posix.dirname(clean))];
}

/** All conditions: where the first of them was found, or undefined where one does not hold. */
async function holds(when: string, root: string, folder: string, words: Words, depth = 0): Promise<string | undefined> {
  if (depth > 9) throw broken(`the words of «${when}» mean each other`, "take one out of the other");
  let source = "";
  for (const condition of when.split(/,\s+/)) {
    let found: string | undefined;
    for (const choice of condition.split(/\s+or\s+/)) {
      const [, not, body = ""] = /^(!?)\s*(.*)$/.exec(choice.trim()) ?? [];
      const meaning = words.get(body.toLowerCase());
      if (body.startsWith("@") && !meaning) throw broken(`nothing says what «${body}» means`, "add a row for it");
      const one = await (meaning ? holds(meaning, root, folder, words, depth + 1) : find(body, root, folder));
      if (not ? one === undefined : one !== undefined) found ??= not ? "" : one;
    }
    if (found === undefined) return undefined;
    source ||= found;
  }
  return source;
}

/** Where a condition about a file holds, for people. */
async function find(condition: string, root: string, folder: string): Promise<string | undefined> {
  const [, up, file = "", path, not, text] =
    /^(\^?)([^#~\s]+?)(?:#([^\s~]+))?(?:\s+(!?)~\s+(.+))?$/.exec(condition) ?? [];
  if (file === "") throw broken(`«${condition}» is no condition`, "see the list above the table");
  const name = posix
    .basename(file)
    .split("*")
    .map((part) => part.replace(/\W/g, "\\$&"))
    .join(".*");
  for (const place of (up ? above(folder) : [folder]).map((one) => posix.join(one, posix.dirname(file))))
    for (const one of (await readdir(join(root, place)).catch(() => [])).sort()) {
      if (!new RegExp(`^${name}$`).test(one)) continue;
      const where = posix.join(place, one);
      if (!path && !text) return where;
      const content = (await readFile(join(root, where), "utf8").catch(() => "")).replace(/^\uFEFF/, "");
      const value = path ? valueAt(content, path, where) : content;
      if ((path && value === "") || (text && value.includes(text) === Boolean(not))) continue;
      return path ? `${where}: ${path}` : not ? where : `${where}: ${text}`;
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
  return typeof value === "string" ? value.trim() : JSON.stringify(value);
}

/** The rows of the first table, and of the second the words and what they mean. Line by line: a person edits this. */
function readTable(text: string): { rows: Row[]; words: Words } {
  const { body, bodyLine } = readMarkdown(text, "toolchains.md");
  const rows: Row[] = [];
  const words: Words = new Map();
  for (const [index, line] of body.split("\n").entries()) {
    if (!line.trimStart().startsWith("|") || /^[\s|:-]+$/.test(line)) continue;
    const cells = line
      .trim()
      .replace(/^\||(?<!\\)\|$/g, "")
      .split(/(?<!\\)\|/);
    const [first = "", second = "", third] = cells.map((cell) => cell.trim().replace(/\\\|/g, "|"));
    const clean = (cell: string) => cell.replaceAll("`", "");
    const kind = first.startsWith("@") ? 2 : 3;
    if (/^(?:tool|word)$/i.test(first)) continue;
    if (cells.length !== kind || second === "" || third === "")
      throw broken(`line ${index + bodyLine} has ${cells.length} cells`, "write tool, command, when; or word, meaning");
    if (kind === 2) words.set(clean(first).toLowerCase(), clean(second));
    else rows.push({ tool: first, command: second.replace(/^`(.*)`$/, "$1"), when: clean(third ?? "") });
  }
  if (rows.length === 0) throw broken("there is no table", "lay the shipped toolchains.md beside it and compare");
  return { rows, words };
}

function broken(what: string, hint: string): Fault {
  return new Fault("toolchains", `toolchains.md: ${what}`, hint, EXIT.usage);
}
