import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline/promises";
import { Command, Option } from "commander";
import { main, print } from "../rails/program/exit.ts";
import { EXIT, type ExitCode } from "../rails/program/fault.ts";
import type { Said } from "../rails/program/verb.ts";
import { type Change, type ChangeFlags, change } from "./change.ts";
import { demo } from "./demo.ts";
import { diagnose } from "./doctor.ts";
import { findingText } from "./finding.ts";
import { findRoot, here } from "./paths.ts";
import type { Verb } from "./plan.ts";
import { validate } from "./validate.ts";

declare const __VERSION__: string;

type Flags = ChangeFlags & { readonly json?: boolean; readonly yes?: boolean };

// The bundle is dist/minion-toolkit.js; npm starts it through a link.
const assets = join(dirname(realpathSync(process.argv[1] ?? "")), "..", "assets");
const program = new Command("minion-toolkit")
  .description(
    "Installs and checks minion, the plugin that makes a Claude Code session\nthe foreman of parallel workers.",
  )
  .version(__VERSION__)
  .helpCommand(false);

let exit: ExitCode = EXIT.done;

/** Makes a command print what its action says: as text, or with `--json` as one document. */
const saying =
  <A extends unknown[]>(action: (...args: A) => Promise<Said>) =>
  async (...args: A): Promise<void> => {
    const { json } = (args.at(-1) as Command).opts();
    exit = await print(await action(...args), json === true, process);
  };

const command = (usage: string, description: string): Command =>
  program
    .command(usage)
    .description(description)
    .option(
      "--dir <folder>",
      "the folder that Claude Code reads (default: CLAUDE_CONFIG_DIR, else ~/.claude)",
    )
    .addOption(
      new Option("--scope <scope>", "user, or project: .claude in this repository").choices([
        "user",
        "project",
      ]),
    )
    .option("--dry-run", "write nothing; print what would be written")
    .option("--json", "print one JSON document and nothing else");

const VERBS: [Verb, string][] = [
  ["install", "lay the plugin into skills/minion of the folder that Claude Code reads"],
  ["update", "replace what you did not edit by this version; keep the rest"],
  ["uninstall", "remove what was installed and not edited, and nothing else"],
];
for (const [verb, description] of VERBS) {
  const made = command(verb, description).option("--yes", "ask nothing");
  if (verb === "install")
    made.option("--force", "back up what is in the way or was edited, then replace it");
  made.action(
    saying(async (flags: Flags) => {
      const stop = new AbortController();
      for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stop.abort());
      const asks = process.stdin.isTTY && process.stderr.isTTY && !flags.yes && !flags.json;
      const world = { assets, at: here(), signal: stop.signal, ...(asks ? { confirm } : {}) };
      const done = await change(verb, flags, world);
      return {
        text: changeText(done, flags),
        data: { ...done.plan, applied: done.applied },
        exit: done.plan.obstacles.length > 0 ? EXIT.refused : EXIT.done,
      };
    }),
  );
}

command(
  "doctor",
  "say what is installed, whether it works, and what to do where it does not",
).action(
  saying(async (flags: Flags) => {
    const result = await diagnose(flags, __VERSION__, here());
    const { root, why, installed, tools, findings } = result;
    const lines = [
      `root    ${root} (${why})\nminion  ${installed ?? "not installed"}`,
      `tools   Node ${tools.node}, git ${tools.git ?? "none"}, Claude Code ${tools.claude ?? "none"}`,
      ...(findings.length > 0
        ? findings.map(findingText)
        : ["all is well: type /minion in Claude Code"]),
    ];
    return {
      text: lines.join("\n"),
      data: result,
      exit: findings.some(({ level }) => level !== "note") ? EXIT.refused : EXIT.done,
    };
  }),
);

command(
  "validate [path]",
  "check commands, agents, skills and hooks as Claude Code reads them",
).action(
  saying(async (path: string | undefined, flags: Flags) => {
    const result = await validate(
      path ?? (flags.dir || flags.scope ? findRoot(flags, here()).root : "."),
      here(),
    );
    const { files, findings, claude } = result;
    const asked = claude ? "Claude Code's own checks among them" : "Claude Code could not be asked";
    const lines = [
      ...findings.map(findingText),
      `${files} files checked, ${findings.length} findings; ${asked}`,
    ];
    return {
      text: lines.join("\n"),
      data: result,
      exit: findings.length > 0 ? EXIT.refused : EXIT.done,
    };
  }),
);

program
  .command("demo [own...]")
  .description(
    "run a task list in the real Claude Code with a scripted model: no account.\nOWN: a repository, its task list, and a folder with edits, instead of the sample",
  )
  .option("--dir <folder>", "a new folder for it (default: one below the temporary folder)")
  .action(saying((own: string[], { dir }: { dir?: string }) => demo(assets, own, dir)));

const argv = process.argv.slice(2);
void main(program, argv, process, async () => {
  await program.parseAsync(argv, { from: "user" });
  return exit;
}).then((code) => {
  process.exitCode = code;
});

async function confirm(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`${question} [y/N] `);
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}

/** What was done; with `--dry-run` every path of what would be. */
function changeText({ plan, applied }: Change, { dryRun, scope }: Flags): string {
  const { verb, target, before, after, actions, backup } = plan;
  const lines = [...plan.obstacles, ...plan.notes].map(findingText);
  if (plan.obstacles.length > 0) return [...lines, "nothing was written"].join("\n");
  const idle = verb === "uninstall" && before === null ? "nothing is installed" : "nothing to do";
  const versions = [...new Set([before, after].filter(Boolean))].join(" → ") || "minion";
  lines.push(
    `${verb} ${versions} in ${target}: ${applied ? "done" : plan.changes ? "would write" : idle}`,
  );
  for (const deed of new Set(actions.map((action) => action.do))) {
    const paths = actions.flatMap((action) => (action.do === deed ? [action.path] : []));
    const shown = dryRun || paths.length === 1 ? paths : [`${paths.length} paths`];
    if (dryRun || applied) lines.push(...shown.map((path) => `  ${deed.padEnd(10)}${path}`));
  }
  if (backup !== null) lines.push(`  saved in  ${backup}`);
  const restart = `Restart Claude Code${scope === "project" ? " here and trust this folder" : ""}; then /minion is there.`;
  if (applied && verb === "install") lines.push(`${restart} To check: minion-toolkit doctor`);
  return lines.join("\n");
}
