import { styleText } from "node:util";
import { asFault } from "../rails/fault.ts";
import type { Change } from "./change.ts";
import type { Finding } from "./finding.ts";

const LOOK = { error: "red", warning: "yellow", note: "dim" } as const;

function paint(stream: NodeJS.WriteStream, style: Parameters<typeof styleText>[0], text: string): string {
  return stream.isTTY && !process.env.NO_COLOR ? styleText(style, text) : text;
}

export const print = (text: string): void => void process.stdout.write(`${text}\n`);
export const say = (text: string): void => void process.stderr.write(`${text}\n`);
export const printJson = (value: unknown): void => print(JSON.stringify(value, null, 2));

/** Findings as a person reads them: the place and what is wrong, then what to do. */
export function printFindings(findings: readonly Finding[], stream: NodeJS.WriteStream = process.stdout): void {
  for (const { level, file, line, message, hint } of findings) {
    const where = file && `${file}${line === undefined ? "" : `:${line}`}: `;
    const [word, what] = [paint(stream, LOOK[level], level.padEnd(8)), paint(stream, "dim", hint)];
    stream.write(`${word}${where}${message}\n${" ".repeat(8)}${what}\n`);
  }
}

/** Any failure: what and where, then what to do; with `json` as a document. Gives the exit code. */
export function printFault(error: unknown, json: boolean): number {
  const { code, message, hint, exit } = asFault(error);
  if (json) printJson({ version: 1, error: { code, message, hint } });
  else say(`${paint(process.stderr, "red", "error")}   ${message}\n        ${hint}`);
  return exit;
}

/** What was done; with `dry` every path of what would be. */
export function printChange({ plan, applied, left }: Change, dry: boolean): void {
  const { verb, target, before, after, actions } = plan;
  printFindings([...plan.obstacles, ...plan.notes], process.stderr);
  if (plan.obstacles.length > 0) {
    say("nothing was written");
    return;
  }
  const idle = verb === "uninstall" && before === null ? "nothing is installed" : "nothing to do";
  const versions = [...new Set([before, after].filter(Boolean))].join(" → ");
  print(`${verb} ${versions || "minion"} in ${target}: ${applied ? "done" : plan.changes ? "would write" : idle}`);
  for (const deed of new Set(actions.map((action) => action.do))) {
    const paths = actions.filter((action) => action.do === deed).map(({ path }) => path);
    const shown = dry ? paths : applied ? [paths.length === 1 ? paths[0] : `${paths.length} paths`] : [];
    for (const path of shown) print(`  ${deed.padEnd(10)}${path}`);
  }
  if (plan.backup !== null) print(`  saved in  ${plan.backup}`);
  for (const path of left) say(`${path} could not be cleared away; the next call tries again`);
}
