import { text } from "node:stream/consumers";
import type { Command } from "commander";
import { EXIT } from "./fault.ts";
import { findPlace } from "./git/repository.ts";
import { hook } from "./guard/hook.ts";
import { landAll, landByHand } from "./line/land.ts";
import { runJob } from "./record/job.ts";
import { Journal } from "./record/journal.ts";
import { ownAttempt } from "./worker/attempt.ts";
import { runSetup } from "./worker/begin.ts";
import { runGateJob } from "./worker/gate.ts";

/** The commands that no person types: Claude Code's hooks, and the work that outlives the call that asked for it. */
export function addInside(program: Command): void {
  program
    .command("hook <event>", { hidden: true })
    .description("answer a hook of Claude Code")
    .action(async (event: string) => {
      try {
        const { stdout, stderr, exit } = await hook(event, JSON.parse(await text(process.stdin)));
        process.stdout.write(stdout);
        process.stderr.write(stderr);
        process.exitCode = exit;
      } catch (error) {
        // A fault of ours must not stop a person's session: said where a log shows it, and nothing more.
        process.stderr.write(`minion hook ${event}: ${(error as Error).message}\n`);
        process.exitCode = EXIT.done;
      }
    });

  const job = program.command("job", { hidden: true }).description("work that outlives the call that asked for it");
  job.command("gate <name>").action(async (name: string) => {
    const { journal, attempt } = await ownAttempt(process.cwd());
    await runJob(journal, `gate ${attempt.id} ${name}`, attempt.id, () => runGateJob(name, process.cwd()));
  });
  job.command("setup <attempt>").action(async (id: string) => {
    const { journal } = await ownAttempt(process.cwd());
    await runJob(journal, `setup ${id}`, id, () => runSetup(process.cwd()));
  });
  job.command("land <run> [task]").action(async (run: string, task: string | undefined) => {
    const place = await findPlace(process.cwd());
    const journal = new Journal(place.common, run);
    await runJob(journal, "land", null, () =>
      task === undefined ? landAll(journal, place) : landByHand(journal, place, task),
    );
  });
}
