import { Fault } from "../fault.ts";
import { gitText } from "../git/git.ts";
import { changedPaths, commitOf, ownCommits, pathsBetween } from "../git/repository.ts";
import type { EventData, NewEvent } from "../record/events.ts";
import { unproven } from "../record/evidence.ts";
import type { RunState } from "../record/state.ts";
import { type Own, ownAttempt } from "./attempt.ts";

/** The whole is kept in the journal, which is read often. */
const HANDOFF_LIMIT = 20_000;

/**
 * Hands a worker's result in: from here the task is mergeable.
 * @param handoff Markdown: what and why, concerns, deviations, findings, risks, how to roll back
 * @throws Fault that says what is still missing
 */
export async function submit(handoff: string, cwd: string): Promise<void> {
  const own = await ownAttempt(cwd);
  const { length } = handoff.trim();
  if (length === 0)
    throw new Fault("no-handoff", "the handoff is empty", "say what you did and why, and what others must know");
  if (length > HANDOFF_LIMIT)
    throw new Fault(
      "long-handoff",
      `the handoff has ${length} characters`,
      `keep it under ${HANDOFF_LIMIT}: raw output is on record`,
    );
  const result = await finished(own);
  await handIn(own, (state) => {
    const [missing] = unproven(state, result.tree);
    if (missing)
      throw new Fault(
        "unproven",
        `${missing.name} has not passed on exactly these files`,
        `run minion gate ${missing.name}`,
      );
    return { event: "submitted", attempt: own.attempt.id, handoff: handoff.trim(), ...result };
  });
}

/** Says that the task wants no change. @throws Fault where there is work after all */
export async function submitNothing(why: string, cwd: string): Promise<void> {
  const own = await ownAttempt(cwd);
  const { attempt, place } = own;
  if (why.trim() === "") throw new Fault("no-handoff", "--nothing wants a reason", "say why there is nothing to do");
  if ((await commitOf("HEAD", place.top)) !== attempt.begun?.base || (await changedPaths(place.top)).length > 0)
    throw new Fault("not-nothing", "there are changes in this worktree", "submit them, or undo them first");
  await handIn(own, () => ({ event: "nothing", attempt: attempt.id, why: why.trim() }));
}

/** A late result is welcome as long as nobody else was set to the task and no bound was used up. */
async function handIn({ journal, attempt: { id }, task }: Own, result: (state: RunState) => NewEvent): Promise<void> {
  await journal.decide((state) => {
    const attempt = state.attempts.get(id);
    const isLast = state.tasks.get(task.task.id)?.attempts.at(-1) === attempt;
    const over = attempt?.over?.reason;
    const isOver = over !== undefined && over !== "unproven" && over !== "stalled";
    if (!attempt || !isLast || isOver || attempt.submitted || attempt.nothing !== null)
      throw new Fault("over", `${id} is over${over ? `: ${over}` : ""}`, "stop and say so");
    return { events: [result(state)], result: null };
  });
}

async function finished({
  place: { top: cwd },
  attempt,
  state,
}: Own): Promise<Omit<EventData["submitted"], "attempt" | "handoff">> {
  const { branch, base } = attempt.begun as EventData["begun"];
  const changed = await changedPaths(cwd);
  if (changed.length > 0)
    throw new Fault(
      "dirty",
      `not committed: ${changed.slice(0, 5).join(", ")}`,
      "commit what belongs to the task, remove the rest",
    );
  const now = await gitText(["branch", "--show-current"], { cwd });
  if (now !== branch)
    throw new Fault(
      "wrong-branch",
      `HEAD is on ${now || "no branch"}, not on ${branch}`,
      `bring your commits to ${branch}`,
    );
  const head = (await commitOf("HEAD", cwd)) as string;
  const commits = await ownCommits(base, head, cwd);
  const subjects = (await gitText(["log", "--format=%s", `${base}..${head}`], { cwd })).split("\n");
  const odd = subjects.find((subject) => !new RegExp(state.blueprint.commit).test(subject));
  if (odd !== undefined)
    throw new Fault(
      "commit-form",
      `commit message «${odd}» has another form than the rails want`,
      `reword it to match ${state.blueprint.commit}`,
    );
  const tree = await gitText(["rev-parse", `${head}^{tree}`], { cwd });
  return { head, tree, commits, paths: await pathsBetween(base, head, cwd) };
}
