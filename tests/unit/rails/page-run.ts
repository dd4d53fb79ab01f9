import type { NewEvent } from "../../../rails/journal/events.ts";
import type { RunState } from "../../../rails/journal/state.ts";
import { outputsIn, rangesIn, type Texts } from "../../../rails/view/page/data.ts";
import type { FileDiff } from "../../../rails/view/page/diff.ts";
import {
  begun,
  done,
  ended,
  handedIn,
  landed,
  madeRun,
  red,
  round,
  stuck,
  visit,
} from "./made-run.ts";

// A run with thirty tasks and more, in every state, for the page that shows it.

const TITLES = [
  "Validate the body of POST /events",
  "Page through GET /events",
  "Store money as integer cents",
  "Delete events after thirty days",
  "Export events as CSV",
  "Rename the column `when` to `starts_at` in the schema, in all queries and in the fixtures of the tests",
  "Retry a webhook that answers with 5xx",
  "Sign webhooks",
  "Log requests as JSON",
  "Health check",
];

/** What a list says of a task, by what its number ends with. */
const FIELDS: readonly string[] = [
  "Done when: GET /health answers with 200.",
  "Files: src/events.ts, tests/events.test.ts\nDone when: a body without `title` is refused with 400.\nVerify: `npm test -- events`",
  "Files: src/pages.ts\nDepends: 1",
  "Files: src/money.ts\nRisk: high\nDone when: no float is left.",
  "Files: src/keep.ts",
  "Files: src/export.ts\nVerify: `npm test -- export`",
  "Files: db/schema.sql\nRisk: medium",
  "Files: src/hooks.ts",
  "Files: src/hooks.ts\nRisk: high",
  "",
];

const ticketOf = (number: number): string =>
  [
    `### Task ${number}: ${TITLES[(number - 1) % TITLES.length]}`,
    number <= 10 ? FIELDS[number % 10] : "",
    EXTRA[number] ?? "",
    "",
    "What is wanted, in a sentence or two, so that whoever does it knows what is enough.\n",
  ].join("\n");

const EXTRA: Readonly<Record<number, string>> = {
  21: "Workflow: loop\nVerify: `npm test`",
  22: "Workflow: choice\nMeasure: lowest `wc -c src/a.ts`",
  25: "Depends: 24",
  26: "Depends: 23",
};

const LIST = Array.from({ length: 30 }, (_, at) => ticketOf(at + 1)).join("\n");

const handoff = (number: number): string =>
  [
    "**What and why:** the handler checks the body before it is stored, since a missing title was found only when it was shown.",
    number % 4 === 1
      ? "**Concerns:** the old clients send `name` instead of `title`."
      : "**Concerns:** none",
    "**Deviations from the task:** none",
    number % 5 === 0
      ? "**Findings for others:** `src/hooks.ts` retries for ever."
      : "**Findings for others:** none",
    "**Risks and how to roll back:** revert the commit; no data is changed.",
  ].join("\n\n");

const namedBy = (number: number): string[] => {
  const [, files] = /^Files: (.*)$/m.exec(number <= 10 ? (FIELDS[number % 10] ?? "") : "") ?? [];
  return files?.split(", ") ?? ["src/events.ts"];
};

const work = (task: string): NewEvent[] => [
  ...begun(task),
  gate(task, 1, 0),
  handedIn(task, 1, {
    handoff: handoff(Number(task)),
    paths: task === "4" ? ["src/keep.ts", "src/other.ts", "src/old.ts"] : namedBy(Number(task)),
    deleted: task === "4" ? ["src/old.ts"] : [],
  }),
];

const gate = (task: string, n: number, code: number): NewEvent => ({
  ...(red(
    task,
    n,
    ...(code ? ["not ok 3 - refuses a body without a title"] : []),
  ) as object as NewEvent & {
    event: "evidence";
  }),
  gate: "test",
  code,
  ms: 4200,
  output: `output/${task}-${n}.log`,
});

/** All of it: what landed, what waits, what goes on. */
export const thirty = (): RunState =>
  madeRun(
    LIST,
    ...["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15"].map(
      (task) => [...work(task), ...landed(task)],
    ),
    work("16"), // To land
    [...begun("17"), ended("17"), ...begun("17", 2)], // At it once more
    [...begun("18"), gate("18", 1, 1), ended("18")], // Red, nobody at it
    [
      ...begun("19"),
      gate("19", 1, 1),
      ended("19", 1),
      ...begun("19", 2),
      gate("19", 2, 1),
      ended("19", 2),
    ],
    stuck("20"),
    [...round("21", 1, "3 tests fail"), ...round("21", 2, "1 test fails"), ...begun("21", 3)],
    [
      ...begun("22", 1, "ways"),
      handedIn("22", 1, { handoff: "1. A table\n2. A switch\n3. A map" }),
      ...[2, 3, 4].flatMap((n) => [...begun("22", n, "implement", n - 1), handedIn("22", n)]),
      ...[2, 3, 4].map((n) => ({
        event: "measured" as const,
        attempt: `r1/22.${n}`,
        value: 300 - n,
        output: "o",
      })),
      { event: "picked", task: "22", attempt: "r1/22.4", by: "measure" },
    ],
    stuck("23"), // 26 hangs on it
    begun("24"), // 25 waits for it
    [...begun("27"), { event: "nothing", attempt: "r1/27.1", why: "It is there already." }],
    { event: "dropped", tasks: ["28"] },
    { event: "stopped", task: "29", question: "Cents or mills?" },
  );

const patchOf = (path: string, lines: number): string =>
  [
    `diff --git a/${path} b/${path}`,
    "index 1111111..2222222 100644",
    `--- a/${path}`,
    `+++ b/${path}`,
    `@@ -1,${lines + 2} +1,${lines + 3} @@ export function handle() {`,
    " const before = read();",
    "-const title = body.name;",
    ...Array.from({ length: lines }, (_, at) => ` line(${at});`),
    "+const title = body.title;",
    "+if (!title) throw new Refused(400, 'a title is wanted, and this line is long enough that it does not fit into a narrow window at all');",
  ].join("\n");

const fileOf = (path: string, more: Partial<FileDiff> = {}): FileDiff => ({
  path,
  from: null,
  added: 2,
  removed: 1,
  folded: null,
  patch: patchOf(path, 6),
  ...more,
});

/** What such a run's page shows beside its journal.
 * @param lines of the first diff */
export function textsFor(state: RunState, lines = 6): Texts {
  const filesAt = (at: number): FileDiff[] => [
    fileOf("src/events.ts", { patch: patchOf("src/events.ts", at === 0 ? lines : 6) }),
    fileOf("package-lock.json", { folded: "lock file", added: 900, removed: 12 }),
    fileOf("src/old.ts", { folded: "deleted", added: 0, removed: 3 }),
  ];
  return {
    diffs: new Map(rangesIn(state).map(({ key }, at) => [key, filesAt(at)])),
    outputs: new Map(
      outputsIn(state).map((path) => [
        path,
        "> test\n> node --test\n\nok 1 - reads\nok 2 - writes\nnot ok 3 - refuses a body without a title\n# tests 3\n",
      ]),
    ),
    failures: new Map([
      [
        "19",
        {
          gate: "test",
          lines: ["not ok 3 - refuses a body without a title", "# fail 1"],
          output: "/runs/r1/output/19-2.log",
        },
      ],
    ]),
  };
}

/** An area with what its planner left. */
export const planned = (): RunState =>
  madeRun(
    "### Task A: Storage\nWorkflow: area\nFiles: src\n",
    ...visit("A", 1, "A/1", "A/2"),
    done("A/1"),
  );
