import { readPattern } from "./glob.ts";

/** An id: `1`, `a`, `T001`. Nothing that git or a file system could take for more than a name. */
export const ID = "[A-Za-z]{0,8}\\d{1,9}[A-Za-z]?|[A-Za-z]";

/** The ways of saying that a field has nothing to say; a remark in parentheses may say why. */
const NONE = /^(?:none|nothing|no|n\/a|[-–—])\.?(?:\s*\([^()]*\))?\.?$/i;

const readRisk = (text: string) => /^(?:low|medium|high)\b(?![/-])/i.exec(text) ?? "is none";

/** The fields of a task: how a value is read, and what to write where it says anything else. */
const FIELDS = {
  depends: { read: wordsLike(new RegExp(`^(?:${ID})$`)), hint: "write «Depends: 1, 2» or «Depends: none»" },
  files: { read: readPaths, hint: "write «src/a.ts, docs/**, package.json?»; names with spaces in `backticks`" },
  forbid: { read: readPaths, hint: "write «src/generated/, *.lock»; names with spaces in `backticks`" },
  agent: { read: wordsLike(/^[\w.:-]+$/), hint: "write «Agent: backend, tester»" },
  risk: { read: readRisk, hint: "write low, medium or high" },
  "done when": { read: (text: string) => [text], hint: "" },
  verify: { read: (text: string) => [text.replace(/^`([^`]+)`$/, "$1")], hint: "" },
};
export type FieldName = keyof typeof FIELDS;

/** What one value of a field says; or, in words, what is wrong with it. */
export function readValue(name: FieldName, text: string): { said: string[] } | { wrong: string; hint: string } {
  const said = NONE.test(text) ? [] : FIELDS[name].read(text);
  return typeof said === "string" ? { wrong: said, hint: FIELDS[name].hint } : { said };
}

/** Reads words between commas or «and», each like `one`, and nothing else. */
function wordsLike(one: RegExp): (text: string) => string[] | string {
  return (text) => {
    const words = text.replace(/[`*@]|\btasks?\s+|#(?=\w)|\.$/gi, "").split(/\s*[,;&]\s*(?:and\s+)?|\s+and\s+/);
    return words.every((word) => one.test(word.trim())) ? words.map((word) => word.trim()) : "is more than that";
  };
}

/** Paths between commas, those in backticks with a word before or a remark behind: `Create: …`, `… — the schema`. */
function readPaths(text: string): string[] | string {
  const paths: string[] = [];
  // Commas in backticks or braces part nothing.
  for (const part of text.match(/(?:`[^`]*`|\{(?:[^{}]|\{[^{}]*\})*\}|[^,])+/g) ?? []) {
    const spans = [...part.matchAll(/`([^`]+)`(\??)/g)].map(([, span, mark]) => `${span}${mark}`);
    const bare = part.trim().replace(/^(?:create|modify|tests?|delete):\s*|\s+\([^()]*\)$/gi, "");
    if (spans.length === 0 && /\s/.test(bare)) return "is not read as a path";
    if (spans.length === 0 && bare !== "") spans.push(bare);
    for (const span of spans) {
      const path = span.replace(/:\d+(?:-\d+)?(?=\??$)/, "");
      const { problem } = readPattern(path.replace(/\?$/, ""));
      if (problem) return problem;
      paths.push(path);
    }
  }
  return paths;
}
