import type { Session } from "../journal/shapes.ts";
import { markOf } from "../program/process.ts";

/** The session that this command is called from; empty outside of Claude Code. */
export async function sessionOf(env: NodeJS.ProcessEnv): Promise<Session> {
  const pid = Number(env.CLAUDE_PID);
  return { session: env.CLAUDE_CODE_SESSION_ID ?? "", owner: pid > 0 ? await markOf(pid) : null };
}
