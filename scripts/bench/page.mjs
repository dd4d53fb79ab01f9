// How long a browser takes until the page of a large run can be used, against an empty page.
import { existsSync } from "node:fs";
import { appendFile, mkdir, stat, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { env } from "node:process";
import { pathToFileURL } from "node:url";
import puppeteer from "puppeteer-core";
import { HANDOFF, repository } from "./repository.mjs";
import { median, rowsOf } from "./times.mjs";

const TASKS = 100;
/** Lines of each of a task's two files: of all tasks 5 MB. */
const LINES = 350;
const ROUNDS = 5;

const program = () =>
  (env.PATH ?? "")
    .split(delimiter)
    .flatMap((each) =>
      ["chromium", "chromium-browser", "google-chrome"].map((name) => join(each, name)),
    )
    .find(existsSync);

/** A hundred tasks with 5 MB of diffs. */
export async function page(folder) {
  const browserAt = program();
  if (!browserAt) return [["page, 100 tasks", "no chromium"]];
  const file = await pageOf(folder);
  const empty = join(folder, "empty.html");
  await writeFile(empty, "<!doctype html><title>Empty</title>");
  const browser = await puppeteer.launch({ executablePath: browserAt, args: ["--no-sandbox"] });
  try {
    const times = { ours: [], empty: [] };
    for (let round = 0; round < ROUNDS; round++) {
      times.empty.push(await loaded(browser, empty));
      times.ours.push(await loaded(browser, file));
    }
    const { size } = await stat(file);
    return [
      ["page, 100 tasks, 5 MB of diffs, size", `${size} bytes`],
      ...rowsOf(
        ["page, 100 tasks, 5 MB of diffs, load", median(times.ours)],
        ["page, empty, load", median(times.empty)],
      ),
    ];
  } finally {
    await browser.close();
  }
}

/** Milliseconds until a page is loaded, drawn, and answers. */
async function loaded(browser, file) {
  const tab = await browser.newPage();
  const start = performance.now();
  await tab.goto(pathToFileURL(file).href);
  await tab.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
  );
  const ms = performance.now() - start;
  await tab.close();
  return ms;
}

/** The page of a run whose journal is written here: each task has a commit of its own. */
async function pageOf(folder) {
  const { repo, git, minion } = await repository(folder, TASKS, "true");
  const head = async (what) => (await git(["rev-parse", what])).trim();
  await mkdir(join(repo, "src"));
  const events = [{ event: "base-checked", red: [] }];
  let from = await head("HEAD");
  for (let task = 1; task <= TASKS; task++) {
    const paths = [`src/${task}-a.ts`, `src/${task}-b.ts`];
    for (const path of paths) await writeFile(join(repo, path), linesOf(task));
    await git(["add", "."]);
    await git(["commit", "--quiet", "-m", "feat: task"]);
    const to = await head("HEAD");
    const tree = await head("HEAD^{tree}");
    const attempt = `r1/${task}.1`;
    const begun = { worktree: "w", branch: `minion/${attempt}`, base: from, foundBranch: "f" };
    const result = { head: to, tree, commits: [to], paths, deleted: [], handoff: HANDOFF };
    events.push(
      { event: "dispatched", task: `${task}`, attempt, phase: "implement" },
      { event: "launched", attempt, agent: `a${task}` },
      { event: "begun", attempt, ...begun },
      { event: "submitted", attempt, ...result },
      { event: "proven", from, to, tree, landed: [{ attempt, commits: [to] }] },
      { event: "landed", to },
    );
    from = to;
  }
  const text = events.map((event) => `${JSON.stringify({ at: Date.now(), ...event })}\n`).join("");
  await appendFile(join(repo, ".git/minion/r1/events.jsonl"), text);
  return JSON.parse(await minion(["report", "--html", "--json"])).page;
}

const linesOf = (task) =>
  Array.from(
    { length: LINES },
    (_, at) => `export const name${task}_${at} = "${"x".repeat(45)}";\n`,
  ).join("");
