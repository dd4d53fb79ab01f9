import * as v from "valibot";
import { Fault } from "../program/fault.ts";
import type { Markdown } from "./markdown.ts";

/** What a mistake in a task costs, the least first. */
export const RISKS = ["low", "medium", "high"] as const;

export const text = v.pipe(v.string(), v.minLength(1));

/** A regular expression, as JavaScript has it. */
export const pattern = v.pipe(text, v.check(isPattern, "this is no regular expression"));

/** The schema of an object, for which a list is none: valibot takes one for an empty object. */
export const unlisted = <T extends v.GenericSchema>(schema: T) => v.pipe(notListed, schema);
const notListed = v.pipe(
  v.unknown(),
  v.check((value) => !Array.isArray(value), "Invalid type: Expected Object but received Array"),
);

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
  schema: v.GenericSchema<unknown, T>,
  { data, lineOf }: Pick<Markdown, "data" | "lineOf">,
  file: string,
  [code, hint]: readonly [code: string, hint: string],
): T {
  const { success, output, issues } = v.safeParse(schema, data);
  if (success) return output;
  const at = (issues[0].path ?? []).map(({ key }) => String(key));
  throw new Fault(code, `${file}:${lineOf(at)}: ${at.join(".")}: ${messageOf(issues[0])}`, hint);
}

/** Of a field that may not be there, valibot says that it expected «never». */
function messageOf({ expected, received, message }: v.BaseIssue<unknown>): string {
  return expected === "never" ? `Unrecognized key: ${received}` : message;
}
