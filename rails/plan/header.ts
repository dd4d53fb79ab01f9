import { readMarkdown } from "../blueprint/markdown.ts";
import { checked, z } from "../blueprint/schema.ts";
import { type Finding, finding } from "./task.ts";

const text = z._default(z.string(), "");
const command = z.optional(z.string().check(z.minLength(1)));
/** What the frontmatter of a list may say of all its tasks; a list may have fields of its own
 * beside these. */
const HEADER = z.object({
  goal: text,
  success: text, // What shows that the whole is a success
  tools: z._default(
    z.strictObject({ setup: command, lint: command, test: command, build: command }),
    {},
  ),
});
export type Header = Readonly<z.infer<typeof HEADER>>;

/** Reads a list's frontmatter; a broken one is an error with its line, and counts as not said.
 * @returns also the list without it, with as many lines as before */
export function readHeader(list: string): { header: Header; rest: string; findings: Finding[] } {
  const clean = list.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n");
  const [all = ""] = /^---[ \t]*\n(?:[\s\S]*?\n)?---[ \t]*(?:\n|$)/.exec(clean) ?? [];
  const rest = all.replace(/[^\n]+/g, "") + clean.slice(all.length);
  const hint = "write goal, success and tools there";
  const none = { header: HEADER.parse({}), rest, findings: [] };
  if (all === "") return none;
  try {
    return {
      ...none,
      header: checked(HEADER, readMarkdown(all, "line"), "line", ["header", hint]),
    };
  } catch (error) {
    const { message } = error as Error;
    const line = Number(/^line:(\d+)/.exec(message)?.[1] ?? 1);
    return {
      ...none,
      findings: [finding("header", line, message.replace(/^line:\d+: /, ""), hint)],
    };
  }
}
