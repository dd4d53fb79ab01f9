import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import { main, type Said, saying } from "./exit.ts";
import { EXIT, Fault } from "./fault.ts";
import { abort, clean } from "./foreman/clean.ts";
import { next } from "./foreman/next.ts";
import { resume, sessionOf, start } from "./foreman/start.ts";
import { findPlace, type Place } from "./git/repository.ts";
import { blueprintAt, overlaysAt, planAt, readInput } from "./here.ts";
import { addInside } from "./inside.ts";
import { landed, takeByHand } from "./line/land.ts";
import { landingPath } from "./line/site.ts";
import { attentionOf } from "./record/attention.ts";
import { findRun, type Run } from "./record/journal.ts";
import { boardRows, boardText } from "./view/board.ts";
import { planTable } from "./view/plan-table.ts";
import { reportText } from "./view/report.ts";
import { attentionText, blueprintText, gateText, leftoverText, nextText } from "./view/say.ts";
import { begin } from "./worker/begin.ts";
import { brief } from "./worker/brief.ts";
import { gate, RESULTS } from "./worker/gate.ts";
import { submit, submitNothing } from "./worker/submit.ts";

declare const __VERSION__: string;

/** All options that there are, as a command gets them. */
type Flags = Readonly<Partial<Record<"new" | "all" | "take" | "redBase" | "dryRun", true>>>;
type Options = Flags & Readonly<{ run?: string; wait: number; nothing?: string }>;
type Action = (options: Options, word: string) => Promise<Said>;
type RunAction = (run: Run & { place: Place }, word: string, options: Options) => Promise<Said>;

const program = new Command("minion")
  .description("The rails of minion-toolkit: plans a task list, holds workers to it, proves and lands what they did.")
  .version(__VERSION__)
  .helpCommand(false);

/** Adds a command; its action gets the options and the one argument, where there is one. */
function add(usage: string, description: string, action: Action): Command {
  const made = program.command(usage).description(description).option("--json", "print one JSON document");
  return made.action(saying((...args) => action(made.opts(), args.length > 2 ? String(args[0] ?? "") : "")));
}

/** Adds a command about a run that there is. */
const ofRun = (usage: string, description: string, action: RunAction): Command =>
  add(usage, description, async (options, word) => {
    const place = await findPlace(process.cwd());
    const found = await findRun(place.common, process.env.CLAUDE_CODE_SESSION_ID ?? "", options.run);
    return action({ place, ...found }, word, options);
  }).option("--run <id>", "which run, if not the newest");

const WAIT = ["--wait <seconds>", "how long to wait; called again it waits on", seconds, 90] as const;
function seconds(value: string): number {
  if (!/^\d+$/.test(value)) throw new InvalidArgumentError("It is a whole number of seconds.");
  return Number(value);
}
const until = ({ wait }: Options): number => Date.now() + wait * 1000;
const columns = process.stdout.columns ?? 100;
const stillRuns = (what: string): Said => [`${what} still runs: call the same again.`, { running: true }, EXIT.running];

add(
  "plan <file>",
  "show a list's waves, conflicts, commands and faults (-: stdin); writes nothing",
  async (_, file) => {
    const { plan, tools } = await planAt(file);
    const { tasks, waves, criticalPath, conflicts, findings } = plan;
    const list = tasks.map(({ doneWhen, ...task }) => ({ ...task, done_when: doneWhen }));
    const exit = findings.some(({ level }) => level === "error") ? EXIT.refused : EXIT.done;
    const json = { tasks: list, waves, criticalPath, conflicts, tools, findings };
    return [planTable(plan, tools, columns, process.stdout.isTTY), json, exit];
  },
);

add("start <file>", "open a run of a task list", async (options, file) => {
  const planned = await planAt(file);
  const session = await sessionOf(process.env);
  const started = await start(planned, await blueprintAt(planned.place), session, options.new === true);
  return [[`run ${started.run}: line ${started.line}`, ...started.warnings].join("\n"), started];
}).option("--new", "beside a run that is open already");

ofRun("next", "land what is ready, then name what to start now", async ({ journal, place, state }, _, options) => {
  const answer = await next(journal, until(options), (time) => landed(journal, place, state.run, time));
  return [nextText(answer), answer];
}).option(...WAIT);

add("begin <attempt>", "for a worker: put its worktree on the line and say what to do", async (options, attempt) => {
  const own = await begin(attempt, process.cwd(), until(options));
  if (!own) return stillRuns("The setup");
  const overlays = await overlaysAt(own.place);
  const text = brief(own, (name) => overlays.get(name.toLowerCase())?.body ?? "");
  return [text, { attempt, brief: text }];
}).option(...WAIT);

add("gate [name]", "for a worker: run a gate, or all, on the files as they are", async (options, word) => {
  const name = word || undefined;
  if ((name === undefined) === !options.all)
    throw new Fault("usage", "gate wants one name, or --all", "minion gate test", EXIT.usage);
  const gates = await gate(name, process.cwd(), until(options));
  return [gates.map(gateText).join("\n"), { gates }, RESULTS[gates.at(-1)?.result ?? "pass"]];
})
  .option("--all", "every gate in order, until one does not pass")
  .option(...WAIT);

add("submit", "for a worker: hand in what is committed, with a handoff on stdin", async ({ nothing }) => {
  if (nothing !== undefined) await submitNothing(nothing, process.cwd());
  else await submit(await readInput(), process.cwd());
  return ["Handed in. End now, with one line.", { submitted: true }];
}).option("--nothing <why>", "the task wants no change");

ofRun("land <task>", "for a person: prove what is on a task's branch and land it", async (run, task, options) => {
  const { journal, place, state } = run;
  await takeByHand(journal, place, task);
  if (!(await landed(journal, place, state.run, until(options)))) return stillRuns("It");
  const after = (await journal.state()).tasks.get(task);
  if (after?.state === "landed") return [`task ${task} is on ${state.line}`, { task, landed: true }];
  throw new Fault("not-landed", `${after?.reason}: ${after?.note}`, "mend its branch, then call again");
}).option(...WAIT);

ofRun("retry <task>", "for a person: let a worker try a task again", async ({ journal }, task) => {
  await journal.decide(({ tasks }, write) => {
    if (tasks.get(task)?.state !== "needs-human")
      throw new Fault("not-waiting", `task ${task} does not wait for a person`, "minion attention shows what does");
    write({ event: "retried", task });
  });
  return [`task ${task} may be tried again: /minion --resume goes on with the run`, { task }];
});

ofRun("board", "show where each task stands", async ({ state }) => {
  const { run, done } = state;
  return [boardText(state, Date.now(), columns), { run, done, tasks: boardRows(state, Date.now()) }];
});

ofRun("report", "say what landed, what did not and why, and what to type next", async ({ state, journal }) => {
  const report = reportText(state, journal.folder);
  const file = join(journal.folder, "report.md");
  await writeFile(file, report);
  return [report, { run: state.run, line: state.line, tip: state.tip, file, report }];
});

ofRun("attention", "show what waits for a person, and the choices", async ({ state }) => {
  const attention = attentionOf(state);
  return [attentionText(attention), { run: state.run, attention }];
});

ofRun("events", "print the run's journal", async ({ journal }) => {
  const { events, bad } = await journal.read();
  const text = (data: object): string => JSON.stringify(data).slice(0, 160);
  const lines = events.map(({ at, event, ...data }) => `${new Date(at).toISOString()} ${event} ${text(data)}`);
  return [lines.join("\n"), { events, bad }];
});

ofRun("resume", "go on with a run whose session is gone", async ({ journal, state }, _, options) => {
  const { take = false, redBase = false } = options;
  const lost = await resume(journal, await sessionOf(process.env), take, redBase);
  const { run, line } = state;
  return [`run ${run} is yours; lost with its session: ${lost.join(", ") || "nothing"}`, { run, line, lost }];
})
  .option("--take", "also where its session still runs")
  .option("--red-base", "though gates are red on the base: only new failures count then");

ofRun("abort", "end a run where it stands; what landed stays", async ({ journal, state: { run } }) => {
  await abort(journal);
  return [`run ${run} is ended; branches and worktrees stay until minion clean`, { run }];
});

ofRun("clean", "remove a run's worktrees and landed branches; nothing dirty or unlanded", async (run, _, options) => {
  const { state, place } = run;
  const dryRun = options.dryRun === true;
  const leftovers = await clean(state, place, landingPath(place, state.run), dryRun);
  return [leftoverText(leftovers, dryRun), { run: state.run, dryRun, leftovers }];
}).option("--dry-run", "only say what would be removed");

add("blueprint", "print the rails in force and where each value comes from", async () => {
  const blueprint = await blueprintAt(await findPlace(process.cwd()));
  return [blueprintText(blueprint), blueprint];
});

add("overlays", "list the expertise that a task can name under Agent:", async () => {
  const all = [...(await overlaysAt(await findPlace(process.cwd()))).values()].filter(({ fault }) => fault === null);
  const overlays = all.map(({ name, when }) => ({ name, when }));
  return [overlays.map(({ name, when }) => `${name}: ${when}`).join("\n"), { overlays }];
});

addInside(program);
void main(program, process.argv.slice(2));
