import { join } from "node:path";
import type { Event } from "../rails/journal/events.ts";
import { Journal } from "../rails/journal/journal.ts";
import { type ClientEvent, startClient } from "./client.ts";
import { orchestrator } from "./orchestrator-script.ts";
import type { Edits } from "./sample-repo.ts";
import { startModel } from "./scripted-model.ts";
import { conversations } from "./talk.ts";
import { worker } from "./worker-script.ts";

export interface DemoOptions {
  /** The `claude` to run. */
  readonly claude: string;
  /** A HOME in which the plugin is installed. */
  readonly home: string;
  readonly repo: string;
  /** What a person types. */
  readonly prompt: string;
  /** How each task is done. */
  readonly edits: Edits;
  readonly say: (line: string) => void;
}

const POLL_MS = 200;

/** Who commits in the demo's repository. */
const IDENTITY = {
  GIT_AUTHOR_NAME: "Minion demo",
  GIT_COMMITTER_NAME: "Minion demo",
  GIT_AUTHOR_EMAIL: "demo@example.invalid",
  GIT_COMMITTER_EMAIL: "demo@example.invalid",
};

/** Runs a task list on a repository: the real client, a scripted model in place of the model's
 * service. Shows the plan, each worker's progress, each landing and the report as they come.
 * @returns whether every task landed */
export async function runDemo(options: DemoOptions): Promise<boolean> {
  const { claude, home, repo, prompt, edits, say } = options;
  const model = await startModel(
    conversations({ orchestrator: orchestrator(edits.guesses), worker: worker(edits.tasks) }),
  );
  say(`> ${prompt}\n`);
  const client = startClient({
    claude,
    model: model.url,
    home,
    cwd: repo,
    prompt,
    env: IDENTITY,
    onEvent: (event) => plans(event).forEach(say),
  });
  const journal = new Journal(join(repo, ".git"), "r1");
  const stop = follow(journal, say);
  try {
    const { text, code, stderr } = await client.done;
    await stop();
    say(`\n${text || stderr || `claude ended with ${code}`}`);
    const { tasks } = await journal.state();
    return [...tasks.values()].every(({ state }) => state === "landed");
  } finally {
    client.kill();
    await model.close();
  }
}

/** What is read of a client's message. */
type Content = { content?: readonly { type?: string; content?: unknown }[] };

/** The plan's table, from the answer to the orchestrator's `minion plan`. */
function plans({ message }: ClientEvent): string[] {
  const { content } = (message ?? {}) as Content;
  if (!Array.isArray(content)) return [];
  return content
    .filter((block) => block.type === "tool_result")
    .map((block) => String(block.content))
    .filter((result) => /^\d+ tasks? · /.test(result))
    .map((result) => `${result.trimEnd()}\n`);
}

/** Says what comes into a journal, until it is told to stop. */
function follow(journal: Journal, say: (line: string) => void): () => Promise<void> {
  let seen = 0;
  const look = async (): Promise<void> => {
    const { events } = await journal.read();
    const first = events[0]?.at ?? 0;
    for (const event of events.slice(seen)) {
      const told = tell(event);
      if (told) say(`${clock(event.at - first)}  ${told}`);
    }
    seen = events.length;
  };
  let looking = Promise.resolve();
  const timer = setInterval(() => {
    looking = looking.then(look);
  }, POLL_MS);
  return async () => {
    clearInterval(timer);
    await looking.then(look);
  };
}

/** An event on one line, or null where it is nothing to tell. */
function tell(event: Event): string | null {
  const task = (attempt: string): string => `task ${/\/(\w+)\./.exec(attempt)?.[1]}`;
  const result = (code: number | null): string => (code === 0 ? "passed" : "failed");
  switch (event.event) {
    case "started":
      return `run ${event.run} starts: ${event.tasks.length} tasks, line ${event.line}`;
    case "begun":
      return `${task(event.attempt)}  a worker begins, on ${event.branch}`;
    case "evidence": {
      const place = event.attempts.length === 0 ? "base  " : "line  ";
      const who = event.by === "worker" ? task(event.attempts[0] ?? "") : place;
      return `${who}  ${event.gate} ${result(event.code)} (${(event.ms / 1000).toFixed(1)} s)`;
    }
    case "submitted":
      return `${task(event.attempt)}  handed in: ${event.paths.join(", ")}`;
    case "proven": {
      const tasks = event.landed.map(({ attempt }) => task(attempt));
      return `line    green with ${tasks.join(" and ")}: landed`;
    }
    case "ended":
    case "not-landed":
      return `${task(event.attempt)}  ${event.reason}: ${event.note}`;
    default:
      return null;
  }
}

const clock = (ms: number): string =>
  `${Math.floor(ms / 60_000)}:${String(Math.floor(ms / 1000) % 60).padStart(2, "0")}`;
