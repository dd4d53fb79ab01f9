import { existsSync } from "node:fs";
import { join } from "node:path";
import { startClient } from "../../demo/client.ts";
import { orchestrator } from "../../demo/orchestrator-script.ts";
import { type Call, type Reply, startModel } from "../../demo/scripted-model.ts";
import { conversations, type Speaker } from "../../demo/talk.ts";
import { worker } from "../../demo/worker-script.ts";
import type { Arm, JournalLine, Left } from "./left.ts";
import { isSilent, lay, played } from "./play.ts";
import type { Scenario } from "./scenario.ts";
import { SCENARIOS } from "./scenarios/index.ts";
import { BARE, Stage } from "./stage.ts";

const MINUTE = 60_000;
/** The client waits for a model that thinks. */
const PATIENT = {
  API_TIMEOUT_MS: String(120 * MINUTE),
  CLAUDE_STREAM_IDLE_TIMEOUT_MS: String(120 * MINUTE),
};

/** Runs one trial to its end.
 * @param folder where the model is asked, in `play` or in a folder for each attempt that is played;
 *   and where `over` lies at the end */
async function trial(name: string, arm: Arm, folder: string): Promise<void> {
  const scenario = SCENARIOS[name] as Scenario;
  const { files, pages, rails = "", plays } = scenario;
  const others = pages ? pages[arm] : arm === "control" ? BARE : {};
  const stage = await Stage.open(files, others, rails);
  scenario.prepare?.(stage);
  const before = stage.tips();
  const log: Reply[] = [];
  const model = await startModel(
    conversations(speakers(scenario, (where) => played(join(folder, where), log))),
  );
  const { later } = scenario;
  // With `-p` alone the client ends ten minutes after the orchestrator's last turn, whoever is at work.
  const isTalk = later !== undefined || plays instanceof RegExp;
  let isSaid = later === undefined;
  const asked: { command: string; isAgreed: boolean }[] = [];
  const onAsk = (_: string, { command = "" }: Record<string, unknown>): boolean => {
    const isAgreed = later?.agrees(String(command)) === true;
    asked.push({ command: String(command), isAgreed });
    return isAgreed;
  };
  const client = startClient({
    claude: join(process.cwd(), "node_modules/.bin/claude"),
    prompt: `/minion ${scenario.words}`,
    model: model.url,
    home: stage.home,
    cwd: stage.repo,
    args: ["--allowedTools", "Bash,Read,Edit,Write"],
    env: { ...PATIENT, ...identity(stage) },
    isTalk,
    ...(later ? { onAsk } : {}),
    onEvent: ({ type }) => {
      if (isTalk && isSaid && type === "result" && isSettled(stage)) client.close();
    },
  });
  const timer = setInterval(() => {
    if (!isSaid && later?.when(stage)) {
      isSaid = true;
      client.say(later.words);
    }
    if (plays instanceof RegExp) closeEnded(stage, folder);
    if (scenario.until?.(stage)) client.kill("SIGTERM");
  }, 200);
  const { denials, text } = await client.done;
  clearInterval(timer);
  await model.close();
  const calls = log.flatMap((reply) =>
    reply.filter((part): part is Call => typeof part !== "string"),
  );
  const whole = {
    scenario: name,
    arm,
    calls: calls.map(shown),
    denied: denials.map(({ tool_input }) => tool_input),
    ...(later ? { asked } : {}),
    text,
    report: stage.minion(["report"], { isTried: true }),
    before,
    after: stage.tips(),
    states: Object.fromEntries(
      boardOf(stage).map(({ task, reason, state }) => [task, reason ?? state]),
    ),
    ...(scenario.look ? { seen: scenario.look(stage) } : {}),
    journal: stage.events().flatMap(lean),
  };
  // Nor is kept how the client signs a commit.
  const kept = JSON.stringify(whole)
    .replaceAll(stage.temp, "")
    .replaceAll(/Co-Authored-By: [^"<>]*<[^"<>]*>/g, "");
  const left = JSON.parse(kept) as Left;
  lay(join(folder, "over"), `${JSON.stringify({ verdict: scenario.judge(left), ...left })}\n`);
}

/** Where each task stands, as `minion board` says it. */
const boardOf = (stage: Stage): Record<string, string>[] =>
  JSON.parse(stage.minion(["board", "--json"], { isTried: true }) || '{"tasks":[]}').tasks;

/** Is there nothing left that goes on by itself? */
const isSettled = (stage: Stage): boolean =>
  boardOf(stage).every(
    ({ state = "" }) => !/^(waiting|ready|running|verify-failed|mergeable)$/.test(state),
  );

/** Where an attempt that is played is asked. */
const folderOf = (attempt: string): string => `play-${attempt.slice(3).replaceAll("/", "-")}`;

/** Says in `over` which played attempts have had their last word, and what came of them: their
 * contexts end. */
function closeEnded(stage: Stage, folder: string): void {
  for (const { event, attempt } of stage.events()) {
    if (!/^(submitted|nothing|ended)$/.test(event)) continue;
    const own = join(folder, folderOf(String(attempt)));
    if (isSilent(own) && !existsSync(join(own, "over"))) lay(join(own, "over"), `${event}\n`);
  }
}

const identity = (stage: Stage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(stage.env()).filter(([key]) => key.startsWith("GIT_")),
  ) as Record<string, string>;

/** Who leads which conversation: scripts, but for the one that is played. */
function speakers(
  { plays, tasks = {}, behaviours = {} }: Scenario,
  play: (where: string) => Speaker,
) {
  const scripted = worker(tasks, behaviours);
  const work: Speaker = (first) => {
    const attempt = /begin (\S+)`/.exec(first.text)?.[1] ?? "";
    if (plays === "everyone") return play(attempt.replace("/", "-"))(first);
    if (plays instanceof RegExp)
      return plays.test(attempt) ? play(folderOf(attempt))(first) : scripted(first);
    return plays === "worker" && attempt === "r1/1.1" ? play("play")(first) : scripted(first);
  };
  const isScripted = plays === "worker" || plays instanceof RegExp;
  return { orchestrator: isScripted ? orchestrator() : play("play"), worker: work };
}

const shown = ({ tool, input }: Call) =>
  tool === "Bash" ? String(input.command) : { tool, ...input };

/** What is the same in all, or only says that something ran. */
const DULL = ["job", "job-ended", "launched", "spent", "base-checked", "alive"];

/** A line of the journal, as far as anything follows from it. */
function lean({ blueprint, estimate, gates, at, ...line }: JournalLine): JournalLine[] {
  if (DULL.includes(line.event)) return [];
  const { event, gate, code, by, attempts } = line;
  return [event === "evidence" ? { event, gate, code, by, attempts } : line];
}

const [, , name = "", arm = "", folder = ""] = process.argv;
if (!(name in SCENARIOS) || (arm !== "prompt" && arm !== "control") || folder === "") {
  console.error(
    `npm run trials -- SCENARIO prompt|control FOLDER; there are ${Object.keys(SCENARIOS).join(", ")}`,
  );
  process.exit(2);
}
await trial(name, arm, folder);
