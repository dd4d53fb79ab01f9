import { BULLET, type FieldName, type Item, readField } from "./forms/form.ts";
import { fault, type Line, quote, withoutCode } from "./lines.ts";
import type { Finding, Task, TaskFile } from "./task.ts";
import { asForbidden, NONE, readIds, readNames, readPaths } from "./values.ts";

const DEPENDS = /\(\s*(?:depends(?:\s+on)?|dependenc(?:y|ies))(?:\s*[:：]|(?=\s+(?:tasks?\s+)?#?\w*\d))([^()]*)(\)?)/i;
const FIELD_IN_TITLE =
  /\b[Dd]epends(?:\s+on)?\s*:|\b[Dd]epends on (?:[Tt]ask )?#?\d|[\s(](?:Files|Forbid|Agent|Verify|Risk|Done when)\s*:/;

interface Value {
  readonly text: string;
  readonly line: number;
}

/**
 * Reads the fields of an item; what is in no field is its description. A value that cannot be read to the end is an error
 * with its line and counts as not said.
 * @returns the task, the line of its dependencies, and the errors
 */
export function readItem(item: Item): { task: Task; dependsLine: number; findings: Finding[] } {
  const findings: Finding[] = [];
  const bad = (code: string, line: number, message: string, hint: string) =>
    findings.push(fault(code, line, message, hint));
  const depends: string[] = [];
  const files: TaskFile[] = [];
  const forbid: string[] = [];
  const agent: string[] = [];
  const said: Record<"done when" | "verify", string[]> = { "done when": [], verify: [] };
  let risk: Task["risk"] = "";
  let dependsLine = item.line;

  const takeDepends = (text: string, line: number) => {
    dependsLine = line;
    const ids = readIds(text);
    if (ids === undefined)
      bad("depends", line, `Depends holds more than ids: ${quote(text)}`, "write «Depends: 1, 2» or «Depends: none»");
    else if (new Set(ids.map((id) => id.toLowerCase())).size < ids.length)
      bad("duplicate-dependency", line, `Depends names an id twice: ${quote(text)}`, "name each once");
    for (const id of ids ?? []) if (!depends.includes(id)) depends.push(id);
  };
  /** Takes each `(depends on: …)` out of a text. */
  const inline = (text: string, line: number): string => {
    for (let rest = text; ; ) {
      const match = DEPENDS.exec(withoutCode(rest));
      if (!match) return rest;
      const ids = rest
        .slice(match.index, match.index + match[0].length)
        .replace(/^\(\s*[a-z]+(\s+on)?\s*[:：]?|\)$/gi, "");
      takeDepends(match[2] ? ids : `${ids} …`, line);
      rest = `${rest.slice(0, match.index).trimEnd()}${rest.slice(match.index + match[0].length)}`;
    }
  };
  const take: Record<FieldName, (value: Value) => void> = {
    depends: ({ text, line }) => takeDepends(text, line),
    files: ({ text, line }) => files.push(...readPaths(text, line, findings)),
    forbid: ({ text, line }) => forbid.push(...readPaths(text, line, findings).map(asForbidden)),
    agent({ text, line }) {
      const names = readNames(text);
      if (names) agent.push(...names);
      else bad("agent", line, `Agent holds more than names: ${quote(text)}`, "write «Agent: backend, tester»");
    },
    "done when": ({ text }) => said["done when"].push(text),
    verify: ({ text }) => said.verify.push(text),
    risk({ text, line }) {
      const word = /^\W*(low|medium|high)(?!\w)/i.exec(text)?.[1]?.toLowerCase() as Task["risk"] | undefined;
      if (word && (risk === "" || risk === word)) risk = word;
      else if (!NONE.test(text)) bad("risk", line, `Risk is ${quote(text)}`, "write low, medium or high, once");
    },
  };

  const [first, ...lines] = joined([
    { number: item.line, raw: item.head, text: item.head, indent: 0, kind: "text" },
    ...item.lines,
  ]);
  const head = inline(first?.text ?? "", item.line);
  const done = /\[done\]/i.test(withoutCode(head));
  const title = plain(done ? head.replace(/\s*\[done\]/i, "") : head);
  if (title === "") bad("no-title", item.line, `task ${item.id} has no title`, "say in a few words what it does");
  if (FIELD_IN_TITLE.test(withoutCode(title)))
    bad("field-in-title", item.line, `a field is in the title ${quote(title)}`, "give it a line of its own");

  const rest: string[] = [];
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] as Line;
    const field = readField(line);
    if (!field) {
      const nested = line.kind !== "text" || BULLET.test(line.text) || /^\s*\w{1,4}[.)]\s/.test(line.text);
      rest.push(dedent(nested ? line.raw : inline(line.text, line.number), item.indent));
      continue;
    }
    const { values, next } = readValues(lines, at, field);
    at = next - 1;
    for (const value of values) take[field.name](value);
    if (field.name === "risk" && /\w\W+\w/.test(field.value)) rest.push(dedent(line.raw, item.indent));
    if (values.length === 0)
      findings.push({
        level: "warning",
        code: "empty-field",
        line: line.number,
        message: `${quote(line.text)} says nothing`,
        hint: "fill it in, write none, or take it out",
      });
  }
  const task: Task = {
    id: item.id,
    title,
    description: rest.join("\n").replace(/^\s*\n|(?:\n\s*(?:[-*_]\s*){3,})?\s*$/g, ""),
    depends,
    files,
    forbid,
    agent,
    doneWhen: said["done when"].join("\n"),
    verify: said.verify.join("\n"),
    risk,
    done,
    line: item.line,
  };
  return { task, dependsLine, findings };
}

/** Lines, a `(depends on:` that goes on in the next line joined with it. */
function joined(lines: readonly Line[]): Line[] {
  const out: Line[] = [];
  for (const line of lines) {
    const last = out.at(-1);
    const open = last?.kind === "text" && DEPENDS.exec(withoutCode(last.text))?.[2] === "";
    if (last && open && line.kind === "text" && !readField(line))
      out.splice(-1, 1, { ...last, text: `${last.text} ${line.text.trim()}` });
    else out.push(line);
  }
  return out;
}

/**
 * The values of the field on line `at`: what follows its colon, and what a person sees as belonging to it: bullets and a fence beneath an
 * empty field, lines right beneath an empty one, anything indented deeper than it up to an empty line.
 */
function readValues(lines: readonly Line[], at: number, field: { name: FieldName; value: string; bullet: boolean }) {
  const start = lines[at] as Line;
  const values: Value[] = field.value === "" ? [] : [{ text: field.value, line: start.number }];
  const empty = field.value === "";
  let bullets: number | undefined;
  let next = at + 1;
  for (let gap = false; next < lines.length; next++) {
    const line = lines[next] as Line;
    const bullet = line.kind === "text" ? BULLET.exec(line.text)?.[1] : undefined;
    const deeper = line.indent > start.indent;
    const last = values.at(-1);
    if (line.kind === "blank") gap = true;
    else if (readField(line)) break;
    else if (line.kind === "fence" && empty && values.length === 0) continue;
    else if (line.kind === "code" && empty && bullets === undefined && lines[next - 1]?.kind !== "text")
      values.push({ text: line.raw.trim(), line: line.number });
    else if (line.kind !== "text") {
      if (line.kind === "fence" && lines[next - 1]?.kind === "code" && last) next++;
      break;
    } else if (
      bullet !== undefined &&
      (deeper || (empty && !field.bullet)) &&
      (bullets !== undefined || values.length < 2 || !empty)
    ) {
      if (bullets === undefined && empty && values.length > 0) break;
      values.push({ text: bullet.trim(), line: line.number });
      bullets ??= line.indent;
      gap = false;
    } else if (gap || bullet !== undefined) break;
    else if (
      bullets !== undefined ? line.indent > bullets && last : last && ((deeper && !empty) || /,$/.test(last.text))
    )
      values.splice(-1, 1, { text: `${last?.text} ${line.text.trim()}`, line: last?.line ?? line.number });
    else if (empty && bullets === undefined) values.push({ text: line.text.trim(), line: line.number });
    else break;
  }
  while (next > at + 1 && lines[next - 1]?.kind === "blank") next--;
  return { values: values.filter(({ text }) => text !== ""), next };
}

/** A title as it is read: no bold marks, one space between words. */
function plain(text: string): string {
  return text
    .replace(/(?<![\w/*])\*\*(?=\S)(.+?)(?<=\S)\*\*(?![\w/*])/g, "$1")
    .replace(/^(?:\*\*|__)|(?<=\w)(?:\*\*|__)$/g, "")
    .replace(/\s+/g, " ")
    .trim();
}

function dedent(text: string, columns: number): string {
  let at = 0;
  for (let column = 0; column < columns && /[ \t]/.test(text[at] ?? ""); at++)
    column += text[at] === "\t" ? 4 - (column % 4) : 1;
  return text.slice(at);
}
