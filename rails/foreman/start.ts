import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Blueprint } from "../blueprint/blueprint.ts";
import type { Tools } from "../blueprint/tools.ts";
import { git, gitText } from "../git/git.ts";
import { changedPaths, commitOf, type Place } from "../git/repository.ts";
import { withGitLock } from "../git/worktree.ts";
import type { EventData } from "../journal/events.ts";
import { Journal, listRuns } from "../journal/journal.ts";
import { stepsOf } from "../journal/phases.ts";
import type { Command, Session } from "../journal/shapes.ts";
import { isActive, isOpen } from "../journal/state.ts";
import { jobsOf, prioritise, rivalsOf } from "../plan/schedule.ts";
import type { Plan } from "../plan/task.ts";
import { EXIT, Fault } from "../program/fault.ts";
import { isAlive, markOf } from "../program/process.ts";

/** Seconds that a command may take where the blueprint says nothing: builds and suites of large
 * projects take that long. */
const TIMEOUT = 1800;

/** The task list of a run, as it was given. */
export const listOf = ({ folder }: Journal): string => join(folder, "tasks.md");

/** The session that this command is called from; empty outside of Claude Code. */
export async function sessionOf(env: NodeJS.ProcessEnv): Promise<Session> {
  const pid = Number(env.CLAUDE_PID);
  return { session: env.CLAUDE_CODE_SESSION_ID ?? "", owner: pid > 0 ? await markOf(pid) : null };
}

/** A list, as it was given, with all that its run is to have. */
export type Planned = Readonly<{
  place: Place;
  list: string;
  plan: Plan;
  tools: Tools;
  blueprint: Blueprint;
}> &
  Pick<EventData["started"], "workflows" | "reviews" | "estimate">;

/** Opens a run: from here its tasks, gates and commands are frozen.
 * @param isBeside also where another run is open
 * @param budget dollars after which nothing more is dispatched; null: no end
 * @throws Fault where the plan has errors, another run is open, nothing could be proven, or there
 *   is no commit yet */
export async function start(
  { place, list, plan, tools, workflows, reviews, blueprint, estimate }: Planned,
  session: Session,
  isBeside: boolean,
  budget: number | null,
) {
  const error = plan.findings.find(({ level }) => level === "error");
  if (error) throw new Fault("plan", `line ${error.line}: ${error.message}`, error.hint);
  const base = await commitOf("HEAD", place.top);
  if (!base)
    throw new Fault(
      "no-commit",
      "this repository has no commit yet",
      "make a first one",
      EXIT.usage,
    );
  // The blueprint's gates as commands, without those for which the project has none.
  const gates = blueprint.gates.flatMap(
    ({ name, tool, run = "", cwd = "", timeout = TIMEOUT, when }): Command[] => {
      const found = tool ? tools[tool] : { run, cwd };
      return found
        ? [{ name, run: found.run, cwd: found.cwd, timeout, ...(when ? { isLast: true } : {}) }]
        : [];
    },
  );
  const where = "name commands under gates: in .claude/minion/blueprint.md";
  if (gates.length === 0)
    throw new Fault("no-gates", "neither lint, test nor build was found", where, EXIT.usage);
  if (!isBeside) await refuseSecond(place);
  const conflicts = plan.conflicts.map(({ tasks }) => tasks);
  const steps = new Map(plan.tasks.map((task) => [task.id, stepsOf({ workflows, reviews }, task)]));
  const jobs = jobsOf(plan.tasks, (id) => steps.get(id) ?? 1);
  const urgent = prioritise(jobs, rivalsOf(conflicts), blueprint.bounds.workers);
  const setup = tools.setup && {
    name: "setup",
    run: tools.setup.run,
    cwd: tools.setup.cwd,
    timeout: TIMEOUT,
  };
  const { run, line } = await withGitLock(place, async () => {
    const run = await freeName(place);
    const line = `minion/${run}/line`;
    const journal = new Journal(place.common, run);
    await journal.add({
      event: "started",
      version: 1,
      run,
      base,
      line,
      prefix: place.prefix,
      ...session,
      blueprint,
      gates,
      setup,
      workflows,
      reviews,
      goal: plan.goal,
      success: plan.success,
      tasks: plan.tasks,
      conflicts,
      estimate,
      budget,
      priority: Object.fromEntries(urgent),
    });
    try {
      // For whoever leads the run after this session: to judge what landed, it has to know what was
      // asked.
      await writeFile(listOf(journal), list);
      await git(place.main, "update-ref", "-m", "minion: start", `refs/heads/${line}`, base, "");
    } catch (error) {
      await journal.add({ event: "aborted", note: (error as Error).message });
      throw error;
    }
    return { run, line };
  });
  const changed = (await changedPaths(place.top)).filter(
    (path) => !path.startsWith(".claude/worktrees/"),
  );
  const warning = `${changed.length} uncommitted files here are not part of the run, which starts from the last commit`;
  return { run, base, line, warnings: changed.length > 0 ? [warning] : [] };
}

async function refuseSecond(place: Place): Promise<void> {
  for (const run of await listRuns(place.common)) {
    // What cannot be read cannot be gone on with either: no reason to refuse a new one.
    const state = await new Journal(place.common, run).state().catch(() => null);
    if (!state || !isOpen(state)) continue;
    const lives = state.owner !== null && (await isAlive(state.owner));
    const whose = `a session that ${lives ? "still runs" : "has ended"}${state.session && ` (${state.session})`}`;
    const hint = lives
      ? "let it end, or start with --new"
      : "minion resume goes on with it, minion abort ends it";
    throw new Fault("run-open", `run ${run} is open here, of ${whose}`, hint);
  }
}

/** Numbers go up, also past runs of which only branches are left. */
async function freeName({ main, common }: Place): Promise<string> {
  const refs = await gitText(
    main,
    "for-each-ref",
    "--format=%(refname:lstrip=3)",
    "refs/heads/minion/",
  );
  const names = [...refs.split("\n"), ...(await listRuns(common))];
  return `r${Math.max(0, ...names.map((name) => Number(/^r(\d+)/.exec(name)?.[1] ?? 0))) + 1}`;
}

/** What a person says when they go on with a run. */
type Resuming = Readonly<{
  take?: boolean; // Also where its session still runs
  redBase?: boolean; // Though gates are red on the base: what fails there as well does not count
  budget?: number; // Dollars that it may cost in all from now on
}>;

/** Takes an open run over for this session. Attempts whose session is dead are over, by no fault of
 * theirs. What was alarming has been seen then.
 * @param dollars what the run has cost up to now; null where that is not known
 * @returns the attempts that are lost
 * @throws Fault `run-owned` where its session still runs, unless it is to be taken; `aborted` */
export function resume(
  journal: Journal,
  session: Session,
  { take = false, redBase = false, budget }: Resuming,
  dollars: number | null,
): Promise<string[]> {
  return journal.decide(async ({ run, owner, session: old, aborted, attempts, baseRed }, write) => {
    if (aborted) throw new Fault("aborted", `run ${run} was aborted`, "start a new one");
    const isMine =
      owner !== null && owner.pid === session.owner?.pid && owner.started === session.owner.started;
    if (!isMine && !take && owner !== null && (await isAlive(owner)))
      throw new Fault(
        "run-owned",
        `run ${run} is of a session that still runs (${old})`,
        "minion resume --take",
      );
    const lost = isMine ? [] : [...attempts.values()].filter(isActive).map(({ id }) => id);
    const known = dollars === null ? {} : { dollars };
    write({ event: "owner", ...session, ...known, ...(budget === undefined ? {} : { budget }) });
    if (redBase && baseRed?.length) write({ event: "base-accepted", red: baseRed });
    for (const attempt of lost)
      write({ event: "ended", attempt, reason: "session-lost", note: "Its session ended." });
    return lost;
  });
}
