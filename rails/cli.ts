import { Command, Option } from "commander";
import { agree } from "./blueprint/agreed.ts";
import { main, type Said, saying } from "./exit.ts";
import { EXIT, Fault } from "./fault.ts";
import { abort, clean } from "./foreman/clean.ts";
import { launchesKnown, next } from "./foreman/next.ts";
import { listOf, resume, sessionOf, start } from "./foreman/start.ts";
import { findPlace, type Place } from "./git/repository.ts";
import { hook } from "./guard/hook.ts";
import { blueprintAt, overlaysAt, readInput } from "./here.ts";
import { landAll, landed, takeByHand } from "./line/land.ts";
import { buildMerge, mergeRun } from "./line/merge.ts";
import { landingPath, siteOf } from "./line/site.ts";
import { type Estimate, fitting } from "./plan/estimate.ts";
import { estimateAt, planAt } from "./planning.ts";
import { typed } from "./record/attention.ts";
import { runJob } from "./record/job.ts";
import { findRun, Journal, type Run } from "./record/journal.ts";
import { takeDown } from "./record/usage.ts";
import { mermaid } from "./view/mermaid.ts";
import { estimateLines, planTable } from "./view/plan-table.ts";
import { attentionText } from "./view/report.ts";
import { attentionAt, boardOf, reportAt, spentAt } from "./viewing.ts";
import { ownAttempt } from "./worker/attempt.ts";
import { begin, runSetup } from "./worker/begin.ts";
import { brief } from "./worker/brief.ts";
import { gate, RESULTS, runGateJob } from "./worker/gate.ts";
import { judge, submit, submitNothing } from "./worker/submit.ts";

declare const __VERSION__: string;

/** What a command is called with: the one argument that it may have, and the options that there
 * are. */
type Flag = "new" | "all" | "take" | "redBase" | "agree" | "dryRun" | "mermaid" | "watch" | "json";
type Text = "run" | "nothing" | "format" | "workflow" | "into";
type Argument = {
  readonly word: string;
  readonly words: readonly string[];
  readonly until: number;
};
type Call = { [F in Flag]?: true } & { [T in Text]?: string } & Argument & {
    expect?: number;
    budget?: number;
  };

const program = new Command("minion")
  .description(
    "The rails of minion-toolkit: plans a task list, holds workers to it, proves and lands what they did.",
  )
  .version(__VERSION__)
  .helpCommand(false);

/** Adds a command. */
function add(usage: string, description: string, action: (call: Call) => Promise<Said>): Command {
  const made = program
    .command(usage)
    .description(description)
    .option("--json", "print one JSON document");
  const run = async () => {
    const { wait = 0, ...options } = made.opts();
    const wrong = Object.entries({ wait, ...options }).find(
      ([, value]) => typeof value === "number" && !(value >= 0),
    );
    const { budget } = options;
    if (budget !== undefined && !(budget > 0 && budget < Infinity))
      throw new Fault(
        "usage",
        "--budget is no positive number of dollars",
        "say --budget 5",
        EXIT.usage,
      );
    if (wrong)
      throw new Fault("usage", `--${wrong[0]} wants a number`, `say --${wrong[0]} 90`, EXIT.usage);
    return action({
      ...options,
      word: made.args[0] ?? "",
      words: made.args,
      until: Date.now() + wait * 1000,
    });
  };
  return made.action(saying(run));
}

/** Adds a command about a run that there is. */
const ofRun = (
  usage: string,
  description: string,
  action: (call: Call & Run & { place: Place }) => Promise<Said>,
) =>
  add(usage, description, async (call) => {
    const place = await findPlace(process.cwd());
    const found = await findRun(place.common, process.env.CLAUDE_CODE_SESSION_ID ?? "", call.run);
    return action({ ...call, place, ...found });
  }).option("--run <id>", "which run, if not the newest");

/** @throws Fault `no-price` where money is to decide and a model has no price */
function refuseUnpriced({ budget }: Call, estimate: Estimate | null): void {
  if (!budget || !estimate || estimate.dollars) return;
  throw new Fault(
    "no-price",
    `prices.md has no ${estimate.unpriced.join(", ")}`,
    "give it a row there",
    EXIT.usage,
  );
}

const WAIT = [
  "--wait <seconds>",
  "how long to wait; called again it waits on",
  Number,
  90,
] as const;
const WORKFLOW = [
  "--workflow <name>",
  "for tasks that name none: quick, default, tdd, secure or your own",
] as const;
// It may change while a board is watched
const columns = (): number => Math.max(40, process.stdout.columns ?? 100);
const stillRuns = (what: string): Said => [
  `${what} still runs: call the same again.`,
  { running: true },
  EXIT.running,
];

add(
  "plan <file>",
  "show a list's waves, conflicts, commands and faults (-: stdin); writes nothing",
  async (call) => {
    const planned = await planAt(call.word, call);
    const { plan, tools } = planned;
    const estimate = await estimateAt(planned);
    refuseUnpriced(call, estimate);
    const budget = estimate && call.budget ? fitting(estimate, call.budget) : null;
    const fault = plan.findings.find(({ level }) => level === "error");
    if (fault && call.format)
      throw new Fault("plan", `line ${fault.line}: ${fault.message}`, fault.hint);
    const write = call.format && (await import("./plan/write-list.ts")).writeList;
    const table = () => planTable(plan, tools, columns(), estimateLines(estimate, budget));
    const text = write ? write(planned.asWritten) : call.mermaid ? mermaid(plan) : table();
    const { toolsSaid, ...shown } = plan;
    const tasks = plan.tasks.map(({ doneWhen, workflowWhy, ...task }) => {
      return { ...task, done_when: doneWhen, workflow_why: workflowWhy };
    });
    return [text, { ...shown, tasks, tools, estimate, budget }, fault ? EXIT.refused : EXIT.done];
  },
)
  .option(...WORKFLOW)
  .option("--expect <n>", "how many tasks there should be", Number)
  .option("--budget <dollars>", "say how many tasks fit", Number)
  .option("--mermaid", "print it as a Mermaid flowchart")
  .addOption(
    new Option("--format <form>", "print the list instead, in our form").choices(["minion"]),
  );

add("start <file>", "open a run of a task list", async (call) => {
  const planned = await planAt(call.word, call);
  const session = await sessionOf(process.env);
  const estimate = await estimateAt(planned);
  refuseUnpriced(call, estimate);
  const started = await start(
    { ...planned, estimate },
    session,
    call.new === true,
    call.budget ?? null,
  );
  // Whoever starts has seen the project's commands: a person by their own hand, a session by the
  // hook that asks for it.
  await agree(planned.place.top, planned.place.common);
  return [null, started];
})
  .option("--new", "beside a run that is open already")
  .option(...WORKFLOW)
  .option("--budget <dollars>", "start no more workers once so much is spent", Number);

ofRun(
  "next",
  "land what is ready, then name what to start now",
  async ({ journal, place, state, until }) => {
    await launchesKnown(journal);
    const used = await takeDown(journal, false);
    const dollars = await spentAt(place, await journal.state(), used);
    return [
      null,
      await next(journal, until, dollars, (time) => landed(journal, place, state, time)),
    ];
  },
).option(...WAIT);

add(
  "begin <attempt>",
  "for a worker: put its worktree on the line and say what to do",
  async ({ word, until }) => {
    const own = await begin(word, process.cwd(), until);
    if (!own) return stillRuns("The setup");
    const overlays = await overlaysAt(own.place);
    const text = brief(own, (name) => overlays.get(name.toLowerCase()));
    return [text, { attempt: word, brief: text }];
  },
).option(...WAIT);

add(
  "gate [name]",
  "for a worker: run a gate, or all, on the files as they are",
  async ({ word, all, until }) => {
    if ((word === "") === !all)
      throw new Fault("usage", "gate wants one name, or --all", "minion gate test", EXIT.usage);
    const gates = await gate(word || undefined, process.cwd(), until);
    const texts = gates.flatMap(
      ({ gate, result, reused, seconds, failures, allowed, output, tail, hint }) => [
        `${gate}: ${result}${reused ? " (as before on these files)" : ""}${seconds ? `, ${seconds.toFixed(1)} s` : ""}`,
        tail,
        result === "fail" && `failed ${failures} of ${allowed}; whole output: ${output}`,
        hint,
      ],
    );
    return [texts.filter(Boolean).join("\n"), { gates }, RESULTS[gates.at(-1)?.result ?? "pass"]];
  },
)
  .option("--all", "every gate in order, until one does not pass")
  .option(...WAIT);

add(
  "submit",
  "for a worker: hand in what is committed, with a handoff on stdin",
  async ({ nothing }) => {
    if (nothing !== undefined) await submitNothing(nothing, process.cwd());
    else await submit(await readInput(), process.cwd());
    return ["Handed in. End now, with one line.", { submitted: true }];
  },
).option("--nothing <why>", "the task wants no change");

add(
  "verdict <attempt> <pass|fail>",
  "for a worker that judges: say what it found, on stdin",
  async ({ words }) => {
    await judge(words[0] ?? "", words[1] ?? "", await readInput(), process.cwd());
    return ["Taken. End now, with one line.", { submitted: true }];
  },
);

ofRun(
  "land <task>",
  "for a person: prove and land a task's branch",
  async ({ journal, place, state, word, until }) => {
    await takeByHand(journal, place, word);
    if (!(await landed(journal, place, state, until))) return stillRuns("It");
    const after = (await journal.state()).tasks.get(word);
    if (after?.state === "landed")
      return [`task ${word} is on ${state.line}`, { task: word, landed: true }];
    throw new Fault(
      "not-landed",
      `${after?.reason}: ${after?.note}`,
      "mend its branch, then call again",
    );
  },
).option(...WAIT);

ofRun(
  "merge",
  "for a person: merge the line, proven on the branch as it is now",
  async ({ into, until, ...at }) => {
    const made = await mergeRun(at, into, until);
    if (!made) return stillRuns("It");
    return [
      `${made.into} stands on ${made.to}\nWhat the run left goes by ${typed(`clean --run ${at.state.run}`)}`,
      made,
    ];
  },
)
  .option("--into <branch>", "which branch, if not the one here")
  .option(...WAIT);

ofRun(
  "retry <task>",
  "for a person: let a worker try a task again",
  async ({ journal, word: task }) => {
    await journal.decide(({ tasks }, write) => {
      if (tasks.get(task)?.state !== "needs-human")
        throw new Fault(
          "not-waiting",
          `task ${task} does not wait for a person`,
          "minion attention shows what does",
        );
      write({ event: "retried", task });
    });
    return [`task ${task} may be tried again: /minion --resume goes on with the run`, { task }];
  },
);

ofRun("board", "show where each task stands", async ({ state, place, journal, watch, json }) => {
  if (!watch || json) return boardOf(place, state, columns());
  const { watchBoard } = await import("./view/watch.ts");
  return boardOf(
    place,
    await watchBoard(journal, async (now) => (await boardOf(place, now, columns()))[0]),
    columns(),
  );
}).option("--watch", "draw it anew as things happen, until the run is over");

ofRun(
  "report",
  "say what landed, what did not and why, and what to type next",
  async ({ journal, place }) => {
    const made = await reportAt(place, journal);
    return [made.report, made];
  },
);

add(
  "stats",
  "count per week and per version of the rails what landed, and what a person had to do",
  async () => {
    const { statsOf, statsTable } = await import("./view/stats.ts");
    const weeks = await statsOf(await findPlace(process.cwd()));
    return [statsTable(weeks, columns()), { weeks }];
  },
);

ofRun("attention", "show what waits for a person, and the choices", async ({ state, place }) => {
  const attention = await attentionAt(place, state);
  return [
    attentionText(attention).join("\n") || "Nothing waits for you.",
    { run: state.run, attention },
  ];
});

ofRun("events", "print the run's journal", async ({ journal }) => [null, await journal.read()]);

ofRun(
  "resume",
  "go on with a run whose session is gone, or that waits for a person",
  async (call) => {
    const { journal, place, state, budget } = call;
    const dollars = await spentAt(place, state);
    const money = {
      ...(dollars === null ? {} : { dollars }),
      ...(budget === undefined ? {} : { budget }),
    };
    const lost = await resume(journal, await sessionOf(process.env), call, money);
    return [null, { run: state.run, line: state.line, list: listOf(journal), lost }];
  },
)
  .option("--budget <dollars>", "what it may cost in all from now on", Number)
  .option("--take", "also where its session still runs")
  .option("--red-base", "though gates are red on the base: only new failures count then");

ofRun(
  "abort",
  "end a run where it stands; what landed stays",
  async ({ journal, state: { run } }) => {
    await abort(journal);
    return [`run ${run} is ended; branches and worktrees stay until minion clean`, { run }];
  },
);

ofRun(
  "clean",
  "remove what a run left; nothing dirty or unlanded",
  async ({ state, place, dryRun = false }) => {
    const own = (["landing", "merge"] as const).map((job) => landingPath(place, state.run, job));
    return [null, { run: state.run, dryRun, ...(await clean(state, place, own, dryRun)) }];
  },
).option("--dry-run", "only say what would be removed");

add("blueprint", "print the rails in force and where each value comes from", async (call) => {
  const place = await findPlace(process.cwd());
  const blueprint = await blueprintAt(place, await overlaysAt(place));
  if (call.agree) await agree(place.top, place.common);
  return [null, blueprint];
}).option("--agree", "for a person: remember that the project's own rails may be used");

add("overlays", "list the expertise that a task can name under Agent:", async () => {
  const all = [...(await overlaysAt(await findPlace(process.cwd()))).values()].filter(
    ({ fault }) => fault === null,
  );
  return [
    null,
    {
      overlays: all.map(({ name, when, isRole }) => ({
        name,
        kind: isRole ? "role" : "domain",
        when,
      })),
    },
  ];
});

add(
  "guide [topics...]",
  "print guides for whoever leads a run; without a topic, list them",
  async ({ words }) => {
    const guides = await overlaysAt(await findPlace(process.cwd()), "guides");
    if (words.length === 0)
      return [null, { guides: [...guides.values()].map(({ name, when }) => ({ name, when })) }];
    const asked = words.map((guide) => {
      const { body = "", fault = `there is no guide «${guide}»` } =
        guides.get(guide.toLowerCase()) ?? {};
      if (fault)
        throw new Fault(
          "no-guide",
          fault,
          `there are ${[...guides.keys()].join(", ")}`,
          EXIT.usage,
        );
      return { guide, body };
    });
    return [asked.map(({ body }) => body).join("\n\n"), { guides: asked }];
  },
);

// What no person types: Claude Code's hooks, and the work that outlives the call that asked for it.
program.command("hook <event>", { hidden: true }).action(async (event: string) => {
  try {
    const {
      stdout = "",
      stderr = "",
      exit,
    } = await hook(event, JSON.parse(await readInput()), attentionAt);
    process.stdout.write(stdout);
    process.stderr.write(stderr);
    process.exitCode = exit;
  } catch (error) {
    // A fault of ours must not stop a person's session: said where a log shows it, and nothing
    // more.
    process.stderr.write(`minion hook ${event}: ${(error as Error).message}\n`);
  }
});

// `land RUN`, `merge RUN BRANCH COMMIT`, or in a worker's worktree `setup ATTEMPT` or `gate ATTEMPT
// NAME`: a job's name is how it is called.
program.command("job <words...>", { hidden: true }).action(async (words: string[]) => {
  const [what, whose = "", name = ""] = words;
  if (what === "land" || what === "merge") {
    const place = await findPlace(process.cwd());
    const journal = new Journal(place.common, whose);
    const { run, line } = await journal.state();
    const land = () => landAll(journal, siteOf(place, run, line));
    const merge = () =>
      buildMerge(journal, siteOf(place, run, line, "merge"), name, words[3] ?? "");
    return runJob(journal, words.join(" "), what === "merge" ? merge : land);
  }
  const own = await ownAttempt(process.cwd());
  return runJob(own.journal, words.join(" "), () =>
    what === "gate" ? runGateJob(own, name) : runSetup(own),
  );
});

void main(program, process.argv.slice(2));
