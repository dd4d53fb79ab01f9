import * as z from "zod/mini";
import english from "zod/v4/locales/en.js";
import { Fault } from "../program/fault.ts";
import type { Markdown } from "./markdown.ts";

// The small form of zod brings no messages of its own.
z.config(english());

export { z };

/** What a mistake in a task costs, the least first. */
export const RISKS = ["low", "medium", "high"] as const;

export const text = z.string().check(z.minLength(1));

/** A regular expression, as JavaScript has it. */
export const pattern = text.check(z.refine(isPattern, "this is no regular expression"));

function isPattern(pattern: string): boolean {
  try {
    return Boolean(new RegExp(pattern));
  } catch {
    return false;
  }
}

/** Frontmatter as its schema has it.
 * @param code of the fault
 * @throws Fault with file and line of the first thing that is wrong: which field, and in words what
 */
export function checked<T>(
  schema: z.ZodMiniType<T>,
  { data, lineOf }: Pick<Markdown, "data" | "lineOf">,
  file: string,
  [code, hint]: readonly [code: string, hint: string],
): T {
  const result = schema.safeParse(data);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const unknown = issue?.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
  const at = [...(issue?.path ?? []).map(String), ...unknown];
  throw new Fault(code, `${file}:${lineOf(at)}: ${at.join(".")}: ${issue?.message}`, hint);
}
