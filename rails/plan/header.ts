import * as v from "valibot";
import { frontmatterIn, readMarkdown } from "../blueprint/markdown.ts";
import { checked, text as filled, unlisted } from "../blueprint/schema.ts";
import { type Finding, finding } from "./task.ts";

const text = v.optional(v.string(), "");
const command = v.optional(filled);
const tools = v.strictObject({ setup: command, lint: command, test: command, build: command });
/** What the frontmatter of a list may say of all its tasks; a list may have fields of its own
 * beside these. */
const HEADER = v.object({
  goal: text,
  success: text, // What shows that the whole is a success
  tools: v.optional(unlisted(tools), {}),
});
export type Header = Readonly<v.InferOutput<typeof HEADER>>;

/** Reads a list's frontmatter; a broken one is an error with its line, and counts as not said.
 * @returns also the list without it, with as many lines as before */
export function readHeader(list: string): { header: Header; rest: string; findings: Finding[] } {
  const clean = list.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n");
  const all = frontmatterIn(clean);
  const rest = all.replace(/[^\n]+/g, "") + clean.slice(all.length);
  const hint = "write goal, success and tools there";
  const none = { header: v.parse(HEADER, {}), rest, findings: [] };
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
