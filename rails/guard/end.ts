import { changedPaths, treeOf } from "../git/repository.ts";
import type { NewEvent, Reason } from "../record/events.ts";
import { unproven } from "../record/evidence.ts";
import { isRunning } from "../record/job.ts";
import type { Decision } from "../record/journal.ts";
import { isActive } from "../record/state.ts";
import type { Found } from "../worker/attempt.ts";

/**
 * Decides whether a worker may end. Without a result it is sent back with what is missing: once for the same reason and
 * files, and no more often than the blueprint says. After that it goes, and the journal says why the attempt failed.
 * @param worktree null where the attempt was never begun
 * @param said the worker's last message: kept for the person, decides nothing
 * @returns what to tell the worker, or null where it may go
 */
export function holdAtEnd(
  { journal, attempt: { id } }: Found,
  worktree: { top: string; gitDir: string } | null,
  said: string,
): Promise<string | null> {
  return journal.decide(async (state) => {
    const attempt = state.attempts.get(id);
    if (!attempt || !isActive(attempt) || state.aborted) return { events: [], result: null };
    if (!attempt.begun || !worktree) return over(id, "never-began", "Its worker ended without minion begin.");
    // A gate that still runs says nothing yet, so this send-back does not count.
    for (const { name } of state.gates)
      if (await isRunning(state, `gate ${id} ${name}`))
        return { events: [], result: `Gate ${name} still runs: call minion gate ${name} again, it waits for it.` };
    const tree = await treeOf(worktree.top, worktree.gitDir);
    const gates = unproven(state, tree).map(({ name }) => name);
    const [reason, text, way] =
      gates.length > 0
        ? ["no-evidence", `no evidence for exactly these files: ${gates.join(", ")}`, "gate --all"]
        : (await changedPaths(worktree.top)).length > 0
          ? ["not-committed", "the gates passed, but not all is committed", "submit, after a commit"]
          : ["not-submitted", `${id} was not handed in`, "submit"];
    const isTold = attempt.sentBack.some((each) => each.reason === reason && each.tree === tree);
    if (isTold || attempt.sentBack.length >= state.blueprint.bounds.send_backs)
      return over(id, "unproven", said ? `${text}. Its worker says: ${said.slice(0, 300)}` : text);
    const sentBack: NewEvent = { event: "sent-back", attempt: id, reason, tree };
    return {
      events: [sentBack],
      result: `Not done yet: ${text}. Run minion ${way}; if it cannot be done, end again and say what is missing.`,
    };
  });
}

const over = (attempt: string, reason: Reason, note: string): Decision<null> => ({
  events: [{ event: "ended", attempt, reason, note }],
  result: null,
});
