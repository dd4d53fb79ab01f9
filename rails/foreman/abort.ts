import type { Journal } from "../journal/journal.ts";
import { isOpen } from "../journal/state.ts";
import { Fault } from "../program/fault.ts";
import { isAlive } from "../program/process.ts";

/** Ends a run where it stands: what landed stays, what runs is stopped, no branch is removed.
 * @throws Fault `not-open` where it is over already */
export async function abort(journal: Journal): Promise<void> {
  const state = await journal.state();
  if (!isOpen(state))
    throw new Fault(
      "not-open",
      `run ${state.run} is over already`,
      `see minion report --run ${state.run}`,
    );
  await journal.add({ event: "aborted", note: "by hand" });
  for (const { process: job } of state.jobs.values())
    if (await isAlive(job)) process.kill(job.pid, "SIGTERM");
}
