import * as z from "zod/mini";
import english from "zod/v4/locales/en.js";

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

/** The first thing that is wrong: which field, and in words what. */
export function firstIssue({ issues: [issue] }: z.core.$ZodError): { at: string[]; message: string } {
  const unknown = issue?.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
  return { at: [...(issue?.path ?? []).map(String), ...unknown], message: issue?.message ?? "" };
}
