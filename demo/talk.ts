import type { Call, Message, ModelRequest, Reply, Script, TextBlock } from "./scripted-model.ts";

/** Who asks the model: `compaction` for what is to be left of a conversation, `side` for a title
 * and the like. */
export type Role = "orchestrator" | "worker" | "classifier" | "compaction" | "side";

/** Tells from a request who asks. */
export function roleOf(request: ModelRequest): Role {
  if (/create a detailed summary of the conversation/.test(turnOf(request).text))
    return "compaction";
  if (/security monitor for autonomous/.test(request.system)) return "classifier";
  // Asked with all that a worker has said, once it has worked for half a minute.
  if (/most recent action in 3-5 words/.test(turnOf(request).text)) return "side";
  if (request.agent !== "") return "worker";
  return request.tools.includes("Agent") ? "orchestrator" : "side";
}

/** What one call came to. */
export interface Outcome {
  /** A command's exit code; 1 also for a call that was refused. */
  readonly code: number;
  readonly output: string;
}

/** What the client says after a reply. */
export interface Turn {
  /** What the reply's calls came to, in the order of the calls. */
  readonly outcomes: readonly Outcome[];
  /** All else that was said: the person's words, notices, what a hook answered. */
  readonly text: string;
  readonly request: ModelRequest;
}

/** One conversation: it yields what the model says, and is given what the client answers. */
export type Talk<Result = void> = AsyncGenerator<Reply, Result, Turn>;
/** Begins a conversation with its first turn. */
export type Speaker = (first: Turn) => Talk;

/** A script out of conversations: one per session's orchestrator and one per worker, each going on
 * where it stood. The permission classifier is told that all is well: what a run may do is the
 * hooks' affair, not the model's. */
export function conversations(speakers: { orchestrator: Speaker; worker: Speaker }): Script {
  const talks = new Map<string, Talk>();
  return async (request) => {
    const role = roleOf(request);
    if (role === "classifier") return ["<severity>0</severity>"];
    if (role === "side") return ["Minions"];
    const key = `${request.session} ${request.agent}`;
    if (role === "compaction") {
      // It knows no more than what the client puts into its new context.
      talks.delete(key);
      return ["<summary>Minions are at work.</summary>"];
    }
    const turn = turnOf(request);
    let talk = talks.get(key);
    const started = talk !== undefined;
    talk ??= speakers[role](turn);
    talks.set(key, talk);
    // The first turn went to the speaker; a generator's first next() takes nothing.
    const { done, value } = started ? await talk.next(turn) : await talk.next();
    return done || !value ? ["Nothing more to do."] : value;
  };
}

function turnOf(request: ModelRequest): Turn {
  const last = request.messages.findLastIndex((message) => message.role === "assistant");
  const ids = callIds(request.messages[last]);
  const outcomes: Outcome[] = ids.map(() => ({ code: 1, output: "" }));
  const texts: string[] = [];
  for (const { content } of request.messages.slice(last + 1)) {
    if (typeof content === "string") {
      texts.push(content);
      continue;
    }
    for (const block of content) {
      if (block.type === "text") texts.push(block.text);
      if (block.type !== "tool_result") continue;
      const outcome = outcomeOf(textOf(block.content), block.is_error === true);
      outcomes[ids.indexOf(block.tool_use_id)] = outcome;
    }
  }
  return { outcomes, text: texts.join("\n"), request };
}

function callIds(message: Message | undefined): string[] {
  if (!message || typeof message.content === "string") return [];
  return message.content.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
}

function textOf(content: string | readonly TextBlock[] | undefined): string {
  return typeof content === "string"
    ? content
    : (content ?? []).map((block) => block.text).join("\n");
}

function outcomeOf(output: string, isError: boolean): Outcome {
  const code = /^Exit code (\d+)\n?/.exec(output);
  if (isError && code) return { code: Number(code[1]), output: output.slice(code[0].length) };
  return { code: isError ? 1 : 0, output };
}

/** Makes calls in one message and says what they came to. */
export async function* calls(...made: readonly Call[]): Talk<readonly Outcome[]> {
  return (yield made).outcomes;
}

/** Runs a shell command. */
export async function* bash(command: string): Talk<Outcome> {
  const made = {
    tool: "Bash",
    input: { command, description: command.split("\n")[0]?.slice(0, 60) },
  };
  return only(yield* calls(made));
}

/** Writes a file. One that is there already has to be read first, so it is. */
export async function* write(path: string, content: string): Talk<Outcome> {
  const made = { tool: "Write", input: { file_path: path, content } };
  const outcome = only(yield* calls(made));
  if (!/has not been read yet/.test(outcome.output)) return outcome;
  yield* read(path);
  return only(yield* calls(made));
}

/** Reads a file. */
async function* read(path: string): Talk<Outcome> {
  return only(yield* calls({ tool: "Read", input: { file_path: path } }));
}

/** Replaces a text that stands once in a file. */
export async function* edit(path: string, from: string, to: string): Talk<Outcome> {
  yield* read(path);
  return only(
    yield* calls({ tool: "Edit", input: { file_path: path, old_string: from, new_string: to } }),
  );
}

/** A word of a shell line that means itself. */
export function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function only(outcomes: readonly Outcome[]): Outcome {
  return outcomes[0] ?? { code: 1, output: "no answer" };
}
