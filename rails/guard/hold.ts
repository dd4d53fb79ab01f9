import { gitText } from "../git/git.ts";
import { findPlace, treeOf } from "../git/repository.ts";
import type { NewEvent } from "../journal/events.ts";
import { evidenceFor, gatesOf, isMissed, madeIn, unproven } from "../journal/evidence.ts";
import type { Reason } from "../journal/shapes.ts";
import { type AttemptState, isActive, type RunState } from "../journal/state.ts";
import { isRunning } from "../proof/jobs.ts";
import { type Found, uncommitted } from "../worker/attempt.ts";
import { submit } from "../worker/submit.ts";

/** What the rails hand in where a worker only forgot to. */
const NO_HANDOFF = "Its worker left no handoff.";

/** How an attempt ends without a result. */
type Why = readonly [reason: Reason, note: string];
type Look = (
  state: RunState,
  attempt: AttemptState,
  write: (event: NewEvent) => void,
) => Promise<Why | string>;

/** Looks at an attempt that is not over: what comes back is how it ends, which is written down, or
 * what to say. */
const whileActive = ({ journal, attempt: { id } }: Found, look: Look): Promise<string | null> =>
  journal.decide(async (state, write) => {
    const attempt = state.attempts.get(id);
    if (!attempt || !isActive(attempt) || state.aborted) return null;
    const result = await look(state, attempt, write);
    if (typeof result === "string") return result;
    write({ event: "ended", attempt: id, reason: result[0], note: result[1] });
    return null;
  });

/** Decides whether a worker may end. Without a result it is sent back with what is missing: once
 * for the same reason and files, and no more often than the blueprint says. After that it goes, and
 * the journal says why it failed; where all is proven and committed, its result is handed in for
 * it.
 * @param said the worker's last message: kept for the person, decides nothing but what the end is
 *   called
 * @returns what to tell the worker, or null where it may go */
export async function holdAtEnd(found: Found, said: string): Promise<string | null> {
  const told = await whileActive(found, async (state, attempt, write) => {
    const { id, begun, sentBack } = attempt;
    if (!begun) return why(state, attempt, said, "Its worker ended without minion begin.");
    // A gate that still runs says nothing yet, so this send-back does not count.
    for (const { name } of gatesOf(state, attempt.phase))
      if (await isRunning(state, `gate ${id} ${name}`))
        return `Gate ${name} still runs: call minion gate ${name} again, it waits for it.`;
    const tree = await treeOf(await findPlace(begun.worktree), madeIn(state, id));
    const [reason, text, way] = await missing(state, attempt, begun.worktree, tree);
    const isTold = sentBack.some((each) => each.reason === reason && each.tree === tree);
    if (!isTold && sentBack.length < state.blueprint.bounds.send_backs) {
      write({ event: "sent-back", attempt: id, reason, tree });
      return `Not done yet: ${text}. Run minion ${way}; if it cannot be done, end again and say what is missing.`;
    }
    // Of a phase that writes nothing, what it says is all that there is.
    if (reason === "not-submitted" && sentBack.length > 0 && attempt.phase.writes)
      return NO_HANDOFF;
    return reason === "red"
      ? ["gate-failed", quoting(text, said)]
      : why(state, attempt, said, text);
  });
  if (told !== NO_HANDOFF) return told;
  // What a person has to agree to is objected to once; there is nobody left to think twice.
  const handIn = () => submit(NO_HANDOFF, found.attempt.begun?.worktree ?? "", true);
  await handIn()
    .catch(handIn)
    .catch((fault: Error) => endAttempt(found, said, fault.message));
  return null;
}

/** Ends an attempt whose worker nothing can hold any more.
 * @param said its last message, empty where it was cut off
 * @param text what is known of its end
 * @param isLimited ended by a rate limit: that says nothing of the work */
export async function endAttempt(
  found: Found,
  said: string,
  text: string,
  isLimited = false,
): Promise<void> {
  await whileActive(found, async (state, attempt) =>
    isLimited ? ["rate-limit", text] : why(state, attempt, said, text),
  );
}

const quoting = (text: string, said: string): string =>
  said ? `${text}. Its worker says: ${said.slice(0, 300)}` : text;

/** What an end without a result is called: what the client refused comes before what that led to.
 */
async function why(
  state: RunState,
  { id, begun, refused }: AttemptState,
  said: string,
  text: string,
): Promise<Why> {
  if (!begun) return ["never-began", text];
  if (refused)
    return ["permission", quoting(`${refused.tool} was not permitted: ${refused.what}`, said)];
  if (said !== "") return ["unproven", quoting(text, said)];
  const { worktree, base, branch } = begun;
  const count = gitText(worktree, "rev-list", "--count", `${base}..refs/heads/${branch}`);
  const [commits, changed] = await Promise.all([count, uncommitted(state, id, worktree)]).catch(
    () => ["unknown", ""],
  );
  const left = `Commits on ${branch}: ${commits}; not committed: ${changed || "nothing"}.`;
  return ["cut-off", `No last word: ${text}. ${left}`];
}

/** What a worker's result lacks: the reason, in words, and the command that is next. */
async function missing(
  state: RunState,
  { id, phase }: AttemptState,
  top: string,
  tree: string,
): Promise<[string, string, string]> {
  const missed = gatesOf(state, phase).filter((gate) =>
    isMissed(gate, evidenceFor(state, gate, tree)),
  );
  const names = missed.map(({ name, red }) => (red ? `${name} (has to be red)` : name)).join(", ");
  if (names)
    return [
      "red",
      `not as it should be on exactly these files: ${names}`,
      "gate --all, once it is mended",
    ];
  const gates = unproven(state, phase, tree).join(", ");
  if (gates) return ["no-evidence", `no evidence for exactly these files: ${gates}`, "gate --all"];
  if (phase.back)
    return [
      "no-verdict",
      `${id} has no verdict`,
      `verdict ${id} pass, or fail, with findings on stdin`,
    ];
  if (phase.writes && (await uncommitted(state, id, top)))
    return [
      "not-committed",
      "the gates passed, but not all is committed",
      "submit, after a commit",
    ];
  return ["not-submitted", `${id} was not handed in`, "submit"];
}
