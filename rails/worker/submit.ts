import { gitText } from "../git/git.ts";
import { commitOf, type Result, resultOf, treeOf } from "../git/repository.ts";
import type { NewEvent } from "../journal/events.ts";
import { madeIn, unproven } from "../journal/evidence.ts";
import { missingSlots } from "../journal/handoff.ts";
import { endOf } from "../journal/shapes.ts";
import { hasResult, type RunState, rivalsOn } from "../journal/state.ts";
import { EXIT, Fault } from "../program/fault.ts";
import { type Objection, objectionTo } from "../proof/objections.ts";
import { type Own, ownAttempt, uncommitted } from "./attempt.ts";
import { startOf } from "./begin.ts";

/** The whole is kept in the journal, which is read often. */
const HANDOFF_LIMIT = 20_000;

/** Hands a worker's result in: from here the task is mergeable.
 * @param handoff Markdown with the blueprint's slots, where the phase writes
 * @param isLost its worker left none: the rails hand in what is proven
 * @throws Fault that says what is still missing */
export async function submit(handoff: string, cwd: string, isLost = false): Promise<void> {
  const own = await ownAttempt(cwd);
  const text = handoff.trim();
  if (text === "")
    throw new Fault(
      "no-handoff",
      "the handoff is empty",
      "say what you did, and what others must know",
    );
  if (text.length > HANDOFF_LIMIT)
    throw new Fault(
      "long-handoff",
      `the handoff is longer than ${HANDOFF_LIMIT} characters`,
      "leave raw output out",
    );
  const { phase, id } = own.attempt;
  if (phase.back)
    throw new Fault(
      "no-verdict",
      `phase ${phase.name} ends with a verdict`,
      `minion verdict ${id} pass`,
    );
  const lacking = phase.writes && !isLost ? missingSlots(text, own.state.blueprint.slots) : [];
  const form = "write each as «Name: …», «none» where there is nothing";
  if (lacking.length > 0)
    throw new Fault("slots", `the handoff says nothing under ${lacking.join(", ")}`, form);
  const result = phase.writes ? await finished(own) : await untouched(own);
  if (phase.writes) await ask(own, result);
  await handIn(own, (state) => {
    const [gate] = unproven(state, phase, result.tree);
    const what = phase.red.includes(gate ?? "") ? "failed, as it has to here," : "passed";
    if (gate)
      throw new Fault(
        "unproven",
        `${gate} has not ${what} on exactly these files`,
        `run minion gate ${gate}`,
      );
    return { event: "submitted", attempt: id, handoff: text, ...result };
  });
}

/** What one that judges came to: on `fail` the task goes back with the findings.
 * @param findings Markdown: each with its file and line, and what would show it
 * @throws Fault where the attempt is not there to judge, or says nothing of what it found */
export async function giveVerdict(
  id: string,
  verdict: string,
  findings: string,
  cwd: string,
): Promise<void> {
  const own = await ownAttempt(cwd);
  const text = findings.trim();
  const way = "say pass or fail, with what you looked at or found on stdin";
  const form = "write each as «src/a.ts:12: what is wrong, what shows it»";
  if (own.attempt.id !== id)
    throw new Fault("not-yours", `this worktree is ${own.attempt.id}'s`, "judge your own attempt");
  if (!own.attempt.phase.back)
    throw new Fault("no-judge", `phase ${own.attempt.phase.name} judges nothing`, "minion submit");
  if (verdict !== "pass" && verdict !== "fail")
    throw new Fault("usage", `${verdict} is no verdict`, way, EXIT.usage);
  if (text === "" || text.length > HANDOFF_LIMIT)
    throw new Fault("no-findings", "nothing, or far too much, is said", way);
  if (verdict === "fail" && !/\S:\d/.test(text))
    throw new Fault("no-place", "no finding names its place", form);
  const result = await untouched(own);
  await handIn(own, () => ({ event: "submitted", attempt: id, handoff: text, verdict, ...result }));
}

/** Where an attempt began, and in words what it has changed there; empty where nothing. */
async function sinceBegin({
  attempt,
  place,
  state,
}: Own): Promise<{ from: string; changed: string }> {
  const { from } = startOf(attempt.task, attempt.begun?.base ?? "");
  const isThere = (await commitOf("HEAD", place.top)) === from;
  return {
    from,
    changed: isThere ? await uncommitted(state, attempt.id, place.top) : "there are commits",
  };
}

/** @throws Fault where a phase that changes nothing has changed something */
async function untouched(own: Own): Promise<Result> {
  const { attempt, place, state } = own;
  const { from, changed } = await sinceBegin(own);
  const hint = `undo that: git restore, or git reset --hard ${from.slice(0, 10)}; what you found out goes into the handoff`;
  if (changed)
    throw new Fault("wrote", `phase ${attempt.phase.name} changes no file: ${changed}`, hint);
  return {
    head: from,
    tree: await treeOf(place, madeIn(state, attempt.id)),
    commits: [],
    paths: [],
    deleted: [],
  };
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
  if ((await sinceBegin(own)).changed)
    throw new Fault(
      "not-nothing",
      "there are changes in this worktree",
      "submit them, or undo them first",
    );
  await handIn(own, () => ({ event: "nothing", attempt: attempt.id, why: why.trim() }));
}

/** A late result is welcome as long as nobody else was set to the task or to one that conflicts,
 * and no bound was used up. */
async function handIn(
  { journal, attempt: { id, task } }: Own,
  result: (state: RunState) => NewEvent,
): Promise<void> {
  await journal.decide((state, write) => {
    const attempt = state.attempts.get(id);
    const over = attempt?.over?.reason;
    const isOver = over && (!endOf(over).isEarly || rivalsOn(state, task.id).length > 0);
    if (!attempt || attempt !== attempt.task.attempts.at(-1) || isOver || hasResult(attempt))
      throw new Fault("over", `${id} is over${over ? `: ${over}` : ""}`, "stop and say so");
    write(result(state));
  });
}

async function finished({ place: { top }, attempt, state }: Own): Promise<Result> {
  const { branch = "", base = "" } = attempt.begun ?? {};
  const changed = await uncommitted(state, attempt.id, top);
  if (changed)
    throw new Fault(
      "dirty",
      `not committed: ${changed}`,
      "commit what is the task's, remove the rest",
    );
  const now = await gitText(top, "branch", "--show-current");
  if (now !== branch)
    throw new Fault("wrong-branch", `HEAD is not on ${branch}`, `bring your commits to ${branch}`);
  const result = await resultOf(base, (await commitOf("HEAD", top)) as string, top);
  const subjects = (await gitText(top, "log", "--format=%s", `${base}..${result.head}`)).split(
    "\n",
  );
  const { commit } = state.blueprint;
  const odd = subjects.find((subject) => !new RegExp(commit).test(subject));
  if (odd !== undefined)
    throw new Fault(
      "commit-form",
      `«${odd}» is no commit message here`,
      `it has to match ${commit}`,
    );
  return result;
}
