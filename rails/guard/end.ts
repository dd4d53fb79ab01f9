import { changedPaths, treeOf, type Worktop } from "../git/repository.ts";
import type { Reason } from "../record/events.ts";
import { evidenceFor, madeIn, unproven } from "../record/evidence.ts";
import { isRunning } from "../record/job.ts";
import { isRed } from "../record/judge.ts";
import { isActive, type RunState } from "../record/state.ts";
import type { Found } from "../worker/attempt.ts";

/** Decides whether a worker may end. Without a result it is sent back with what is missing: once for the same reason
 * and files, and no more often than the blueprint says. After that it goes, and the journal says why it failed.
 * @param worktree null where the attempt was never begun
 * @param said the worker's last message: kept for the person, decides nothing
 * @returns what to tell the worker, or null where it may go */
export function holdAtEnd({ journal, attempt: { id } }: Found, worktree: Worktop | null, said: string) {
  return journal.decide(async (state, write): Promise<string | null> => {
    const attempt = state.attempts.get(id);
    if (!attempt || !isActive(attempt) || state.aborted) return null;
    const over = (reason: Reason, note: string): null => {
      write({ event: "ended", attempt: id, reason, note });
      return null;
    };
    if (!attempt.begun || !worktree) return over("never-began", "Its worker ended without minion begin.");
    // A gate that still runs says nothing yet, so this send-back does not count.
    for (const { name } of state.gates)
      if (await isRunning(state, `gate ${id} ${name}`))
        return `Gate ${name} still runs: call minion gate ${name} again, it waits for it.`;
    const tree = await treeOf(worktree, madeIn(state, id));
    const [reason, text, way] = await missing(state, id, worktree.top, tree);
    const isTold = attempt.sentBack.some((each) => each.reason === reason && each.tree === tree);
    if (isTold || attempt.sentBack.length >= state.blueprint.bounds.send_backs)
      return over(
        reason === "red" ? "gate-failed" : "unproven",
        said ? `${text}. Its worker says: ${said.slice(0, 300)}` : text,
      );
    write({ event: "sent-back", attempt: id, reason, tree });
    return `Not done yet: ${text}. Run minion ${way}; if it cannot be done, end again and say what is missing.`;
  });
}

/** What a worker's result lacks: the reason, in words, and the command that is next. */
async function missing(state: RunState, id: string, top: string, tree: string): Promise<[string, string, string]> {
  const red = state.gates.filter((gate) => isRed(evidenceFor(state, gate, tree))).map(({ name }) => name);
  if (red.length > 0) return ["red", `red on exactly these files: ${red.join(", ")}`, "gate --all, once it is mended"];
  const gates = unproven(state, tree).join(", ");
  if (gates) return ["no-evidence", `no evidence for exactly these files: ${gates}`, "gate --all"];
  if ((await changedPaths(top, madeIn(state, id))).length === 0)
    return ["not-submitted", `${id} was not handed in`, "submit"];
  return ["not-committed", "the gates passed, but not all is committed", "submit, after a commit"];
}
