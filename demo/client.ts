import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** One line of the client's `stream-json`. */
export type ClientEvent = { readonly type: string } & Readonly<Record<string, unknown>>;

export interface ClientOptions {
  /** The `claude` to run. */
  readonly claude: string;
  readonly prompt: string;
  /** The scripted model's address. */
  readonly model: string;
  /** The HOME of the run: its `.claude` is the client's configuration. */
  readonly home: string;
  readonly cwd: string;
  readonly permissionMode?: "default" | "auto" | "plan";
  readonly args?: readonly string[];
  /** More is going to be said than the prompt. */
  readonly isTalk?: boolean;
  /** In a talk: somebody is there, and says whether a call may go that is asked about. */
  readonly onAsk?: (tool: string, input: Record<string, unknown>) => boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** Called with each event as it comes. */
  readonly onEvent?: (event: ClientEvent) => void;
}

/** A call of the main session that was not permitted. */
interface Denial {
  readonly tool_name: string;
  readonly tool_use_id: string;
  readonly tool_input: unknown;
}

export interface ClientResult {
  /** Null where a signal ended it. */
  readonly code: number | null;
  readonly events: readonly ClientEvent[];
  /** The final text. */
  readonly text: string;
  readonly denials: readonly Denial[];
  readonly costUsd: number;
  readonly stderr: string;
}

export interface ClientRun {
  readonly pid: number;
  /** What it has printed so far. */
  readonly events: readonly ClientEvent[];
  readonly done: Promise<ClientResult>;
  /** Says more, where it is a talk. */
  say(text: string): void;
  /** Says that nothing more will be said: it ends once all is done. */
  close(): void;
  /** Ends the client and all that it started. */
  kill(signal?: NodeJS.Signals): void;
}

/** The environment in which the client talks to nobody but the model. */
export function clientEnv(
  options: Pick<ClientOptions, "home" | "model" | "env">,
): NodeJS.ProcessEnv {
  // Started from within a session of the client, its variables would make ours a child of that one.
  const own = Object.entries(process.env).filter(([name]) => !/^(CLAUDE|ANTHROPIC)/.test(name));
  return {
    ...Object.fromEntries(own),
    HOME: options.home,
    ANTHROPIC_BASE_URL: options.model,
    ANTHROPIC_API_KEY: "scripted",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    DISABLE_TELEMETRY: "1",
    ...options.env,
  };
}

/** Starts the real client on one prompt, without a terminal. */
export function startClient(options: ClientOptions): ClientRun {
  const { claude, cwd, isTalk = false, onAsk, onEvent } = options;
  const child = spawn(claude, argumentsFor(options), {
    cwd,
    env: clientEnv(options),
    stdio: ["pipe", "pipe", "pipe"],
    detached: true, // A group of its own, so that it can be ended with its shells and workers
  });
  const send = (message: object): void => void child.stdin.write(`${JSON.stringify(message)}\n`);
  const say = (text: string): void =>
    send({ type: "user", message: { role: "user", content: text } });
  if (isTalk) say(options.prompt);
  else child.stdin.end();
  const events: ClientEvent[] = [];
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  createInterface({ input: child.stdout }).on("line", (line) => {
    if (!line.startsWith("{")) return;
    const event = JSON.parse(line) as ClientEvent;
    events.push(event);
    if (onAsk && event.type === "control_request") send(answerTo(event as Asked, onAsk));
    onEvent?.(event);
  });
  const done = new Promise<ClientResult>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, events, stderr, ...resultOf(events) }));
  });
  return {
    pid: child.pid ?? 0,
    events,
    done,
    say,
    close: () => child.stdin.end(),
    kill: (signal = "SIGKILL") => killGroup(child.pid, signal),
  };
}

/** What the client asks of the person. */
type Asked = ClientEvent & {
  readonly request_id: string;
  readonly request: {
    readonly subtype: string;
    readonly tool_name: string;
    readonly input: Record<string, unknown>;
  };
};

function answerTo(
  { request_id, request: { tool_name, input } }: Asked,
  onAsk: NonNullable<ClientOptions["onAsk"]>,
): object {
  const response = onAsk(tool_name, input)
    ? { behavior: "allow", updatedInput: input }
    : { behavior: "deny", message: "The person said no." };
  return { type: "control_response", response: { subtype: "success", request_id, response } };
}

function argumentsFor(options: ClientOptions): string[] {
  const { prompt, permissionMode, isTalk, onAsk, args = [] } = options;
  return [
    "-p",
    ...(onAsk ? ["--permission-prompt-tool", "stdio"] : []),
    ...(isTalk ? ["--input-format", "stream-json"] : [prompt]),
    "--output-format",
    "stream-json",
    "--verbose",
    "--permission-mode",
    permissionMode ?? "default",
    ...args,
  ];
}

/** What the client's events come to. There is one result for each turn; the last may be an empty
 * one, after a notice that nobody had to answer. */
function resultOf(
  events: readonly ClientEvent[],
): Pick<ClientResult, "text" | "denials" | "costUsd"> {
  const results = events.filter((event) => event.type === "result");
  const denials = results.flatMap((result) => (result.permission_denials ?? []) as Denial[]);
  const byCall = new Map(denials.map((denial) => [denial.tool_use_id, denial]));
  return {
    text: String(results.findLast((result) => result.result)?.result ?? ""),
    denials: [...byCall.values()],
    costUsd: Number(results.at(-1)?.total_cost_usd ?? 0),
  };
}

/** Ends a process and all that is in its group; one that has ended is no fault. */
function killGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
