import { readFile, realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { gitDirOf } from "../git/repository.ts";
import { listRuns } from "../record/journal.ts";
import { isActive } from "../record/state.ts";
import { attemptAt, type Found, findAttempt } from "../worker/attempt.ts";
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
  readonly last_assistant_message?: string;
  readonly tool_name?: string;
  readonly tool_input?: Readonly<Record<string, unknown>>;
  readonly tool_response?: { readonly agentId?: string };
}

/** What a hook prints and ends with: 2 sends a worker back that wants to end. */
export interface HookOutput {
  readonly stdout: string;
  readonly stderr: string;
  readonly exit: 0 | 2;
}

const SILENT: HookOutput = { stdout: "", stderr: "", exit: 0 };
/** A worker that uses tools is alive; one line in the journal every so often is enough to know. */
const ALIVE_EVERY_MS = 120_000;

/** A hook's call and the git folders of where it was made; null outside of a repository. */
interface Scene {
  readonly input: HookInput;
  readonly cwd: string;
  readonly gitDir: string | null;
  readonly common: string | null;
}

/**
 * Answers a hook. Sessions without minions never come here: a filter in `sh` stands before it.
 * @throws whatever went wrong; the caller turns that into silence, since a broken rail must not break a session
 */
export async function hook(event: string, input: HookInput): Promise<HookOutput> {
  const cwd = await realpath(input.cwd ?? process.cwd());
  const gitDir = await gitDirOf(cwd);
  const commonFile = gitDir && (await readFile(join(gitDir, "commondir"), "utf8").catch(() => "."));
  const scene = { input, cwd, gitDir, common: gitDir && resolve(gitDir, (commonFile ?? ".").trim()) };
  const isWorker = input.agent_type?.startsWith("minion:") === true;
  if (event === "PreToolUse") return answered(isWorker ? await workerTool(scene) : await foremanTool(scene));
  if (event === "PostToolUse" && !isWorker) return launched(scene);
  return event === "SubagentStop" && isWorker ? end(scene) : SILENT;
}

const answered = (answer: Answer | null): HookOutput =>
  answer
    ? { ...SILENT, stdout: JSON.stringify({ hookSpecificOutput: { hookEventName: "PreToolUse", ...answer } }) }
    : SILENT;

async function foremanTool(scene: Scene): Promise<Answer | null> {
  const { tool_name: tool, tool_input: args = {}, session_id: session = "" } = scene.input;
  if (tool === "Bash") return foremanCommand(String(args.command));
  if (tool === "Write") return foremanWrite(String(args.file_path), session);
  if (tool !== "Agent" || !String(args.subagent_type).startsWith("minion:")) return null;
  const found = await attemptOf(scene, attemptIn(args));
  return found && isActive(found.attempt) && !found.state.aborted
    ? { permissionDecision: "allow", permissionDecisionReason: "dispatched by minion next" }
    : {
        permissionDecision: "deny",
        permissionDecisionReason: "No open run dispatched that: run minion next and start what it names.",
      };
}

async function launched(scene: Scene): Promise<HookOutput> {
  const agent = scene.input.tool_response?.agentId;
  const found = await attemptOf(scene, attemptIn(scene.input.tool_input ?? {}));
  if (agent && found) await found.journal.add({ event: "launched", attempt: found.attempt.id, agent });
  return SILENT;
}

async function workerTool(scene: Scene): Promise<Answer | null> {
  const { tool_name: tool, tool_input: args = {} } = scene.input;
  const found = await attemptOf(scene, await ownAttempt(scene));
  if (found && tool === "SubagentHandback") {
    const back = await holdAtEnd(found, await worktreeOf(scene), String(args.message ?? ""));
    return back === null ? null : { permissionDecision: "deny", permissionDecisionReason: back };
  }
  // The answer counts more than the sign of life, which may wait or fail.
  const path = args.file_path ?? args.notebook_path;
  const isWrite = typeof path === "string";
  const answer = isWrite
    ? await workerWrite(path, (await worktreeOf(scene))?.top ?? scene.cwd)
    : workerCommand(String(args.command), found?.state ?? null);
  if (found && Date.now() - found.attempt.lastSign > ALIVE_EVERY_MS)
    await found.journal.add({ event: "alive", attempt: found.attempt.id }).catch(() => {});
  return answer;
}

async function end(scene: Scene): Promise<HookOutput> {
  const found = await attemptOf(scene, await ownAttempt(scene));
  if (!found) return SILENT;
  const { journal, attempt } = found;
  if (scene.input.permission_mode === "auto") {
    // Its report, if it made one, is out: nothing can hold it. A result that still comes is taken all the same.
    const reason = attempt.begun ? "unproven" : "never-began";
    const note = "Its worker ended without a result.";
    if (isActive(attempt)) await journal.add({ event: "ended", attempt: attempt.id, reason, note });
    return SILENT;
  }
  const said = scene.input.last_assistant_message ?? "";
  const back = await holdAtEnd(found, await worktreeOf(scene), said);
  return back === null ? SILENT : { ...SILENT, stderr: back, exit: 2 };
}

/** The attempt that a dispatch's prompt names. */
const attemptIn = (args: Readonly<Record<string, unknown>>): string | null =>
  /minion begin (r\d+\/\w+\.\d+)/.exec(String(args.prompt))?.[1] ?? null;

/** The worker's attempt: from its worktree; before `begin` from its agent's number. */
async function ownAttempt({ cwd, common, input }: Scene): Promise<string | null> {
  const marked = await attemptAt(cwd);
  if (marked !== null || !input.agent_id || !common) return marked;
  for (const run of (await listRuns(common)).reverse()) {
    const text = await readFile(join(common, "minion", run, "events.jsonl"), "utf8").catch(() => "");
    const line = text.split("\n").find((each) => each.includes(`"agent":"${input.agent_id}"`));
    if (line) return JSON.parse(line).attempt;
  }
  // It can end before the hook that tells of its launch has run: its first message is the prompt.
  return attemptIn({ prompt: await readFile(input.agent_transcript_path ?? "", "utf8").catch(() => "") });
}

const attemptOf = async ({ common }: Scene, id: string | null): Promise<Found | null> =>
  id !== null && common !== null ? findAttempt(common, id).catch(() => null) : null;

/** The worktree of a worker that has begun; its git folder names its top. */
async function worktreeOf({ gitDir, cwd }: Scene): Promise<{ top: string; gitDir: string } | null> {
  if (gitDir === null || (await attemptAt(cwd)) === null) return null;
  const file = await readFile(join(gitDir, "gitdir"), "utf8").catch(() => null);
  return { gitDir, top: file === null ? cwd : await realpath(resolve(gitDir, file.trim(), "..")) };
}
