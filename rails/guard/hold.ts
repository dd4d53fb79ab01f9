import { gitText } from "../git/git.ts";
import { findPlace, treeOf } from "../git/repository.ts";
import type { NewEvent } from "../journal/events.ts";
import { evidenceFor, gatesOf, madeIn, mayBeRed, unproven } from "../journal/evidence.ts";
import { isMissed } from "../journal/passed.ts";
import type { Reason } from "../journal/shapes.ts";
import { type AttemptState, isActive, type RunState } from "../journal/state.ts";
import { isRunning } from "../proof/jobs.ts";
import { type Found, uncommitted } from "../worker/attempt.ts";
import { submitFor } from "../worker/submit.ts";

/** What the rails hand in where a worker only forgot to. */
const NO_HANDOFF = "Its worker left no handoff.";

/** How an attempt ends without a result. */
type End = Readonly<{ reason: Reason; note: string; until?: number | undefined }>;
/** What is to become of an attempt: it ends, or its worker is told something; null: neither. */
type Judgement = Readonly<{ end: End } | { tell: string }> | null;
type Judge = (
  state: RunState,
  attempt: AttemptState,
  write: (event: NewEvent) => void,
) => Promise<Judgement>;

/** Judges an attempt that is not over. How it ends is written down.
 * @returns what its worker is to be told, or null */
const whileActive = ({ journal, attempt: { id } }: Found, judge: Judge): Promise<string | null> =>
  journal.decide(async (state, write) => {
    const attempt = state.attempts.get(id);
    if (!attempt || !isActive(attempt) || state.aborted) return null;
    const judgement = await judge(state, attempt, write);
    if (judgement === null) return null;
    if ("tell" in judgement) return judgement.tell;
    write({ event: "ended", attempt: id, ...judgement.end });
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
  let isToHandIn = false;
  const told = await whileActive(found, async (state, attempt, write) => {
    const { id, begun, sentBack, phase } = attempt;
    if (!begun)
      return {
        end: await howItEnded(state, attempt, said, "Its worker ended without minion begin."),
      };
    // A gate that still runs says nothing yet, so this send-back does not count.
    const running = await runningGate(state, attempt);
    if (running)
      return {
        tell: `Gate ${running} still runs: call minion gate ${running} again, it waits for it.`,
      };
    const tree = await treeOf(await findPlace(begun.worktree), madeIn(state, id));
    const { reason, text, way } = await lackOf(state, attempt, begun.worktree, tree);
    const isTold = sentBack.some((each) => each.reason === reason && each.tree === tree);
    if (!isTold && sentBack.length < state.blueprint.bounds.send_backs) {
      write({ event: "sent-back", attempt: id, reason, tree });
      return {
        tell:
          `Not done yet: ${text}. Run minion ${way}; ` +
          "if it cannot be done, end again and say what is missing.",
      };
    }
    // Of a phase that writes nothing, what it says is all that there is.
    if (reason === "not-submitted" && sentBack.length > 0 && phase.writes) {
      isToHandIn = true;
      return null;
    }
    if (reason === "red") return { end: { reason: "gate-failed", note: quoting(text, said) } };
    return { end: await howItEnded(state, attempt, said, text) };
  });
  if (isToHandIn) await handInFor(found, said);
  return told;
}

/** The gate of an attempt's phase that still runs, if one does. */
async function runningGate(state: RunState, attempt: AttemptState): Promise<string | null> {
  for (const { name } of gatesOf(state, attempt))
    if (await isRunning(state, `gate ${attempt.id} ${name}`)) return name;
  return null;
}

/** Hands in what a worker only forgot to. Where that cannot be done, its attempt ends. */
async function handInFor(found: Found, said: string): Promise<void> {
  // What a person has to agree to is objected to once; there is nobody left to think twice.
  const handIn = () => submitFor(NO_HANDOFF, found.attempt.begun?.worktree ?? "");
  await handIn()
    .catch(handIn)
    .catch((fault: Error) => endAttempt(found, said, fault.message));
}

/** Ends an attempt whose worker nothing can hold any more.
 * @param said its last message, empty where it was cut off
 * @param text what is known of its end
 * @param end how it ended, where that is known */
export async function endAttempt(
  found: Found,
  said: string,
  text: string,
  end?: Omit<End, "note">,
): Promise<void> {
  await whileActive(found, async (state, attempt) => ({
    end: end ? { ...end, note: text } : await howItEnded(state, attempt, said, text),
  }));
}

const quoting = (text: string, said: string): string =>
  said ? `${text}. Its worker says: ${said.slice(0, 300)}` : text;

/** What an end without a result is called: what the client refused comes before what that led to.
 * @param text what is known of the end */
async function howItEnded(
  state: RunState,
  { id, begun, refused }: AttemptState,
  said: string,
  text: string,
): Promise<End> {
  if (!begun) return { reason: "never-began", note: text };
  if (refused) {
    const what = `${refused.tool} was not permitted: ${refused.what}`;
    return { reason: "permission", note: quoting(what, said) };
  }
  if (said !== "") return { reason: "unproven", note: quoting(text, said) };
  const { worktree, base, branch } = begun;
  const count = gitText(worktree, "rev-list", "--count", `${base}..refs/heads/${branch}`);
  const [commits, changed] = await Promise.all([count, uncommitted(state, id, worktree)]).catch(
    () => ["unknown", ""],
  );
  const left = `Commits on ${branch}: ${commits}; not committed: ${changed || "nothing"}.`;
  return { reason: "cut-off", note: `No last word: ${text}. ${left}` };
}

/** What a worker's result lacks: the reason, the same in words, and the command of `minion` that is
 * next. */
type Lack = Readonly<{ reason: string; text: string; way: string }>;

async function lackOf(
  state: RunState,
  attempt: AttemptState,
  top: string,
  tree: string,
): Promise<Lack> {
  const { id, phase } = attempt;
  const isRound = mayBeRed(state, attempt, tree);
  const missed = gatesOf(state, attempt).filter((gate) =>
    isMissed(gate, evidenceFor(state, gate, tree)),
  );
  if (missed.length > 0 && !isRound) {
    const names = missed.map(({ name, red }) => (red ? `${name} (has to be red)` : name));
    const text = `not as it should be on exactly these files: ${names.join(", ")}`;
    return { reason: "red", text, way: "gate --all, once it is mended" };
  }
  const gates = unproven(state, attempt, tree).join(", ");
  if (gates && !isRound) {
    const text = `no evidence for exactly these files: ${gates}`;
    return { reason: "no-evidence", text, way: "gate --all" };
  }
  if (phase.picks) {
    const way = `verdict ${id} A, or the letter of another one, with what decided on stdin`;
    return { reason: "no-verdict", text: `${id} has chosen none`, way };
  }
  if (phase.back) {
    const way = `verdict ${id} pass, or fail, with findings on stdin`;
    return { reason: "no-verdict", text: `${id} has no verdict`, way };
  }
  if (phase.writes && (await uncommitted(state, id, top))) {
    const text = isRound ? "not all is committed" : "the gates passed, but not all is committed";
    return { reason: "not-committed", text, way: "submit, after a commit" };
  }
  return { reason: "not-submitted", text: `${id} was not handed in`, way: "submit" };
}
