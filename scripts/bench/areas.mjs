// What a run costs whose plan is made as it goes.
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { median, timed } from "./times.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const tests = join(here, "../../tests/unit/rails");
const ROUNDS = 7;
const AREAS = 20;
/** Tasks that a planner leaves at a visit, of at most 12. */
const LEFT = 10;

/** The modules that say where a run stands and what comes next, as they are, and those of the tests
 * that make journals. */
async function load(folder) {
  const outfile = join(folder, "areas.mjs");
  const modules = ["made-run", "run", "memory-journal"].map((name) => join(tests, `${name}.ts`));
  const parts = ["foreman/next", "journal/fold"].map((name) =>
    join(here, `../../rails/${name}.ts`),
  );
  const banner =
    'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';
  await build({
    stdin: {
      contents: [...modules, ...parts].map((path) => `export * from "${path}";`).join("\n"),
      resolveDir: here,
    },
    outfile,
    banner: { js: banner },
    define: { "import.meta.dirname": JSON.stringify(tests) },
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "warning",
  });
  return import(pathToFileURL(outfile));
}

/** The journal of a run of areas, each planned in visits of ten tasks that land before the next
 * visit; those of the last one are still to be done.
 * @param count how many tasks in all */
function journalOf({ madeEvents, visit, done }, areas, count) {
  const names = Array.from({ length: areas }, (_, at) => `A${at + 1}`);
  const list = names.map((name) => `### Task ${name}: Part\nWorkflow: area\n`).join("\n");
  const visits = count / areas / LEFT;
  const steps = Array.from({ length: visits }, (_, visited) =>
    names.flatMap((name) => {
      const left = Array.from({ length: LEFT }, (_, at) => `${name}/${visited * LEFT + at + 1}`);
      const planned = visit(name, visited + 1, ...left);
      return visited + 1 < visits ? [...planned, ...left.map(done)] : planned;
    }),
  );
  return madeEvents(list, steps.flat());
}

/** How what a run costs grows with all that happened in it: taking in its journal, and all of
 * `next`, by event; the journal itself, by task. */
export async function areas(folder) {
  const modules = await load(folder);
  const { MemoryJournal, next, fold } = modules;
  const runs = [400, 1000].map((count) => {
    const events = journalOf(modules, AREAS, count);
    return { count, events, bytes: JSON.stringify(events).length / count, fold: [], next: [] };
  });
  // By turns, so that all meet the same machine.
  for (let round = 0; round < ROUNDS; round++)
    for (const run of runs) {
      const { events } = run;
      const journal = new MemoryJournal("/none", "r1");
      await journal.add(...events);
      const each = async (work) => ((await timed(work)) * 1000) / events.length;
      run.fold.push(await each(async () => fold(events[0], events, [])));
      run.next.push(await each(() => next(journal, 0, null, async () => {})));
    }
  const rows = runs.flatMap(({ count, bytes, ...run }) => [
    [`${count} tasks: bytes a task`, bytes.toFixed(0)],
    [`${count} tasks: fold`, `${median(run.fold).toFixed(1)} µs an event`],
    [`${count} tasks: next`, `${median(run.next).toFixed(1)} µs an event`],
  ]);
  const [few, many] = runs;
  const ratio = (of) => (of(many) / of(few)).toFixed(2);
  return [
    ...rows,
    ["bytes a task, ratio", ratio(({ bytes }) => bytes)],
    ["fold an event, ratio", ratio((run) => median(run.fold))],
    ["next an event, ratio", ratio((run) => median(run.next))],
  ];
}
