import { realpath } from "node:fs/promises";
import { basename, dirname, join, resolve, sep } from "node:path";
import { matches } from "../plan/conflicts.ts";
import type { State } from "../record/events.ts";
import { inOrder, type RunState, type TaskState } from "../record/state.ts";
import type { Found } from "../worker/attempt.ts";
import { isListed, wordsOf } from "./command.ts";
import { refusal } from "./refuse.ts";

/** What a hook says to a tool call; null leaves it to the person's own settings. */
export type Answer = Readonly<{ permissionDecision: Decision; permissionDecisionReason: string }>;
type Decision = "allow" | "deny" | "ask";

export function say(permissionDecision: Decision, permissionDecisionReason: string): Answer {
  return { permissionDecision, permissionDecisionReason };
}

/** What of `minion` the foreman may call without anybody being asked, and what a person decides. */
const READING_COMMANDS = ["plan", "board", "report", "attention", "events", "blueprint", "overlays"];
const DOING_COMMANDS = ["start", "next", "resume"];
const PERSON_COMMANDS = ["land", "merge", "retry", "abort", "clean"];
const PERSON_FLAGS = ["--take", "--new", "--red-base", "--agree"];

/** A `minion …` call in the session itself.
 * @param isDry in plan mode nothing is started */
export function foremanCommand(command: string, isDry = false): Answer | null {
  const words = wordsOf(command);
  const verb = words?.[1] ?? "";
  if (words?.[0] !== "minion") return null;
  if (isDry && DOING_COMMANDS.includes(verb)) return say("deny", DRY);
  const isPersons = PERSON_COMMANDS.includes(verb);
  const asks = isPersons ? !words.includes("--dry-run") : PERSON_FLAGS.some((flag) => words.includes(flag));
  if (asks) return say("ask", `minion ${verb} is a person's decision`);
  const known = isPersons || [...READING_COMMANDS, ...DOING_COMMANDS].includes(verb);
  return known ? say("allow", "a command of the foreman") : null;
}

/** Why nothing starts in plan mode, and what does work there. */
export const DRY = "plan mode is a dry run: minion plan shows the plan";

/** A worker's Bash call. */
export function workerCommand(command: string, found: Found | null): Answer | null {
  const refused = refusal(command, found?.attempt.begun?.branch ?? "", found?.state.blueprint.refuse ?? []);
  if (refused) return say("deny", refused);
  const words = wordsOf(command);
  if (words?.[0] === "minion") return say("allow", "a command of the worker");
  if (!words || !found) return null;
  const { gates, blueprint } = found.state;
  if (gates.some(({ run }) => run === command.trim())) return say("allow", "a gate of the run");
  return isListed(words, blueprint.allow) ? say("allow", "on the blueprint's list") : null;
}

/** Writing a file: a worker's inside its own worktree, but not what its task must leave alone, and not where git or
 * Claude Code keep their own. */
export async function workerWrite(path: string, worktree: string, found: Found | null): Promise<Answer | null> {
  const target = await realTarget(resolve(worktree, path));
  if (target.toLowerCase().split(sep).includes(".git"))
    return say("deny", "what is in .git is git's and the rails' own: use git and minion, or leave it");
  if (!target.startsWith(worktree + sep)) return null;
  const way = target.slice(worktree.length + 1).split(sep);
  const barred = found && barrier(way.join("/"), found.state, found.attempt.task);
  if (barred)
    return say("deny", `${barred}: finish without it, or commit what there is and end, saying what is needed`);
  return way[0]?.toLowerCase() === ".claude" ? null : say("allow", "in the worker's own worktree");
}

/** These are over or stand still: nobody works on their files. */
const CLOSED: readonly State[] = ["landed", "skipped", "needs-human", "blocked"];

/** Whose a path is, where a task must not touch it. Files that were only guessed bar nobody. */
function barrier(path: string, state: RunState, task: TaskState): string | null {
  const isIn = (patterns: readonly string[]) => patterns.some((pattern) => matches(pattern, path, state.prefix));
  if (isIn(task.forbid)) return `${path} is forbidden to task ${task.id}`;
  if (isIn(task.files.map((file) => file.path))) return null;
  // What hangs on this task begins after it has landed.
  const after = new Set([task.id]);
  for (const { id, depends } of inOrder(state)) if (depends.some((one) => after.has(one))) after.add(id);
  const open = [...state.tasks.values()].filter((other) => !after.has(other.id) && !CLOSED.includes(other.state));
  const other = open.find(({ files }) => isIn(files.flatMap((file) => (file.guessed ? [] : file.path))));
  return other ? `${path} is task ${other.id}'s, which is open` : null;
}

/** Writing a task list: to the session's own folder for it, outside of the repository. */
export async function foremanWrite(path: string, session: string): Promise<Answer | null> {
  const folder = `/tmp/minion-${session}`;
  const isOwn = /^[\w-]+$/.test(session) && dirname(path) === folder && /^[\w.-]+\.md$/.test(basename(path));
  const isPlain = isOwn && (await realTarget(folder)) === join(await realTarget("/tmp"), basename(folder));
  return isPlain ? say("allow", "a task list") : null;
}

/** The path with every link on its way followed, as far as it exists. */
async function realTarget(path: string): Promise<string> {
  const real = await realpath(path).catch(() => null);
  return real ?? (dirname(path) === path ? path : join(await realTarget(dirname(path)), basename(path)));
}
