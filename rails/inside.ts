import type { Command } from "commander";
import { EXIT } from "./fault.ts";
import { findPlace } from "./git/repository.ts";
import { hook } from "./guard/hook.ts";
import { readInput } from "./here.ts";
import { landAll, landByHand } from "./line/land.ts";
import { runJob } from "./record/job.ts";
import { Journal } from "./record/journal.ts";
import { type Own, ownAttempt } from "./worker/attempt.ts";
import { runSetup } from "./worker/begin.ts";
import { runGateJob } from "./worker/gate.ts";

/** The commands that no person types: Claude Code's hooks, and the work that outlives the call that asked for it. */
export function addInside(program: Command): void {
  program.command("hook <event>", { hidden: true }).action(async (event: string) => {
    try {
      const { stdout, stderr, exit } = await hook(event, JSON.parse(await readInput()));
      process.stdout.write(stdout);
      process.stderr.write(stderr);
      process.exitCode = exit;
    } catch (error) {
      // A fault of ours must not stop a person's session: said where a log shows it, and nothing more.
      process.stderr.write(`minion hook ${event}: ${(error as Error).message}\n`);
      process.exitCode = EXIT.done;
    }
  });
  const job = program.command("job", { hidden: true });
  const ofWorker = async (name: string, work: (own: Own) => Promise<void>): Promise<void> => {
    const own = await ownAttempt(process.cwd());
    const [first, ...rest] = name.split(" ");
    await runJob(own.journal, [first, own.attempt.id, ...rest].join(" "), own.attempt.id, () => work(own));
  };
  job.command("setup").action(() => ofWorker("setup", runSetup));
  job.command("gate <name>").action((name: string) => ofWorker(`gate ${name}`, (own) => runGateJob(own, name)));
  job.command("land <run> [task]").action(async (run: string, task?: string) => {
    const place = await findPlace(process.cwd());
    const journal = new Journal(place.common, run);
    await runJob(journal, "land", null, () => (task ? landByHand(journal, place, task) : landAll(journal, place)));
  });
}
