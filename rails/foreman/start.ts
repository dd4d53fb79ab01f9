import type { Blueprint } from "../blueprint/blueprint.ts";
import { EXIT, Fault } from "../fault.ts";
import { git, gitText } from "../git/git.ts";
import { changedPaths, commitOf, type Place } from "../git/repository.ts";
import { withGitLock } from "../git/worktree.ts";
import { readGraph } from "../plan/graph.ts";
import type { Plan, Tools } from "../plan/task.ts";
import type { Command, ProcessMark } from "../record/events.ts";
import { Journal, listRuns } from "../record/journal.ts";
import { isAlive, markOf } from "../record/process.ts";
import { isActive, isOpen } from "../record/state.ts";

/** Seconds that a command may take where the blueprint says nothing: builds and suites of large projects take that long. */
const DEFAULT_TIMEOUT = 1800;

/** Whose a run is: the session, and the process of the client, which tells a dead session from a silent one. */
interface Session {
  readonly session: string;
  readonly owner: ProcessMark | null;
}

/** The session that this command is called from; empty outside of Claude Code. */
export async function sessionOf(env: NodeJS.ProcessEnv): Promise<Session> {
  const pid = Number(env.CLAUDE_PID);
  return { session: env.CLAUDE_CODE_SESSION_ID ?? "", owner: pid > 0 ? await markOf(pid) : null };
}

export interface Started {
  readonly run: string;
  readonly base: string;
  readonly line: string;
  readonly warnings: readonly string[];
}

/**
 * Opens a run: from here its tasks, gates and commands are frozen.
 * @param isBeside also where another run is open
 * @throws Fault where the plan has errors, another run is open, nothing could be proven, or there is no commit yet
 */
export async function start(
  plan: Plan,
  tools: Tools,
  blueprint: Blueprint,
  place: Place,
  session: Session,
  isBeside: boolean,
): Promise<Started> {
  const error = plan.findings.find(({ level }) => level === "error");
  if (error) throw new Fault("plan", `line ${error.line}: ${error.message}`, error.hint);
  const base = await commitOf("HEAD", place.top);
  if (base === null)
    throw new Fault(
      "no-commit",
      "this repository has no commit yet",
      "make a first one: a run starts from it",
      EXIT.usage,
    );
  const gates = resolveGates(blueprint, tools);
  if (gates.length === 0)
    throw new Fault(
      "no-gates",
      "no gate can run here: neither lint, test nor build was found",
      "name commands under gates: in .claude/minion/blueprint.md",
      EXIT.usage,
    );
  if (!isBeside) await refuseSecond(place);
  const graph = readGraph(plan.tasks);
  const setup = tools.setup && { name: "setup", run: tools.setup.run, cwd: tools.setup.cwd, timeout: DEFAULT_TIMEOUT };
  return withGitLock(place, async () => {
    const run = await freeName(place);
    const line = `minion/${run}/line`;
    await git(["update-ref", "-m", "minion: start", `refs/heads/${line}`, base, ""], { cwd: place.main });
    await new Journal(place.common, run).add({
      event: "started",
      version: 1,
      ...{ run, base, line, prefix: place.prefix, ...session, blueprint, gates, setup, tasks: plan.tasks },
      conflicts: plan.conflicts.map(({ tasks }) => tasks),
      remaining: Object.fromEntries(plan.tasks.map(({ id }) => [id, graph.remaining(id)])),
    });
    const changed = (await changedPaths(place.top)).filter((path) => !path.startsWith(".claude/worktrees/"));
    const warning = `${changed.length} uncommitted files here are not part of the run, which starts from the last commit`;
    return { run, base, line, warnings: changed.length > 0 ? [warning] : [] };
  });
}

/** The blueprint's gates as commands, without those for which the project has none. */
export const resolveGates = (blueprint: Blueprint, tools: Tools): Command[] =>
  blueprint.gates.flatMap(({ name, tool, run = "", cwd = "", timeout = DEFAULT_TIMEOUT }) => {
    const found = tool ? tools[tool] : { run, cwd };
    return found ? [{ name, run: found.run, cwd: found.cwd, timeout }] : [];
  });

async function refuseSecond(place: Place): Promise<void> {
  for (const run of await listRuns(place.common)) {
    const state = await new Journal(place.common, run).state();
    if (!isOpen(state)) continue;
    const lives = state.owner !== null && (await isAlive(state.owner));
    const whose = `a session that ${lives ? "still runs" : "has ended"}${state.session && ` (${state.session})`}`;
    const hint = lives
      ? "let it end, or open another beside it with --new"
      : "go on with it: minion resume; or end it: minion abort";
    throw new Fault("run-open", `run ${run} is open here, of ${whose}`, hint);
  }
}

/** Numbers go up, also past runs of which only branches are left. */
async function freeName(place: Place): Promise<string> {
  const refs = await gitText(["for-each-ref", "--format=%(refname:lstrip=3)", "refs/heads/minion/"], {
    cwd: place.main,
  });
  const names = [...refs.split("\n"), ...(await listRuns(place.common))];
  return `r${Math.max(0, ...names.map((name) => Number(/^r(\d+)/.exec(name)?.[1] ?? 0))) + 1}`;
}

/**
 * Takes an open run over for this session. Attempts whose session is dead are over, by no fault of theirs.
 * @returns the attempts that are lost
 * @throws Fault `run-owned` where its session still runs, unless it is to be taken; `aborted`
 */
export function resume(journal: Journal, session: Session, isTaken: boolean): Promise<string[]> {
  return journal.decide(async (state) => {
    const { owner } = state;
    if (state.aborted) throw new Fault("aborted", `run ${state.run} was aborted`, "start a new one");
    const isMine = owner !== null && owner.pid === session.owner?.pid && owner.started === session.owner.started;
    if (!isMine && !isTaken && owner !== null && (await isAlive(owner)))
      throw new Fault(
        "run-owned",
        `run ${state.run} belongs to a session that still runs (${state.session})`,
        "go on there, or take it: minion resume --take",
      );
    const lost = isMine ? [] : [...state.attempts.values()].filter(isActive).map(({ id }) => id);
    const ended = lost.map(
      (attempt) => ({ event: "ended", attempt, reason: "session-lost", note: "Its session ended." }) as const,
    );
    return { events: [{ event: "owner", ...session }, ...ended], result: lost };
  });
}
