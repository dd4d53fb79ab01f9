import { Fault } from "../fault.ts";
import { gitText } from "../git/git.ts";
import { changedPaths, commitOf, commitsBetween, isAncestor, pathsBetween } from "../git/repository.ts";
import type { EventData } from "../record/events.ts";
import { unproven } from "../record/evidence.ts";
import type { AttemptState, TaskState } from "../record/state.ts";
import { type Own, ownAttempt } from "./attempt.ts";

/** The whole is kept in the journal, which is read often. */
const HANDOFF_LIMIT = 20_000;

/**
 * Hands a worker's result in: from here the task is mergeable.
 * @param handoff Markdown: what and why, concerns, deviations, findings, risks, how to roll back
 * @returns the event that was written
 * @throws Fault that says what is still missing
 */
export async function submit(handoff: string, cwd: string): Promise<EventData["submitted"]> {
  const own = await ownAttempt(cwd);
  if (handoff.trim() === "")
    throw new Fault(
      "no-handoff",
      "the handoff is empty",
      "say what you did and why, and what whoever goes on must know",
    );
  if (handoff.length > HANDOFF_LIMIT)
    throw new Fault(
      "long-handoff",
      `the handoff has ${handoff.length} characters`,
      `keep it under ${HANDOFF_LIMIT}: raw output is on record already`,
    );
  const result = await finished(own);
  return own.journal.decide((state) => {
    stillOpen(state.attempts.get(own.attempt.id), state.tasks.get(own.task.task.id));
    const [missing] = unproven(state, result.tree);
    if (missing)
      throw new Fault(
        "unproven",
        `${missing.name} has not passed on exactly these files`,
        `run minion gate ${missing.name}`,
      );
    const submitted = { ...result, attempt: own.attempt.id, handoff: handoff.trim() };
    return { events: [{ event: "submitted", ...submitted }], result: submitted };
  });
}

/** Says that the task wants no change. @throws Fault where there is work after all */
export async function submitNothing(why: string, cwd: string): Promise<void> {
  const { journal, attempt, task, place } = await ownAttempt(cwd);
  if (why.trim() === "") throw new Fault("no-handoff", "--nothing wants a reason", "say why there is nothing to do");
  const head = await commitOf("HEAD", place.top);
  if (head !== attempt.begun?.base || (await changedPaths(place.top)).length > 0)
    throw new Fault("not-nothing", "there are changes in this worktree", "submit them, or undo them first");
  await journal.decide((state) => {
    stillOpen(state.attempts.get(attempt.id), state.tasks.get(task.task.id));
    return { events: [{ event: "nothing", attempt: attempt.id, why: why.trim() }], result: null };
  });
}

/** A late result is welcome as long as nobody else was set to the task and no bound was used up. */
function stillOpen(attempt: AttemptState | undefined, task: TaskState | undefined): void {
  const over = attempt?.over?.reason;
  const late = over === "unproven" || over === "stalled";
  if (!attempt || task?.attempts.at(-1) !== attempt || attempt.submitted || attempt.nothing !== null || (over && !late))
    throw new Fault("over", `${attempt?.id} is over${over ? `: ${over}` : ""}`, "stop and say so");
}

async function finished({ place, attempt, state }: Own): Promise<Omit<EventData["submitted"], "attempt" | "handoff">> {
  const cwd = place.top;
  const { branch, base } = attempt.begun as EventData["begun"];
  const changed = await changedPaths(cwd);
  if (changed.length > 0)
    throw new Fault(
      "dirty",
      `not committed: ${changed.slice(0, 5).join(", ")}`,
      "commit what belongs to the task, remove what does not",
    );
  const [now, head] = [await gitText(["branch", "--show-current"], { cwd }), (await commitOf("HEAD", cwd)) as string];
  if (now !== branch)
    throw new Fault(
      "wrong-branch",
      `HEAD is on ${now || "no branch"}, not on ${branch}`,
      `bring your commits to ${branch}`,
    );
  if (!(await isAncestor(base, head, cwd)))
    throw new Fault(
      "moved-base",
      `${branch} no longer holds ${base}, where it began`,
      `bring your commits onto that: git rebase ${base}`,
    );
  const commits = await commitsBetween(base, head, cwd);
  if (commits.length === 0)
    throw new Fault(
      "no-commits",
      "there is no commit of your own",
      'commit your work, or say minion submit --nothing "why"',
    );
  if (commits.some(({ parents }) => parents > 1))
    throw new Fault(
      "merge-commit",
      "there is a merge among your commits",
      "a result is a row of plain commits: rebase it",
    );
  const pattern = new RegExp(state.blueprint.commit);
  for (const { id } of commits) {
    const subject = await gitText(["log", "-1", "--format=%s", id], { cwd });
    if (!pattern.test(subject))
      throw new Fault(
        "commit-form",
        `commit message «${subject}» has another form than the rails want`,
        `reword it to match ${state.blueprint.commit}`,
      );
  }
  const tree = await gitText(["rev-parse", `${head}^{tree}`], { cwd });
  return { head, tree, commits: commits.map(({ id }) => id), paths: await pathsBetween(base, head, cwd) };
}
