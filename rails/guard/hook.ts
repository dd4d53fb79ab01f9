import { readFile, realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { gitDirOf } from "../git/repository.ts";
import { Journal, listRuns } from "../record/journal.ts";
import { isActive, type RunState } from "../record/state.ts";
import { attemptAt } from "../worker/attempt.ts";
import { holdAtEnd } from "./end.ts";
import { type Answer, foremanCommand, foremanWrite, workerCommand, workerWrite } from "./tool.ts";

/** What Claude Code gives a hook on stdin, as far as it is used here. */
export interface HookInput {
  readonly session_id?: string;
  readonly cwd?: string;
  readonly permission_mode?: string;
  readonly agent_id?: string;
  readonly agent_transcript_path?: string;
  readonly agent_type?: string;
  readonly tool_name?: string;
  readonly tool_input?: Readonly<Record<string, unknown>>;
  readonly tool_response?: { readonly agentId?: string };
}

/** What a hook prints and ends with. */
export interface HookOutput {
  readonly stdout: string;
  readonly stderr: string;
  /** 2 sends a worker back that wants to end. */
  readonly exit: 0 | 2;
}

const SILENT: HookOutput = { stdout: "", stderr: "", exit: 0 };
/** A worker that uses tools is alive; one line in the journal every so often is enough to know. */
const ALIVE_EVERY_MS = 120_000;

interface Scene {
  readonly input: HookInput;
  readonly cwd: string;
  readonly gitDir: string;
  readonly common: string;
}

/**
 * Answers a hook. Sessions without minions never come here: a filter in `sh` stands before it.
 * @throws whatever went wrong; the caller turns that into silence, since a broken rail must not break a session
 */
export async function hook(event: string, input: HookInput): Promise<HookOutput> {
  const cwd = await realpath(input.cwd ?? process.cwd());
  const gitDir = await gitDirOf(cwd);
  if (gitDir === null)
    return event === "PreToolUse" && !input.agent_type ? answered(await foremanTool(input, null)) : SILENT;
  const common = await readFile(join(gitDir, "commondir"), "utf8").then(
    (text) => resolve(gitDir, text.trim()),
    () => gitDir,
  );
  const scene: Scene = { input, cwd, gitDir, common };
  const isWorker = input.agent_type?.startsWith("minion:") === true;
  if (event === "PostToolUse" && !isWorker) return launched(scene);
  if (event === "PreToolUse") return isWorker ? workerTool(scene) : answered(await foremanTool(input, scene));
  if (event === "SubagentStop" && isWorker) return end(scene);
  return SILENT;
}

const answered = (answer: Answer | null): HookOutput =>
  answer
    ? { ...SILENT, stdout: JSON.stringify({ hookSpecificOutput: { hookEventName: "PreToolUse", ...answer } }) }
    : SILENT;

async function foremanTool(
  { tool_name: tool, tool_input: args = {}, session_id: session = "" }: HookInput,
  scene: Scene | null,
): Promise<Answer | null> {
  if (tool === "Bash") return foremanCommand(String(args.command));
  if (tool === "Write") return foremanWrite(String(args.file_path), session);
  if (tool !== "Agent" || !String(args.subagent_type).startsWith("minion:")) return null;
  const found = scene && (await runOf(scene, attemptIn(String(args.prompt))));
  const attempt = found?.state.attempts.get(found.id);
  if (attempt && isActive(attempt) && !found?.state.aborted)
    return { permissionDecision: "allow", permissionDecisionReason: "dispatched by minion next" };
  return {
    permissionDecision: "deny",
    permissionDecisionReason: "No open run has dispatched that: run minion next and start what it names.",
  };
}

async function launched(scene: Scene): Promise<HookOutput> {
  const agent = scene.input.tool_response?.agentId;
  const found = await runOf(scene, attemptIn(String(scene.input.tool_input?.prompt)));
  if (agent && found?.state.attempts.has(found.id))
    await found.journal.add({ event: "launched", attempt: found.id, agent });
  return SILENT;
}

async function workerTool(scene: Scene): Promise<HookOutput> {
  const { tool_name: tool, tool_input: args = {} } = scene.input;
  const found = await runOf(scene, await ownAttempt(scene));
  if (tool === "SubagentHandback") {
    const back = found && (await holdAtEnd(found.journal, found.id, await whereOf(scene)));
    return answered(back ? { permissionDecision: "deny", permissionDecisionReason: back } : null);
  }
  const attempt = found?.state.attempts.get(found.id);
  if (found && attempt && Date.now() - attempt.lastSign > ALIVE_EVERY_MS)
    await found.journal.add({ event: "alive", attempt: found.id });
  if (tool === "Bash") return answered(workerCommand(String(args.command), found?.state ?? null));
  const path = args.file_path ?? args.notebook_path;
  return typeof path === "string" ? answered(await workerWrite(path, await topOf(scene))) : SILENT;
}

async function end(scene: Scene): Promise<HookOutput> {
  const found = await runOf(scene, await ownAttempt(scene));
  if (!found) return SILENT;
  if (scene.input.permission_mode === "auto") {
    // Its report, if it made one, is out: nothing can hold it. A result that still comes is taken all the same.
    const attempt = found.state.attempts.get(found.id);
    const reason = attempt?.begun ? "unproven" : "never-began";
    if (attempt && isActive(attempt))
      await found.journal.add({
        event: "ended",
        attempt: found.id,
        reason,
        note: "Its worker ended without a result.",
      });
    return SILENT;
  }
  const back = await holdAtEnd(found.journal, found.id, await whereOf(scene));
  return back ? { ...SILENT, stderr: back, exit: 2 } : SILENT;
}

/** The attempt that a dispatch's prompt names. */
const attemptIn = (prompt: string): string | null => /minion begin (r\d+\/[\w-]+\.\d+)/.exec(prompt)?.[1] ?? null;

/** The worker's attempt: from its worktree; before `begin` from its agent's number. */
async function ownAttempt({ cwd, common, input }: Scene): Promise<string | null> {
  const marked = await attemptAt(cwd);
  if (marked !== null || !input.agent_id) return marked;
  for (const run of (await listRuns(common)).reverse()) {
    const state = await new Journal(common, run).state().catch(() => null);
    const attempt = state && [...state.attempts.values()].find(({ agent }) => agent === input.agent_id);
    if (attempt) return attempt.id;
  }
  // It can end before the hook that tells of its launch has run: its first message is the prompt.
  return attemptIn(await readFile(input.agent_transcript_path ?? "", "utf8").catch(() => ""));
}

async function runOf(
  { common }: Scene,
  id: string | null,
): Promise<{ id: string; journal: Journal; state: RunState } | null> {
  if (id === null) return null;
  const journal = new Journal(common, id.split("/", 1)[0] as string);
  const state = await journal.state().catch(() => null);
  return state && { id, journal, state };
}

/** The worktree of a worker that has begun: its git folder holds the mark. */
async function whereOf(scene: Scene): Promise<{ top: string; gitDir: string } | null> {
  return (await attemptAt(scene.cwd)) === null ? null : { top: await topOf(scene), gitDir: scene.gitDir };
}

/** The top of the worktree, which the worktree's git folder names. */
async function topOf({ gitDir, cwd }: Scene): Promise<string> {
  const file = await readFile(join(gitDir, "gitdir"), "utf8").catch(() => null);
  return file === null ? cwd : realpath(resolve(gitDir, file.trim(), "..")).catch(() => cwd);
}
