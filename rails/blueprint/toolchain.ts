import { readdir, readFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { EXIT, Fault } from "../fault.ts";
import type { Tool, ToolName, Tools } from "../plan/task.ts";
import { readMarkdown } from "./markdown.ts";

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
  const files = new Files(root);
  const found: Record<ToolName, Tool | null> = { setup: null, lint: null, test: null, build: null };
  for (const folder of above(posix.normalize(prefix.replaceAll("\\", "/"))))
    for (const { tool, command, when } of rows) {
      const name = tool.toLowerCase() as ToolName;
      if (!Object.hasOwn(found, name)) throw broken(`«${tool}» is no tool`, `one of ${Object.keys(found)}`);
      if (found[name]) continue;
      const source = await holds(when, folder, files, words, 0);
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
async function holds(
  when: string,
  folder: string,
  files: Files,
  words: ReadonlyMap<string, string>,
  depth: number,
): Promise<string | undefined> {
  if (depth > 9) throw broken(`the words of «${when}» mean each other`, "take one out of the other");
  let source = "";
  for (const condition of when.split(/,\s+/)) {
    let found: string | undefined;
    for (const choice of condition.split(/\s+or\s+/)) {
      const [, not, body = ""] = /^(!?)\s*(.*)$/.exec(choice.trim()) ?? [];
      const meaning = words.get(body.toLowerCase());
      if (body.startsWith("@") && meaning === undefined)
        throw broken(`nothing says what «${body}» means`, "add a row to the second table");
      const one =
        meaning === undefined ? await files.find(body, folder) : await holds(meaning, folder, files, words, depth + 1);
      if (not ? one === undefined : one !== undefined) found ??= not ? "" : one;
    }
    if (found === undefined) return undefined;
    source ||= found;
  }
  return source;
}

/** The project's files, each read once. */
class Files {
  readonly #texts = new Map<string, Promise<string | undefined>>();
  readonly #names = new Map<string, Promise<string[]>>();
  constructor(readonly root: string) {}

  /** Where a condition about a file holds, for people. */
  async find(condition: string, folder: string): Promise<string | undefined> {
    const [, up, file = "", path, not, text] =
      /^(\^?)([^#~\s]+?)(?:#([^\s~]+))?(?:\s+(!?)~\s+(.+))?$/.exec(condition) ?? [];
    if (file === "") throw broken(`«${condition}» is no condition`, "see the list above the table");
    for (const place of up ? above(folder) : [folder])
      for (const name of await this.#matching(posix.join(place, file))) {
        const value = path === undefined ? text && (await this.#text(name)) : await this.#value(name, path);
        const there = path === undefined || value !== undefined;
        if (!there || (text !== undefined && (value ?? "").includes(text) === Boolean(not))) continue;
        return path === undefined ? (text && !not ? `${name}: ${text}` : name) : `${name}: ${path}`;
      }
    return undefined;
  }

  async #matching(path: string): Promise<string[]> {
    const folder = posix.dirname(path);
    const name = posix
      .basename(path)
      .split("*")
      .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"))
      .join(".*");
    const names = this.#names.get(folder) ?? readdir(join(this.root, folder)).catch(() => []);
    this.#names.set(folder, names);
    const is = new RegExp(`^${name}$`);
    return (await names)
      .filter((one) => is.test(one))
      .sort()
      .map((one) => posix.join(folder, one));
  }

  #text(path: string): Promise<string | undefined> {
    const text = this.#texts.get(path) ?? readFile(join(this.root, path), "utf8").catch(() => undefined);
    this.#texts.set(path, text);
    return text;
  }

  /** What a JSON file has at a path, as text; undefined where that is nothing. */
  async #value(file: string, path: string): Promise<string | undefined> {
    let value: unknown;
    try {
      value = JSON.parse((await this.#text(file))?.replace(/^\uFEFF/, "") ?? "null");
    } catch (error) {
      throw new Fault(
        "broken-json",
        `${file}: ${(error as Error).message}`,
        "mend it first: no gate can run",
        EXIT.usage,
      );
    }
    for (const key of path.split("."))
      value =
        Object(value) === value && Object.hasOwn(value as object, key)
          ? (value as Record<string, unknown>)[key]
          : undefined;
    if (!value || (typeof value === "object" && Object.keys(value).length === 0)) return undefined;
    return typeof value === "string" ? value.trim() || undefined : JSON.stringify(value);
  }
}

/** The rows of the first table, and of the second the words and what they mean. Line by line: a person edits this. */
function readTable(text: string): { rows: Row[]; words: Map<string, string> } {
  const { body, bodyLine } = readMarkdown(text, "toolchains.md");
  const rows: Row[] = [];
  const words = new Map<string, string>();
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
