import { ID } from "./forms/form.ts";
import { pathProblem } from "./glob.ts";
import { fault, quote, withoutCode } from "./lines.ts";
import type { Finding, TaskFile } from "./task.ts";

/** The ways of saying that a field has nothing to say. */
export const NONE = /^\(?(?:none|nothing|no|n\/a|[-–—])\)?\.?$/i;

/** Names between commas or «and»; undefined where anything else stands there. */
export function readNames(text: string): string[] | undefined {
  if (NONE.test(text)) return [];
  const names = text
    .replace(/[`@]/g, "")
    .split(/\s*(?:[,;+&]|\band\b)\s*/)
    .filter(Boolean);
  return names.every((name) => /^[\w.:-]+$/.test(name)) ? names : undefined;
}

/** Ids and nothing else: `1, 2`, `Task 1 and 3`, `#1`, `none`; undefined where anything else stands there. */
export function readIds(text: string): string[] | undefined {
  const value = text.replace(/[`*]/g, "").trim().replace(/[.;]$/, "");
  if (NONE.test(value)) return [];
  const words = value
    .replace(/\btasks?\b\s*|#(?=\w)/gi, "")
    .split(/[\s,;&]+|\band\b/i)
    .filter((word) => word && !/^and$/i.test(word));
  return words.length > 0 && words.every((word) => new RegExp(`^(?:${ID})$`).test(word)) ? words : undefined;
}

/** A `?` is a wildcard here: nobody forbids by guess. */
export function asForbidden({ path, guessed }: TaskFile): string {
  return guessed ? `${path}?` : path;
}

/**
 * Paths in any of the ways that people write them: between commas, in backticks with a remark behind, after `Create:`, with a line number.
 * A `?` at the end marks a guess.
 */
export function readPaths(text: string, line: number, findings: Finding[]): TaskFile[] {
  const unclear = (part: string, what: string) =>
    findings.push(
      fault(
        "path",
        line,
        `Files or Forbid: ${quote(part)} ${what}`,
        "write «src/a.ts, docs/**, package.json?»; a path with spaces in `backticks`",
      ),
    );
  if (NONE.test(text)) return [];
  const files: TaskFile[] = [];
  const add = (written: string, mark = "") => {
    const bare = written
      .trim()
      .replace(/:L?\d+(?:[-–]L?\d+)?(?=\??$)/, "")
      .replace(/(?<=[^./])\.$/, "");
    const guessed = mark !== "" || (bare.endsWith("?") && bare.length > 1);
    const path = guessed && mark === "" ? bare.slice(0, -1) : bare;
    const problem =
      /^(?:etc|tbd|todo|\.{3}|…|\?+)\.?$/i.test(bare) || /\]\(/.test(bare) ? "is no path" : pathProblem(path);
    if (problem) unclear(bare, problem);
    else files.push({ path, guessed });
  };
  // A remark behind a path in backticks runs to the end.
  const [, kept = text, remark = ""] = /^(.*?`\??)((?:\s+[-–—]\s|\s*:\s).*)$/.exec(text) ?? [];
  if (remark.includes("`")) unclear(text, "holds more than one path and a remark");
  for (const part of splitOutside(kept)) {
    const spans = [...part.matchAll(/(`+)(.+?)\1(\?)?/g)];
    const bare = part
      .replace(/^(?:create|modify|tests?|delete|remove|update|edit|add|new|change|move|rename)\s*:\s*/i, "")
      .replace(/(?<=\S)\s+\([^()]*\)$/, "")
      .replace(/^"(.*)"$/, "$1");
    for (const [, , span = "", mark] of spans) for (const path of splitOutside(span)) add(path, mark);
    if (spans.length === 0 && /\s/.test(bare) && !/^".*"$/.test(part)) unclear(part, "is not read as a path");
    else if (spans.length === 0) add(bare);
  }
  return files;
}

/** The parts between commas, «and» and arrows that stand in no braces, brackets or backticks. */
function splitOutside(text: string): string[] {
  const masked = withoutCode(text).replace(/\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}|\([^()]*\)/g, (inner) =>
    "\0".repeat(inner.length),
  );
  const parts: string[] = [];
  let from = 0;
  for (const match of masked.matchAll(/\s*[,;]\s*|\s+(?:and|&|→|->)\s+/gi)) {
    parts.push(text.slice(from, match.index));
    from = match.index + match[0].length;
  }
  return [...parts, text.slice(from)].map((part) => part.trim()).filter((part) => part !== "");
}
