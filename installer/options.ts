import { createInterface } from "node:readline/promises";
import { type Command, Option } from "commander";
import { EXIT } from "../rails/fault.ts";
import { type Change, type ChangeFlags, change } from "./change.ts";
import { printChange, printJson, say } from "./output.ts";
import { here } from "./paths.ts";
import type { Verb } from "./plan.ts";

/** What every verb is handed. */
export interface Context {
  /** The package's `assets` folder. */
  readonly assets: string;
  readonly version: string;
}

export const jsonOption = (): Option => new Option("--json", "print one JSON document and nothing else");

/** The options by which every verb that looks at an installation finds it. */
export function withPlace(command: Command): Command {
  return command
    .addOption(
      new Option("--dir <folder>", "the folder that Claude Code reads (default: CLAUDE_CONFIG_DIR, else ~/.claude)"),
    )
    .addOption(
      new Option("--scope <scope>", "user, or project: .claude in this repository").choices(["user", "project"]),
    )
    .addOption(jsonOption());
}

interface Flags extends ChangeFlags {
  readonly json?: boolean;
  readonly yes?: boolean;
}

/** The one action of the three verbs that write. */
export async function runChange(
  verb: Verb,
  flags: Flags,
  { assets }: Context,
  next?: (change: Change) => string,
): Promise<void> {
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interrupted.abort());
  const terminal = process.stdin.isTTY && process.stderr.isTTY;
  const done = await change(verb, flags, {
    assets,
    at: here(),
    say,
    signal: interrupted.signal,
    ...(terminal && !flags.yes && !flags.json ? { confirm } : {}),
  });
  if (flags.json) printJson({ ...done.plan, applied: done.applied, left: done.left });
  else {
    printChange(done, flags.dryRun === true);
    if (done.applied && next) say(next(done));
  }
  process.exitCode = done.plan.obstacles.length > 0 ? EXIT.refused : EXIT.done;
}

export const withWriting = (command: Command): Command =>
  withPlace(command)
    .addOption(new Option("--dry-run", "print what would be done, and write nothing"))
    .addOption(new Option("--yes", "ask nothing"));

async function confirm(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}
