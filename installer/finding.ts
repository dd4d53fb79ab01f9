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
export function finding(code: Code, file: string, values: object = {}, line?: number, field?: string): Finding {
  const fill = (text = ""): string =>
    text.replaceAll(/\{(\w+)\}/g, (_, name) => String(values[name as keyof typeof values] ?? ""));
  const [level, message, hint] = catalogue[code];
  const place = { ...(line === undefined ? {} : { line }), ...(field === undefined ? {} : { field }) };
  return { level: level as Level, code, file, message: fill(message), hint: fill(hint), ...place };
}
