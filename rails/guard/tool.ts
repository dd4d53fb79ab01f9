import { realpath } from "node:fs/promises";
import { basename, dirname, join, resolve, sep } from "node:path";
import { newRails } from "../blueprint/agreed.ts";
import type { Attention } from "../foreman/attention.ts";
import { promptFor } from "../foreman/next.ts";
import type { Place } from "../git/repository.ts";
import { findRun } from "../journal/journal.ts";
import type { State } from "../journal/shapes.ts";
import { inOrder, isActive, type RunState, type TaskState } from "../journal/state.ts";
import { matchesAny } from "../plan/conflicts.ts";
import { withDependents } from "../plan/dependencies.ts";
import { isAlive } from "../program/process.ts";
import { outside } from "../program/world.ts";
import type { Found } from "../worker/attempt.ts";
import { commandsIn, isListed, wordsOf } from "./command.ts";
import { holdAtEnd } from "./hold.ts";
import { refusal } from "./refuse.ts";

/** What Claude Code gives a hook on stdin, as far as it is used here. */
export type HookInput = Readonly<Partial<Record<TextField, string>>> & {
  readonly tool_input?: Readonly<Record<string, unknown>>;
  readonly tool_response?: { readonly agentId?: string };
  readonly stop_hook_active?: boolean;
  readonly background_tasks?: readonly Readonly<{ id: string; agent_type?: string }>[];
};
export type HookAnswer = Readonly<{ stdout?: string; stderr?: string; exit?: 2 }>;
type TextField =
  | ("session_id" | "cwd" | "permission_mode" | "agent_id" | "agent_type")
  | ("transcript_path" | "agent_transcript_path")
  | ("last_assistant_message" | "error" | "prompt" | "tool_name");

/** What a hook says to a tool call; null leaves it to the person's own settings. */
type Answer = readonly [decision: "allow" | "deny" | "ask", why: string] | null;

/** Why nothing starts in plan mode, and what does work there. */
const DRY = "plan mode is a dry run: minion plan shows the plan";
const STARTS = /^(start|next|resume)\b/;

/** What of `minion` asks a person, and what goes without asking in the session itself: the first
 * that fits. */
const FOREMAN: readonly (readonly [RegExp, Answer])[] = [
  [/^$|^(--help|-h)\b| (--help|-h)$|^clean (.* )?--dry-run\b/, ["allow", "it only looks"]],
  [
    /^(land|merge|retry|abort|clean)\b| --(take|new|red-base|agree)\b/,
    ["ask", "this is a person's decision"],
  ],
  [/^(plan|board|report|attention|events|blueprint|overlays|guide)\b/, ["allow", "it only looks"]],
  [STARTS, ["allow", "a command of the foreman"]],
];

/** Of a project's own rails, so much is shown to the person who is asked. */
const SHOWN = 2000;
const NEW_RAILS =
  "This project's own rails are new here, or have changed. They would run (minion blueprint --agree remembers a yes):";

/** What waits for a person in a run. */
export type Look = (place: Place, state: RunState) => Promise<readonly Attention[]>;

/** A tool call of the session itself: what a run needs goes without asking. */
export async function foremanTool(
  input: HookInput,
  place: Place | null,
  found: Found | null,
  look: Look,
): Promise<Answer> {
  const { tool_name: tool, tool_input: args = {}, session_id: session = "" } = input;
  const isDry = input.permission_mode === "plan";
  if (tool === "Write") return foremanWrite(String(args.file_path), session);
  if (tool === "Bash") {
    const ours = commandsIn(String(args.command)).filter(([program]) => program === "minion");
    const asked = ours.map(([, ...words]) =>
      foremanCommand(words.join(" "), { isDry, place, session, look }),
    );
    const answers = await Promise.all(asked);
    const barred = answers.find((answer) => answer !== null && answer[0] !== "allow");
    // What a command does beside that is for the person's own settings.
    const isPlain = wordsOf(String(args.command))?.[0] === "minion";
    return barred ?? (isPlain ? (answers[0] ?? null) : null);
  }
  if (tool !== "Agent" || !String(args.subagent_type).startsWith("minion:")) return null;
  if (isDry) return ["deny", DRY];
  if (!found || !isActive(found.attempt) || found.state.aborted)
    return ["deny", "No open run dispatched that: run minion next and start what it names."];
  const prompt = promptFor(found.attempt.id);
  if (String(args.prompt).trim() === prompt) return ["allow", "dispatched by minion next"];
  return [
    "deny",
    `Its prompt is exactly «${prompt}»: what else workers are to know stands in the task list.`,
  ];
}

type Asked = Readonly<{ isDry: boolean; place: Place | null; session: string; look: Look }>;

/** What a hook says to `minion` with these words. */
async function foremanCommand(
  words: string,
  { isDry, place, session, look }: Asked,
): Promise<Answer> {
  if (isDry && STARTS.test(words)) return ["deny", DRY];
  const answer = FOREMAN.find(([pattern]) => pattern.test(words))?.[1] ?? null;
  if (answer?.[0] !== "allow" || place === null) return answer;
  const rails = /^start\b/.test(words) ? await newRails(place.top, place.common) : null;
  const halt = /^resume\b/.test(words) ? await haltIn(place, session, words, look) : "";
  if (halt) return ["ask", `The run stands still until a person has seen why: ${halt}`];
  return rails ? ["ask", `${NEW_RAILS}\n${rails.text.slice(0, SHOWN)}`] : answer;
}

/** Why the run that a resume is about stands still (an alarm, a spent budget), where the session
 * that leads it is still there: that session must not lift its own pause. Empty where a resume only
 * goes on with what was lost. */
async function haltIn(place: Place, session: string, words: string, look: Look): Promise<string> {
  const [, name] = /--run[ =](\S+)/.exec(words) ?? [];
  const { state } = (await findRun(place.common, session, name).catch(() => null)) ?? {};
  if (state?.session !== session || (state.owner !== null && !(await isAlive(state.owner))))
    return "";
  return (await look(place, state))
    .flatMap(({ task, note }) => (task === "" ? note : []))
    .join(" ");
}

/** Writing a task list: to the session's own folder for it, outside of the repository. */
export async function foremanWrite(path: string, session: string): Promise<Answer> {
  const [, folder, name = ""] = /^\/tmp\/(minion-[\w-]+)\/([\w.-]+\.md)$/.exec(path) ?? [];
  const isOwn =
    folder === `minion-${session}` &&
    (await realTarget(path)) === join(await realTarget("/tmp"), folder, name);
  return isOwn ? ["allow", "a task list"] : null;
}

/** A worker that uses tools is alive; one line in the journal every so often is enough to know. */
const ALIVE_EVERY_MS = 120_000;

/** A worker's tool call. */
export async function workerTool(
  input: HookInput,
  place: Place | null,
  found: Found | null,
): Promise<Answer> {
  const { tool_name: tool = "", tool_input: args = {}, cwd = outside().cwd } = input;
  if (tool === "SubagentHandback") {
    const back = found && (await holdAtEnd(found, String(args.message ?? "")));
    return back ? ["deny", back] : null;
  }
  if (["Agent", "Task", "Workflow"].includes(tool))
    return ["deny", "agents of a worker's own would be on no rails: do it yourself, step by step"];
  const path = args.file_path ?? args.notebook_path;
  const top = found?.attempt.begun?.worktree ?? place?.top ?? cwd;
  const answer = path
    ? await workerWrite(String(path), top, found)
    : workerCommand(String(args.command), found);
  // The answer counts more than the sign of life, which may wait or fail.
  if (found && outside().now() - found.attempt.lastSign > ALIVE_EVERY_MS)
    await found.journal.add({ event: "alive", attempt: found.attempt.id }).catch(() => {});
  return answer;
}

/** A worker's Bash call. */
export function workerCommand(command: string, found: Found | null): Answer {
  const { gates = [], blueprint } = found?.state ?? {};
  const refused = refusal(command, found?.attempt.begun?.branch ?? "", blueprint?.refuse ?? []);
  if (refused) return ["deny", refused];
  const words = wordsOf(command) ?? [];
  if (words[0] === "minion") return ["allow", "a command of the worker"];
  const isGate = words.length > 0 && gates.some(({ run }) => run === command.trim());
  return isGate || isListed(words, blueprint?.allow ?? [])
    ? ["allow", "a gate, or on the blueprint's list"]
    : null;
}

/** Writing a file: a worker's inside its own worktree, but not what its task must leave alone, and
 * not where git or Claude Code keep their own. */
export async function workerWrite(
  path: string,
  worktree: string,
  found: Found | null,
): Promise<Answer> {
  const target = await realTarget(resolve(worktree, path));
  if (target.toLowerCase().split(sep).includes(".git"))
    return ["deny", "what is in .git is git's and the rails' own: use git and minion, or leave it"];
  if (!target.startsWith(worktree + sep)) return null;
  if (found?.attempt.phase.writes === false)
    return [
      "deny",
      `phase ${found.attempt.phase.name} changes no file: say it in what you hand in`,
    ];
  const way = target.slice(worktree.length + 1).split(sep);
  const barred = found && barrier(way.join("/"), found.state, found.attempt.task);
  if (barred)
    return [
      "deny",
      `${barred}: finish without it, or commit what there is and end, saying what is needed`,
    ];
  return way[0]?.toLowerCase() === ".claude" ? null : ["allow", "in the worker's own worktree"];
}

/** These are over or stand still: nobody works on their files. */
const CLOSED: readonly State[] = ["landed", "skipped", "needs-human", "blocked"];

/** Whose a path is, where a task must not touch it. Files that were only guessed bar nobody. */
function barrier(path: string, state: RunState, task: TaskState): string | null {
  const isIn = (patterns: readonly string[]) => matchesAny(patterns, path, state.prefix);
  if (isIn(task.forbid)) return `${path} is forbidden to task ${task.id}`;
  if (isIn(task.files.map((file) => file.path))) return null;
  // What hangs on this task begins after it has landed.
  const after = withDependents(task.id, inOrder(state));
  const open = [...state.tasks.values()].filter(
    (other) => !after.has(other.id) && !CLOSED.includes(other.state),
  );
  const other = open.find(({ files }) =>
    isIn(files.flatMap((file) => (file.guessed ? [] : file.path))),
  );
  return other ? `${path} is task ${other.id}'s, which is open` : null;
}

/** The path with every link on its way followed, as far as it exists. */
async function realTarget(path: string): Promise<string> {
  const real = await realpath(path).catch(() => null);
  return (
    real ?? (dirname(path) === path ? path : join(await realTarget(dirname(path)), basename(path)))
  );
}
