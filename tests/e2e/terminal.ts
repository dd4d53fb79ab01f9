import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { type ClientOptions, clientEnv } from "../../demo/client.ts";

const run = promisify(execFile);

/** The client in a terminal, as a person has it before them. */
export interface Terminal {
  /** Pastes a text and presses Enter. */
  type(text: string): Promise<void>;
  /** Presses a key by tmux's name for it. */
  press(key: string): Promise<void>;
  screen(): Promise<string>;
  /** Waits until the screen shows something, and fails with what it shows instead. */
  see(what: RegExp, milliseconds?: number): Promise<string>;
  /** Has its bell rung since it was opened? */
  hasRung(): Promise<boolean>;
  close(): Promise<void>;
}

/** Starts the client in a terminal of its own, past all that it asks a new person. */
export async function openTerminal(
  options: Pick<ClientOptions, "claude" | "model" | "home" | "cwd" | "env" | "args">,
): Promise<Terminal> {
  const { claude, home, cwd, args = [] } = options;
  const env = clientEnv(options);
  await writeFile(
    join(home, ".claude.json"),
    JSON.stringify({
      hasCompletedOnboarding: true,
      theme: "dark",
      projects: { [cwd]: { hasTrustDialogAccepted: true } },
      customApiKeyResponses: { approved: [env.ANTHROPIC_API_KEY], rejected: [] },
    }),
  );
  // A server of its own, so that it has this environment and ends with the terminal.
  const server = ["-L", `minion-${process.pid}-${Date.now()}`, "-f", "/dev/null"];
  const tmux = async (...words: string[]) =>
    (await run("tmux", [...server, ...words], { env })).stdout;
  // Narrow enough that the client opens no panel beside the conversation.
  await tmux("new-session", "-d", "-x", "110", "-y", "60", "-c", cwd, claude, ...args);
  await tmux("set-option", "-g", "bell-action", "any");
  await tmux("set-hook", "-g", "alert-bell", "set-option -g @rung yes");
  const screen = () => tmux("capture-pane", "-p");
  const see = async (what: RegExp, milliseconds = 30_000) => {
    const until = Date.now() + milliseconds;
    for (;;) {
      const seen = await screen();
      if (what.test(seen)) return seen;
      if (Date.now() > until) throw new Error(`${what} did not appear; the screen shows:\n${seen}`);
      await setTimeout(200);
    }
  };
  return {
    screen,
    see,
    press: async (key) => void (await tmux("send-keys", key)),
    async type(text) {
      await tmux("set-buffer", text);
      await tmux("paste-buffer", "-p");
      // An Enter that comes before the whole paste is there is taken for a line end of it.
      const end = (text.split("\n").at(-1) ?? "").replaceAll(/\W/g, "\\$&");
      await see(new RegExp(`${end}|Pasted text`));
      await setTimeout(500);
      await tmux("send-keys", "Enter");
    },
    hasRung: async () => (await tmux("show-options", "-gqv", "@rung")).trim() === "yes",
    close: async () => void (await tmux("kill-server").catch(() => "")),
  };
}
