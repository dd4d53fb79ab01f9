import { createInterface } from "node:readline/promises";
import { type Command, Option } from "commander";
import { EXIT } from "../rails/fault.ts";
import { type ChangeFlags, change } from "./change.ts";
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

/** The options by which a verb finds an installation. */
export function withPlace(command: Command): Command {
  const dir = "the folder that Claude Code reads (default: CLAUDE_CONFIG_DIR, else ~/.claude)";
  const scope = new Option("--scope <scope>", "user, or project: .claude in this repository");
  return command
    .option("--dir <folder>", dir)
    .addOption(scope.choices(["user", "project"]))
    .addOption(jsonOption());
}

/** A verb that writes: its options and its one action; `next` is what to do after it. */
export function writing(
  command: Command,
  verb: Verb,
  { assets }: Context,
  next?: (flags: ChangeFlags) => string,
): Command {
  return withPlace(command)
    .option("--dry-run", "print what would be done, and write nothing")
    .option("--yes", "ask nothing")
    .action(async (flags: ChangeFlags & { json?: boolean; yes?: boolean }) => {
      const stop = new AbortController();
      for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stop.abort());
      const asks = process.stdin.isTTY && process.stderr.isTTY && !flags.yes && !flags.json;
      const world = { assets, at: here(), say, signal: stop.signal, ...(asks ? { confirm } : {}) };
      const done = await change(verb, flags, world);
      if (flags.json) printJson({ ...done.plan, applied: done.applied, left: done.left });
      else printChange(done, flags.dryRun === true);
      if (done.applied && next && !flags.json) say(next(flags));
      process.exitCode = done.plan.obstacles.length > 0 ? EXIT.refused : EXIT.done;
    });
}

async function confirm(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`${question} [y/N] `);
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}
