import { gitText } from "../git/git.ts";
import { commitOf, type Result, resultOf, treeOf } from "../git/repository.ts";
import { isEnd } from "../journal/end-task.ts";
import { madeIn, mayBeRed, unproven } from "../journal/evidence.ts";
import { missingSlots } from "../journal/handoff.ts";
import { hasRounds } from "../journal/rounds.ts";
import { Fault } from "../program/fault.ts";
import { type Objection, objectionTo } from "../proof/objections.ts";
import { type Own, ownAttempt, uncommitted } from "./attempt.ts";
import { HANDOFF_LIMIT, handIn, refuseOver, sinceBegin, untouched } from "./hand-in.ts";

/** Hands a worker's result in: from here the task is mergeable.
 * @param handoff Markdown with the blueprint's slots, where the phase writes
 * @throws Fault that says what is still missing */
export async function submit(handoff: string, cwd: string): Promise<void> {
  const own = await ownAttempt(cwd);
  const text = handoff.trim();
  checkHandoff(own, text);
  checkSlots(own, text);
  await submitWork(own, text);
}

/** Hands in what is proven of a worker that is gone and left no handoff.
 * @param note stands in its place
 * @throws Fault that says what is still missing */
export async function submitFor(note: string, cwd: string): Promise<void> {
  const own = await ownAttempt(cwd);
  const text = note.trim();
  checkHandoff(own, text);
  await submitWork(own, text);
}

/** @throws Fault where the text cannot be a handoff, or the phase wants a verdict */
function checkHandoff({ attempt: { phase, id } }: Own, text: string): void {
  if (text === "") {
    const way = "say what you did, and what others must know";
    throw new Fault("no-handoff", "the handoff is empty", way);
  }
  if (text.length > HANDOFF_LIMIT) {
    const what = `the handoff is longer than ${HANDOFF_LIMIT} characters`;
    throw new Fault("long-handoff", what, "leave raw output out");
  }
  if (phase.back || phase.picks) {
    const what = `phase ${phase.name} ends with a verdict`;
    throw new Fault("no-verdict", what, `minion verdict ${id} ${phase.picks ? "A" : "pass"}`);
  }
}

/** @throws Fault `slots` where a phase that writes leaves out what the blueprint asks for */
function checkSlots({ attempt: { phase }, state }: Own, text: string): void {
  if (!phase.writes) return;
  const lacking = missingSlots(text, state.blueprint.slots);
  const form = "write each as «Name: …», «none» where there is nothing";
  if (lacking.length > 0)
    throw new Fault("slots", `the handoff says nothing under ${lacking.join(", ")}`, form);
}

/** Hands in what is committed, as far as it is proven; of a phase that changes nothing, that. */
async function submitWork(own: Own, handoff: string): Promise<void> {
  const { phase, id } = own.attempt;
  refuseOver(own.state, id);
  const result = phase.writes ? await finished(own) : await untouched(own);
  if (phase.writes) await ask(own, result);
  await handIn(own, (state) => {
    const red = unproven(state, own.attempt, result.tree);
    const [gate] = red;
    if (gate === undefined && phase.writes && result.commits.length === 0)
      throw new Fault("no-commits", "all is green, and nothing is to land", "submit --nothing");
    if (gate !== undefined && !mayBeRed(state, own.attempt, result.tree))
      throw notProven(gate, phase.red.includes(gate));
    const left = hasRounds(phase) ? { red } : {};
    return { event: "submitted", attempt: id, handoff, ...result, ...left };
  });
}

function notProven(gate: string, hasToFail: boolean): Fault {
  const how = hasToFail ? "failed, as it has to here," : "passed";
  const what = `${gate} has not ${how} on exactly these files`;
  return new Fault("unproven", what, `run minion gate ${gate}`);
}

/** What an objection is to whoever made the change, and how it is taken back. */
const OBJECTIONS: Record<Objection["reason"], { what: string; undo: (base: string) => string }> = {
  forbidden: { what: "it changes what the task forbids", undo: () => "undo that" },
  "proof-changed": { what: "it changes what a gate stands on", undo: () => "undo that" },
  ignored: {
    what: "it adds what is ignored here, of which a person may have their own",
    undo: (base) =>
      `take it out of the commits themselves: git reset ${base}, then commit without it`,
  },
  "others-work": {
    what: "another task's work is among its commits, and not on the line",
    undo: () => "leave only your own commits above where you began",
  },
};

/** Tells a worker once, for the same files, what of them only a person can let through. */
async function ask({ journal, state, attempt, place }: Own, { head, tree }: Result): Promise<void> {
  const base = attempt.begun?.base ?? "";
  const objection = await objectionTo(state, attempt.task, { base, head, cwd: place.top });
  if (!objection || attempt.objections.some((each) => each.tree === tree)) return;
  await journal.add({ event: "objection", attempt: attempt.id, ...objection, tree });
  const { what, undo } = OBJECTIONS[objection.reason];
  const hint = `${undo(base.slice(0, 10))}; where the task cannot do without it, submit the same again: a person decides then`;
  throw new Fault(objection.reason, `${what}: ${objection.what.join(", ")}`, hint);
}

/** Says that the task wants no change. @throws Fault where there is work after all */
export async function submitNothing(why: string, cwd: string): Promise<void> {
  const own = await ownAttempt(cwd);
  const { attempt } = own;
  if (attempt.phase.back)
    throw new Fault("no-verdict", "what judges ends with a verdict", "minion verdict");
  if (why.trim() === "")
    throw new Fault("no-handoff", "--nothing wants a reason", "say why there is nothing to do");
  const { submitted, over } = attempt.task.result ?? {};
  if (submitted && !over && submitted.commits.length > 0)
    throw new Fault(
      "not-nothing",
      "there is work of the task already",
      "minion submit: that lands",
    );
  // Whoever is to mend the end may find that it is meant to be so.
  if (hasRounds(attempt.phase) && !isEnd(attempt.task)) await refuseRed(own);
  if ((await sinceBegin(own)).changed)
    throw new Fault(
      "not-nothing",
      "there are changes in this worktree",
      "submit them, or undo them first",
    );
  await handIn(own, () => ({ event: "nothing", attempt: attempt.id, why: why.trim() }));
}

/** @throws Fault `not-nothing` where a round still has something to make green */
async function refuseRed({ attempt, state, place }: Own): Promise<void> {
  const tree = await treeOf(place, madeIn(state, attempt.id));
  const [gate] = unproven(state, attempt, tree);
  if (gate === undefined) return;
  const way = `minion gate ${gate}; where that stays red, minion submit, with what you tried`;
  throw new Fault("not-nothing", `${gate} has not passed on these files`, way);
}

/** What a phase that writes has committed on its branch, in the blueprint's form.
 * @throws Fault `dirty`, `wrong-branch`, `commit-form`, and those of `resultOf` */
async function finished(own: Own): Promise<Result> {
  const { place, attempt, state } = own;
  const { top } = place;
  const { branch = "", base = "" } = attempt.begun ?? {};
  const changed = await uncommitted(state, attempt.id, top);
  if (changed) {
    const way = "commit what is the task's, remove the rest";
    throw new Fault("dirty", `not committed: ${changed}`, way);
  }
  const now = await gitText(top, "branch", "--show-current");
  if (now !== branch)
    throw new Fault("wrong-branch", `HEAD is not on ${branch}`, `bring your commits to ${branch}`);
  const head = (await commitOf("HEAD", top)) as string;
  // A round that found nothing better still says what it tried.
  if (hasRounds(attempt.phase) && head === base) return untouched(own);
  const result = await resultOf(base, head, top);
  const log = await gitText(top, "log", "--format=%s", `${base}..${result.head}`);
  const { commit } = state.blueprint;
  const odd = log.split("\n").find((subject) => !new RegExp(commit).test(subject));
  if (odd !== undefined) {
    const way = `it has to match ${commit}`;
    throw new Fault("commit-form", `«${odd}» is no commit message here`, way);
  }
  return result;
}
