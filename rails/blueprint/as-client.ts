import { Fault } from "../program/fault.ts";
import { frontmatterIn, type Markdown, readMarkdown } from "./markdown.ts";

/** What Claude Code quotes a value for, where a frontmatter is no YAML without that. */
const TROUBLE = /[{}[\]*&#!|>%@`]|: /;

/** A prompt of Claude Code's as the client reads it: where its frontmatter is no YAML, it quotes the
 * values that may be why, takes tabs for blanks, and reads it once more. So `[BETA] x`, `@x` and
 * `a: b` load whole.
 * @throws Fault `frontmatter` with file and line where it cannot be read even so */
export function readAsClient(text: string, where: string): Markdown {
  try {
    return readMarkdown(text, where);
  } catch (fault) {
    const clean = text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
    const fields = frontmatterIn(clean);
    const mended = fields.split("\n").map(quoted).join("\n");
    if (!(fault instanceof Fault) || mended === fields) throw fault;
    try {
      return readMarkdown(mended + clean.slice(fields.length), where);
    } catch {
      throw fault;
    }
  }
}

/** A line of a frontmatter with its value in quotes, where that may be in the way. */
function quoted(line: string): string {
  const plain = line.replace(/^\t+/, (tabs) => "  ".repeat(tabs.length));
  const [, name, value = ""] = /^([a-zA-Z_-]+):\s+(\S.*)$/.exec(plain) ?? [];
  const isQuoted = /^(".*"|'.*')$/.test(value);
  const isList = /^\[[^[\]{}"'#]*\]$/.test(value);
  if (name === undefined || isQuoted || isList || !TROUBLE.test(value)) return plain;
  return `${name}: "${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}
