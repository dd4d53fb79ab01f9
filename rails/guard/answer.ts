/** What Claude Code gives a hook on stdin, as far as it is used here. */
export type HookInput = Readonly<Partial<Record<TextField, string>>> & {
  readonly tool_input?: Readonly<Record<string, unknown>>;
  readonly tool_response?: { readonly agentId?: string };
  readonly stop_hook_active?: boolean;
  readonly background_tasks?: readonly Readonly<{ id: string; agent_type?: string }>[];
};
type TextField =
  | "session_id"
  | "cwd"
  | "permission_mode"
  | "agent_id"
  | "agent_type"
  | "transcript_path"
  | "agent_transcript_path"
  | "last_assistant_message"
  | "error"
  | "prompt"
  | "tool_name";

/** What a hook prints, and the exit code with which it sends back who wants to end, or wakes who
 * has. */
export type HookAnswer = Readonly<{
  stdout?: string;
  stderr?: string;
  exit?: 2;
  given?: () => Promise<unknown>; // To be called once that was printed
}>;

/** What a hook says to a tool call, and why; null leaves it to the person's own settings. */
export type ToolAnswer = Readonly<{ decision: "allow" | "deny" | "ask"; reason: string }> | null;

export const allow = (reason: string): ToolAnswer => ({ decision: "allow", reason });
export const deny = (reason: string): ToolAnswer => ({ decision: "deny", reason });
export const ask = (reason: string): ToolAnswer => ({ decision: "ask", reason });
