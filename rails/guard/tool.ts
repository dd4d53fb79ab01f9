import { realpath } from "node:fs/promises";
import { basename, dirname, join, resolve, sep } from "node:path";
import type { RunState } from "../record/state.ts";
import { hasRiskyOption, isListed, wordsOf, wordsOfFed } from "./command.ts";

/** What a hook says to a tool call; null leaves it to the person's own settings. */
export type Answer = Readonly<{ permissionDecision: Decision; permissionDecisionReason: string }>;
type Decision = "allow" | "deny" | "ask";

export function say(permissionDecision: Decision, permissionDecisionReason: string): Answer {
  return { permissionDecision, permissionDecisionReason };
}

/** Who may call what of `minion` without being asked; all else a person decides. */
const WORKER_COMMANDS = ["begin", "gate", "submit"];
const READING_COMMANDS = ["plan", "board", "report", "attention", "events", "blueprint", "overlays"];
const FOREMAN_COMMANDS = [...READING_COMMANDS, "start", "next", "resume"];
const PERSON_COMMANDS = ["land", "merge", "retry", "abort", "clean"];

/** A `minion …` call in the session itself. */
export function foremanCommand(command: string): Answer | null {
  const words = wordsOf(command);
  const verb = words?.[1] ?? "";
  if (words?.[0] !== "minion") return null;
  const asks = PERSON_COMMANDS.includes(verb)
    ? !words.includes("--dry-run")
    : words.includes("--take") || words.includes("--new");
  if (asks) return say("ask", `minion ${verb} is a person's decision`);
  const known = FOREMAN_COMMANDS.includes(verb) || PERSON_COMMANDS.includes(verb);
  return known ? say("allow", "a command of the foreman") : null;
}

/** A worker's Bash call. */
export function workerCommand(command: string, state: RunState | null): Answer | null {
  const words = wordsOf(command) ?? wordsOfFed(command);
  if (!words) return null;
  if (words[0] === "minion") {
    if (WORKER_COMMANDS.includes(words[1] ?? "")) return say("allow", "a command of the worker");
    return say("deny", `minion ${words[1] ?? ""} is not a worker's: a worker has begin, gate and submit`);
  }
  if (!state || wordsOf(command) === null) return null;
  if (state.gates.some(({ run }) => run === command.trim())) return say("allow", "a gate of the run");
  const listed = isListed(words, state.blueprint.allow) && !hasRiskyOption(words);
  return listed ? say("allow", "on the blueprint's list") : null;
}

/** Writing a file: a worker's inside its own worktree, not where git or Claude Code keep their own. */
export async function workerWrite(path: string, worktree: string): Promise<Answer | null> {
  const target = await realTarget(resolve(worktree, path));
  const way = target.startsWith(worktree + sep) ? target.slice(worktree.length + 1).split(sep) : [];
  const own = way.length > 0 && ![".git", ".claude"].includes((way[0] ?? "").toLowerCase());
  return own ? say("allow", "in the worker's own worktree") : null;
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
