import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface TextBlock {
  readonly type: "text";
  readonly text: string;
}
export interface ToolUse {
  readonly type: "tool_use";
  readonly id: string;
  readonly name: string;
  readonly input: Record<string, unknown>;
}
interface ToolResult {
  readonly type: "tool_result";
  readonly tool_use_id: string;
  readonly content?: string | readonly TextBlock[];
  readonly is_error?: boolean;
}
export interface Message {
  readonly role: "user" | "assistant" | "system";
  readonly content: string | readonly (TextBlock | ToolUse | ToolResult)[];
}

/** What the client asks of the model, as far as a script cares. */
export interface ModelRequest {
  readonly model: string;
  /** The system prompt as one text. */
  readonly system: string;
  readonly messages: readonly Message[];
  /** Names of the tools that may be called. */
  readonly tools: readonly string[];
  /** The same tools as the client describes them. */
  readonly definitions: readonly unknown[];
  /** The client's session; a worker's is that of its orchestrator. */
  readonly session: string;
  /** The subagent that asks; empty in the main session. */
  readonly agent: string;
  /** The size of the request, in characters. */
  readonly size: number;
  readonly stream: boolean;
}

/** A call that a script asks for; its id is made here. */
export interface Call {
  readonly tool: string;
  readonly input: Record<string, unknown>;
}
/** What a script says next: texts and calls, in order. A reply without a call ends the turn. */
export type Reply = readonly (string | Call)[];
/** A scripted model: a function from the request to what is said next. */
export type Script = (request: ModelRequest) => Reply | Promise<Reply>;

export interface ScriptedModel {
  /** For ANTHROPIC_BASE_URL. */
  readonly url: string;
  /** Stops the server; what is being answered is cut off. */
  close(): Promise<void>;
}

/** Starts a server that speaks the Messages API on the loopback and answers with what the script
 * says. Tokens are counted as a quarter of the characters, most of them read from a cache, so that
 * a run has a plausible cost.
 * @param script what the model says
 * @param onRequest called with each request for a message before it is answered */
export async function startModel(
  script: Script,
  onRequest: (request: ModelRequest) => void = () => {},
): Promise<ScriptedModel> {
  let messages = 0;
  let calls = 0;
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
      // 400, since the client tries again after a 500 and a script that failed once fails again.
      json(response, 400, { type: "error", error: { type: "invalid_request_error", message } });
    });
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await bodyOf(request);
    const path = request.url?.split("?")[0] ?? "";
    if (request.method !== "POST" || !path.startsWith("/v1/messages"))
      return json(response, 200, {});
    const asked = readRequest(text, request);
    const tokens = Math.ceil(asked.size / 4);
    if (path.endsWith("/count_tokens")) return json(response, 200, { input_tokens: tokens });
    onRequest(asked);
    const reply = await script(asked);
    const blocks = reply.map((part) =>
      typeof part === "string"
        ? ({ type: "text", text: part } as const)
        : ({
            type: "tool_use",
            id: `toolu_${++calls}`,
            name: part.tool,
            input: part.input,
          } as const),
    );
    const message = {
      id: `msg_${++messages}`,
      type: "message",
      role: "assistant",
      model: asked.model,
      content: blocks,
      stop_reason: blocks.some((block) => block.type === "tool_use") ? "tool_use" : "end_turn",
      stop_sequence: null,
      usage: { ...usageOf(tokens), output_tokens: Math.ceil(JSON.stringify(blocks).length / 4) },
    };
    if (asked.stream) stream(response, message);
    else json(response, 200, message);
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Of a request's tokens four of five come from the cache; the rest is written to it for five
 * minutes, for an hour, or fresh. */
function usageOf(tokens: number): InputUsage {
  const read = Math.floor(tokens * 0.8);
  const each = Math.floor(tokens * 0.06);
  return {
    input_tokens: tokens - read - 2 * each,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: 2 * each,
    cache_creation: { ephemeral_5m_input_tokens: each, ephemeral_1h_input_tokens: each },
  };
}

/** What a request read and wrote, as the service counts it. */
interface InputUsage {
  readonly input_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_creation: {
    readonly ephemeral_5m_input_tokens: number;
    readonly ephemeral_1h_input_tokens: number;
  };
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function readRequest(text: string, request: IncomingMessage): ModelRequest {
  const body = JSON.parse(text) as Record<string, unknown>;
  const system = (body.system ?? []) as string | TextBlock[];
  const tools = (body.tools ?? []) as { name: string }[];
  return {
    model: String(body.model),
    system: typeof system === "string" ? system : system.map((block) => block.text).join("\n"),
    messages: (body.messages ?? []) as Message[],
    tools: tools.map((tool) => tool.name),
    definitions: tools,
    session: String(request.headers["x-claude-code-session-id"] ?? ""),
    agent: String(request.headers["x-claude-code-agent-id"] ?? ""),
    size: text.length,
    stream: body.stream === true,
  };
}

interface Answer {
  readonly content: readonly (TextBlock | ToolUse)[];
  readonly stop_reason: string;
  readonly usage: InputUsage & { readonly output_tokens: number };
}

/** Sends a whole message as the events of a stream. */
function stream(response: ServerResponse, message: Answer): void {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  const send = (type: string, data: object): void => {
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  };
  send("message_start", {
    message: {
      ...message,
      content: [],
      stop_reason: null,
      usage: { ...message.usage, output_tokens: 1 },
    },
  });
  message.content.forEach((block, index) => {
    const text = block.type === "text";
    send("content_block_start", {
      index,
      content_block: text ? { type: "text", text: "" } : { ...block, input: {} },
    });
    send("content_block_delta", {
      index,
      delta: text
        ? { type: "text_delta", text: block.text }
        : { type: "input_json_delta", partial_json: JSON.stringify(block.input) },
    });
    send("content_block_stop", { index });
  });
  send("message_delta", {
    delta: { stop_reason: message.stop_reason, stop_sequence: null },
    usage: { output_tokens: message.usage.output_tokens },
  });
  send("message_stop", {});
  response.end();
}
