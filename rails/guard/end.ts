import { gitText } from "../git/git.ts";
import { changedPaths, treeOf, type Worktop } from "../git/repository.ts";
import type { Reason } from "../record/events.ts";
import { evidenceFor, madeIn, unproven } from "../record/evidence.ts";
import { isRunning } from "../record/job.ts";
import { isRed } from "../record/judge.ts";
import { type AttemptState, isActive, type RunState } from "../record/state.ts";
import type { Found } from "../worker/attempt.ts";
import { submit } from "../worker/submit.ts";

/** What the rails hand in where a worker only forgot to. */
const NO_HANDOFF = "Its worker left no handoff.";

/** Decides whether a worker may end. Without a result it is sent back with what is missing: once for the same reason
 * and files, and no more often than the blueprint says. After that it goes, and the journal says why it failed; where
 * all is proven and committed, its result is handed in for it.
 * @param worktree null where the attempt was never begun
 * @param said the worker's last message: kept for the person, decides nothing but what the end is called
 * @returns what to tell the worker, or null where it may go */
export async function holdAtEnd(found: Found, worktree: Worktop | null, said: string): Promise<string | null> {
  const { id } = found.attempt;
  const told = await found.journal.decide(async (state, write): Promise<string | null> => {
    const attempt = state.attempts.get(id);
    if (!attempt || !isActive(attempt) || state.aborted) return null;
    const over = ([reason, note]: Why): null => {
      write({ event: "ended", attempt: id, reason, note });
      return null;
    };
    if (!attempt.begun || !worktree) return over(["never-began", "Its worker ended without minion begin."]);
    // A gate that still runs says nothing yet, so this send-back does not count.
    for (const { name } of state.gates)
      if (await isRunning(state, `gate ${id} ${name}`))
        return `Gate ${name} still runs: call minion gate ${name} again, it waits for it.`;
    const tree = await treeOf(worktree, madeIn(state, id));
    const [reason, text, way] = await missing(state, id, worktree.top, tree);
    const isTold = attempt.sentBack.some((each) => each.reason === reason && each.tree === tree);
    if (isTold || attempt.sentBack.length >= state.blueprint.bounds.send_backs) {
      if (reason === "not-submitted" && attempt.sentBack.length > 0) return NO_HANDOFF;
      return over(reason === "red" ? ["gate-failed", quoting(text, said)] : await why(state, attempt, said, text));
    }
    write({ event: "sent-back", attempt: id, reason, tree });
    return `Not done yet: ${text}. Run minion ${way}; if it cannot be done, end again and say what is missing.`;
  });
  if (told !== NO_HANDOFF || !worktree) return told;
  // What a person has to agree to is objected to once; there is nobody left to think twice.
  const handIn = () => submit(NO_HANDOFF, worktree.top);
  await handIn()
    .catch(handIn)
    .catch((fault: Error) => endAttempt(found, said, fault.message));
  return null;
}

/** Ends an attempt whose worker nothing can hold any more.
 * @param said its last message, empty where it was cut off
 * @param text what is known of its end
 * @param isLimited ended by a rate limit: that says nothing of the work */
export function endAttempt(found: Found, said: string, text: string, isLimited = false): Promise<void> {
  const { id } = found.attempt;
  return found.journal.decide(async (state, write) => {
    const attempt = state.attempts.get(id);
    if (!attempt || !isActive(attempt) || state.aborted) return;
    const [reason, note]: Why = isLimited ? ["rate-limit", text] : await why(state, attempt, said, text);
    write({ event: "ended", attempt: id, reason, note });
  });
}

type Why = readonly [reason: Reason, note: string];
const quoting = (text: string, said: string): string =>
  said ? `${text}. Its worker says: ${said.slice(0, 300)}` : text;

/** What an end without a result is called: what the client refused comes before what that led to. */
async function why(state: RunState, { begun, refused }: AttemptState, said: string, text: string): Promise<Why> {
  if (!begun) return ["never-began", text];
  if (refused) return ["permission", quoting(`${refused.tool} was not permitted: ${refused.what}`, said)];
  if (said !== "") return ["unproven", quoting(text, said)];
  const { worktree, base, branch } = begun;
  const commits = await gitText(worktree, "rev-list", "--count", `${base}..refs/heads/${branch}`).catch(
    () => "unknown",
  );
  const changed = (await changedPaths(worktree, madeIn(state, begun.attempt)).catch(() => [])).slice(0, 5).join(", ");
  return [
    "cut-off",
    `No last word: ${text}. Commits on ${branch}: ${commits}; not committed: ${changed || "nothing"}.`,
  ];
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
