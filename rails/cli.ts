import { Command } from "commander";
import { main, print } from "./program/exit.ts";
import { EXIT, type ExitCode } from "./program/fault.ts";
import type { Verb } from "./program/verb.ts";
import { type World, within } from "./program/world.ts";

declare const __VERSION__: string;

// biome-ignore lint/suspicious/noExplicitAny: each verb knows the options that it declares
type AnyVerb = Verb<any>;

/** All verbs, in the order of the help. A verb's file is loaded when it is called. */
const VERBS: Readonly<Record<string, () => Promise<{ verb: AnyVerb }>>> = {
  plan: () => import("./view/plan.verb.ts"),
  start: () => import("./foreman/start.verb.ts"),
  next: () => import("./foreman/next.verb.ts"),
  begin: () => import("./worker/begin.verb.ts"),
  gate: () => import("./worker/gate.verb.ts"),
  submit: () => import("./worker/submit.verb.ts"),
  verdict: () => import("./worker/verdict.verb.ts"),
  land: () => import("./line/land.verb.ts"),
  merge: () => import("./line/merge.verb.ts"),
  change: () => import("./foreman/change.verb.ts"),
  stop: () => import("./foreman/stop.verb.ts"),
  retry: () => import("./foreman/retry.verb.ts"),
  drop: () => import("./line/drop.verb.ts"),
  board: () => import("./view/board.verb.ts"),
  report: () => import("./view/report.verb.ts"),
  stats: () => import("./view/stats.verb.ts"),
  attention: () => import("./view/attention.verb.ts"),
  events: () => import("./view/events.verb.ts"),
  resume: () => import("./foreman/resume.verb.ts"),
  abort: () => import("./foreman/abort.verb.ts"),
  clean: () => import("./foreman/clean.verb.ts"),
  blueprint: () => import("./blueprint/blueprint.verb.ts"),
  overlays: () => import("./blueprint/overlays.verb.ts"),
  guide: () => import("./blueprint/guide.verb.ts"),
  hook: () => import("./guard/hook.verb.ts"),
  job: () => import("./foreman/job.verb.ts"),
};

/** Runs `minion`.
 * @param argv what stands behind the program's name
 * @returns what the process is to end with; never throws */
export const run = (argv: readonly string[], world: World): Promise<ExitCode> =>
  within(world, async () => {
    const program = new Command("minion")
      .description(
        "The rails of minion-toolkit: plans a task list, holds workers to it, " +
          "proves and lands what they did.",
      )
      .version(__VERSION__)
      .helpCommand(false);
    let exit: ExitCode = EXIT.done;
    for (const verb of await called(argv)) {
      const command = program
        .command(verb.usage, { hidden: verb.isHidden === true })
        .description(verb.about)
        .option("--json", "print one JSON document");
      for (const option of verb.options ?? []) command.addOption(option);
      command.action(async () => {
        const { json = false, ...options } = command.opts();
        const said = await verb.run({ words: command.args, options: { json, ...options } }, world);
        exit = await print(said, json === true, world);
        await said.printed?.();
      });
    }
    return main(program, argv, world, async () => {
      await program.parseAsync([...argv], { from: "user" });
      return exit;
    });
  });

/** The verb that is called; all of them where none is, for the help or for what is like it. */
async function called(argv: readonly string[]): Promise<AnyVerb[]> {
  const name = argv.find((word) => !word.startsWith("-")) ?? "";
  const loads = Object.hasOwn(VERBS, name) ? [VERBS[name]] : Object.values(VERBS);
  const files = await Promise.all(loads.map((load) => load?.()));
  return files.flatMap((file) => file?.verb ?? []);
}
