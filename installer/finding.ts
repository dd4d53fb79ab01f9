import { styleText } from "node:util";
import { oneLine } from "../rails/program/shown.ts";
import { typedIn } from "../rails/program/typed.ts";
import catalogue from "./findings.json" with { type: "json" };

const LOOK = { error: "red", warning: "yellow", note: "dim" } as const;

export type Code = keyof typeof catalogue;

/** One thing to know, and what to do about it. Errors and warnings want something done; notes are
 * good to know. */
export interface Finding {
  readonly level: keyof typeof LOOK;
  readonly code: Code;
  /** The file or folder that it is about; empty where it is about the machine. */
  readonly file: string;
  readonly line?: number | undefined;
  readonly field?: string | undefined;
  readonly message: string;
  readonly hint: string;
}

/** A finding in the words of the catalogue, with `values` for the `{name}`s in them. */
export function finding(
  code: Code,
  file: string,
  values: object = {},
  line?: number,
  field?: string,
): Finding {
  const fill = (text: string): string =>
    text.replaceAll(/\{(\w+)\}/g, (_, name) => Object(values)[name] ?? "");
  const [level, message, hint] = catalogue[code] as [Finding["level"], string, string];
  return { level, code, file, line, field, message: fill(message), hint: fill(hint) };
}

/** As people read it: where and what is wrong, then what to do. */
export function findingText({ level, file, line, message, hint }: Finding): string {
  const hasColour = process.stdout.isTTY && process.stdout.hasColors();
  const paint = (look: Parameters<typeof styleText>[0], text: string): string =>
    hasColour ? styleText(look, text) : text;
  const where = file && `${file}${line ? `:${line}` : ""}: `;
  const what = oneLine(`${where}${message}`);
  const way = oneLine(typedIn(hint, "minion-toolkit"));
  return `${paint(LOOK[level], level.padEnd(8))}${what}\n        ${paint("dim", way)}`;
}
