import { lstat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Blueprint } from "../blueprint/blueprint.ts";
import type { Tools } from "../blueprint/tools.ts";
import { git, gitText } from "../git/git.ts";
import { changedPaths, commitOf, type Place } from "../git/repository.ts";
import { withGitLock } from "../git/worktree.ts";
import { TIMEOUT } from "../journal/checks.ts";
import type { EventData } from "../journal/events.ts";
import { Journal, listRuns } from "../journal/journal.ts";
import { isToPlan, priorityOf } from "../journal/replan.ts";
import type { Command, Session } from "../journal/shapes.ts";
import { isOpen } from "../journal/state.ts";
import type { Finding, Plan } from "../plan/task.ts";
import { EXIT, Fault } from "../program/fault.ts";
import { isAlive } from "../program/process.ts";

/** The task list of a run, as it was given. */
export const listOf = ({ folder }: Journal): string => join(folder, "tasks.md");

/** A list, as it was given, with all that its run is to have. */
export type Planned = Readonly<{
  place: Place;
  list: string;
  plan: Plan;
  tools: Tools;
  blueprint: Blueprint;
  gates: readonly Command[]; // The blueprint's and those for the end that the list names
  success: Readonly<{ words: string }>; // What of `success:` no command shows
}> &
  Pick<EventData["started"], "workflows" | "reviews" | "estimate">;

/** Opens a run: from here its tasks, gates and commands are frozen.
 * @param isBeside also where another run is open
 * @param budget dollars after which nothing more is dispatched; null: no end
 * @returns the run's name, the commit and the branch that it starts with, and what the person
 *   should know
 * @throws Fault `plan` where the plan has errors, `run-open` where another run is open, `no-gates`
 *   where nothing could be proven, `no-commit` where there is no commit yet */
export async function start(
  planned: Planned,
  session: Session,
  isBeside: boolean,
  budget: number | null,
) {
  const { place, list, plan, tools, workflows, reviews, blueprint, estimate, gates, success } =
    planned;
  const error = plan.findings.find(({ level }) => level === "error");
  if (error) throw new Fault("plan", placed(error), error.hint);
  const base = await commitOf("HEAD", place.top);
  if (!base) {
    const what = "this repository has no commit yet";
    throw new Fault("no-commit", what, "make a first one", EXIT.usage);
  }
  if (gates.every(({ isCheck }) => isCheck)) {
    const where = "name commands under gates: in .claude/minion/blueprint.md";
    throw new Fault("no-gates", "neither lint, test nor build was found", where, EXIT.usage);
  }
  const area = plan.tasks.find((task) => !task.done && isToPlan(task, workflows));
  if (area && budget === null) {
    const what = `task ${area.id} is planned as it goes, which needs an end: a budget`;
    throw new Fault("no-budget", what, "start it with --budget DOLLARS", EXIT.usage);
  }
  const priority = priorityOf(planned);
  const { run, line } = await withGitLock(place, async () => {
    // Under the lock: of several that start at once, one opens its run.
    if (!isBeside) await refuseSecond(place);
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
      setup: setupFor(tools),
      workflows,
      reviews,
      goal: plan.goal,
      success: plan.success,
      successWords: blueprint.judge_success ? success.words : "",
      toolsSaid: plan.toolsSaid,
      tasks: plan.tasks,
      conflicts: plan.conflicts.map(({ tasks }) => tasks),
      estimate,
      budget,
      fresh: true,
      priority,
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
  const told = plan.findings.filter(({ code, level }) => code === "preflight" && level !== "error");
  const warnings = [...told.map(({ message }) => message), ...(await warningsAt(place))];
  return { run, base, line, warnings };
}

/** What a finding says, behind the line where it is about one. */
const placed = ({ line, message }: Finding): string =>
  line ? `line ${line}: ${message}` : message;

/** The blueprint's gates as commands, without those for which the project has none. */
export function gatesFor(blueprint: Blueprint, tools: Tools): Command[] {
  const gates: Command[] = [];
  for (const { name, tool, run = "", cwd = "", timeout = TIMEOUT, when } of blueprint.gates) {
    const found = tool ? tools[tool] : { run, cwd };
    if (!found) continue;
    const isLast = when ? { isLast: true } : {};
    gates.push({ name, run: found.run, cwd: found.cwd, timeout, ...isLast });
  }
  return gates;
}

/** Commands that show that the whole is a success, as gates for the end. */
export const endGates = (commands: readonly string[], cwd: string): Command[] =>
  commands.map((run, at) => ({
    name: commands.length > 1 ? `success-${at + 1}` : "success",
    run,
    cwd,
    timeout: TIMEOUT,
    isLast: true,
    isCheck: true,
  }));

/** What makes a checkout ready for the gates, where the project needs that. */
export const setupFor = ({ setup }: Tools) =>
  setup && { name: "setup", run: setup.run, cwd: setup.cwd, timeout: TIMEOUT };

/** What the person should know of what a run leaves out, and of what it puts in their checkout. */
async function warningsAt(place: Place): Promise<string[]> {
  const paths = await changedPaths(place.top);
  const changed = paths.filter((path) => !path.startsWith(".claude/worktrees/"));
  const warnings: string[] = [];
  if (changed.length > 0)
    warnings.push(
      `${changed.length} uncommitted files here are not part of the run, ` +
        "which starts from the last commit",
    );
  if (await isInReach(place))
    warnings.push(
      "git add -A in the main checkout would add the workers' worktrees in .claude/worktrees, " +
        "a folder that no run made: put it into .git/info/exclude",
    );
  return warnings;
}

/** Would git take up what lies in the folder of worktrees? One that a run makes ignores itself. */
async function isInReach({ main }: Place): Promise<boolean> {
  const isThere = (await lstat(join(main, ".claude/worktrees")).catch(() => null)) !== null;
  if (!isThere) return false;
  const ask = ["check-ignore", "--quiet", ".claude/worktrees/any"];
  return (await git({ cwd: main, accept: [1, 128] }, ...ask)).code === 1;
}

/** @throws Fault `run-open` where a run is open here already */
async function refuseSecond(place: Place): Promise<void> {
  for (const run of await listRuns(place.common)) {
    // What cannot be read cannot be gone on with either: no reason to refuse a new one.
    const state = await new Journal(place.common, run).state().catch(() => null);
    if (!state || !isOpen(state)) continue;
    const lives = state.owner !== null && (await isAlive(state.owner));
    const fate = lives ? "still runs" : "has ended";
    const name = state.session && ` (${state.session})`;
    const hint = lives
      ? "let it end, or start with --new"
      : `minion resume --run ${run} goes on with it, minion abort --run ${run} ends it`;
    throw new Fault("run-open", `run ${run} is open here, of a session that ${fate}${name}`, hint);
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
  const numbers = names.map((name) => Number(/^r(\d+)/.exec(name)?.[1] ?? 0));
  return `r${Math.max(0, ...numbers) + 1}`;
}
