import type { Journal } from "../journal/journal.ts";
import { isSame } from "../journal/owner.ts";
import type { Session } from "../journal/shapes.ts";
import { isActive, isOpen, isWaiting, type RunState } from "../journal/state.ts";
import { Fault } from "../program/fault.ts";
import { isAlive } from "../program/process.ts";

/** What a person says when they go on with a run. */
type Resuming = Readonly<{
  take?: boolean; // Also where its session still runs
  redBase?: boolean; // Though gates are red on the base: what fails there as well does not count
  budget?: number; // Dollars that it may cost in all from now on
}>;

/** Is there something in a run to go on with: is it open, or waits something in it for a person? */
export const isUnfinished = (state: RunState): boolean => isOpen(state) || isWaiting(state);

/** Takes an open run over for this session. Attempts whose session is dead are over, by no fault of
 * theirs. What was alarming has been seen then. A person outside of a session leaves it to the one
 * that leads it, where that still runs.
 * @param dollars what the run has cost up to now; null where that is not known
 * @returns the ids of the attempts that are lost
 * @throws Fault `run-owned` where its session still runs, unless it is to be taken; `aborted` */
export function resume(
  journal: Journal,
  caller: Session,
  { take = false, redBase = false, budget }: Resuming,
  dollars: number | null,
): Promise<string[]> {
  return journal.decide(async (state, write) => {
    const { run, session, owner, attempts, baseRed } = state;
    if (state.aborted) throw new Fault("aborted", `run ${run} was aborted`, "start a new one");
    const lives = owner !== null && (await isAlive(owner));
    const isLeft = isSame(owner, caller.owner) || (lives && !take && caller.session === "");
    if (!isLeft && !take && lives) {
      const what = `run ${run} is of a session that still runs (${session})`;
      throw new Fault("run-owned", what, `minion resume --run ${run} --take`);
    }
    write({
      event: "owner",
      ...(isLeft ? { session: caller.session || session, owner } : caller),
      ...(dollars === null ? {} : { dollars }),
      ...(budget === undefined ? {} : { budget }),
    });
    if (redBase && baseRed?.length) write({ event: "base-accepted", red: baseRed });
    if (isLeft) return [];
    const lost = [...attempts.values()].filter(isActive).map(({ id }) => id);
    for (const attempt of lost)
      write({ event: "ended", attempt, reason: "session-lost", note: "Its session ended." });
    return lost;
  });
}
