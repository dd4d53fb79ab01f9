import { git } from "../git/git.ts";
import { commitOf, isAncestor, type Place, resultOf } from "../git/repository.ts";
import type { Journal } from "../journal/journal.ts";
import { type AttemptState, type TaskState, withBranches } from "../journal/state.ts";
import { Fault } from "../program/fault.ts";

/** Makes a task mergeable by a person's word, with what is on a branch of it now: the newest that
 * holds work which no older one has too.
 * @param id the task's, or that of the one attempt whose branch is meant
 * @returns the branch, and in words what was passed over
 * @throws Fault where there is nothing to land */
export async function takeByHand(
  journal: Journal,
  place: Place,
  id: string,
): Promise<{ branch: string; without: readonly string[] } | null> {
  return journal.decide(async ({ tasks, attempts, run, aborted, line, tip }, write) => {
    const only = attempts.get(id);
    const task = only?.task ?? tasks.get(id);
    if (!task)
      throw new Fault(
        "no-task",
        `run ${run} has no task ${id}`,
        `it has ${[...tasks.keys()].join(", ")}`,
      );
    if (aborted) throw new Fault("aborted", `run ${run} was aborted`, "merge its branch yourself");
    if (task.state === "landed") {
      if (!only || only === task.result) return null;
      const what = `task ${task.id} has landed already, with ${task.result?.id}`;
      const way = `minion drop ${task.id} --run ${run} takes it back; then minion land ${id} --run ${run}`;
      throw new Fault("landed", what, way);
    }
    const { works, without } = await worksOf(task, place, only);
    const work = works.find(({ isFresh }) => isFresh);
    if (!work) {
      const none = without.length > 0 ? `: ${without.join(", ")}` : "";
      const way = `commit something there, or minion retry ${task.id} --run ${run}`;
      throw new Fault("no-branch", `${only ? "" : "task "}${id} has no work to land${none}`, way);
    }
    const { attempt, head } = work;
    const handoff = attempt.submitted?.handoff ?? "Taken by a person's word.";
    const result = await resultOf(attempt.begun.base, head, place.main);
    // Cleaned away once it was merged: it goes on from where it stood.
    if (!(await commitOf(`refs/heads/${line}`, place.main)))
      await git(place.main, "update-ref", "-m", "minion: land", `refs/heads/${line}`, tip, "");
    write({ event: "submitted", attempt: attempt.id, handoff, ...result, byHand: true });
    return { branch: attempt.begun.branch, without };
  });
}

/** What there is of a task, newest first; `isFresh`: no older branch has it too. `without`: in words
 * which branches hold nothing. */
async function worksOf(task: TaskState, { main }: Place, only?: AttemptState) {
  const works: {
    attempt: ReturnType<typeof withBranches>[number];
    head: string;
    isFresh: boolean;
  }[] = [];
  const without: string[] = [];
  for (const attempt of withBranches(task)) {
    if (only && attempt !== only) continue;
    const { branch, base } = attempt.begun;
    const head = await commitOf(`refs/heads/${branch}`, main);
    if (head === null) without.push(`${branch} is gone`);
    else if (head === base) without.push(`${branch} has no commit`);
    else works.push({ attempt, head, isFresh: true });
  }
  for (const [index, work] of works.entries())
    for (const older of works.slice(index + 1))
      if (await isAncestor(work.head, older.head, main)) work.isFresh = false;
  return { works, without };
}
