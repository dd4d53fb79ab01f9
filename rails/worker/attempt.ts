import { basename } from "node:path";
import { changedPaths, findPlace, type Place } from "../git/repository.ts";
import { madeIn } from "../journal/evidence.ts";
import { Journal, type Run } from "../journal/journal.ts";
import { attemptOf } from "../journal/marker.ts";
import type { AttemptState, RunState } from "../journal/state.ts";
import { Fault } from "../program/fault.ts";

/** An attempt in its run. */
export type Found = Run & Readonly<{ attempt: AttemptState }>;

/** A worker's own attempt, and where it stands. */
export type Own = Found & Readonly<{ place: Place }>;

/** Finds `r1/T001.2`. @throws Fault `no-run`, `no-attempt` */
export async function findAttempt(common: string, id: string): Promise<Found> {
  const [, run = ""] = /^(r\d+)\//.exec(id) ?? [];
  const journal = new Journal(common, run);
  const state = run ? await journal.state() : null;
  const attempt = state?.attempts.get(id);
  if (!state || !attempt)
    throw new Fault(
      "no-attempt",
      `${id} was never dispatched`,
      "take the one that your prompt names",
    );
  return { journal, state, attempt };
}

/** @throws Fault `not-begun` where no attempt was begun in this worktree */
export async function ownAttempt(cwd: string): Promise<Own> {
  const place = await findPlace(cwd);
  const id = await attemptOf(place);
  if (id === null)
    throw new Fault("not-begun", `no attempt was begun in ${place.top}`, "run minion begin first");
  return { place, ...(await findAttempt(place.common, id)) };
}

/** The same attempt, as the journal says now. */
export const asOfNow = async ({
  place,
  attempt,
}: Pick<Own, "place" | "attempt">): Promise<Own> => ({
  place,
  ...(await findAttempt(place.common, attempt.id)),
});

/** The first files of a worktree that are not committed, as a text; what gates made beside them is
 * nobody's work. */
export const uncommitted = async (state: RunState, attempt: string, top: string): Promise<string> =>
  (await changedPaths(top, madeIn(state, attempt))).slice(0, 5).join(", ");

/** Was an attempt begun in that worktree? */
export const wasBegunIn = ({ begun }: AttemptState, top: string): boolean =>
  begun?.worktree === top;

/** Of an agent's id, at least so much stands in the name of its worktree. */
const ID_LENGTH = 7;

/** Is it the worktree that the client made for that agent? It is called after it, `agent-ID`, in
 * some versions by the beginning of the id. */
export function isOfAgent(top: string, agent: string): boolean {
  const [, id = ""] = /^agent-(.+)$/.exec(basename(top)) ?? [];
  return id === agent || (id.length >= ID_LENGTH && agent.startsWith(id));
}
