import { styleText } from "node:util";
import { asFault } from "../rails/fault.ts";
import type { Change } from "./change.ts";
import type { Finding } from "./finding.ts";
import type { Plan } from "./plan.ts";

type Style = Parameters<typeof styleText>[0];

const plain = (stream: NodeJS.WriteStream): boolean => !stream.isTTY || Boolean(process.env.NO_COLOR);
const paint = (style: Style, text: string): string => (plain(process.stdout) ? text : styleText(style, text));

export const print = (text: string): void => void process.stdout.write(`${text}\n`);
export const say = (text: string): void => void process.stderr.write(`${text}\n`);
export const printJson = (value: unknown): void => print(JSON.stringify(value, null, 2));

const COLOR = { error: "red", warning: "yellow", note: "dim" } as const;

/** Findings as a person reads them: the place and what is wrong, then what to do. */
export function printFindings(findings: readonly Finding[], write: (line: string) => void = print): void {
  for (const { level, file, line, message, hint } of findings) {
    const where = file === "" ? "" : `${file}${line === undefined ? "" : `:${line}`}: `;
    write(`${paint(COLOR[level], level.padEnd(8))}${where}${message}\n${" ".repeat(8)}${paint("dim", hint)}`);
  }
}

/** Any failure, as one line of what and where and one of what to do; as a document with `json`. */
export function printFault(error: unknown, json: boolean): number {
  const { code, message, hint, exit } = asFault(error);
  if (json) printJson({ version: 1, error: { code, message, hint } });
  else say(`${plain(process.stderr) ? "error" : styleText("red", "error")}   ${message}\n        ${hint}`);
  return exit;
}

const WORDS: Record<Plan["actions"][number]["do"], string> = {
  create: "create",
  restore: "restore",
  replace: "replace",
  beside: "lay beside",
  overwrite: "overwrite",
  remove: "remove",
  same: "same",
  edited: "keep, edited by you",
  foreign: "keep, not ours",
};

/** What was done, or with `full` every path of what would be. */
export function printChange({ plan, applied, left }: Change, full: boolean): void {
  const { verb, target, before, after, actions, obstacles } = plan;
  if (obstacles.length > 0) {
    printFindings(obstacles, say);
    say("nothing was written");
    return;
  }
  const versions = [before, after].filter((version, index, all) => version && all.indexOf(version) === index);
  const state = applied
    ? "done"
    : plan.changes
      ? "would write"
      : before === null && verb === "uninstall"
        ? "nothing is installed"
        : "nothing to do";
  print(`${paint("bold", verb)} ${versions.join(" → ")}${versions.length > 0 ? " " : ""}in ${target}: ${state}`);
  for (const [what, word] of Object.entries(WORDS)) {
    const paths = actions.filter((action) => action.do === what).map(({ path }) => path);
    if (full) for (const path of paths) print(`  ${word.padEnd(20)}${path}`);
    else if (paths.length > 0 && applied)
      print(`  ${word.padEnd(20)}${paths.length === 1 ? paths[0] : `${paths.length} paths`}`);
  }
  if (plan.backup !== null) print(`  ${"back up to".padEnd(20)}${plan.backup}`);
  printFindings(plan.notes, say);
  for (const path of left) say(`note    ${path} could not be cleared away; the next call tries again`);
}
