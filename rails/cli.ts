import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import { main, readSource, say } from "./exit.ts";
import { EXIT, Fault } from "./fault.ts";
import { abort, clean, leftovers } from "./foreman/clean.ts";
import { landingJob, next } from "./foreman/next.ts";
import { resume, start } from "./foreman/start.ts";
import { findPlace } from "./git/repository.ts";
import { blueprintAt, type Common, inSeconds, overlaysAt, planAt, runAt, session } from "./here.ts";
import { addInside } from "./inside.ts";
import { landingPath } from "./line/land.ts";
import { attentionOf } from "./record/attention.ts";
import { attach } from "./record/job.ts";
import { boardRows, boardText } from "./view/board.ts";
import { planJson } from "./view/plan-json.ts";
import { planTable } from "./view/plan-table.ts";
import { reportText } from "./view/report.ts";
import { begin } from "./worker/begin.ts";
import { gate } from "./worker/gate.ts";
import { submit, submitNothing } from "./worker/submit.ts";

declare const __VERSION__: string;

const seconds = (value: string): number => {
  if (!/^\d+$/.test(value)) throw new InvalidArgumentError("It is a whole number of seconds.");
  return Number(value);
};

const program = new Command("minion")
  .description("The rails of minion-toolkit: plans a task list, holds workers to it, proves and lands what they did.")
  .version(__VERSION__)
  .helpCommand(false);

const command = (usage: string, description: string): Command =>
  program.command(usage).description(description).option("--json", "print one JSON document");
const ofRun = (usage: string, description: string): Command =>
  command(usage, description).option("--run <id>", "which run, if not the newest");

command(
  "plan <file>",
  "show waves, conflicts, commands and faults of a task list (- reads it from stdin); writes nothing",
).action(async (source: string, { json }: Common) => {
  const { plan, tools } = await planAt(source);
  const exit = plan.findings.some(({ level }) => level === "error") ? EXIT.refused : EXIT.done;
  say(
    {
      text: planTable(plan, tools, process.stdout.columns ?? 100, process.stdout.isTTY),
      json: planJson(plan, tools),
      exit,
    },
    json,
  );
});

command("start <file>", "open a run of a task list")
  .option("--new", "beside a run that is open already")
  .action(async (source: string, { json, new: besides }: Common & { new?: boolean }) => {
    const { place, plan, tools } = await planAt(source);
    const started = await start(plan, tools, await blueprintAt(place), place, session, besides === true);
    const text = [
      `run ${started.run}: line ${started.line} from ${started.base.slice(0, 10)}`,
      ...started.warnings,
    ].join("\n");
    say({ text, json: started }, json);
  });

ofRun("next", "land what is ready, then name what to start now")
  .option("--wait <seconds>", "how long to wait for landing", seconds, 90)
  .action(async ({ wait, ...common }: Common & { wait: number }) => {
    const { journal, place } = await runAt(common);
    const answer = await next(journal, place, inSeconds(wait));
    const lines = [
      ...answer.dispatch.map(({ attempt, description }) => `start ${attempt}: ${description}`),
      ...answer.waiting.map(({ task, why }) => `task ${task} waits: ${why}`),
      ...answer.attention.map(({ task, reason }) => `task ${task} needs a person: ${reason}`),
      ...(answer.fault ? [`landing could not be done: ${answer.fault}`] : []),
      answer.done ? `run ${answer.run} is done` : `landed: ${answer.landed.join(", ") || "nothing yet"}`,
    ];
    say({ text: lines.join("\n"), json: answer }, common.json);
  });

command("begin <attempt>", "for a worker: put its worktree on the line and say what to do")
  .option("--wait <seconds>", "how long to wait for the setup", seconds, 90)
  .action(async (id: string, { json, wait }: Common & { wait: number }) => {
    const overlays = await overlaysAt(await findPlace(process.cwd()));
    const brief = await begin(
      id,
      process.cwd(),
      inSeconds(wait),
      (name) => overlays.get(name.toLowerCase())?.body ?? "",
    );
    const running = { text: "The setup still runs: call the same again.", json: { running: true }, exit: EXIT.running };
    say(brief === null ? running : { text: brief, json: { attempt: id, brief } }, json);
  });

command("gate [name]", "for a worker: run a gate of the blueprint, or all, on the files as they are")
  .option("--all", "every gate in order, until one does not pass")
  .option("--wait <seconds>", "how long to wait; called again it waits on", seconds, 90)
  .action(async (name: string | undefined, { json, all, wait }: Common & { all?: boolean; wait: number }) => {
    if ((name === undefined) === !all)
      throw new Fault("usage", "gate wants one name, or --all", "minion gate test", EXIT.usage);
    const { results, exit } = await gate(name ?? null, process.cwd(), inSeconds(wait));
    const text = results.map(({ gate: of, result, reused, seconds: took, failures, allowed, output, tail, hint }) =>
      [
        `${of}: ${result}${reused ? " (as before on these files)" : ""}${took ? `, ${took.toFixed(1)} s` : ""}`,
        ...(tail ? [tail] : []),
        ...(result === "fail" ? [`failed ${failures} of ${allowed}; whole output: ${output}`] : []),
        ...(hint ? [hint] : []),
      ].join("\n"),
    );
    say({ text: text.join("\n"), json: { gates: results }, exit }, json);
  });

command("submit", "for a worker: hand in what is committed, with a handoff on stdin")
  .option("--nothing <why>", "the task wants no change")
  .action(async ({ json, nothing }: Common & { nothing?: string }) => {
    if (nothing !== undefined) await submitNothing(nothing, process.cwd());
    else await submit(await readSource("-", (path) => readFile(path, "utf8")), process.cwd());
    say({ text: "Handed in. End now, with one line.", json: { submitted: true } }, json);
  });

ofRun("land <task>", "for a person: prove what is on a task's branch and land it")
  .option("--wait <seconds>", "how long to wait for its gates", seconds, 90)
  .action(async (task: string, { wait, ...common }: Common & { wait: number }) => {
    const { journal, place, state: before } = await runAt(common);
    const id = [...before.tasks.keys()].find((each) => each.toLowerCase() === task.toLowerCase());
    if (id === undefined)
      throw new Fault("no-task", `run ${before.run} has no task ${task}`, "minion board shows them", EXIT.usage);
    const job = { ...landingJob(before.run, place), args: ["land", before.run, id] };
    const isLanded = ({ tasks }: typeof before) => tasks.get(id)?.state === "landed" || undefined;
    const answer = await attach(journal, job, isLanded, inSeconds(wait));
    if ("error" in answer)
      throw new Fault("not-landed", `task ${id} did not land: ${answer.error}`, "mend its branch, then call again");
    const running = { text: "Its gates still run: call the same again.", json: { running: true }, exit: EXIT.running };
    say(
      "running" in answer ? running : { text: `${id} is on ${before.line}`, json: { task: id, landed: true } },
      common.json,
    );
  });

ofRun("retry <task>", "for a person: let a worker try a task again").action(async (id: string, common: Common) => {
  const { journal } = await runAt(common);
  await journal.decide((state) => {
    if (state.tasks.get(id)?.state !== "needs-human")
      throw new Fault("not-waiting", `task ${id} does not wait for a person`, "minion attention shows what does");
    return { events: [{ event: "retried", task: id }], result: null };
  });
  say({ text: `task ${id} may be tried again: minion next`, json: { task: id } }, common.json);
});

ofRun("board", "show where each task stands").action(async (common: Common) => {
  const { state } = await runAt(common);
  say(
    {
      text: boardText(state, Date.now(), process.stdout.columns ?? 100),
      json: { run: state.run, done: state.done, tasks: boardRows(state, Date.now()) },
    },
    common.json,
  );
});

ofRun("report", "say what landed, what did not and why, and what to type next").action(async (common: Common) => {
  const { state, journal } = await runAt(common);
  const report = reportText(state, journal.folder);
  const file = join(journal.folder, "report.md");
  await writeFile(file, report);
  say({ text: report, json: { run: state.run, line: state.line, tip: state.tip, file, report } }, common.json);
});

ofRun("attention", "show what waits for a person, and the choices").action(async (common: Common) => {
  const { state } = await runAt(common);
  const open = attentionOf(state);
  const text = open.flatMap(({ task, reason, note, choices }) => [
    `task ${task}: ${reason}. ${note}`,
    ...choices.map(({ label, command: typed }) => `  ${label}: ${typed}`),
  ]);
  say({ text: text.join("\n") || "Nothing waits for you.", json: { run: state.run, attention: open } }, common.json);
});

ofRun("events", "print the run's journal").action(async (common: Common) => {
  const { journal } = await runAt(common);
  const { events, bad } = await journal.read();
  const text = events.map(
    ({ at, event, ...data }) => `${new Date(at).toISOString()} ${event} ${JSON.stringify(data).slice(0, 160)}`,
  );
  say({ text: text.join("\n"), json: { events, bad } }, common.json);
});

ofRun("resume", "go on with a run whose session is gone")
  .option("--take", "also where its session still runs")
  .action(async ({ take, ...common }: Common & { take?: boolean }) => {
    const { journal } = await runAt(common);
    const { lost, state } = await resume(journal, session, take === true);
    say(
      {
        text: `run ${state.run} is yours; lost with its session: ${lost.join(", ") || "nothing"}`,
        json: { run: state.run, line: state.line, lost },
      },
      common.json,
    );
  });

ofRun("abort", "end a run where it stands; what landed stays").action(async (common: Common) => {
  const { journal, state } = await runAt(common);
  await abort(journal, "by hand");
  say(
    { text: `run ${state.run} is ended; branches and worktrees stay until minion clean`, json: { run: state.run } },
    common.json,
  );
});

ofRun("clean", "remove a run's worktrees and landed branches; nothing dirty or unlanded")
  .option("--dry-run", "only say what would be removed")
  .action(async ({ dryRun, ...common }: Common & { dryRun?: boolean }) => {
    const { state, place } = await runAt(common);
    const found = await leftovers(state, place, landingPath(place, state.run));
    if (!dryRun) await clean(found, place);
    const text = found.map(
      ({ kind, name, keep }) =>
        `${keep ? "keeps" : dryRun ? "would remove" : "removed"} ${kind} ${name}${keep ? `: ${keep}` : ""}`,
    );
    say(
      {
        text: text.join("\n") || "Nothing is left of it.",
        json: { run: state.run, dryRun: dryRun === true, leftovers: found },
      },
      common.json,
    );
  });

command("blueprint", "print the rails in force and where each value comes from").action(async ({ json }: Common) => {
  const { body, sources, ...values } = await blueprintAt(await findPlace(process.cwd()));
  const text = Object.entries(sources).map(
    ([name, file]) =>
      `${name} = ${JSON.stringify(name.split(".").reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], { ...values, body }))?.slice(0, 200)}  (${file})`,
  );
  say({ text: text.join("\n"), json: { ...values, body, sources } }, json);
});

command("overlays", "list the expertise that a task can name under Agent:").action(async ({ json }: Common) => {
  const all = [...(await overlaysAt(await findPlace(process.cwd()))).values()].map(({ name, when }) => ({
    name,
    when,
  }));
  say({ text: all.map(({ name, when }) => `${name}: ${when}`).join("\n"), json: { overlays: all } }, json);
});

addInside(program);
void main(program, process.argv.slice(2));
