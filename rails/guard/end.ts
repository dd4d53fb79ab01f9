import { changedPaths, treeOf } from "../git/repository.ts";
import type { NewEvent, Reason } from "../record/events.ts";
import { unproven } from "../record/evidence.ts";
import { isRunning } from "../record/job.ts";
import type { Journal } from "../record/journal.ts";
import { type AttemptState, isActive, type RunState } from "../record/state.ts";

/** Where a worker's worktree is, for looking at it. */
interface Where {
  readonly top: string;
  readonly gitDir: string;
}

/**
 * Decides whether a worker may end. Without a result it is sent back with what is missing: once for the same reason and
 * files, and no more often than the blueprint says. After that it goes, and the journal says why the attempt failed.
 * @param worktree null where the attempt was never begun
 * @returns what to tell the worker, or null where it may go
 */
export async function holdAtEnd(journal: Journal, id: string, worktree: Where | null): Promise<string | null> {
  return journal.decide(async (state) => {
    const attempt = state.attempts.get(id);
    if (!attempt || !isActive(attempt) || state.aborted) return { events: [], result: null };
    if (!attempt.begun || !worktree) return over(id, "never-began", "Its worker ended without minion begin.");
    // A gate that still runs says nothing yet, so this send-back does not count.
    for (const gate of state.gates)
      if (await isRunning(state, `gate ${id} ${gate.name}`))
        return {
          events: [],
          result: `Gate ${gate.name} still runs: call minion gate ${gate.name} again, it waits for it.`,
        };
    const tree = await treeOf(worktree.top, worktree.gitDir);
    const missing = await missingFor(state, attempt, worktree, tree);
    const told = attempt.sentBack.some((each) => each.reason === missing.reason && each.tree === tree);
    if (told || attempt.sentBack.length >= state.blueprint.bounds.send_backs) return over(id, "unproven", missing.text);
    const sentBack: NewEvent = { event: "sent-back", attempt: id, reason: missing.reason, tree };
    return {
      events: [sentBack],
      result: `Not done yet. ${missing.text} If it cannot be done, end again and say what is missing.`,
    };
  });
}

function over(attempt: string, reason: Reason, note: string): { events: NewEvent[]; result: null } {
  return { events: [{ event: "ended", attempt, reason, note }], result: null };
}

async function missingFor(
  state: RunState,
  attempt: AttemptState,
  { top }: Where,
  tree: string,
): Promise<{ reason: string; text: string }> {
  const gates = unproven(state, tree).map(({ name }) => name);
  if (gates.length > 0)
    return {
      reason: "no-evidence",
      text: `No evidence for exactly these files: ${gates.join(", ")}. Run minion gate --all.`,
    };
  if ((await changedPaths(top)).length > 0)
    return { reason: "not-committed", text: "The gates passed, but not all is committed." };
  return { reason: "not-submitted", text: `${attempt.id} was not handed in: run minion submit.` };
}
