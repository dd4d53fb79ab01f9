import { readFile, realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { newRails } from "../blueprint/agreed.ts";
import { findPlace, gitDirOf, type Worktop } from "../git/repository.ts";
import { Journal, listRuns } from "../record/journal.ts";
import { isActive } from "../record/state.ts";
import { attemptAt, type Found, findAttempt } from "../worker/attempt.ts";
import { endAttempt, holdAtEnd } from "./end.ts";
import { type Answer, DRY, foremanCommand, foremanWrite, say, workerCommand, workerWrite } from "./tool.ts";

/** What Claude Code gives a hook on stdin, as far as it is used here. */
export interface HookInput {
  readonly session_id?: string;
  readonly cwd?: string;
  readonly permission_mode?: string;
  readonly agent_id?: string;
  readonly agent_transcript_path?: string;
  readonly agent_type?: string;
  readonly last_assistant_message?: string;
  readonly error?: string;
  readonly prompt?: string;
  readonly tool_name?: string;
  readonly tool_input?: Readonly<Record<string, unknown>>;
  readonly tool_response?: { readonly agentId?: string };
}

/** What a hook prints and ends with: 2 sends a worker back that wants to end. */
export type HookOutput = Readonly<{ stdout?: string; stderr?: string; exit?: 2 }>;

/** A worker that uses tools is alive; one line in the journal every so often is enough to know. */
const ALIVE_EVERY_MS = 120_000;

/** A hook's call; where it was made; the attempt that it is about; and the worktree, if that was begun there. */
type Scene = Readonly<{ input: HookInput; cwd: string; found: Found | null; worktree: Worktop | null }>;

/** Answers a hook. Sessions without minions never come here: a filter in `sh` stands before it.
 * @throws whatever went wrong; the caller turns that into silence, since a broken rail must not break a session */
export async function hook(event: string, input: HookInput): Promise<HookOutput> {
  const isWorker = input.agent_type?.startsWith("minion:") === true;
  const scene = await sceneOf(input, isWorker);
  if (event !== "PreToolUse") return scene.found ? heard(event, scene, scene.found, isWorker) : {};
  const answer = await (isWorker ? workerTool(scene) : foremanTool(scene));
  const specific = { hookEventName: "PreToolUse", ...answer };
  return answer ? { stdout: JSON.stringify({ hookSpecificOutput: specific }) } : {};
}

/** How the client words an end by a limit, or by a service that cannot keep up. */
const LIMIT = /\b(429|529)\b|overloaded|(rate|usage) limit/i;

/** Takes down what the client tells of an attempt; all that is answered is a worker that wants to end. */
async function heard(event: string, scene: Scene, found: Found, isWorker: boolean): Promise<HookOutput> {
  const { last_assistant_message: said = "", tool_name: tool = "", tool_input: args = {}, ...input } = scene.input;
  const attempt = found.attempt.id;
  const agent = input.tool_response?.agentId;
  if (event === "PostToolUse" && !isWorker && agent) await found.journal.add({ event: "launched", attempt, agent });
  // Where it stops a worker after so many turns, the client gives no sign but this notice to the foreman.
  if (event === "UserPromptSubmit") await endAttempt(found, "", "it reached its limit of turns");
  if (!isWorker) return {};
  if (event.startsWith("Permission")) {
    const what = String(args.command ?? args.file_path ?? args.notebook_path ?? "").replace(/\s+/g, " ");
    await found.journal.add({ event: "refused", attempt, tool, what: what.trim().slice(0, 300) });
  }
  if (event === "StopFailure") await endAttempt(found, "", said, input.error === "rate_limit" || LIMIT.test(said));
  if (event !== "SubagentStop") return {};
  // In auto mode its report, if it made one, is out: nothing can hold it. A result that still comes is taken.
  if (input.permission_mode === "auto") await endAttempt(found, said, "its worker ended without a result");
  const back = input.permission_mode === "auto" ? null : await holdAtEnd(found, scene.worktree, said);
  return back === null ? {} : { stderr: back, exit: 2 };
}

/** Of a project's own rails, so much is shown to the person who is asked. */
const SHOWN = 2000;

async function foremanTool({ input, found, cwd }: Scene): Promise<Answer | null> {
  const { tool_name: tool, tool_input: args = {}, session_id: session = "" } = input;
  const isDry = input.permission_mode === "plan";
  if (tool === "Bash") {
    const answer = foremanCommand(String(args.command), isDry);
    if (answer?.permissionDecision !== "allow" || !/^\s*minion\s+start\b/.test(String(args.command))) return answer;
    const { top, common } = await findPlace(cwd);
    const rails = await newRails(top, common);
    const why = "The rails that this project brings are new here, or have changed. Their commands would run";
    return rails
      ? say("ask", `${why} (minion blueprint --agree remembers a yes):\n${rails.text.slice(0, SHOWN)}`)
      : answer;
  }
  if (tool === "Write") return foremanWrite(String(args.file_path), session);
  if (tool !== "Agent" || !String(args.subagent_type).startsWith("minion:")) return null;
  if (isDry) return say("deny", DRY);
  if (found && isActive(found.attempt) && !found.state.aborted) return say("allow", "dispatched by minion next");
  return say("deny", "No open run dispatched that: run minion next and start what it names.");
}

async function workerTool({ input, found, worktree, cwd }: Scene): Promise<Answer | null> {
  const { tool_name: tool, tool_input: args = {} } = input;
  if (found && tool === "SubagentHandback") {
    const back = await holdAtEnd(found, worktree, String(args.message ?? ""));
    return back === null ? null : say("deny", back);
  }
  if (tool === "Agent" || tool === "Task" || tool === "Workflow")
    return say("deny", "agents of a worker's own would be on no rails: do it yourself, step by step");
  const path = args.file_path ?? args.notebook_path;
  const isWrite = typeof path === "string";
  const answer = isWrite
    ? await workerWrite(path, worktree?.top ?? cwd, found)
    : workerCommand(String(args.command ?? ""), found);
  // The answer counts more than the sign of life, which may wait or fail.
  if (found && Date.now() - found.attempt.lastSign > ALIVE_EVERY_MS)
    await found.journal.add({ event: "alive", attempt: found.attempt.id }).catch(() => {});
  return answer;
}

/** A worker's attempt is its worktree's, before `begin` its agent's; the foreman's is what the prompt names. */
async function sceneOf(input: HookInput, isWorker: boolean): Promise<Scene> {
  const cwd = await realpath(input.cwd ?? process.cwd());
  const gitDir = await gitDirOf(cwd);
  if (gitDir === null) return { input, cwd, found: null, worktree: null };
  const inGitDir = (name: string) => readFile(join(gitDir, name), "utf8").catch(() => null);
  const common = resolve(gitDir, (await inGitDir("commondir"))?.trim() ?? ".");
  const marked = isWorker ? await attemptAt(cwd) : null;
  const agent = input.agent_id ?? /<task-id>(\w+)/.exec(input.prompt ?? "")?.[1];
  const id = marked ?? (await attemptOfAgent(common, agent, input)) ?? attemptIn(String(input.tool_input?.prompt));
  const found = id ? await findAttempt(common, id).catch(() => null) : null;
  // A worktree's git folder names its top.
  const file = marked && (await inGitDir("gitdir"));
  const top = file ? await realpath(resolve(gitDir, file.trim(), "..")) : cwd;
  return { input, cwd, found, worktree: marked ? { top, gitDir } : null };
}

/** The attempt that a dispatch's prompt names. */
const attemptIn = (prompt: string): string | undefined => /minion begin (r\d+\/\w+\.\d+)/.exec(prompt)?.[1];

async function attemptOfAgent(
  common: string,
  agent: string | undefined,
  { agent_transcript_path: transcript = "" }: HookInput,
): Promise<string | undefined> {
  for (const run of agent ? (await listRuns(common)).reverse() : []) {
    const { events } = await new Journal(common, run).read();
    const launch = events.find((event) => event.event === "launched" && event.agent === agent);
    if (launch?.event === "launched") return launch.attempt;
  }
  // It can end before the hook that tells of its launch has run: its first message is the prompt.
  return attemptIn(await readFile(transcript, "utf8").catch(() => ""));
}
