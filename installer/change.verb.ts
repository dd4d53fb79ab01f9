import { createInterface } from "node:readline/promises";
import { Option } from "commander";
import { EXIT } from "../rails/program/fault.ts";
import { typedIn } from "../rails/program/typed.ts";
import type { Verb } from "../rails/program/verb.ts";
import { type Change, change } from "./change.ts";
import { findingText } from "./finding.ts";
import { COMMON, type Common } from "./options.ts";
import { assetsOf } from "./package.ts";
import { here } from "./paths.ts";
import type { Verb as Changing, Plan } from "./plan.ts";

type Options = Common & { readonly yes?: true; readonly force?: true };

const YES = new Option("--yes", "ask nothing");
const FORCE = new Option("--force", "back up what is in the way or was edited, then replace it");

/** A verb that writes. */
const changing = (name: Changing, about: string, ...more: readonly Option[]): Verb<Options> => ({
  usage: name,
  about,
  options: [...COMMON, YES, ...more],
  async run({ options }, world) {
    const stop = new AbortController();
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stop.abort());
    const hasPerson = process.stdin.isTTY && process.stderr.isTTY;
    const asks = hasPerson && !options.yes && !options.json;
    const { plan, applied } = await change(name, options, {
      assets: assetsOf(world.program),
      at: here(),
      signal: stop.signal,
      ...(asks ? { confirm } : {}),
    });
    return {
      text: changeText({ plan, applied }, options),
      data: { ...plan, applied },
      isColoured: true,
      exit: plan.obstacles.length > 0 ? EXIT.refused : EXIT.done,
    };
  },
});

export const install = changing(
  "install",
  "lay the plugin into skills/minion of the folder that Claude Code reads",
  FORCE,
);
export const update = changing(
  "update",
  "replace what you did not edit by this version; keep the rest",
);
export const uninstall = changing(
  "uninstall",
  "remove what was installed and not edited, and nothing else",
);

/** Asks the person at the terminal; all but a yes is a no. */
async function confirm(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`${question} [y/N] `);
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}

/** What was done; with `--dry-run` every path of what would be. */
function changeText(done: Change, options: Options): string {
  const { plan, applied } = done;
  const lines = [...plan.obstacles, ...plan.notes].map(findingText);
  if (plan.obstacles.length > 0) return [...lines, "nothing was written"].join("\n");
  lines.push(`${plan.verb} ${versionsOf(plan)} in ${plan.target}: ${outcomeOf(done)}`);
  if (options.dryRun || applied) lines.push(...deedLines(plan, options.dryRun === true));
  if (plan.backup !== null) lines.push(`  saved in  ${plan.backup}`);
  if (applied && plan.verb === "install") {
    const where = options.scope === "project" ? " here and trust this folder" : "";
    const check = typedIn("minion-toolkit doctor", "minion-toolkit");
    lines.push(`Restart Claude Code${where}; then /minion is there. To check: ${check}`);
  }
  return lines.join("\n");
}

/** `0.1.0 → 0.2.0`, or what of these there is. */
function versionsOf({ before, after }: Plan): string {
  const versions = [before, after].filter(Boolean);
  return [...new Set(versions)].join(" → ") || "minion";
}

function outcomeOf({ plan, applied }: Change): string {
  if (applied) return "done";
  if (plan.changes) return "would write";
  const isNowhere = plan.verb === "uninstall" && plan.before === null;
  return isNowhere ? "nothing is installed" : "nothing to do";
}

/** What becomes of the paths, by deed: each of them, or how many there are. */
function deedLines({ actions }: Plan, isEach: boolean): string[] {
  const lines: string[] = [];
  for (const deed of new Set(actions.map((action) => action.do))) {
    const paths = actions.filter((action) => action.do === deed).map(({ path }) => path);
    const shown = isEach || paths.length === 1 ? paths : [`${paths.length} paths`];
    lines.push(...shown.map((path) => `  ${deed.padEnd(10)}${path}`));
  }
  return lines;
}
