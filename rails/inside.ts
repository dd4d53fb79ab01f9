import type { Command } from "commander";
import { EXIT } from "./fault.ts";
import { findPlace } from "./git/repository.ts";
import { hook } from "./guard/hook.ts";
import { readInput } from "./here.ts";
import { landAll } from "./line/land.ts";
import { siteOf } from "./line/site.ts";
import { runJob } from "./record/job.ts";
import { Journal } from "./record/journal.ts";
import { ownAttempt } from "./worker/attempt.ts";
import { runSetup } from "./worker/begin.ts";
import { runGateJob } from "./worker/gate.ts";

/** The commands that no person types: Claude Code's hooks, and the work that outlives the call that asked for it. */
export function addInside(program: Command): void {
  program.command("hook <event>", { hidden: true }).action(async (event: string) => {
    try {
      const { stdout = "", stderr = "", exit } = await hook(event, JSON.parse(await readInput()));
      process.stdout.write(stdout);
      process.stderr.write(stderr);
      process.exitCode = exit ?? EXIT.done;
    } catch (error) {
      // A fault of ours must not stop a person's session: said where a log shows it, and nothing more.
      process.stderr.write(`minion hook ${event}: ${(error as Error).message}\n`);
      process.exitCode = EXIT.done;
    }
  });
  // `land RUN`, or in a worker's worktree `setup ATTEMPT` or `gate ATTEMPT NAME`.
  program.command("job <words...>", { hidden: true }).action(async ([what = "", whose = "", gate]: string[]) => {
    if (what === "land") {
      const place = await findPlace(process.cwd());
      const journal = new Journal(place.common, whose);
      const { run, line } = await journal.state();
      return runJob(journal, `land ${run}`, () => landAll(journal, siteOf(place, run, line)));
    }
    const own = await ownAttempt(process.cwd());
    const { id } = own.attempt;
    if (gate) return runJob(own.journal, `gate ${id} ${gate}`, () => runGateJob(own, gate));
    return runJob(own.journal, `setup ${id}`, () => runSetup(own));
  });
}
