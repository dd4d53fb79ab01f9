import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import { main, type Said, saying } from "./exit.ts";
import { EXIT, Fault } from "./fault.ts";
import { abort, clean, leftovers } from "./foreman/clean.ts";
import { landingJob, next } from "./foreman/next.ts";
import { resume, sessionOf, start } from "./foreman/start.ts";
import { findPlace } from "./git/repository.ts";
import { blueprintAt, overlaysAt, planAt, readInput, runAt } from "./here.ts";
import { addInside } from "./inside.ts";
import { landingPath } from "./line/land.ts";
import { attentionOf } from "./record/attention.ts";
import { attach } from "./record/job.ts";
import type { RunState } from "./record/state.ts";
import { boardRows, boardText } from "./view/board.ts";
import { planJson } from "./view/plan-json.ts";
import { planTable } from "./view/plan-table.ts";
import { reportText } from "./view/report.ts";
import { blueprintText, gateText, leftoverText, nextText } from "./view/say.ts";
import { begin } from "./worker/begin.ts";
import { gate } from "./worker/gate.ts";
import { submit, submitNothing } from "./worker/submit.ts";

declare const __VERSION__: string;

interface Options {
  run?: string;
  wait: number;
  new?: true;
  all?: true;
  take?: true;
  dryRun?: true;
  nothing?: string;
}

const program = new Command("minion")
  .description("The rails of minion-toolkit: plans a task list, holds workers to it, proves and lands what they did.")
  .version(__VERSION__)
  .helpCommand(false);

const command = (usage: string, description: string): Command =>
  program.command(usage).description(description).option("--json", "print one JSON document");
const ofRun = (usage: string, description: string): Command =>
  command(usage, description).option("--run <id>", "which run, if not the newest");
const withWait = (made: Command, what: string): Command =>
  made.option("--wait <seconds>", `how long to wait for ${what}`, seconds, 90);

function seconds(value: string): number {
  if (!/^\d+$/.test(value)) throw new InvalidArgumentError("It is a whole number of seconds.");
  return Number(value);
}
const until = ({ wait }: Options): number => Date.now() + wait * 1000;
const columns = process.stdout.columns ?? 100;
const stillRuns = (what: string): Said => [`${what} still runs: call the same again.`, { running: true }, EXIT.running];

command("plan <file>", "show waves, conflicts, commands and faults of a task list (-: stdin); writes nothing").action(
  saying(async (source: string) => {
    const { plan, tools } = await planAt(source);
    const exit = plan.findings.some(({ level }) => level === "error") ? EXIT.refused : EXIT.done;
    return [planTable(plan, tools, columns, process.stdout.isTTY), planJson(plan, tools), exit];
  }),
);

command("start <file>", "open a run of a task list")
  .option("--new", "beside a run that is open already")
  .action(
    saying(async (source: string, options: Options) => {
      const { place, plan, tools } = await planAt(source);
      const session = await sessionOf(process.env);
      const started = await start(plan, tools, await blueprintAt(place), place, session, options.new === true);
      return [[`run ${started.run}: line ${started.line}`, ...started.warnings].join("\n"), started];
    }),
  );

withWait(ofRun("next", "land what is ready, then name what to start now"), "landing").action(
  saying(async (options: Options) => {
    const { journal, place } = await runAt(options);
    const answer = await next(journal, place, until(options));
    return [nextText(answer), answer];
  }),
);

withWait(
  command("begin <attempt>", "for a worker: put its worktree on the line and say what to do"),
  "the setup",
).action(
  saying(async (attempt: string, options: Options) => {
    const overlays = await overlaysAt(await findPlace(process.cwd()));
    const body = (name: string): string => overlays.get(name.toLowerCase())?.body ?? "";
    const brief = await begin(attempt, process.cwd(), until(options), body);
    return brief === null ? stillRuns("The setup") : [brief, { attempt, brief }];
  }),
);

withWait(
  command("gate [name]", "for a worker: run a gate, or all, on the files as they are"),
  "it; called again it waits on",
)
  .option("--all", "every gate in order, until one does not pass")
  .action(
    saying(async (name: string | undefined, options: Options) => {
      if ((name === undefined) === !options.all)
        throw new Fault("usage", "gate wants one name, or --all", "minion gate test", EXIT.usage);
      const { results, exit } = await gate(name ?? null, process.cwd(), until(options));
      return [results.map(gateText).join("\n"), { gates: results }, exit];
    }),
  );

command("submit", "for a worker: hand in what is committed, with a handoff on stdin")
  .option("--nothing <why>", "the task wants no change")
  .action(
    saying(async ({ nothing }: Options) => {
      if (nothing !== undefined) await submitNothing(nothing, process.cwd());
      else await submit(await readInput(), process.cwd());
      return ["Handed in. End now, with one line.", { submitted: true }];
    }),
  );

/** A task's id as the list writes it. */
function idOf({ tasks, run }: RunState, id: string): string {
  const found = [...tasks.keys()].find((each) => each.toLowerCase() === id.toLowerCase());
  if (found === undefined)
    throw new Fault("no-task", `run ${run} has no task ${id}`, "minion board shows them", EXIT.usage);
  return found;
}

withWait(ofRun("land <task>", "for a person: prove what is on a task's branch and land it"), "its gates").action(
  saying(async (name: string, options: Options) => {
    const { journal, place, state } = await runAt(options);
    const task = idOf(state, name);
    const isLanded = ({ tasks }: RunState): true | undefined => tasks.get(task)?.state === "landed" || undefined;
    const answer = await attach(journal, landingJob(state.run, place, task), isLanded, until(options));
    if ("error" in answer)
      throw new Fault("not-landed", `task ${task} did not land: ${answer.error}`, "mend its branch, then call again");
    return "running" in answer ? stillRuns("It") : [`${task} is on ${state.line}`, { task, landed: true }];
  }),
);

ofRun("retry <task>", "for a person: let a worker try a task again").action(
  saying(async (name: string, options: Options) => {
    const { journal, state } = await runAt(options);
    const task = idOf(state, name);
    await journal.decide(({ tasks }) => {
      if (tasks.get(task)?.state !== "needs-human")
        throw new Fault("not-waiting", `task ${task} does not wait for a person`, "minion attention shows what does");
      return { events: [{ event: "retried", task }], result: null };
    });
    return [`task ${task} may be tried again: /minion --resume goes on with the run`, { task }];
  }),
);

ofRun("board", "show where each task stands").action(
  saying(async (options: Options) => {
    const { state } = await runAt(options);
    const { run, done } = state;
    return [boardText(state, Date.now(), columns), { run, done, tasks: boardRows(state, Date.now()) }];
  }),
);

ofRun("report", "say what landed, what did not and why, and what to type next").action(
  saying(async (options: Options) => {
    const { state, journal } = await runAt(options);
    const report = reportText(state, journal.folder);
    const file = join(journal.folder, "report.md");
    await writeFile(file, report);
    return [report, { run: state.run, line: state.line, tip: state.tip, file, report }];
  }),
);

ofRun("attention", "show what waits for a person, and the choices").action(
  saying(async (options: Options) => {
    const { state } = await runAt(options);
    const attention = attentionOf(state);
    const lines = attention.flatMap(({ task, reason, note, choices }) => [
      `task ${task}: ${reason}. ${note}`,
      ...choices.map(({ label, command: typed }) => `  ${label}: ${typed}`),
    ]);
    return [lines.join("\n") || "Nothing waits for you.", { run: state.run, attention }];
  }),
);

ofRun("events", "print the run's journal").action(
  saying(async (options: Options) => {
    const { events, bad } = await (await runAt(options)).journal.read();
    const line = (data: object): string => JSON.stringify(data).slice(0, 160);
    const lines = events.map(({ at, event, ...data }) => `${new Date(at).toISOString()} ${event} ${line(data)}`);
    return [lines.join("\n"), { events, bad }];
  }),
);

ofRun("resume", "go on with a run whose session is gone")
  .option("--take", "also where its session still runs")
  .action(
    saying(async (options: Options) => {
      const { journal, state } = await runAt(options);
      const lost = await resume(journal, await sessionOf(process.env), options.take === true);
      const { run, line } = state;
      return [`run ${run} is yours; lost with its session: ${lost.join(", ") || "nothing"}`, { run, line, lost }];
    }),
  );

ofRun("abort", "end a run where it stands; what landed stays").action(
  saying(async (options: Options) => {
    const { journal, state } = await runAt(options);
    await abort(journal);
    return [`run ${state.run} is ended; branches and worktrees stay until minion clean`, { run: state.run }];
  }),
);

ofRun("clean", "remove a run's worktrees and landed branches; nothing dirty or unlanded")
  .option("--dry-run", "only say what would be removed")
  .action(
    saying(async (options: Options) => {
      const { state, place } = await runAt(options);
      const dryRun = options.dryRun === true;
      const found = await leftovers(state, place, landingPath(place, state.run));
      if (!dryRun) await clean(found, place);
      const lines = found.map((each) => leftoverText(each, dryRun));
      return [lines.join("\n") || "Nothing is left of it.", { run: state.run, dryRun, leftovers: found }];
    }),
  );

command("blueprint", "print the rails in force and where each value comes from").action(
  saying(async () => {
    const blueprint = await blueprintAt(await findPlace(process.cwd()));
    return [blueprintText(blueprint), blueprint];
  }),
);

command("overlays", "list the expertise that a task can name under Agent:").action(
  saying(async () => {
    const all = [...(await overlaysAt(await findPlace(process.cwd()))).values()].filter(({ fault }) => fault === null);
    const overlays = all.map(({ name, when }) => ({ name, when }));
    return [overlays.map(({ name, when }) => `${name}: ${when}`).join("\n"), { overlays }];
  }),
);

addInside(program);
void main(program, process.argv.slice(2));
