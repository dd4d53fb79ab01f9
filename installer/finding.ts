import catalogue from "./findings.json" with { type: "json" };

export type Level = "error" | "warning" | "note";
export type Code = keyof typeof catalogue;

/** One thing to know, and what to do about it. Errors and warnings want something done; notes are good to know. */
export interface Finding {
  readonly level: Level;
  readonly code: Code;
  /** The file or folder that it is about; empty where it is about the machine. */
  readonly file: string;
  readonly line?: number;
  /** The field that it is about. */
  readonly field?: string;
  readonly message: string;
  readonly hint: string;
}

/** Every code that there is. */
export const CODES = Object.keys(catalogue) as Code[];

/**
 * A finding in the words of the catalogue.
 * @param values what stands in for `{name}` in them
 */
export function finding(
  code: Code,
  file: string,
  values: Record<string, unknown> = {},
  at: { line?: number; field?: string } = {},
): Finding {
  const [level, message, hint] = (catalogue[code] as string[]).map((text) =>
    text.replaceAll(/\{(\w+)\}/g, (_, name) => String(values[name] ?? "")),
  );
  return { level: level as Level, code, file, message: message ?? "", hint: hint ?? "", ...at };
}
