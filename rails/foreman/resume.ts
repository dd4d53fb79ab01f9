import type { Journal } from "../journal/journal.ts";
import type { Session } from "../journal/shapes.ts";
import { isActive } from "../journal/state.ts";
import { Fault } from "../program/fault.ts";
import { isAlive, type ProcessMark } from "../program/process.ts";

/** What a person says when they go on with a run. */
type Resuming = Readonly<{
  take?: boolean; // Also where its session still runs
  redBase?: boolean; // Though gates are red on the base: what fails there as well does not count
  budget?: number; // Dollars that it may cost in all from now on
}>;

/** Takes an open run over for this session. Attempts whose session is dead are over, by no fault of
 * theirs. What was alarming has been seen then.
 * @param dollars what the run has cost up to now; null where that is not known
 * @returns the ids of the attempts that are lost
 * @throws Fault `run-owned` where its session still runs, unless it is to be taken; `aborted` */
export function resume(
  journal: Journal,
  session: Session,
  { take = false, redBase = false, budget }: Resuming,
  dollars: number | null,
): Promise<string[]> {
  return journal.decide(async (state, write) => {
    const { run, owner, attempts, baseRed } = state;
    if (state.aborted) throw new Fault("aborted", `run ${run} was aborted`, "start a new one");
    const isMine = isSame(owner, session.owner);
    if (!isMine && !take && owner !== null && (await isAlive(owner))) {
      const what = `run ${run} is of a session that still runs (${state.session})`;
      throw new Fault("run-owned", what, "minion resume --take");
    }
    write({
      event: "owner",
      ...session,
      ...(dollars === null ? {} : { dollars }),
      ...(budget === undefined ? {} : { budget }),
    });
    if (redBase && baseRed?.length) write({ event: "base-accepted", red: baseRed });
    if (isMine) return [];
    const lost = [...attempts.values()].filter(isActive).map(({ id }) => id);
    for (const attempt of lost)
      write({ event: "ended", attempt, reason: "session-lost", note: "Its session ended." });
    return lost;
  });
}

const isSame = (one: ProcessMark | null, other: ProcessMark | null): boolean =>
  one !== null && one.pid === other?.pid && one.started === other.started;
