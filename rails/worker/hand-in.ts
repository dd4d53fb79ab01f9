import { commitOf, type Result, treeOf } from "../git/repository.ts";
import type { NewEvent } from "../journal/events.ts";
import { madeIn } from "../journal/evidence.ts";
import { endOf } from "../journal/shapes.ts";
import { type AttemptState, hasResult, type RunState, rivalsOn } from "../journal/state.ts";
import { Fault } from "../program/fault.ts";
import { type Own, uncommitted } from "./attempt.ts";

/** So many characters may a worker hand in. The whole is kept in the journal, which is read often.
 */
export const HANDOFF_LIMIT = 20_000;

/** Where an attempt began, and in words what it has changed there; empty where nothing. */
export async function sinceBegin({
  attempt,
  place,
  state,
}: Own): Promise<{ from: string; changed: string }> {
  const { begun, task } = attempt;
  // A run that an older version began says it only by where the work before it ended.
  const { submitted, over } = task.result ?? {};
  const before = submitted && !over ? submitted.head : (begun?.base ?? "");
  const from = begun?.from ?? before;
  const isThere = (await commitOf("HEAD", place.top)) === from;
  return {
    from,
    changed: isThere ? await uncommitted(state, attempt.id, place.top) : "there are commits",
  };
}

/** What a phase comes to that changes nothing: the files as they were. @throws Fault where a phase that changes nothing has changed something */
export async function untouched(own: Own): Promise<Result> {
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

/** Writes down what an attempt comes to. A late result is welcome as long as nobody else was set to
 * the task or to one that conflicts, and no bound was used up.
 * @param more what follows from it
 * @throws Fault `over` */
export async function handIn(
  { journal, attempt: { id } }: Own,
  result: (state: RunState) => NewEvent,
  ...more: readonly NewEvent[]
): Promise<void> {
  await journal.decide((state, write) => {
    refuseOver(state, id);
    write(result(state));
    for (const event of more) write(event);
  });
}

/** @throws Fault `over` where nothing more is taken of an attempt */
export function refuseOver(state: RunState, id: string): void {
  const attempt = state.attempts.get(id);
  if (attempt && isOpen(state, attempt)) return;
  const over = attempt?.over?.reason;
  throw new Fault("over", `${id} is over${over ? `: ${over}` : ""}`, "stop and say so");
}

function isOpen(state: RunState, attempt: AttemptState): boolean {
  const { task, over } = attempt;
  if (hasFollower(attempt) || hasResult(attempt)) return false;
  if (!over) return true;
  return endOf(over.reason).isEarly === true && rivalsOn(state, task.id).length === 0;
}

/** Was somebody else set to the same since? Of several that are to be chosen from, whoever took its
 * place, or came after all of them. */
function hasFollower({ id, task, variant }: AttemptState): boolean {
  const since = task.attempts.slice(1 + task.attempts.findIndex((each) => each.id === id));
  if (variant === 0) return since.length > 0;
  const isChosen = task.picked !== null;
  return isChosen || since.some((each) => each.variant === 0 || each.variant === variant);
}
