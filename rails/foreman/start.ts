import { mkdir } from "node:fs/promises";
import type { Blueprint } from "../blueprint/blueprint.ts";
import { EXIT, Fault } from "../fault.ts";
import { git, gitText } from "../git/git.ts";
import { changedPaths, commitOf, type Place } from "../git/repository.ts";
import { withGitLock } from "../git/worktree.ts";
import { readGraph } from "../plan/graph.ts";
import type { Plan, Tool, Tools } from "../plan/task.ts";
import type { Command } from "../record/events.ts";
import { Journal, listRuns } from "../record/journal.ts";
import { isAlive, markOf } from "../record/process.ts";
import type { RunState } from "../record/state.ts";

/** Seconds that a command may take where the blueprint says nothing: builds and suites of large projects take that long. */
const DEFAULT_TIMEOUT = 1800;

/** Whose a run is: the session, and the process of the client, which tells a dead session from a silent one. */
export interface Session {
  readonly id: string;
  readonly pid: number | null;
}

/** The session that this command is called from; empty outside of Claude Code. */
export function sessionOf(env: NodeJS.ProcessEnv): Session {
  return { id: env.CLAUDE_CODE_SESSION_ID ?? "", pid: Number(env.CLAUDE_PID) || null };
}

export interface Started {
  readonly run: string;
  readonly base: string;
  readonly line: string;
  readonly warnings: readonly string[];
}

/**
 * Opens a run: from here its tasks, gates and commands are frozen.
 * @throws Fault where the plan has errors, another run is open, nothing could be proven, or there is no commit yet
 */
export async function start(
  plan: Plan,
  tools: Tools,
  blueprint: Blueprint,
  place: Place,
  session: Session,
  besides: boolean,
): Promise<Started> {
  const error = plan.findings.find(({ level }) => level === "error");
  if (error) throw new Fault("plan", `line ${error.line}: ${error.message}`, error.hint);
  const base = await commitOf("HEAD", place.top);
  if (base === null)
    throw new Fault(
      "no-commit",
      "this repository has no commit yet",
      "make a first commit: a run starts from one",
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
  if (!besides) await refuseSecond(place);
  const setup = tools.setup && command("setup", tools.setup, DEFAULT_TIMEOUT);
  const graph = readGraph(plan.tasks);
  const owner = session.pid === null ? null : await markOf(session.pid);
  return withGitLock(place, async () => {
    const run = await freeName(place);
    const line = `minion/${run}/line`;
    const journal = new Journal(place.common, run);
    await mkdir(journal.folder, { recursive: true });
    await git(["update-ref", "-m", "minion: start", `refs/heads/${line}`, base, ""], { cwd: place.main });
    await journal.add({
      event: "started",
      version: 1,
      ...{ run, base, line, session: session.id, owner, blueprint, gates, setup },
      prefix: place.prefix,
      tasks: plan.tasks,
      conflicts: plan.conflicts.map(({ tasks }) => tasks),
      remaining: Object.fromEntries(plan.tasks.map(({ id }) => [id, graph.remaining(id)])),
    });
    return { run, base, line, warnings: await warningsOf(place) };
  });
}

/** The blueprint's gates as commands, without those for which the project has none. */
export function resolveGates(blueprint: Blueprint, tools: Tools): Command[] {
  return blueprint.gates.flatMap(({ name, tool, run, cwd, timeout }) => {
    const found = tool ? tools[tool] : { run: run as string, cwd: cwd ?? "" };
    return found ? [command(name, found, timeout ?? DEFAULT_TIMEOUT)] : [];
  });
}

const command = (name: string, { run, cwd }: Pick<Tool, "run" | "cwd">, timeout: number): Command => ({
  name,
  run,
  cwd,
  timeout,
});

async function refuseSecond(place: Place): Promise<void> {
  for (const run of await listRuns(place.common)) {
    const state = await new Journal(place.common, run).state().catch(() => null);
    if (!state?.open) continue;
    const alive = state.owner !== null && (await isAlive(state.owner));
    throw new Fault(
      "run-open",
      `run ${run} is open here, of ${alive ? "a session that still runs" : "a session that has ended"}${state.session && ` (${state.session})`}`,
      alive
        ? "let it end, or open another beside it with --new"
        : "go on with it: minion resume; or end it: minion abort",
    );
  }
}

/** Numbers go up, also past runs of which only branches are left. */
async function freeName(place: Place): Promise<string> {
  const refs = await gitText(["for-each-ref", "--format=%(refname:lstrip=3)", "refs/heads/minion/"], {
    cwd: place.main,
  });
  const taken = [...refs.split("\n"), ...(await listRuns(place.common))].map((name) =>
    Number(/^r(\d+)/.exec(name)?.[1] ?? 0),
  );
  return `r${Math.max(0, ...taken) + 1}`;
}

async function warningsOf(place: Place): Promise<string[]> {
  const changed = (await changedPaths(place.top)).filter((path) => !path.startsWith(".claude/worktrees/"));
  if (changed.length === 0) return [];
  return [`${changed.length} uncommitted files here are not part of the run, which starts from the last commit`];
}

/**
 * Takes an open run over for this session. Attempts whose session is dead are over, by no fault of theirs.
 * @throws Fault `run-owned` where its session still runs, unless it is to be taken
 */
export async function resume(
  journal: Journal,
  session: Session,
  take: boolean,
): Promise<{ lost: string[]; state: RunState }> {
  const owner = session.pid === null ? null : await markOf(session.pid);
  const lost = await journal.decide(async (state) => {
    if (state.aborted) throw new Fault("aborted", `run ${state.run} was aborted`, "start a new one");
    const mine =
      state.owner !== null && owner !== null && state.owner.pid === owner.pid && state.owner.started === owner.started;
    const alive = !mine && state.owner !== null && (await isAlive(state.owner));
    if (alive && !take)
      throw new Fault(
        "run-owned",
        `run ${state.run} belongs to a session that still runs (${state.session})`,
        "go on there, or take it: minion resume --take",
      );
    // Without a word from the owner's process nothing is known to be dead: the lease finds out.
    const active = mine
      ? []
      : [...state.attempts.values()].filter((each) => !each.over && !each.submitted && each.nothing === null);
    const ended = active.map(
      ({ id }) => ({ event: "ended", attempt: id, reason: "session-lost", note: "Its session ended." }) as const,
    );
    return { events: [{ event: "owner", session: session.id, owner }, ...ended], result: active.map(({ id }) => id) };
  });
  return { lost, state: await journal.state() };
}
