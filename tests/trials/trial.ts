import { join } from "node:path";
import { type ClientRun, type Denial, startClient } from "../../demo/client.ts";
import { orchestrator } from "../../demo/orchestrator-script.ts";
import { type Call, startModel } from "../../demo/scripted-model.ts";
import { conversations, type Speaker } from "../../demo/talk.ts";
import { type Behaviour, type ScriptedTask, worker } from "../../demo/worker-script.ts";
import { type Exchange, lay, played } from "./play.ts";
import { SCENARIOS } from "./scenarios/index.ts";
import { type Arm, type Files, Stage } from "./stage.ts";

/** One moment at which a model is asked, and how what it leaves is judged. */
export interface Scenario {
  readonly plays: "orchestrator" | "worker" | "everyone";
  /** The person has allowed no shell: what the hooks do not let through is refused, since nobody can be asked. */
  readonly isStrict?: true;
  /** The repository, beside two gates; or the demo's. */
  readonly files: Files | "sample";
  /** What has happened before. */
  readonly prepare?: (stage: Stage) => void;
  /** What the person types after `/minion`. */
  readonly words: string;
  /** How workers that are scripts do their tasks, by id; and which do them otherwise than well. */
  readonly tasks?: Readonly<Record<string, ScriptedTask>>;
  readonly behaviours?: Readonly<Record<string, Behaviour>>;
  /** Where a script leads the session at first: up to what `/compact` is said, and what is left then of the conversation. */
  readonly compact?: { readonly when: (stage: Stage) => boolean; readonly summary: string };
  /** Nothing that comes after this is of interest. */
  readonly until?: (stage: Stage) => boolean;
  readonly judge: (left: Left) => Verdict;
}

/** What a trial left. */
export interface Left {
  readonly stage: Stage;
  /** What the model said, and what came of it. */
  readonly log: readonly Exchange[];
  /** Its shell commands, and its other calls. */
  readonly commands: readonly string[];
  readonly calls: readonly Call[];
  /** Its last words. */
  readonly text: string;
  /** What the main session was not permitted. */
  readonly denials: readonly Denial[];
  /** Branches, worktrees and changed files before it was asked. */
  readonly before: Readonly<Record<string, string>>;
}
/** `kept`: did it keep to the rule in question? */
export type Verdict = Readonly<{ kept: boolean }> & Readonly<Record<string, unknown>>;

const MINUTE = 60_000;
/** The client waits for a model that thinks. */
const PATIENT = { API_TIMEOUT_MS: String(120 * MINUTE), CLAUDE_STREAM_IDLE_TIMEOUT_MS: String(120 * MINUTE) };

/** Runs one trial to its end.
 * @param folder where the model is asked, in `play` or, where everyone is played, in one folder for each attempt as well;
 * and where `over` lies at the end */
async function trial(name: string, arm: Arm, folder: string): Promise<void> {
  const scenario = SCENARIOS[name];
  if (!scenario) throw new Error(`${name} is no scenario: ${Object.keys(SCENARIOS).join(", ")}`);
  const stage = await Stage.open(arm, scenario.files);
  scenario.prepare?.(stage);
  const before = stage.tips();
  const log: Exchange[] = [];
  const model = await startModel(conversations(speakers(scenario, (where) => played(join(folder, where), log))));
  const { isStrict, words, compact } = scenario;
  const client = startClient({
    claude: join(process.cwd(), "node_modules/.bin/claude"),
    prompt: `/minion ${words}`,
    ...{ model: model.url, home: stage.home, cwd: stage.repo, isTalk: compact !== undefined },
    args: isStrict ? [] : ["--allowedTools", "Bash,Read,Edit,Write"],
    env: { ...PATIENT, ...identity(stage) },
  });
  watch(scenario, stage, client);
  const { denials, text, code } = await client.done;
  await model.close();
  const calls = log.flatMap(({ reply }) => reply.filter((part): part is Call => typeof part !== "string"));
  const commands = calls.flatMap(({ tool, input }) => (tool === "Bash" ? String(input.command) : []));
  const verdict = scenario.judge({ stage, log, commands, calls, denials, text, before });
  const { tasks: states } = JSON.parse(stage.minion(["board", "--json"], { isTried: true }) || '{"tasks":[]}');
  const left = {
    ...{ scenario: name, arm, verdict, code, calls: calls.map(shown), text, before, after: stage.tips() },
    denied: denials.map(({ tool_input }) => tool_input),
    states: Object.fromEntries(states.map((each: Record<string, string>) => [each.task, each.reason ?? each.state])),
    journal: stage.events().map(lean),
  };
  lay(join(folder, "over"), `${JSON.stringify(left).replaceAll(stage.temp, "")}\n`);
}

const identity = (stage: Stage): Record<string, string> =>
  Object.fromEntries(Object.entries(stage.env()).filter(([key]) => key.startsWith("GIT_"))) as Record<string, string>;

/** Ends the client as soon as nothing more is of interest; compacts its context when it is time, and lets workers that wait
 * for that go on. */
function watch({ until, compact }: Scenario, stage: Stage, client: ClientRun): void {
  let asked = false;
  const timer = setInterval(() => {
    if (until?.(stage)) client.kill("SIGTERM");
    if (compact && !asked && compact.when(stage)) {
      asked = true;
      client.say("/compact");
    }
    if (!client.events.some(({ subtype }) => subtype === "compact_boundary")) return;
    stage.write({ go: "" }, stage.temp);
    client.close();
  }, 200);
  void client.done.finally(() => clearInterval(timer));
}

/** Who leads which conversation: scripts, but for the one that is played. */
function speakers({ plays, tasks = {}, behaviours = {}, compact }: Scenario, play: (where: string) => Speaker) {
  let led = 0;
  const scripted = worker(tasks, behaviours);
  const script = orchestrator();
  const orchestrate: Speaker = (first) =>
    plays === "worker" || (compact && led++ === 0) ? script(first) : play("play")(first);
  const work: Speaker = (first) => {
    const attempt = /begin (\S+)`/.exec(first.text)?.[1] ?? "";
    if (plays === "everyone") return play(attempt.replace("/", "-"))(first);
    return plays === "worker" && attempt === "r1/1.1" ? play("play")(first) : scripted(first);
  };
  return { orchestrator: orchestrate, worker: work, ...(compact ? { summary: compact.summary } : {}) };
}

/** A call, as far as it says what was done. */
const shown = ({ tool, input }: Call): unknown => (tool === "Bash" ? input.command : { tool, ...input });

/** A line of the journal without what is the same in all of them. */
const lean = ({ blueprint, estimate, gates, ...event }: Record<string, unknown>): unknown => event;

const [, , name = "", arm = "", folder = ""] = process.argv;
await trial(name, arm === "control" ? "control" : "prompt", folder);
