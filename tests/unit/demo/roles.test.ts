import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { orchestrator } from "../../../demo/orchestrator-script.ts";
import type { Message, ModelRequest, Reply } from "../../../demo/scripted-model.ts";
import { conversations, quote, roleOf } from "../../../demo/talk.ts";
import {
  claimsWithoutRunning,
  failsTwice,
  neverBegins,
  worker,
} from "../../../demo/worker-script.ts";

/** Plays the client: says what the person typed, then answers each reply's calls as `answer` has
 * it. */
function client(request: Partial<ModelRequest>, behaviours = {}, guesses = {}) {
  const edits = { steps: [], commit: "feat: it's x", handoff: "done" };
  const script = conversations({
    orchestrator: orchestrator(guesses),
    worker: worker({ "1": edits }, behaviours),
  });
  const messages: Message[] = [];
  const base = {
    model: "m",
    system: "",
    tools: ["Agent"],
    definitions: [],
    session: "s",
    agent: "",
    size: 0,
    stream: true,
  };
  return {
    async say(text: string, ...results: string[]): Promise<Reply> {
      const last = messages.at(-1)?.content ?? [];
      const ids =
        typeof last === "string" ? [] : last.flatMap((block) => ("id" in block ? [block.id] : []));
      const answers = ids.map((id, index) => {
        const content = results[index] ?? "";
        const is_error = content.startsWith("Exit code");
        return { type: "tool_result", tool_use_id: id, content, is_error } as const;
      });
      messages.push({ role: "user", content: [...answers, { type: "text", text }] });
      const reply = await script({ ...base, ...request, messages: [...messages] });
      const content = reply.map((part, index) =>
        typeof part === "string"
          ? ({ type: "text", text: part } as const)
          : ({
              type: "tool_use",
              id: `${messages.length}-${index}`,
              name: part.tool,
              input: part.input,
            } as const),
      );
      messages.push({ role: "assistant", content });
      return reply;
    },
  };
}

/** What a reply calls, in short: the command, or the tool's name. */
function called(reply: Reply): string[] {
  return reply.map((part) =>
    typeof part === "string" ? part : String(part.input.command ?? part.tool),
  );
}

function typed(args: string): string {
  return `<command-name>/minion</command-name>\n<command-args>${args}</command-args>\nWrite to /tmp/lists/s.md`;
}

function next(more: object): string {
  return JSON.stringify({
    done: false,
    landed: [],
    running: [],
    dispatch: [],
    attention: [],
    ...more,
  });
}

const dispatch = [
  { attempt: "r/1.1", task: "1", agent: "minion-worker", description: "x", prompt: "go" },
];

describe("the orchestrator", () => {
  test("writes down the demo's typed list in our form; for a dry run nothing is written", async () => {
    const list = await readFile(join(import.meta.dirname, "../../../demo/tasks-typed.txt"), "utf8");
    const dry = client({});
    const [plan = ""] = called(await dry.say(typed(`--dry-run ${list}`))) as string[];
    expect(plan.split("\n")[0]).toBe("minion plan - <<'TASKS'");
    expect(await dry.say("", "the table")).toEqual(["the table"]);

    const { say } = client({}, {}, { "2": { files: ["src/a.js"], agent: ["backend"] } });
    const [written] = await say(typed(list));
    expect(written).toMatchObject({ tool: "Write", input: { file_path: "/tmp/lists/s.md" } });
    const content = typeof written === "object" ? String(written.input.content) : "";
    expect(content.split("\n\n")).toHaveLength(4);
    expect(content).toContain(
      "### Task 2: Add the POST /events endpoint\nDepends: 1\nFiles: src/a.js?\nAgent: backend\n",
    );
    expect(called(await say("", "ok"))).toEqual(["minion plan /tmp/lists/s.md"]);
  });

  test("takes a file as it is, and says what the rails refuse", async () => {
    const { say } = client({});
    expect(called(await say(typed("my list.md")))).toEqual(["minion plan 'my list.md'"]);
    expect(await say("", 'Exit code 1\n{"error":"cycle"}')).toEqual(['{"error":"cycle"}']);
  });

  test("ends its turn, and acts on what the rails wake it with as on an answer of its own", async () => {
    const { say } = client({});
    await say(typed("--resume"));
    expect(called(await say("", "{}"))).toEqual(["minion next --json"]);
    expect(await say("", next({ dispatch }))).toMatchObject([
      { tool: "Agent", input: { subagent_type: "minion:minion-worker", prompt: "go" } },
    ]);
    expect(await say("", "agentId: a1 (internal)")).toEqual(["1 worker is at work."]);
    const woken = (more: object) =>
      `What \`minion next --json --run r1\` says now: act on it.\n${next(more)}`;
    expect(await say(woken({ dispatch }))).toMatchObject([{ tool: "Agent" }]);
    expect(await say("", "agentId: a2 (internal)")).toEqual(["1 worker is at work."]);
    // Where a notice comes through, nobody waits: it asks itself.
    expect(called(await say('<agent-message from="a2">'))).toEqual(["minion next --json"]);
    expect(await say("", next({}))).toEqual(["0 workers are at work."]);
    expect(called(await say(woken({ done: true })))).toEqual(["minion report"]);
    expect(await say("", "all landed")).toEqual(["all landed"]);
    expect(await say("<task-id>a1</task-id>")).toEqual(["all landed"]);
  });
});

test("what the client asks beside a worker's work is not taken for a turn of it", () => {
  const asks = (text: string) =>
    roleOf({
      model: "m",
      system: "",
      messages: [{ role: "user", content: text }],
      tools: ["Bash"],
      definitions: [],
      session: "s",
      agent: "a1",
      size: 0,
      stream: true,
    });
  const label = "Describe your most recent action in 3-5 words using present tense (-ing).";
  expect(asks(label)).toBe("side");
  expect(asks("Run `minion begin r1/1.1`.")).toBe("worker");
});

describe("the worker", () => {
  const auto = { agent: "a1", tools: ["Bash", "SubagentHandback"] };
  const first = "Run `minion begin r/1.1` and do what it prints.\nPrimary working directory: /repo";

  test("asks again while a gate runs, hands over, and does so once more when sent back", async () => {
    const { say } = client(auto);
    expect(called(await say(first))).toEqual(["minion begin r/1.1"]);
    expect(called(await say("", "the task"))).toEqual(["minion gate --all"]);
    expect(called(await say("", "Exit code 75\nrunning"))).toEqual(["minion gate --all"]);
    expect(called(await say("", "green"))).toEqual(["git add -A"]);
    expect(called(await say("", ""))).toEqual(["git commit -m 'feat: it'\\''s x'"]);
    expect(called(await say("", ""))).toEqual(["minion submit <<'HANDOFF'\ndone\nHANDOFF"]);
    expect(await say("", "ok")).toMatchObject([
      { tool: "SubagentHandback", input: { message: "r/1.1 handed in" } },
    ]);
    expect(called(await say("", "not proven"))).toEqual(["minion gate --all"]);
  });

  test("may be of the bad kinds", async () => {
    const never = client({ agent: "a1", tools: ["Bash"] }, { "1": neverBegins });
    expect(called(await never.say(first))[0]).toMatch(/nothing to do/);

    const claims = client({ agent: "a1", tools: ["Bash"] }, { "1": claimsWithoutRunning });
    for (const _ of ["begin", "add", "commit"]) await claims.say(first, "ok");
    expect(called(await claims.say("", "ok"))[0]).toMatch(/All tests pass/);
    expect(called(await claims.say("Stop hook feedback"))[0]).toMatch(/All tests pass/);

    const fails = client(
      { agent: "a1", tools: ["Bash"] },
      { "1": failsTwice({ run: "break" }, { run: "mend" }) },
    );
    const seen = called(await fails.say(first));
    for (const answer of [
      "ok",
      "ok",
      "Exit code 1\nred",
      "ok",
      "Exit code 1\nstill red",
      "ok",
      "ok",
    ])
      seen.push(...called(await fails.say("", answer)));
    expect(seen.slice(0, 5)).toEqual([
      "minion begin r/1.1",
      "break",
      "minion gate --all",
      "mend",
      "minion gate --all",
    ]);
    expect(seen.at(-1)).toMatch(/^r\/1\.1 not done: red after one fix: still red$/);

    const refused = client({ agent: "a1", tools: ["Bash"] });
    await refused.say(first);
    for (let time = 0; time < 3; time++)
      expect(called(await refused.say("", "Exit code 1\nno such attempt"))[0]).toMatch(
        /not done: could not begin: no such/,
      );
  });
});

test("a word of a shell line means itself", () => {
  expect(["a/b-1.md", "", "it's $x"].map(quote)).toEqual(["a/b-1.md", "''", "'it'\\''s $x'"]);
});
