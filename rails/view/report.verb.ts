import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Option } from "commander";
import { flakyIn } from "../journal/flaky.ts";
import { runAt } from "../journal/run-at.ts";
import { EXIT, Fault } from "../program/fault.ts";
import { type OfRun, RUN, type Said, type Verb } from "../program/verb.ts";
import type { World } from "../program/world.ts";
import { tasksData } from "./flows-text.ts";
import { fullReport } from "./full-report.ts";
import { reportText } from "./report.ts";
import { seenAt } from "./seen.ts";

type Options = OfRun & { full?: boolean; html?: string | true; watch?: boolean; json: boolean };
type At = Awaited<ReturnType<typeof runAt>>;

export const verb: Verb<Options> = {
  usage: "report",
  about: "say what landed, what did not and why, and what to type next",
  options: [
    new Option("--full", "with handoffs, raw output, cost and how the plan was changed"),
    new Option(
      "--html [file]",
      "a page for a browser, with diffs, in one file that loads nothing (report.html beside the journal)",
    ),
    new Option(
      "--watch",
      "with --html: write it anew until the run is over; a page that is open loads itself again, " +
        "every few seconds while you do nothing in it",
    ),
    RUN,
  ],
  /** Writes all of it beside the run's journal as well, with its pictures, once what was used is
   * taken down there. */
  async run({ options }, world) {
    if (options.watch && options.html === undefined)
      throw new Fault("usage", "--watch wants --html", "say report --html --watch", EXIT.usage);
    const at = await runAt(world, options.run);
    if (options.html !== undefined) return page(at, options, world);
    const { journal, place } = at;
    const { state, seen } = await seenAt(place, { journal });
    const file = join(journal.folder, "report.md");
    const report = await fullReport(state, seen);
    await writeFile(file, report);
    const { run, line, tip } = state;
    const { cost, sizes } = seen;
    const tasks = tasksData(state, cost, sizes);
    const data = { run, line, tip, file, cost, flaky: flakyIn(state), tasks, report };
    const text = options.full ? await fullReport(state, seen, file) : await reportText(state, seen);
    return { text, data };
  },
};

/** Writes a run as a page for a browser. */
async function page(
  { journal, place, state }: At,
  { html, watch, json }: Options,
  world: World,
): Promise<Said> {
  const { checkPlace, keepWriting, openCommand, writePage } = await import("./page/write.ts");
  const file = typeof html === "string" ? resolve(world.cwd, html) : ownPage(journal.folder);
  await checkPlace(file);
  await writePage(file, place, journal, watch);
  const data = { run: state.run, page: file, open: openCommand(file) };
  const text = [`The page is ${file}`, `Open it: ${data.open}`, pathToFileURL(file).href].join(
    "\n",
  );
  if (!watch) return { text, data };
  if (!json) world.stderr.write(`${text}\nIt is written anew until the run is over.\n`);
  await keepWriting(file, place, journal, world);
  return { text: json ? text : `Run ${state.run} is over; the page is ${file}`, data };
}

const ownPage = (folder: string): string => join(folder, "report.html");
