import { resolve, sep } from "node:path";
import { changeFrom } from "../foreman/change.ts";
import type { Place } from "../git/repository.ts";
import { isMade } from "../journal/family.ts";
import type { Reason, State } from "../journal/shapes.ts";
import { inOrder, type RunState, type TaskState } from "../journal/state.ts";
import { matchesAny, patternOf } from "../plan/conflicts.ts";
import { withDependents } from "../plan/dependencies.ts";
import { outside } from "../program/world.ts";
import type { Found } from "../worker/attempt.ts";
import { allow, deny, type HookInput, type ToolAnswer } from "./answer.ts";
import { callsIn, hereDocIn, isListed, wordsOf } from "./command.ts";
import { holdAtEnd } from "./hold.ts";
import { newOfTasks } from "./list-commands.ts";
import { leadingOut, realTarget } from "./real-target.ts";
import { PLANNERS, refusal, type Where } from "./refuse.ts";

/** A worker that uses tools is alive; one line in the journal every so often is enough to know. */
const ALIVE_EVERY_MS = 120_000;

/** A worker's tool call.
 * @param place the worktree that it is in, if it is in one
 * @param found its attempt, where that is known */
export async function workerTool(
  input: HookInput,
  place: Place | null,
  found: Found | null,
): Promise<ToolAnswer> {
  const { tool_name: tool = "", tool_input: args = {}, cwd = outside().cwd } = input;
  if (tool === "SubagentHandback") {
    const back = found && (await holdAtEnd(found, String(args.message ?? "")));
    return back ? deny(back) : null;
  }
  const end = found?.attempt.over;
  if (end && TAKEN_AWAY.includes(end.reason))
    return deny(
      `${found.attempt.id} is over (${end.reason}: ${end.note}): do nothing more, ` +
        "what there is stays as it is. End with one line.",
    );
  if (["Agent", "Task", "Workflow"].includes(tool))
    return deny("agents of a worker's own would be on no rails: do it yourself, step by step");
  const path = args.file_path ?? args.notebook_path;
  const top = found?.attempt.begun?.worktree ?? place?.top ?? cwd;
  const answer = path
    ? await workerWrite(String(path), top, found)
    : await workerCommand(String(args.command), found, place && { ...place, cwd, top });
  // The answer counts more than the sign of life, which may wait or fail.
  if (found && outside().now() - found.attempt.lastSign > ALIVE_EVERY_MS)
    await found.journal.add({ event: "alive", attempt: found.attempt.id }).catch(() => {});
  return answer;
}

/** The ends of an attempt that come from outside, while its worker is at it. */
const TAKEN_AWAY: readonly Reason[] = ["stopped", "dropped", "changed"];

/** A worker's Bash call.
 * @param place null where that is not known */
export async function workerCommand(
  command: string,
  found: Found | null,
  place: (Where & Place) | null = null,
): Promise<ToolAnswer> {
  const { gates = [], blueprint } = found?.state ?? {};
  const branch = found?.attempt.begun?.branch ?? "";
  const where = place && { ...place, links: await linksIn(command, place) };
  const isPlanner = found?.attempt.phase.tasks !== undefined;
  const more = isPlanner ? PLANNERS : [];
  const refused = refusal(command, branch, blueprint?.refuse ?? [], where, more);
  if (refused) return deny(refused);
  const words = wordsOf(command) ?? [];
  if (isPlanner && place && words[0] === "minion" && words[1] === "change") {
    const unknown = await unknownIn(command, found, place);
    if (unknown) return deny(unknown);
  }
  if (words[0] === "minion") return allow("a command of the worker");
  const isLedOut = words.some((word) => where?.links.has(word));
  const isGate = words.length > 0 && gates.some(({ run }) => run === command.trim());
  if (isGate || (!isLedOut && isListed(words, blueprint?.allow ?? [], where?.top)))
    return allow("a gate, or on the blueprint's list");
  return null;
}

/** What a planner is told whose tasks bring commands that are not the project's own: there is nobody
 * to ask. Null where there are none, or the list cannot be read, which is said then. */
async function unknownIn(text: string, found: Found, place: Place): Promise<string | null> {
  const { attempt, state } = found;
  const list = hereDocIn(text) ?? "";
  const changed = await changeFrom(list, "the list", place, state, attempt).catch(() => null);
  const commands = changed && (await newOfTasks(changed.event.tasks, state, place));
  if (!commands) return null;
  const way = "Verify: may call what the project's own commands call; the rest is for Done when:";
  return `nobody can be asked for these: ${commands.commands.join("; ")}. ${way}`;
}

/** What links in the worktree a shell text names that lead out of it. */
async function linksIn(text: string, { cwd, top }: Where): Promise<Map<string, string>> {
  const found = await Promise.all(
    callsIn(text).map(({ args, folder }) => leadingOut(args, resolve(cwd, folder), top)),
  );
  return new Map(found.flat());
}

/** Writing a file: a worker's inside its own worktree, but not what its task must leave alone, and
 * not where git or Claude Code keep their own. */
export async function workerWrite(
  path: string,
  worktree: string,
  found: Found | null,
): Promise<ToolAnswer> {
  const target = await realTarget(resolve(worktree, path));
  if (target.toLowerCase().split(sep).includes(".git"))
    return deny("what is in .git is git's and the rails' own: use git and minion, or leave it");
  if (!target.startsWith(worktree + sep)) return null;
  if (found?.attempt.phase.writes === false)
    return deny(`phase ${found.attempt.phase.name} changes no file: say it in what you hand in`);
  const way = target.slice(worktree.length + 1).split(sep);
  const barred = found && barrier(way.join("/"), found.state, found.attempt.task);
  if (barred)
    return deny(
      `${barred}: finish without it, or commit what there is and end, saying what is needed`,
    );
  return way[0]?.toLowerCase() === ".claude" ? null : allow("in the worker's own worktree");
}

/** These are over or stand still: nobody works on their files. */
const CLOSED: readonly State[] = ["landed", "skipped", "dropped", "needs-human", "blocked"];

/** Whose a path is, where a task must not touch it; null where it may. Files that were only guessed
 * bar nobody. */
function barrier(path: string, state: RunState, task: TaskState): string | null {
  const isIn = (patterns: readonly string[]) => matchesAny(patterns, path, state.prefix);
  if (isIn(task.forbid)) return `${path} is forbidden to task ${task.id}`;
  if (isIn(task.files.map(patternOf))) return null;
  // What hangs on this task begins after it has landed.
  const after = withDependents([task.id], inOrder(state));
  const open = [...state.tasks.values()].filter(
    (other) => !after.has(other.id) && !CLOSED.includes(other.state) && !isMade(other),
  );
  const owner = open.find(({ files }) => {
    const declared = files.filter(({ guessed }) => !guessed);
    return isIn(declared.map(patternOf));
  });
  return owner ? `${path} is task ${owner.id}'s, which is open` : null;
}
