import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Call } from "./scripted-model.ts";
import { bash, type Outcome, quote, type Speaker, type Talk, type Turn, write } from "./talk.ts";

/** What the rails name to be started. */
interface Dispatch {
  readonly attempt: string;
  readonly task: string;
  readonly agent: string;
  readonly description: string;
  readonly prompt: string;
  readonly model?: string;
}

/** What `minion next --json` prints, as far as the orchestrator acts on it. */
interface Next {
  readonly done: boolean;
  readonly landed: readonly string[];
  readonly running: readonly string[];
  readonly dispatch: readonly Dispatch[];
  readonly attention: readonly { readonly task: string; readonly reason: string }[];
  readonly findings: readonly Finding[];
}

/** What a worker found beside its task. */
export interface Finding {
  readonly task: string;
  readonly slot: string;
  readonly text: string;
}

/** What the orchestrator makes of findings: a list that changes the plan; empty where it does not.
 */
export type Replan = (findings: readonly Finding[]) => string;

/** What the orchestrator makes of a task beyond the person's words. */
export interface Guess {
  readonly files?: readonly string[];
  readonly agent?: readonly string[];
}

/** Answers of `next` in a run, at most. */
const CALLS = 500;

/** What the rails say that is next, where the context was made anew in the middle of a run, or a
 * turn ended too soon. */
const NEXT_STEP = /(?:^Next step: `|: run )minion next --json/m;

/** The orchestrator as a script: it reads the command's words and what the rails print, and acts on
 * those alone.
 * @param guesses what it adds to a task that was typed, by the task's id
 * @param replan what it makes of what workers find */
export function orchestrator(
  guesses: Readonly<Record<string, Guess>> = {},
  replan: Replan = () => "",
): Speaker {
  return async function* (first) {
    let turn = first;
    let said = "Type /minion and a list of tasks.";
    for (;;) {
      const words = argumentsOf(turn.text);
      // A notice that comes after the end changes nothing, and what is said last is what the person
      // sees.
      if (NEXT_STEP.test(turn.text) || WOKEN.test(turn.text))
        said = yield* foreman(replan, turn.text);
      else if (words !== undefined) said = yield* run(words, turn, guesses, replan);
      turn = yield [said];
    }
  };
}

/** A flag of `/minion` that stands for itself. */
const FLAG = /(?<!\S)--(?:resume|dry-run)(?!\S)/g;

/** What goes on to the rails as it is. */
const BUDGET = /(?<!\S)--budget \d+(?!\S)/;

/** One `/minion`, from what was typed to the text that ends it. */
async function* run(
  words: string,
  turn: Turn,
  guesses: Readonly<Record<string, Guess>>,
  replan: Replan,
): Talk<string> {
  const flags = new Set(words.match(FLAG));
  const budget = BUDGET.exec(words)?.[0] ?? "";
  const rest = words.replaceAll(FLAG, "").replace(BUDGET, "").trim();
  if (flags.has("--resume")) {
    const resumed = yield* bash("minion resume --json");
    return resumed.code === 0 ? yield* foreman(replan) : fault(resumed);
  }
  let file = rest;
  const isTyped = /\n|^\s*(?:Tasks:|\d+[.)]|#)/.test(rest);
  // Where nothing is to be written, the list is not either.
  if (isTyped && flags.has("--dry-run"))
    return (yield* bash(`minion plan - <<'TASKS'\n${ourForm(rest, guesses)}TASKS`)).output.trim();
  if (isTyped) {
    file = listPath(turn);
    const written = yield* write(file, ourForm(rest, guesses));
    if (written.code !== 0) return `The task list could not be written: ${written.output}`;
  }
  const plan = yield* bash(`minion plan ${quote(file)}`);
  if (plan.code !== 0 || flags.has("--dry-run")) return plan.output.trim();
  const start = yield* bash(
    ["minion start", quote(file), budget, "--json"].filter(Boolean).join(" "),
  );
  return start.code === 0 ? yield* foreman(replan) : fault(start);
}

/** Asks the rails what is next and does it, until they say that the run is done. Between its turns
 * the rails wait in its place, and wake it with their whole answer.
 * @param woken what they said, where they have said something already */
async function* foreman(replan: Replan, woken?: string): Talk<string> {
  let text = woken ?? "";
  for (let call = 0; call < CALLS; call++) {
    const said = answerIn(text) ?? (yield* bash("minion next --json"));
    if (said.code !== 0) return fault(said);
    const next = JSON.parse(said.output) as Next;
    if (next.done) break;
    const change = replan(next.findings);
    if (change !== "") yield* bash(`minion change - <<'TASKS'\n${change}TASKS`);
    text = next.dispatch.length > 0 ? (yield next.dispatch.map(agent)).text : "";
    // Where the rails have ended the turn with the launch, they have woken it again.
    if (answerIn(text)) continue;
    const workers = new Set([...next.running, ...next.dispatch.map(({ task }) => task)]).size;
    text = (yield [workers === 1 ? "1 worker is at work." : `${workers} workers are at work.`])
      .text;
  }
  return (yield* bash("minion report")).output;
}

/** What the rails say without being asked. */
const WOKEN = /^.*`minion next --json --run r\d+` says now: .*\n(\{.*\})$/m;

/** The newest of their answers in a text that woke the session. */
function answerIn(text: string): Outcome | undefined {
  const all = [...text.matchAll(new RegExp(WOKEN, "gm"))];
  const output = all.at(-1)?.[1];
  return output === undefined ? undefined : { code: 0, output };
}

function agent({ agent, description, prompt, model }: Dispatch): Call {
  const type = agent.includes(":") ? agent : `minion:${agent}`;
  return {
    tool: "Agent",
    input: { description, prompt, subagent_type: type, ...(model ? { model } : {}) },
  };
}

/** What was typed after the command's name, if a command was typed. */
function argumentsOf(text: string): string | undefined {
  if (/The person called the command \/minion; /.test(text))
    return /<pasted_content[^>]*>\s*\/minion\S*\s([\s\S]*?)\s*<\/pasted_content\b/.exec(text)?.[1];
  if (!/<command-name>\/minion(?::minion)?<\/command-name>/.test(text)) return undefined;
  return /<command-args>([\s\S]*?)<\/command-args>/.exec(text)?.[1] ?? "";
}

/** A whole path of a markdown file: between backticks, where it may have spaces, or bare. */
const LIST_PATH = /(?<=`)\/[^`\n]+\.md(?=`)|\/[^\s`"'()]+\.md\b/g;

/** Where the list is to be written: the path that the command's text names for this session, or one
 * like it. */
function listPath({ text, request }: Turn): string {
  const named = Array.from(text.matchAll(LIST_PATH), ([path]) => path);
  return (
    named.find((path) => path.includes(request.session)) ??
    join(tmpdir(), `minion-${request.session}`, "tasks.md")
  );
}

/** `2. Title (depends on: 1)` */
const NUMBERED = /^\s*(\d+)[.)]\s+(.*?)(?:\s*\(depends on:\s*([^)]*)\))?\s*$/gm;

/** A numbered list, written down in the form that the rails read; a question mark says that a path
 * is a guess. */
function ourForm(list: string, guesses: Readonly<Record<string, Guess>>): string {
  const tasks = [...list.matchAll(NUMBERED)];
  if (tasks.length === 0) return list;
  const sections = tasks.map(([, id = "", title = "", depends]) => {
    const { files, agent } = guesses[id] ?? {};
    const lines = [`### Task ${id}: ${title}`];
    if (depends) lines.push(`Depends: ${depends}`);
    if (files) lines.push(`Files: ${files.map((file) => `${file}?`).join(", ")}`);
    if (agent) lines.push(`Agent: ${agent.join(", ")}`);
    return lines.join("\n");
  });
  return `${sections.join("\n\n")}\n`;
}

/** What the rails refused, in their own words. */
function fault({ output }: Outcome): string {
  return output.trim();
}
