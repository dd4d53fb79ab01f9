import { isAlive, markOf, type ProcessMark } from "../program/process.ts";
import type { Session } from "./shapes.ts";
import { isOpen, type RunState } from "./state.ts";

/** The session that this command is called from; empty outside of Claude Code. */
export async function sessionOf(env: NodeJS.ProcessEnv): Promise<Session> {
  const pid = Number(env.CLAUDE_PID);
  return { session: env.CLAUDE_CODE_SESSION_ID ?? "", owner: pid > 0 ? await markOf(pid) : null };
}

/** Is it that session's run? A client that began a new session in the same process still leads what
 * it led before. */
const isOwnedBy = ({ session, owner }: RunState, caller: Session): boolean =>
  (caller.session !== "" && caller.session === session) || isSame(owner, caller.owner);

/** Is a run open and led by another session? One whose process is not known may still live. */
export async function isOthers(state: RunState, caller: Session): Promise<boolean> {
  const { session, owner } = state;
  if (!isOpen(state) || session === "" || isOwnedBy(state, caller)) return false;
  return owner === null || (await isAlive(owner));
}

/** Are these the same process? Not where either is unknown. */
export const isSame = (one: ProcessMark | null, other: ProcessMark | null): boolean =>
  one !== null && one.pid === other?.pid && one.started === other.started;
